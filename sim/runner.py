"""Plays ranges of games: blocks of game indices, threads, progress, interruption; no files.

A block is played by one thread in chunks small enough for the cache and for a request to stop to be obeyed at once.
Finished blocks go to a sink in the same thread, so that encoding them runs in parallel too; other threads wait for the
disk; what comes of it goes back to the caller's thread. Which games are in which block, and how many threads there are,
never shows in a row.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any

from sim.game import Player, Spec
from sim.outcome import MOST_WINNERS, Column

if TYPE_CHECKING:
    import numpy as np

LARGEST_BLOCK = 2**19
SMALLEST_BLOCK = 2**10
# The last blocks of a run are about this small a share of what a thread plays.
LAST_SHARE = 64
LARGEST_CHUNK = 2**13
FIRST_CHUNK = 2**6
# A chunk grows while it takes less than the first and shrinks when it takes more than the second (seconds).
SHORT_CHUNK, LONG_CHUNK = 0.005, 0.05
# A block is closed early after so many seconds, or this share of the time spent so far if that is longer: slow games
# are kept often too, and long runs do not fall into thousands of parts.
CLOSE_AFTER, CLOSE_SHARE = 5.0, 0.01
TICK = 0.1

Range = tuple[int, int]
"""First game index and number of games."""

Progress = Callable[[int, int, float], object]
"""Called with the games there, the games wanted and the games played per second."""


@dataclasses.dataclass(frozen=True)
class Tally:
    """What a call of `play` did.

    Attributes
    ----------
    n_played
        Games in finished blocks.
    seconds
        Time it took.
    """

    n_played: int
    seconds: float


def default_threads() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def block_size(n_games: int, threads: int, left: int) -> int:
    """Return the default number of games of the next block of a run that has so many left.

    It is a quarter of what each thread plays, so that little is lost if the run is killed; and at most half of each
    thread's share of what is left, so that no thread waits long for the last block of another (guided self-scheduling;
    Polychronopoulos and Kuck, 1987).
    """
    most = min(LARGEST_BLOCK, -(-n_games // (4 * threads)))
    least = max(SMALLEST_BLOCK, -(-n_games // (LAST_SHARE * threads)))
    wanted = min(most, max(least, -(-left // (2 * threads))))
    return -(-wanted // SMALLEST_BLOCK) * SMALLEST_BLOCK


def cut(ranges: Iterable[Range], size: int | Callable[[int], int]) -> deque[Range]:
    """Return the ranges in pieces of at most `size` games, which may depend on how many are left."""
    ranges = list(ranges)
    left = sum(n_games for _, n_games in ranges)
    pieces: deque[Range] = deque()
    for first, n_games in ranges:
        at, end = first, first + n_games
        while at < end:
            piece = min(size if isinstance(size, int) else size(left), end - at)
            pieces.append((at, piece))
            at, left = at + piece, left - piece
    return pieces


class Rows:
    """The rows of one block, in the smallest types. Shares stay numbers of winners until they are written or shown."""

    def __init__(self, columns: Sequence[Column], n_games: int) -> None:
        import numpy as np

        self.columns = columns
        self._arrays = [np.empty(n_games, np.uint8 if column.share else column.storage) for column in columns]

    def take(self, at: int, chunk: Sequence[np.ndarray[Any, Any]]) -> None:
        """Store a chunk as a kernel returns it, one array a column, from row `at` on."""
        for array, numbers in zip(self._arrays, chunk, strict=True):
            array[at : at + len(numbers)] = numbers

    def arrays(self, n_games: int) -> list[np.ndarray[Any, Any]]:
        """Return the first `n_games` rows, one array a column.

        Raises
        ------
        ValueError
            If a value lies outside its column's range: the kernel is at fault.
        """
        arrays = [array[:n_games] for array in self._arrays]
        for column, array in zip(self.columns, arrays, strict=True):
            if column.text:
                continue
            low, high = bounds(column)
            least, most = int(array.min()), int(array.max())
            if least < low or most > high:
                wrong = least if least < low else most
                raise ValueError(f"column {column.name}: the kernel wrote {wrong}, outside {low} to {high}")
        return arrays


def bounds(column: Column) -> tuple[int, int]:
    """Return the smallest and the largest number a kernel may write in `column`."""
    if column.share:
        return 0, MOST_WINNERS
    return (0, len(column.categories) - 1) if column.categories else (column.low - column.optional, column.high)


Sink = Callable[[int, list["np.ndarray[Any, Any]"]], Any]
"""Takes a block's first game index and its columns (see `Rows`), in the thread that played them; returns a receipt."""

