"""A real Dask cluster for tests: a scheduler and workers, each a process of its own, and a local S3 server."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from tests.processes import start_python

ROOT = Path(__file__).parent.parent
PATIENCE = 60.0


def python(*words, cwd=ROOT, path=ROOT, **more):
    """Start a Python process that finds our modules in `path`."""
    env = {**os.environ, "PYTHONPATH": str(path), **more.pop("env", {})}
    return start_python(*words, cwd=cwd, env=env, **more)


# What a server logs must go somewhere: a pipe that nobody reads fills up, and the server waits for ever.
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def wait_until(condition, what, patience=PATIENCE):
    """Wait until a condition holds; return what it returned."""
    end = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {patience:.0f} seconds"
        time.sleep(0.02)
    return found


def end(process, number=signal.SIGKILL):
    """End a process and all it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=30)


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, folder, env=None):
        self.folder = Path(folder)
        self.env = env or {}
        self.workers = []
        file = self.folder / "scheduler.json"
        words = ("-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--no-show")
        self.scheduler = python(*words, "--scheduler-file", file, env=self.env, **SILENT)
        wait_until(lambda: file.exists() and file.read_text().strip(), "the scheduler")
        self.address = wait_until(lambda: _address(file), "the scheduler's address")

    def add_worker(self, cwd=ROOT, path=ROOT, threads=1):
        """Start a worker; it is not waited for."""
        words = ("-m", "dask", "worker", self.address, "--no-nanny", "--no-dashboard", "--nthreads", threads)
        self.workers.append(
            python(*words, "--local-directory", self.folder, cwd=cwd, path=path, env=self.env, **SILENT)
        )
        return self.workers[-1]

    def wait_for_workers(self, n_workers):
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=PATIENCE)

    def close(self):
        for process in [*self.workers, self.scheduler]:
            end(process)


def _address(file):
    try:
        return json.loads(file.read_text())["address"]
    except (ValueError, KeyError):
        return None


@contextlib.contextmanager
def cluster_of(folder, n_workers, env=None):
    """Give a cluster with so many workers."""
    cluster = Cluster(folder, env)
    try:
        for _ in range(n_workers):
            cluster.add_worker()
        if n_workers:
            cluster.wait_for_workers(n_workers)
        yield cluster
    finally:
        cluster.close()


S3 = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": "us-east-1"}


@contextlib.contextmanager
def s3_server():
    """Give the environment of a local S3 server with a bucket called bucket, in a process of its own."""
    code = (
        "from moto.server import ThreadedMotoServer; import time; "
        "server = ThreadedMotoServer('127.0.0.1', 0, verbose=False); server.start(); "
        "print(server.get_host_and_port()[1], flush=True); time.sleep(3600)"
    )
    process = python("-c", code, stderr=subprocess.DEVNULL)
    try:
        env = {**S3, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{int(process.stdout.readline())}"}
        made = python("-c", "import s3fs; s3fs.S3FileSystem().mkdir('bucket')", env=env)
        assert made.wait(PATIENCE) == 0, made.communicate()
        yield env
    finally:
        end(process)
