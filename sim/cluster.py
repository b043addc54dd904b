"""The same blocks on a Dask cluster (an extra: ``pip install 'fairdeal[cluster]'``).

Each block is one task. The worker that plays it writes its part into the results folder, which all machines share, and
sends a receipt back; the client lists the parts in the manifest. Dask runs a task again when its worker dies, so every
game is there exactly once because a part's name is a function of its block, not because a task runs once: a block that
lies there is not played again, and one that two workers played at a time is written once.

Workers compare what decides the rows (version, kernels, random scheme) with what the client sent, at the start and in
every task.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import logging
import math
import queue
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sim import runner, storage
from sim.game import RANDOM_SCHEME, Player, Spec
from sim.part import Part
from sim.provenance import FORMAT, software
from sim.store import MANIFEST, Grid, RunFolder, StoreError
from sim.writer import Writer

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT = 4.0  # seconds until a scheduler counts as not there
SLOW_START = 3.0  # seconds after which it is said what the workers are doing
PATIENCE = 60.0  # seconds without a single worker until the run gives up
LOOK_EVERY = 1.0  # seconds between two looks at the cluster
# A block takes about so many seconds: little is lost with a worker, and long runs have at most about MOST_BLOCKS.
SHORT_BLOCK, LONG_BLOCK, MOST_BLOCKS = 2.0, 60.0, 2000
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?([^\s/:\[\]]+|\[[0-9a-fA-F:.%\w]+\]):[0-9]{1,5}")
SHORTEST_BLOCK = 0.05  # below this the scheduler's own work shows
_BLOCKS_A_THREAD = 4  # at least, so that all threads end at about the same time
_IN_FLIGHT = 3  # tasks a thread that the scheduler is given, so that memory does not grow with the number of games
_TRIAL = 0.25  # seconds in which a worker's speed is measured
_MOST_TRIED = 2**16
_PLAYERS = 4  # players that a worker keeps ready


class EngineError(ValueError):
    """A cluster that is not there, that does not fit, or that was lost."""


@dataclasses.dataclass(frozen=True)
class Job:
    """What a worker needs to know of a run.

    Attributes
    ----------
    path
        The results folder, as every machine finds it.
    new_player
        Makes what plays.
    kernel_module
        The module whose kernels play.
    kernel_hash, version, scheme, format
        What the client has; a worker that has something else refuses.
    grid
        Name of the grid that the manifest must have when a part is written; empty before there is one.
    """

    path: Path
    spec: Spec
    new_player: Callable[[], Player]
    kernel_module: str
    kernel_hash: str
    version: str
    scheme: str
    format: int
    keep: str
    joint: tuple[tuple[str, ...], ...]
    grid: str = ""

    def differences(self) -> list[str]:
        """Return in what this process differs from the one that sent the job."""
        return _differences(self.identity, identity(self.kernel_module))

    @property
    def identity(self) -> dict[str, str]:
        """Return what the client has, as `identity` has it."""
        return {
            "version": self.version,
            "kernels": self.kernel_hash,
            "random scheme": self.scheme,
            "format": str(self.format),
        }


def identity(kernel_module: str) -> dict[str, str]:
    """Return what decides the rows that this process would play and write."""
    from sim.jit import kernel_hash

    return {
        "version": str(software()["version"]),
        "kernels": kernel_hash(kernel_module),
        "random scheme": RANDOM_SCHEME,
        "format": str(FORMAT),
    }


def _differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {theirs.get(name, '?')} there, {mine} here" for name, mine in ours.items() if theirs.get(name) != mine
    ]


# -- On the worker ----------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_ready: OrderedDict[tuple[Any, ...], tuple[Player, Writer]] = OrderedDict()


def play_block(job: Job, first: int, n_games: int) -> Part | None:
    """Play a block and write its part, unless it lies there; return it, or None if nobody waits for it any more.

    Raises
    ------
    EngineError
        If this worker is not of the client's version.
    StoreError
        If the part cannot be written.
    """
    player, writer = _prepare(job)
    there = writer.there(first, n_games)
    if there is not None:
        return there
    arrays = runner.play_whole(player, first, n_games)
    return writer.write_once(first, arrays) if is_shared(job) else None


def try_speed(job: Job, first: int, n_games: int) -> float:
    """Return how many games this worker plays a second on one thread.

    Raises
    ------
    EngineError
        If this worker is not of the client's version.
    """
    player, _ = _prepare(job)
    wanted = 1
    while True:
        began = time.perf_counter()
        runner.play_whole(player, first, wanted)
        seconds = max(time.perf_counter() - began, 1e-6)
        if seconds > _TRIAL or wanted >= min(n_games, _MOST_TRIED):
            return wanted / seconds
        wanted = min(2 * wanted, n_games)


def is_shared(job: Job) -> bool:
    """Tell whether this process finds the folder's manifest, with the job's grid."""
    try:
        grid = Grid.read(json.loads(storage.read(job.path / MANIFEST)))
    except (OSError, ValueError):
        return False
    return grid is not None and grid.name == job.grid


def _prepare(job: Job) -> tuple[Player, Writer]:
    """Return player and writer of a job, made once for all its blocks."""
    differences = job.differences()
    if differences:
        raise EngineError(f"a worker is of another fairdeal ({'; '.join(differences)})")
    key = (str(job.path), job.spec.digest(), job.keep, job.joint, job.kernel_module, job.grid)
    with _lock:
        if key not in _ready:
            writer = Writer(job.path, job.spec, job.kernel_hash, job.keep, job.joint)
            _ready[key] = runner.warm(job.new_player()), writer
            while len(_ready) > _PLAYERS:
                _ready.popitem(last=False)
        return _ready[key]


# -- At the client ----------------------------------------------------------------------------------------------------


def check_address(scheduler: str) -> None:
    """Refuse what cannot be a scheduler's address.

    Raises
    ------
    EngineError
        If it has no host, no port, or a protocol that Dask does not have.
    """
    if not _ADDRESS.fullmatch(scheduler):
        raise EngineError(f"'{scheduler}' is no address of a Dask scheduler; write HOST:PORT or tcp://HOST:PORT")


class DaskEngine:
    """A Dask cluster that plays runs; use it as a context.

    Parameters
    ----------
    scheduler
        The scheduler's address, as ``tcp://host:8786`` or ``host:8786``; None starts a cluster of processes on this
        machine.
    workers
        Processes of the cluster on this machine; default: the processors there are.
    tell
        Called with a sentence when there is something to be known.

    Examples
    --------
    >>> from sim import DaskEngine, run
    >>> with DaskEngine("tcp://10.0.0.1:8786") as engine:  # doctest: +SKIP
    ...     run("bussikuski", 10**9, out="s3://bucket/run", engine=engine)
    """

    def __init__(
        self,
        scheduler: str | None = None,
        *,
        workers: int | None = None,
        tell: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self.scheduler = scheduler
        self.workers = workers
        self.tell = tell
        self.client: Client
        self.n_threads = 0
        self._own = contextlib.ExitStack()
        self._told = False

    @property
    def where(self) -> str:
        """Return where the cluster is, in words."""
        return f"the Dask scheduler at {self.scheduler}" if self.scheduler else "the Dask cluster of this machine"

    def __enter__(self) -> Self:
        """Connect, or start a cluster.

        Raises
        ------
        EngineError
            If there is no scheduler, or the extra is not installed.
        """
        if importlib.util.find_spec("distributed") is None:
            raise EngineError(f"the engine dask needs packages that are not installed: {storage.EXTRA}")
        with contextlib.ExitStack() as own:
            own.enter_context(_silence())
            self.client = own.enter_context(self._connect(own))
            self._own = own.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Disconnect; stop a cluster that was started."""
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._own.close()

    def _connect(self, own: contextlib.ExitStack) -> Client:
        import dask
        from distributed import Client, LocalCluster

        if self.scheduler is None:
            own.enter_context(dask.config.set(_SPARING))
            n_workers = self.workers or runner.default_threads()
            cluster = own.enter_context(
                LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",  # no port that a second run on this machine would want, too
                    silence_logs=logging.CRITICAL,
                    preload=[_IGNORE_CTRL_C],
                )
            )
            return Client(cluster, set_as_default=False, name="fairdeal")
        check_address(self.scheduler)
        try:
            return Client(self.scheduler, timeout=CONNECT, set_as_default=False, name="fairdeal")
        except (OSError, TimeoutError) as error:
            raise EngineError(
                f"there is no Dask scheduler at {self.scheduler}: no answer in {CONNECT:.0f} seconds"
            ) from error

    # -- Playing

    def play(
        self,
        folder: RunFolder,
        ranges: Sequence[runner.Range],
        *,
        new_player: Callable[[], Player],
        wanted: str,
        block: int | None = None,
        progress: runner.Progress | None = None,
        n_there: int = 0,
        stop: threading.Event | None = None,
    ) -> runner.Tally:
        """Have ranges of games played into an open folder; see `sim.runner.play`.

        Parameters
        ----------
        new_player
            Makes what plays, on a worker.
        wanted
            What the sitting plays; see `RunFolder.share`.
        block
            Games in a block, for a run that was not begun on a cluster. Default: what a worker plays in some seconds.

        Raises
        ------
        EngineError
            If a worker does not fit, or the cluster is lost.
        StoreError
            If a part cannot be written.
        """
        n_games = sum(n for _, n in ranges)
        if not n_games:
            return runner.Tally(0, 0.0)
        job = Job(
            path=storage.absolute(folder.path),
            spec=folder.spec,
            new_player=new_player,
            kernel_module=folder.spec.kernel_module,
            kernel_hash=folder.document["kernel_hash"],
            version=str(folder.document["software"]["version"]),
            scheme=RANDOM_SCHEME,
            format=FORMAT,
            keep=folder.keep,
            joint=tuple(tuple(group) for group in folder.joint),
        )
        self._meet(job)
        first = ranges[0][0]
        grid = folder.share(wanted, lambda: block or self._choose_block(job, first, n_games))
        job = dataclasses.replace(job, grid=grid.name)
        self._check_folder(job, folder.path)
        folder.start_clock()

        def tell(done: int, rate: float) -> None:
            if progress is not None:
                progress(n_there + done, n_there + n_games, rate)

        return _Sitting(self, job, folder, tell, stop or threading.Event()).play(grid.cut(ranges))

    def _meet(self, job: Job) -> None:
        """Wait for a worker and make sure that those there are of our version.

        Raises
        ------
        EngineError
            If there is none, or one is of another version.
        """
        with self._losing():
            if not self.client.nthreads():
                self.tell(f"Waiting for workers of {self.where}")
                try:
                    self.client.wait_for_workers(1, timeout=PATIENCE)
                except TimeoutError as error:
                    raise EngineError(f"{self.where} has no workers") from error
            # By way of `eval`, which every worker has: this module may be missing there, or be another one.
            asked = f"__import__('importlib').import_module('sim.cluster').identity({job.kernel_module!r})"
            answers = self.client.run(eval, asked, on_error="return")
            threads = self.client.nthreads()
        wrong = {}
        for worker, answer in answers.items():
            if isinstance(answer, ImportError):
                wrong[worker] = f"it has no fairdeal, or another version ({answer})"
            elif isinstance(answer, Exception):
                wrong[worker] = f"it cannot say which version it has ({answer!r})"
            elif differences := _differences(job.identity, answer):
                wrong[worker] = f"it is of another fairdeal ({'; '.join(differences)})"
        if wrong:
            worker, why = next(iter(wrong.items()))
            others = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise EngineError(
                f"worker {worker}{others} would not play the same games: {why}; install the same version on every "
                "machine and start the workers anew"
            )
        self.n_threads = sum(threads.values())
        if not self._told:
            self._told = True
            workers, threads_ = _count(len(threads), "worker"), _count(self.n_threads, "thread")
            self.tell(f"Playing on {workers} ({threads_}) of {self.where}")

    def _choose_block(self, job: Job, first: int, n_games: int) -> int:
        """Return the games in a block, from the speed of a worker."""
        with self._losing():
            future = self.client.submit(try_speed, job, first, n_games, pure=False)
            began, is_told = time.monotonic(), False
            while not future.done():
                time.sleep(runner.TICK)
                if not is_told and time.monotonic() - began > SLOW_START:
                    is_told = True
                    self.tell("The workers are getting ready; kernels are compiled once on every machine.")
                if not self.client.nthreads():
                    raise EngineError(f"{self.where} has lost its workers")
            rate: float = future.result()
        return block_size(n_games, self.n_threads, rate)

    def _check_folder(self, job: Job, told: Path) -> None:
        """Make sure that every worker finds the folder."""
        with self._losing():
            answers = self.client.run(is_shared, job)
        blind = [worker for worker, is_there in answers.items() if not is_there]
        if blind:
            others = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
            raise EngineError(
                f"worker {blind[0]}{others} does not find the folder {told}: give one that all machines share "
                "(--out), or an address such as s3://bucket/run"
            )

    @contextlib.contextmanager
    def _losing(self) -> Iterator[None]:
        """Turn a scheduler that went away into one line."""
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError

        try:
            yield
        except (CommClosedError, FutureCancelledError, OSError, TimeoutError, RuntimeError) as error:
            if isinstance(error, OSError) and not isinstance(error, TimeoutError | CommClosedError | ConnectionError):
                raise
            raise EngineError(f"{self.where} was lost; what is finished is kept") from error


