"""Results folders as wholes: several joined into one, and one checked by playing a sample of its games again."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import kept, runner, storage, store
from sim.game import Player
from sim.part import Part, PartError, is_whole
from sim.provenance import rebuild_spec
from sim.store import Manifest, RefusedError, StoreError

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 5  # wrong rows of a part that are named one by one


@dataclasses.dataclass(frozen=True)
class Verified:
    """What a check of a results folder found.

    Attributes
    ----------
    problems
        A sentence each: what is damaged, missing, or not what the kernels play; the part is named first.
    n_replayed
        Games played again and compared.
    seed
        Of the sample.
    same_kernels
        False if the rows are another version's: then games played again may differ without a fault in the folder.
    """

    folder: Path
    n_parts: int
    n_there: int
    games: int
    problems: tuple[str, ...]
    n_replayed: int
    seed: int
    same_kernels: bool

    @property
    def is_good(self) -> bool:
        """Tell whether nothing is wrong with what is there."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        plain = dataclasses.asdict(self) | {"folder": str(self.folder), "problems": list(self.problems)}
        return {**plain, "good": self.is_good}


def verify_folder(folder: str | os.PathLike[str], *, sample: int = 1_000, seed: int | None = None) -> Verified:
    """Check every byte of a results folder, and play a random sample of its games again.

    Parameters
    ----------
    sample
        Games to be played again; of a folder that keeps counts, at least one whole block.
    seed
        Of the sample; drawn if it is None.

    Raises
    ------
    StoreError
        If the folder has no manifest that can be read.
    RuleError
        If this version has no such game, rules or policies.
    """
    from sim.jit import kernel_hash

    path = storage.place(folder)
    manifest = store.read_manifest(path)
    spec = rebuild_spec(manifest.spec)
    seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    chosen = _choose(manifest, sample, random.Random(seed))
    player = Player(spec)
    problems, n_replayed = [], 0
    for part in manifest.parts:
        try:
            table = store.verify(path / part.name, part, manifest.spec)
        except (PartError, OSError) as error:
            problems.append(f"{part.name}: {store.reason(error)}")
            continue
        if chosen.get(part):
            found = _compare_counts(player, path, part, manifest) if table is None else None
            found = _compare_rows(player, table, part, chosen[part]) if table is not None else found
            problems += [f"{part.name}: {problem}" for problem in found or ()]
            n_replayed += part.games if table is None else len(chosen[part])
    problems += store.misfits(path, manifest)
    ours = kernel_hash(spec.kernel_module)
    return Verified(
        folder=path,
        n_parts=len(manifest.parts),
        n_there=manifest.n_there,
        games=manifest.games,
        problems=tuple(problems),
        n_replayed=n_replayed,
        seed=seed,
        same_kernels=manifest.kernel_hash == ours,
    )


def _choose(manifest: Manifest, sample: int, rnd: random.Random) -> dict[Part, list[int]]:
    """Return part → the games of it that are to be played again."""
    ends = list(itertools.accumulate(part.games for part in manifest.parts))
    if not ends:
        return {}
    chosen: dict[Part, list[int]] = {}
    if manifest.keep != store.ROWS:  # counts can only be compared a block at a time
        parts, n = list(manifest.parts), 0
        rnd.shuffle(parts)
        for part in parts:
            if chosen and n + part.games > sample:
                break
            chosen[part] = list(range(part.first, part.end))
            n += part.games
        return chosen
    places = iter(sorted(rnd.sample(range(ends[-1]), min(sample, ends[-1]))))
    place = next(places, None)
    for part, end in zip(manifest.parts, ends, strict=True):
        while place is not None and place < end:
            chosen.setdefault(part, []).append(part.end - (end - place))
            place = next(places, None)
    return chosen


def _compare_rows(player: Player, table: pa.Table, part: Part, games: Sequence[int]) -> Iterator[str]:
    """Play games again; say how they differ from their rows."""
    wrong = 0
    for game in games:
        raw = [column[0] for column in player.play(game, 1)]
        row = {name: values[0] for name, values in table.slice(game - part.first, 1).to_pydict().items()}
        played = {column.name: column.value(number) for column, number in zip(player.columns, raw, strict=True)}
        differing = [name for name, value in played.items() if row[name] != value]
        wrong += bool(differing)
        if differing and wrong <= _SHOWN:
            name = differing[0]
            more = f" and {len(differing) - 1} more columns" if len(differing) > 1 else ""
            yield f"game {game} has {name} = {row[name]}; played again it is {played[name]}{more}"
    if wrong > _SHOWN:
        yield f"{wrong - _SHOWN} more of {len(games)} games played again differ"