Store = Callable[[Any], Any]
"""Takes what a sink returned, in a thread that may wait for a disk while others play; returns the receipt."""


@dataclasses.dataclass
class _Block:
    first: int
    n_games: int
    n_played: int = 0


class _Worker:
    """What the threads share; `closes` says whether blocks that take long end early."""

    def __init__(self, player: Player, sink: Sink, stopped: Callable[[], bool], *, closes: bool = True) -> None:
        self.player = player
        self.sink = sink
        self.stopped = stopped
        self.closes = closes
        self.chunk = FIRST_CHUNK
        self.began = time.monotonic()

    def play(self, block: _Block) -> tuple[int, Any] | None:
        """Play a block; return the games played and what the sink returns, or None if told to stop before the end.

        A block that takes too long ends early, with fewer games than it has.
        """
        if self.stopped():
            return None
        rows = Rows(self.player.columns, block.n_games)
        chunk = self.chunk
        opened = time.monotonic()
        closing = opened + max(CLOSE_AFTER, CLOSE_SHARE * (opened - self.began))
        while block.n_played < block.n_games:
            if self.stopped():
                return None
            began = time.monotonic()
            wanted = min(chunk, block.n_games - block.n_played)
            chunk_rows = self.player.play_some(block.first + block.n_played, wanted)
            rows.take(block.n_played, chunk_rows)
            block.n_played += len(chunk_rows[0])
            now = time.monotonic()
            if now - began < SHORT_CHUNK:
                chunk = min(LARGEST_CHUNK, 2 * chunk)
            elif now - began > LONG_CHUNK:
                chunk = max(1, chunk // 2)
            if self.closes and now > closing:
                break
        self.chunk = chunk
        return block.n_played, self.sink(block.first, rows.arrays(block.n_played))


def ready(spec: Spec) -> Player:
    """Return a player whose kernel is compiled, by playing one game with the least effort."""
    return warm(Player(spec))


def warm(player: Player) -> Player:
    """Compile a player's kernel."""
    Player(player.spec.brief()).play(0, 1)
    return player


def play_whole(player: Player, first: int, n_games: int) -> list[np.ndarray[Any, Any]]:
    """Return the columns of one block (see `Rows`), however long it takes."""
    whole = _Worker(player, lambda first, arrays: arrays, lambda: False, closes=False).play(_Block(first, n_games))
    assert whole is not None
    arrays: list[np.ndarray[Any, Any]] = whole[1]
    return arrays


def play(
    player: Player,
    ranges: Sequence[Range],
    sink: Sink,
    *,
    store: Store | None = None,
    receive: Callable[[Any], object] | None = None,
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
    n_there: int = 0,
    stop: threading.Event | None = None,
) -> Tally:
    """Play `ranges` of games.

    At most two blocks a thread are in play and as many are being stored, so memory does not grow with the number of
    games. When `stop` is set, an exception is raised or Ctrl-C pressed, blocks in the middle are dropped within a
    chunk's time; every finished block is stored and received before this returns or raises.

    Parameters
    ----------
    sink
        Takes each finished block, in the thread that played it.
    store
        Takes what the sink returned, beside the playing.
    receive
        Takes the receipts, `store`'s or else the sink's, in the calling thread.
    threads, block
        Default: the processors there are; `block_size`.
    progress
        Called about ten times a second, and at the end.
    n_there
        Games there already, counted in what `progress` is told.

    Raises
    ------
    ValueError
        If `threads` or `block` is less than 1.
    """
    n_games = sum(n for _, n in ranges)
    threads = default_threads() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads = {threads}: at least 1 is needed")
    if block is not None and block < 1:
        raise ValueError(f"block = {block}: at least 1 game is needed")
    if not n_games:
        return Tally(0, 0.0)
    crew = _Crew(player, sink, store, receive or (lambda receipt: None), stop)
    blocks = cut(ranges, partial(block_size, n_games, threads) if block is None else min(block, LARGEST_BLOCK))

    def tell(done: int, rate: float) -> None:
        if progress is not None:
            progress(n_there + done, n_there + n_games, rate)

    crew.play(blocks, threads, tell)
    return Tally(crew.n_received, crew.seconds)


class _Crew:
    """Threads at work on blocks, threads that store them, and what the calling thread knows of both."""

    def __init__(
        self,
        player: Player,
        sink: Sink,
        store: Store | None,
        receive: Callable[[Any], object],
        stop: threading.Event | None,
    ) -> None:
        self.halt = threading.Event()
        self.stop = stop or self.halt
        self.worker = _Worker(player, sink, lambda: self.halt.is_set() or self.stop.is_set())
        self.store = store
        self.receive = receive
        self.playing: dict[Future[tuple[int, Any] | None], _Block] = {}
        self.storing: dict[Future[Any], int] = {}
        self.n_received = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.worker.began

    def play(self, blocks: deque[Range], threads: int, tell: Callable[[int, float], object]) -> None:
        """Play `blocks`; on the way out, however it goes, store and take in what is finished."""
        pool = ThreadPoolExecutor(threads, thread_name_prefix="fairdeal")
        disk = ThreadPoolExecutor(threads, thread_name_prefix="fairdeal-disk")
        try:
            while (blocks or self.playing or self.storing) and not self.stop.is_set():
                while blocks and len(self.playing) < 2 * threads and len(self.storing) < 2 * threads:
                    job = _Block(*blocks.popleft())
                    self.playing[pool.submit(self.worker.play, job)] = job
                wait([*self.playing, *self.storing], timeout=TICK, return_when=FIRST_COMPLETED)
                for future in [future for future in self.playing if future.done()]:
                    job = self.playing[future]
                    self.pass_on(future, disk)
                    if job.n_played < job.n_games and not self.stop.is_set():
                        blocks.extendleft(reversed(_rest(job, threads)))
                for stored in [stored for stored in self.storing if stored.done()]:
                    self.take_in(stored)
                in_play = sum(job.n_played for job in self.playing.values())
                done = self.n_received + sum(self.storing.values()) + in_play
                tell(done, done / max(self.seconds, 1e-9))
        finally:
            self.halt.set()
            pool.shutdown(wait=True, cancel_futures=True)
            for future in [future for future in self.playing if _is_good(future)]:
                self.pass_on(future, disk)
            disk.shutdown(wait=True)
            for stored in [stored for stored in self.storing if _is_good(stored)]:
                self.take_in(stored)

    def pass_on(self, future: Future[tuple[int, Any] | None], disk: ThreadPoolExecutor) -> None:
        """Have a finished block stored, or receive it if there is nothing to store; raise what it raised."""
        del self.playing[future]
        finished = future.result()
        if finished is None:
            return
        n_played, made = finished
        if self.store is None:
            self.receive(made)
            self.n_received += n_played
        else:
            self.storing[disk.submit(self.store, made)] = n_played

    def take_in(self, stored: Future[Any]) -> None:
        """Receive a stored block; raise what storing it raised."""
        n_played = self.storing.pop(stored)
        self.receive(stored.result())
        self.n_received += n_played


def _rest(job: _Block, threads: int) -> deque[Range]:
    """Return what a block that was closed early has left, in pieces that every thread gets some of."""
    left = job.n_games - job.n_played
    return cut([(job.first + job.n_played, left)], max(1, min(job.n_played, -(-left // threads))))


def _is_good(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