class _Sitting:
    """Blocks on their way through a cluster."""

    def __init__(
        self,
        engine: DaskEngine,
        job: Job,
        folder: RunFolder,
        tell: Callable[[int, float], object],
        stop: threading.Event,
    ) -> None:
        self.engine = engine
        self.job = job
        self.folder = folder
        self.tell = tell
        self.stop = stop
        self.running: dict[Future, runner.Range] = {}
        self.finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self.n_received = 0
        self.began = self.seen = self.looked = time.monotonic()

    def play(self, blocks: Iterator[runner.Range]) -> runner.Tally:
        """Play the blocks; on the way out, however it goes, take in what is finished."""
        waiting = next(blocks, None)
        try:
            while (waiting or self.running) and not self.stop.is_set():
                while waiting and len(self.running) < _IN_FLIGHT * max(1, self.engine.n_threads):
                    self._submit(waiting)
                    waiting = next(blocks, None)
                with contextlib.suppress(queue.Empty):
                    self._take_in(self.finished.get(timeout=runner.TICK))
                self._look()
                if self.n_received:
                    self.tell(self.n_received, self.n_received / (time.monotonic() - self.began))
        finally:
            left = list(self.running)
            for future in left:
                if future.status == "finished":
                    with contextlib.suppress(Exception):
                        self._take_in(future)
            with contextlib.suppress(Exception):
                self.engine.client.cancel(list(self.running), force=True)
        return runner.Tally(self.n_received, time.monotonic() - self.began)

    def _submit(self, block: runner.Range) -> None:
        first, n_games = block
        with self.engine._losing():
            key = f"fairdeal-{self.job.grid}-{first}-{time.monotonic_ns()}"
            future = self.engine.client.submit(play_block, self.job, first, n_games, key=key, pure=False)
            self.running[future] = block
            future.add_done_callback(self.finished.put)

    def _take_in(self, future: Future) -> None:
        """Receive a finished block; raise what went wrong."""
        block = self.running.pop(future, None)
        if block is None:
            return
        first, n_games = block
        if future.status == "cancelled":
            raise EngineError(f"{self.engine.where} was lost; what is finished is kept")
        part = self._result(future, first, n_games)
        if part is None:
            raise StoreError(f"{self.folder.path} was taken over by another command; what is finished is kept")
        self.folder.add(part)
        self.n_received += n_games

    def _result(self, future: Future, first: int, n_games: int) -> Part | None:
        from distributed import KilledWorker

        try:
            with self.engine._losing():
                part: Part | None = future.result()
            return part
        except KilledWorker as error:
            raise EngineError(
                f"every worker that played the games {first:,} to {first + n_games - 1:,} died (is there enough "
                "memory?); what is finished is kept"
            ) from error

    def _look(self) -> None:
        """Look now and then how many threads there are; give up when there has been none for long."""
        now = time.monotonic()
        if now - self.looked < LOOK_EVERY:
            return
        with self.engine._losing():
            self.engine.n_threads = sum(self.engine.client.nthreads().values())
        self.looked = time.monotonic()
        if self.engine.n_threads:
            self.seen = self.looked
        elif self.looked - self.seen > PATIENCE:
            raise EngineError(
                f"{self.engine.where} has had no worker for {PATIENCE:.0f} seconds; what is finished is kept"
            )


def block_size(n_games: int, n_threads: int, rate: float) -> int:
    """Return the games in a block, a power of two.

    Parameters
    ----------
    rate
        Games that a thread plays a second.
    """
    seconds = min(LONG_BLOCK, max(SHORT_BLOCK, n_games / rate / MOST_BLOCKS))
    most = min(rate * seconds, n_games / (_BLOCKS_A_THREAD * n_threads))
    wanted = min(max(most, rate * SHORTEST_BLOCK, 1), runner.LARGEST_BLOCK)
    return int(2 ** math.floor(math.log2(wanted)))


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


# On one machine Dask's own work takes time from the games: its profiler and monitors look less often, or not at all.
_SPARING = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.memory.terminate": False,
}
# The client is told of Ctrl-C and stops in good order; its workers, in the same group of processes, are to go on.
_IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask's log, which says much of what is being handled, from standard error."""
    import distributed  # noqa: F401 - sets up its loggers when it is imported

    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


__all__ = ["DaskEngine", "EngineError", "Job", "block_size", "identity"]
