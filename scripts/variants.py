"""The variants of a comparison: what is varied, every combination of it, and the folder each is played into."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.errors import WrongCall
from scripts.options import SLOTS
from sim import storage
from sim.game import Game, Spec
from sim.rules import IntegerList, RuleError, listed, nearest

VARIANT = "variant"
VARIANTS_DOCUMENT = "_compare.json"  # as analysis.comparison has it, which loads numpy
MOST_VARIANTS = 256
_LONGEST_NAME = 100


@dataclasses.dataclass(frozen=True)
class Factor:
    """Something that is varied: an option, the policies of a slot, or the named rule set.

    Attributes
    ----------
    values
        As typed, in their usual spelling; two or more.
    """

    name: str
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Variant:
    """One combination of the factors' values, and the run it stands for."""

    levels: Mapping[str, str]
    spec: Spec

    @property
    def name(self) -> str:
        """Return ``bus_size = 10, swap = true``."""
        return ", ".join(f"{name} = {value}" for name, value in self.levels.items())

    @property
    def folder(self) -> str:
        """Return its folder's name: ``bus_size=10+swap=true``."""
        name = "+".join(re.sub(r"[^\w.,=-]", "-", f"{name}={value}") for name, value in self.levels.items())
        if len(name) <= _LONGEST_NAME:
            return name
        return f"{name[: _LONGEST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def read_factors(game: Game, texts: Sequence[str]) -> list[Factor]:
    """Return what ``--vary OPTION=V1,V2,…`` names.

    Values are separated by commas; if there is a semicolon, by semicolons, so that a value may have commas in it:
    ``policy=greedy;planner,greedy,greedy,greedy``.

    Raises
    ------
    RuleError
        For something that cannot be varied, or a wrong value.
    """
    factors: list[Factor] = []
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip()
        if not equals:
            raise RuleError(f"--vary '{text}' has no '='; write OPTION=VALUE,VALUE,…")
        if any(factor.name == name for factor in factors):
            raise RuleError(f"--vary {name} is given twice; write all values in one: --vary {name}=VALUE,VALUE,…")
        factors.append(Factor(name, _values(game, name, rest)))
    n_variants = math.prod(len(factor.values) for factor in factors)
    if n_variants > MOST_VARIANTS:
        raise RuleError(f"--vary makes {n_variants:,} variants; at most {MOST_VARIANTS} can be compared")
    return factors


def _values(game: Game, name: str, text: str) -> tuple[str, ...]:
    """Return the values of one factor in their usual spelling."""
    slots = [slot.name for slot in game.slots]
    kinds = game.rules.kinds()
    if name not in kinds and name not in slots and name != VARIANT:
        known = [*slots, VARIANT, *kinds]
        raise RuleError(f"--vary: {game.name} has no '{name}'{nearest(name, known)}; it has {listed(known, 'and')}")
    is_list = isinstance(kinds.get(name), IntegerList)
    words = text.split(";") if ";" in text or is_list else text.split(",")
    words = [word.strip() for word in words]
    if len(words) < 2:
        hint = f"; separate lists by semicolons: --vary '{name}=1,2,3;2,2'" if is_list else ""
        raise RuleError(f"--vary {name}={text}: two values or more are needed{hint}")
    values = [_usual(game, name, word) for word in words]
    for value in values:
        if values.count(value) > 1:
            raise RuleError(f"--vary {name}={text}: {value} is there twice")
    return tuple(values)


def _usual(game: Game, name: str, word: str) -> str:
    """Return a value in its usual spelling."""
    if name == VARIANT:
        game.rules.variant(word)
        return word
    slot = next((slot for slot in game.slots if slot.name == name), None)
    if slot is not None:
        names = [policy.strip() for policy in word.split(",")]
        return ",".join(slot.read(names, len(names)))
    kind = game.rules.kind(name)
    try:
        return kind.text(kind.read(word))
    except ValueError as error:
        raise RuleError(f"--vary {name}: {error}") from None


def build_variants(game: Game, factors: Sequence[Factor], given: Mapping[str, Any]) -> list[Variant]:
    """Return every combination of the factors' values, on top of the options given.

    Raises
    ------
    WrongCall
        If something is both varied and given.
    RuleError
        If a combination cannot be played; the message says which.
    """
    varied = {factor.name for factor in factors}
    fixed = {assignment.partition("=")[0].strip() for assignment in given["assignments"]}
    fixed |= {name for name in (VARIANT, *SLOTS) if given[name] is not None}
    for name in sorted(varied & fixed):
        option = f"--{name}" if name in (VARIANT, *SLOTS) else f"--rule {name}"
        raise WrongCall(f"{name} is varied: {option} cannot be given too")
    found = []
    for values in itertools.product(*(factor.values for factor in factors)):
        levels = dict(zip((factor.name for factor in factors), values, strict=True))
        options = [f"{name}={value}" for name, value in levels.items() if name not in (VARIANT, *SLOTS)]
        try:
            rules = game.rules.build(
                variant=levels.get(VARIANT, given[VARIANT]),
                file=given["rule_file"],
                assignments=[*given["assignments"], *options],
            )
            policies = {slot: levels.get(slot, given[slot]) for slot in SLOTS}
            spec = Spec.build(game, rules, policies, given["seed"])
        except RuleError as error:
            place = ", ".join(f"{name} = {value}" for name, value in levels.items())
            raise RuleError(f"variant {place}: {error}") from None
        found.append(Variant(levels, spec))
    _check_different(found)
    return found