def _compare_counts(player: Player, folder: Path, part: Part, manifest: Manifest) -> Iterator[str]:
    """Play a whole block again; say whether its counts differ from those that are kept."""
    from sim.counts import Counter

    rows = runner.Rows(player.columns, part.games)
    for first in range(part.first, part.end, runner.LARGEST_CHUNK):
        rows.take(first - part.first, player.play(first, min(runner.LARGEST_CHUNK, part.end - first)))
    by_policy = any(len(set(names)) > 1 for names in player.spec.policies.values())
    counted = Counter(player.columns, manifest.joint, by_policy=by_policy).count(rows.arrays(part.games))
    _, there = kept.inspect(folder / part.name)
    differing = [key for key, value in store.as_json(counted).items() if there.get(key) != value]
    if differing:
        yield f"its {part.games:,} games, played again, differ in {', '.join(differing)}"


def merge_folders(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Manifest:
    """Join runs of the same specification that hold different games; return what the new folder says of itself.

    Every file is checked and copied whole; what lies in `out` of an earlier try is kept. The folders stay as they are.

    Raises
    ------
    RefusedError
        If they are not of one specification, of the same kernels and kept the same way, or two hold the same game.
    StoreError
        If a folder cannot be read, a part is damaged, or `out` cannot be written.
    RuleError
        If this version has no such game, rules or policies.
    """
    paths = [storage.place(folder) for folder in folders]
    manifests = [store.read_manifest(path) for path in paths]
    _refuse_unlike(paths, manifests)
    parts = _distinct_parts(paths, manifests)
    for path in paths:
        if Path(out).exists() and path.resolve() == Path(out).resolve():
            raise RefusedError(f"{out} is one of the folders to be joined; give another for the result")
    first = manifests[0]
    spec = rebuild_spec(first.spec)
    games = max(manifest.games for manifest in manifests)
    with store.RunFolder(Path(out), spec, games, first.kernel_hash, first.keep, first.joint) as folder:
        folder.seconds = sum(manifest.seconds for manifest in manifests)
        there = {part.name for part in folder.parts}
        for part, path in parts:
            if part.name not in there:
                if not is_whole(path / part.name, part):
                    raise StoreError(f"{path / part.name} is missing or damaged; its run's command plays it again")
                folder.take(path / part.name, part)
    return store.read_manifest(out)


def _refuse_unlike(paths: Sequence[Path], manifests: Sequence[Manifest]) -> None:
    """Refuse runs that are not parts of one."""
    first = manifests[0]
    for path, other in zip(paths[1:], manifests[1:], strict=True):
        if other.spec != first.spec:
            how = store.differences(other.spec, first.spec, (str(path), str(paths[0])))
            raise RefusedError(f"{path} and {paths[0]} are not of one run: {how}")
        if other.kernel_hash != first.kernel_hash:
            raise RefusedError(
                f"{path} and {paths[0]} were played by different kernels ({other.kernel_hash}, {first.kernel_hash})"
            )
        if (other.keep, other.joint) != (first.keep, first.joint):
            raise RefusedError(f"{path} keeps {other.keep}, {paths[0]} keeps {first.keep}, or they count other columns")


def _distinct_parts(paths: Sequence[Path], manifests: Sequence[Manifest]) -> list[tuple[Part, Path]]:
    """Return every part with its folder, in the order of their games.

    Raises
    ------
    RefusedError
        If two parts share a game.
    """
    parts = sorted(
        ((part, path) for path, manifest in zip(paths, manifests, strict=True) for part in manifest.parts),
        key=lambda pair: pair[0].first,
    )
    for (part, path), (other, elsewhere) in itertools.pairwise(parts):
        if part.overlaps(other):
            last = min(part.end, other.end) - 1
            raise RefusedError(
                f"{path / part.name} and {elsewhere / other.name} both hold games {other.first} to {last}; "
                "join runs of different games"
            )
    return parts


__all__ = ["Verified", "merge_folders", "verify_folder"]
