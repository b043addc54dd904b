"""A rule set is a frozen dataclass, declared once.

From the one declaration of an option (its default, values, bounds and meaning) come the reading of TOML files and of
``--rule OPTION=VALUE``, the listing of ``fairdeal rules``, the messages about wrong values, the record handed to a
compiled kernel, and the provenance written with results.
"""

from __future__ import annotations

import abc
import dataclasses
import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sim.cards import RANKS

if TYPE_CHECKING:
    import numpy as np

LARGEST_COUNT = 2**31 - 1


class RuleError(ValueError):
    """A rule set that cannot be: an unknown option or variant, a wrong value, or values that do not go together."""


class Choice(IntEnum):
    """Base of the enums of rule values; a member's value is its number in kernels and its text the rule book's name."""

    @property
    def text(self) -> str:
        """Return the value's name in the rule book."""
        return self.name.lower()

    @classmethod
    def texts(cls) -> list[str]:
        """Return the names of all values, in order."""
        return [member.text for member in cls]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word nearest to `word`, or nothing if none is near."""
    found = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f" (did you mean '{found[0]}'?)" if found else ""


def listed(words: Sequence[str], last: str = "or") -> str:
    """Return ``a, b or c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


@dataclasses.dataclass(frozen=True)
class Kind(abc.ABC):
    """What values an option may take, and how they are read and written."""

    meaning: str
    gap: bool  # settles something the source document leaves open

    @property
    @abc.abstractmethod
    def allowed(self) -> str:
        """Say which values are allowed."""

    @abc.abstractmethod
    def read(self, value: object) -> Any:
        """Return the option's value for a text of the command line or a value of a TOML file.

        Raises
        ------
        ValueError
            If it is none; the message says why, without naming the option.
        """

    def plain(self, value: Any) -> Any:
        """Return `value` as JSON and TOML have it."""
        return value

    def text(self, value: Any) -> str:
        """Return `value` as it is typed after ``--rule OPTION=``."""
        return str(self.plain(value))

    def fields(self, name: str, value: Any) -> list[tuple[str, Any, Any]]:
        """Return (field, dtype, value) for the kernel's record."""
        return [(name, "i8", int(value))]

    @abc.abstractmethod
    def samples(self) -> list[Any]:
        """Return values worth trying in tests: every value of an enum, the bounds and some within for numbers."""


@dataclasses.dataclass(frozen=True)
class Integer(Kind):
    """A whole number between two bounds."""

    low: int
    high: int = LARGEST_COUNT

    @property
    def allowed(self) -> str:
        return f"{self.low}–{self.high}" if self.high < LARGEST_COUNT else f"≥ {self.low}"

    def read(self, value: object) -> int:
        number = _read_integer(value)
        if not self.low <= number <= self.high:
            raise ValueError(f"{number:,} is out of range; allowed: {self.low} to {self.high:,}")
        return number

    def samples(self) -> list[Any]:
        top = min(self.high, self.low + 8)
        return sorted({self.low, *range(self.low, top + 1), min(self.high, self.low + 60)})