def _check_different(variants: Sequence[Variant]) -> None:
    """Refuse two variants that are the same run."""
    seen: dict[str, Variant] = {}
    for variant in variants:
        key = json.dumps(variant.spec.plain(), sort_keys=True)
        if key in seen:
            raise RuleError(f"variants {seen[key].name} and {variant.name} are the same rules and policies")
        seen[key] = variant


def find_baseline(variants: Sequence[Variant], factors: Sequence[Factor], texts: Sequence[str]) -> Variant:
    """Return the variant that ``--baseline VALUE`` or ``--baseline OPTION=VALUE`` (repeatable) names; else the first.

    Raises
    ------
    WrongCall
        If there is none such.
    """
    wanted = dict(variants[0].levels)
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = (name.strip(), value.strip()) if equals else (factors[0].name, text.strip())
        factor = next((factor for factor in factors if factor.name == name), None)
        if factor is None:
            names = [factor.name for factor in factors]
            raise WrongCall(f"--baseline {text}: {name} is not varied{nearest(name, names)}; {listed(names, 'and')} is")
        if not equals and len(factors) > 1:
            raise WrongCall(f"--baseline {text}: several options are varied; write OPTION=VALUE, once for each")
        if value not in factor.values:
            known = listed(factor.values, "and")
            raise WrongCall(f"--baseline {text}: '{value}' is no value of {name}; they are {known}")
        wanted[name] = value
    return next(variant for variant in variants if variant.levels == wanted)


def default_parent(variants: Sequence[Variant], n_games: int) -> Path:
    """Return the folder of a comparison that is given none: the same one for the same comparison."""
    spec = variants[0].spec
    digest = hashlib.sha256("".join(variant.spec.digest() for variant in variants).encode()).hexdigest()[:8]
    return Path("results") / f"{spec.game.name}-compare-{n_games}-seed{spec.seed}-{digest}"


def check_parent(folder: Path, document: str) -> None:
    """Refuse a folder that is not one for variants.

    Raises
    ------
    RefusedError
        If it is a file, a single run's folder, or holds something else.
    StoreError
        If it cannot be read.
    """
    from sim.store import MANIFEST, RefusedError, StoreError

    try:
        names = storage.sizes(folder)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise RefusedError(f"{folder} is a file, not a folder") from None
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {(error.strerror or '').lower()}") from error
    if MANIFEST in names:
        raise RefusedError(f"{folder} is the results folder of a single run; give another one for the variants")
    foreign = {name for name in names if not name.startswith(".")}  # such are what a killed process left
    if foreign and document not in names:
        raise RefusedError(f"{folder} is not a folder of variants and not empty: it holds {min(foreign)}")


def write_document(folder: Path, name: str, document: Mapping[str, Any]) -> None:
    """Write what a folder of variants says of itself, whole or not at all.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    with storage.telling(folder):
        storage.make(folder)
        storage.replace_file(folder / name, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())


def variant_folders(folder: Path) -> list[Path]:
    """Return the folders of a comparison's variants, or the folder itself if it is of none.

    Raises
    ------
    LoadError
        If the comparison's document is damaged.
    """
    if not (folder / VARIANTS_DOCUMENT).exists():
        return [folder]
    from analysis.comparison import Plan
    from analysis.load import LoadError

    plan = Plan.read(folder)
    if plan.keep != "rows":
        raise LoadError(f"{folder} kept joint counts (--keep summary), no rows: this needs the rows")
    return list(plan.folders.values())


def read_margins(texts: Sequence[str]) -> dict[str, Any]:
    """Return what ``--margin`` says, as the fields of `analysis.comparison.Margins`.

    Raises
    ------
    WrongCall
        For something that is no positive number.
    """
    found: dict[str, Any] = {"all": None, "rates": None, "columns": {}}
    for text in texts:
        column, _, amount = text.rpartition("=")
        amount = amount.strip()
        try:
            value = float(amount.removesuffix("%")) / (100 if amount.endswith("%") else 1)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise WrongCall(
                f"--margin {text}: '{amount}' is not a positive number; write 0.5% (of every rate), COLUMN=0.2, or 0.01"
            )
        if column:
            found["columns"][column.strip()] = value
        else:
            found["rates" if amount.endswith("%") else "all"] = value
    return found
