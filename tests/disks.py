"""Small disks for tests: a real tmpfs where one can be mounted, and always one whose limits are pretended."""

import contextlib
import errno
import os
import pathlib
import subprocess
import tempfile
from pathlib import Path


class Tmpfs:
    """A file system of its own."""

    def __init__(self, path, kilobytes=8192, names=None):
        self.path = path
        options = f"size={kilobytes}k" + (f",nr_inodes={names}" if names else "")
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True, check=True)

    def change(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.path], check=True)

    def widen(self):
        self.change("size=8m,nr_inodes=100")

    def read_only(self, is_so):
        self.change("ro" if is_so else "rw")

    def close(self):
        subprocess.run(["umount", self.path], check=True)


def _size(path):
    """Return a file's bytes; none if it is a folder, or another thread has removed it in the meantime."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


class Pretended:
    """A folder of a usual disk in which calls fail as they do on a full or a read-only one."""

    def __init__(self, path, kilobytes=8192, names=None):
        self.path = path
        self.most_bytes = 1024 * kilobytes
        self.most_names = names or 100
        self.is_read_only = False
        self.usual = {name: getattr(pathlib.Path, name) for name in ("open", "mkdir", "replace", "unlink")}
        self.sync = os.fsync
        for name in self.usual:
            setattr(pathlib.Path, name, self.guarded(name))
        os.fsync = self.fsync

    def guarded(self, name):
        usual = self.usual[name]

        def call(path, *args, **kwargs):
            writes = name != "open" or any(mode in (args[0] if args else "r") for mode in "xaw+")
            if writes and self.path in path.parents:
                if self.is_read_only:
                    raise OSError(errno.EROFS, "Read-only file system", str(path))
                makes = name in ("open", "mkdir") and not path.exists()
                # A tmpfs counts its root, too.
                if makes and 1 + sum(1 for _ in self.path.rglob("*")) >= self.most_names:
                    raise OSError(errno.ENOSPC, "No space left on device", str(path))
            return usual(path, *args, **kwargs)

        return call

    def fsync(self, file):
        if sum(map(_size, self.path.rglob("*"))) > self.most_bytes:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.sync(file)

    def widen(self):
        self.most_bytes, self.most_names = 2**23, 100

    def read_only(self, is_so):
        self.is_read_only = is_so

    def close(self):
        for name, usual in self.usual.items():
            setattr(pathlib.Path, name, usual)
        os.fsync = self.sync


def kinds():
    """Return the kinds of small disks that there can be here."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            Tmpfs(Path(folder)).close()
        except (OSError, subprocess.CalledProcessError):
            return [Pretended]
    return [Pretended, Tmpfs]


@contextlib.contextmanager
def small_disk(kind, path, **limits):
    """Yield a small disk at a path."""
    os.makedirs(path, exist_ok=True)
    disk = kind(path, **limits)
    try:
        yield disk
    finally:
        disk.close()