@dataclasses.dataclass(frozen=True)
class Boolean(Kind):
    """True or false."""

    allowed: ClassVar[str] = "true, false"

    def read(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in {"true", "yes", "on", "1"}:
            return True
        if word in {"false", "no", "off", "0"}:
            return False
        raise ValueError(f"'{value}' is neither true nor false")

    def text(self, value: bool) -> str:
        return str(value).lower()

    def samples(self) -> list[Any]:
        return [False, True]


@dataclasses.dataclass(frozen=True)
class OneOf(Kind):
    """One value of an enum."""

    enum: type[Choice]

    @property
    def allowed(self) -> str:
        return ", ".join(self.enum.texts())

    def read(self, value: object) -> Choice:
        if isinstance(value, self.enum):
            return value
        word = str(value).strip().lower()
        for member in self.enum:
            if member.text == word:
                return member
        raise ValueError(
            f"'{value}' is not allowed; choose {listed(self.enum.texts())}{nearest(word, self.enum.texts())}"
        )

    def plain(self, value: Choice) -> str:
        return value.text

    def samples(self) -> list[Any]:
        return list(self.enum)


@dataclasses.dataclass(frozen=True)
class IntegerList(Kind):
    """A list of whole numbers, each between two bounds and with a largest sum."""

    low: int
    high: int
    largest_sum: int

    @property
    def allowed(self) -> str:
        return f"a list, each {self.low}–{self.high}, at most {self.largest_sum} in all"

    def read(self, value: object) -> tuple[int, ...]:
        if isinstance(value, str):
            items: Sequence[object] = [word for word in value.strip().strip("[]()").split(",")]
        elif isinstance(value, Sequence):
            items = value
        else:
            items = [value]
        numbers = tuple(_read_integer(item) for item in items)
        if not numbers:
            raise ValueError("the list is empty; at least one number is needed")
        for place, number in enumerate(numbers, start=1):
            if not self.low <= number <= self.high:
                raise ValueError(
                    f"number {place} of the list, {number}, is out of range; allowed: {self.low} to {self.high}"
                )
        if sum(numbers) > self.largest_sum:
            raise ValueError(f"the numbers add up to {sum(numbers)}; at most {self.largest_sum} in all are allowed")
        return numbers

    def plain(self, value: tuple[int, ...]) -> list[int]:
        return list(value)

    def text(self, value: tuple[int, ...]) -> str:
        return ",".join(map(str, value))

    def fields(self, name: str, value: tuple[int, ...]) -> list[tuple[str, Any, Any]]:
        longest = self.largest_sum // max(1, self.low)
        padded = [*value, *[0] * (longest - len(value))]
        return [(name, ("i8", (longest,)), padded), (f"n_{name}", "i8", len(value))]

    def samples(self) -> list[Any]:
        return [
            (self.low,),
            (self.high, self.low),
            (1, 2, 3, 4, 3, 2, 1),
            (2, 2, 2),
            (1, 2, 3) * (self.largest_sum // 6),
            (self.high,) * (self.largest_sum // self.high),
        ]


@dataclasses.dataclass(frozen=True)
class RankSet(Kind):
    """A set of ranks, written as a word such as ``JQKA``; the empty word is the empty set."""

    allowed: ClassVar[str] = f"any of {RANKS}, or none"

    def read(self, value: object) -> str:
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = "".join(str(item) for item in value)
        word = str(value).upper().replace("10", "T").replace(",", "").replace(" ", "")
        if word in {"NONE", "''", '""'}:
            word = ""
        for letter in word:
            if letter not in RANKS:
                raise ValueError(f"'{letter}' is not a rank; allowed: any of {RANKS}, or nothing")
            if word.count(letter) > 1:
                raise ValueError(f"rank {letter} is named twice")
        return "".join(rank for rank in RANKS[1:] + RANKS[0] if rank in word)

    def text(self, value: str) -> str:
        return value or "none"

    def fields(self, name: str, value: str) -> list[tuple[str, Any, Any]]:
        """Hand over one bit a rank, A 2 … K from the lowest."""
        return [(name, "i8", sum(1 << RANKS.index(rank) for rank in value))]

    def samples(self) -> list[Any]:
        return ["", "A", "JQKA", "2A", RANKS[1:] + RANKS[0]]


def _read_integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{_toml_value(value)} is not a whole number")
    try:
        return int(str(value).strip())
    except ValueError:
        raise ValueError(f"'{value}' is not a whole number") from None


def option(default: Any, kind: Kind) -> Any:
    """Declare one option of a rule set: its default and its kind."""
    return dataclasses.field(default=default, metadata={"kind": kind})


def integer(default: int, low: int, high: int = LARGEST_COUNT, *, meaning: str, gap: bool = False) -> Any:
    """Declare a whole-number option."""
    return option(default, Integer(meaning, gap, low, high))


def boolean(default: bool, *, meaning: str, gap: bool = False) -> Any:
    """Declare a yes/no option."""
    return option(default, Boolean(meaning, gap))


def one_of(default: Choice, *, meaning: str, gap: bool = False) -> Any:
    """Declare an option with named values."""
    return option(default, OneOf(meaning, gap, type(default)))


@dataclasses.dataclass(frozen=True)
class Rules:
    """Base of a game's rule set. Fields are declared by `option` and its kin.

    An instance has been checked: making one with a wrong value raises `RuleError`.
    """

    GAME: ClassVar[str]
    VARIANTS: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]]
    """Named variants: name → (description, the options that depart from the defaults)."""

    def __post_init__(self) -> None:
        """Read every value and check them together."""
        for name, kind in self.kinds().items():
            try:
                value = kind.read(getattr(self, name))
            except ValueError as error:
                raise RuleError(f"{name}: {error}") from None
            object.__setattr__(self, name, value)
        for problem in self.check():
            raise RuleError(problem)

    def check(self) -> Iterator[str]:
        """Yield what is wrong with the values taken together."""
        yield from ()

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield (option, why) for each option that cannot matter under the others."""
        yield from ()

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Return the kind of each option, in the rule book's order."""
        return {field.name: field.metadata["kind"] for field in dataclasses.fields(cls)}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default of each option."""
        return {field.name: field.default for field in dataclasses.fields(cls)}

    @classmethod
    def kind(cls, name: str) -> Kind:
        """Return the kind of option `name`.

        Raises
        ------
        RuleError
            If the game has no such option; the message lists them.
        """
        kinds = cls.kinds()
        if name not in kinds:
            raise RuleError(
                f"{cls.GAME} has no option '{name}'{nearest(name, kinds)}; its options are {listed(list(kinds), 'and')}"
            )
        return kinds[name]

    @classmethod
    def build(
        cls,
        *,
        variant: str | None = None,
        file: str | Path | None = None,
        assignments: Iterable[str] = (),
        options: Mapping[str, object] | None = None,
    ) -> Self:
        """Return a rule set: the defaults, then the variant, the file, the assignments and the options on top.

        Parameters
        ----------
        variant
            A name of `VARIANTS`.
        file
            A TOML rule file: ``option = value`` lines, and ``game = "…"`` to say which game they are for.
        assignments
            Texts ``option=value``.
        options
            Values by option name.

        Raises
        ------
        RuleError
            If a name is not known, a value wrong, or the values do not go together.
        """
        values: dict[str, object] = {}
        if variant is not None:
            values |= cls.variant(variant)
        if file is not None:
            read = cls._read_file(Path(file))
            for name, value in values.items():
                kind = cls.kind(name)
                if name in read and kind.read(read[name]) != kind.read(value):
                    raise RuleError(
                        f"variant {variant} has {name} = {kind.text(value)}, but rule file {file} says "
                        f"{kind.text(kind.read(read[name]))}; leave one of them out"
                    )
            values |= read
        for assignment in assignments:
            name, equals, text = assignment.partition("=")
            name = name.strip()
            if not equals:
                raise RuleError(
                    f"'{assignment}' has no '='; write OPTION=VALUE, for example {next(iter(cls.kinds()))}=…"
                )
            cls.kind(name)
            values[name] = text
        for name, value in (options or {}).items():
            cls.kind(name)
            values[name] = value
        return cls(**values)

    @classmethod
    def variant(cls, name: str) -> dict[str, Any]:
        """Return what the variant `name` changes.

        Raises
        ------
        RuleError
            If there is no such variant; the message lists them.
        """
        if name not in cls.VARIANTS:
            known = listed(list(cls.VARIANTS), "and")
            raise RuleError(f"{cls.GAME} has no variant '{name}'{nearest(name, cls.VARIANTS)}; there are {known}")
        return dict(cls.VARIANTS[name][1])

    @classmethod
    def _read_file(cls, path: Path) -> dict[str, object]:
        try:
            values = tomllib.loads(path.read_text("utf-8-sig"))
        except OSError as error:
            raise RuleError(f"rule file {path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RuleError(f"rule file {path} is not TOML: {error}") from None
        game = values.pop("game", cls.GAME)
        if game != cls.GAME:
            raise RuleError(f"rule file {path} is for {game}, not for {cls.GAME}")
        for name, value in values.items():
            try:
                cls.kind(name).read(value)
            except ValueError as error:
                raise RuleError(
                    f"rule file {path}: {error if isinstance(error, RuleError) else f'{name}: {error}'}"
                ) from None
        return values

    def plain(self) -> dict[str, Any]:
        """Return every option's value as JSON has it."""
        return {name: kind.plain(getattr(self, name)) for name, kind in self.kinds().items()}

    def texts(self) -> dict[str, str]:
        """Return every option's value as it is typed after ``--rule OPTION=``."""
        return {name: kind.text(getattr(self, name)) for name, kind in self.kinds().items()}

    def changes(self) -> dict[str, str]:
        """Return the options that are not at their default, as typed."""
        defaults = self.defaults()
        return {name: text for name, text in self.texts().items() if getattr(self, name) != defaults[name]}

    def to_toml(self) -> str:
        """Return a rule file to edit: every option with its value, its allowed values and its meaning."""
        lines = [
            f"# Rules of {self.GAME}: edit, then give it to a command as --rules FILE.toml.",
            f'game = "{self.GAME}"',
            "",
        ]
        for name, kind in self.kinds().items():
            lines.append(f"# {kind.meaning}{' (gap)' if kind.gap else ''}")
            lines.append(f"# allowed: {kind.allowed}; default: {kind.text(self.defaults()[name])}")
            lines.append(f"{name} = {_toml_value(kind.plain(getattr(self, name)))}")
            lines.append("")
        return "\n".join(lines)

    def record_fields(self) -> list[tuple[str, Any, Any]]:
        """Return (field, dtype, value) of every option for a kernel's record."""
        return [entry for name, kind in self.kinds().items() for entry in kind.fields(name, getattr(self, name))]


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def pack(fields: Sequence[tuple[str, Any, Any]]) -> np.ndarray[Any, Any]:
    """Return one record (an array of shape (1,)) with the given (field, dtype, value) entries, for a kernel to read."""
    import numpy as np

    dtype = np.dtype([(name, *([kind] if isinstance(kind, str) else kind)) for name, kind, _ in fields], align=True)
    record = np.zeros(1, dtype)
    for name, _, value in fields:
        record[name][0] = value
    return record
