r"""Conditions on columns: read from text, checked against the columns there are, worked out on whole arrays.

The language is a small part of Python's expressions. The text is parsed by `ast` and never evaluated as Python: what is
not in the list below is refused, and the tree is walked here, with numpy. (`pandas.eval` was not taken: its pages call
it unsafe for text from outside, because names, attributes and calls reach Python objects; and it cannot tell a missing
value from a comparison that fails.)

==================  ========================================================================
columns             ``turns``; with several results ``a.turns``, ``b.turns`` (in their order)
numbers, words      ``5``, ``0.5``, ``'stalemate'`` or ``"stalemate"``, ``true``, ``false``
comparisons         ``== != < <= > >=``, also in chains: ``10 <= turns < 20``
one of several      ``winner in (0, 2)``, ``end not in ('stalemate', 'turn_cap')``
joining             ``and``, ``or``, ``not``; ``& | ~`` do the same (mind their precedence: use brackets)
arithmetic          ``+ - * / // %``
functions           ``abs(x)``, ``min(x, y, …)``, ``max(x, y, …)``
==================  ========================================================================

An empty value makes a comparison neither true nor false; ``and``, ``or`` and ``not`` then follow Kleene's three-valued
logic, so that a condition is unknown only where the value it lacks would decide it. Division by zero is empty.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.load import to_numpy
from analysis.pairs import Array, Side

if TYPE_CHECKING:
    import pyarrow as pa

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST_NODES = 200

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_FUNCTIONS = {"abs": np.abs, "min": np.minimum, "max": np.maximum}
_WORDS = {"true": True, "false": False, "True": True, "False": False}


class ConditionError(ValueError):
    """A condition that cannot be read, or names what there is not."""


@dataclasses.dataclass(frozen=True)
class _Value:
    """What a part of a condition comes to: numbers, words or truth, and where it is known (None: everywhere).

    A category column has its words as numbers, `words` to tell them, and says whether these are all there can be.
    """

    kind: str
    data: Any
    known: Array | None = None
    words: tuple[str, ...] | None = None
    name: str = ""
    is_complete: bool = False


class Condition:
    """A condition on the columns of one or several results.

    Parameters
    ----------
    text
        As typed.
    sides
        The results; with several, columns are called ``a.…``, ``b.…`` in their order.

    Attributes
    ----------
    columns
        For each of the results the columns that the condition reads.

    Raises
    ------
    ConditionError
        If it is empty, cannot be read, names a column or a value of a category that there is not, or compares words
        with numbers.
    """

    def __init__(self, text: str, sides: Sequence[Side]) -> None:
        self.text = text.strip()
        self._sides = sides
        self.columns: list[list[str]] = [[] for _ in sides]
        self._tree = _parse(self.text)
        self._find_columns(self._tree)
        empty = [side.schema.empty_table().select(names) for side, names in zip(sides, self.columns, strict=True)]
        self(tuple(_first_batch(table) for table in empty))  # says what is wrong before rows are read

    def __call__(self, batches: Sequence[pa.RecordBatch]) -> tuple[Array, Array]:
        """Return where it is true, and where it is unknown, for rows of the same games."""
        n_rows = batches[0].num_rows
        with np.errstate(all="ignore"):
            found = self._truth(self._work(self._tree, batches), self._tree)
        truth = np.broadcast_to(np.asarray(found.data, bool), n_rows)
        if found.known is None:
            return truth, np.zeros(n_rows, bool)
        known = np.broadcast_to(found.known, n_rows)
        return truth & known, ~known

    # Names

    def _find_columns(self, node: ast.AST) -> None:
        """Note every column that is named, and check it."""
        if isinstance(node, ast.Call):
            for argument in node.args:
                self._find_columns(argument)
            return
        if isinstance(node, ast.Attribute | ast.Name):
            if not (isinstance(node, ast.Name) and node.id in _WORDS):
                side, column = self._place(node)
                if column not in self.columns[side]:
                    self.columns[side].append(column)
            return
        for child in ast.iter_child_nodes(node):
            self._find_columns(child)

    def _place(self, node: ast.Attribute | ast.Name) -> tuple[int, str]:
        """Return which result's which column a name is."""
        letters = LETTERS[: len(self._sides)]
        if isinstance(node, ast.Attribute):
            if not isinstance(node.value, ast.Name):
                raise ConditionError(f"'{_source(node, self.text)}' is no column: write a.COLUMN")
            if node.value.id not in letters or len(node.value.id) != 1:
                known = ", ".join(f"{letter} ({side.name})" for letter, side in zip(letters, self._sides, strict=True))
                raise ConditionError(f"'{node.value.id}.{node.attr}': there is no '{node.value.id}'; there is {known}")
            side, column = letters.index(node.value.id), node.attr
        else:
            side, column = 0, node.id
        names = self._sides[side].schema.names
        if column not in names:
            raise ConditionError(self._no_column(column, side))
        if isinstance(node, ast.Name) and len(self._sides) > 1:
            raise ConditionError(f"'{column}' of which results? Write {' or '.join(f'{x}.{column}' for x in letters)}")
        return side, column

    def _no_column(self, column: str, side: int) -> str:
        schema = self._sides[side].schema
        for name, note in self._sides[side].run.columns.items():
            if column in note.categories:
                return f"there is no column '{column}'; it is a value of {name}: write {name} == '{column}'"
        near = difflib.get_close_matches(column, schema.names, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(schema.names)}"
        return f"there is no column '{column}'; {hint}"

    # Values

    def _work(self, node: ast.AST, batches: Sequence[pa.RecordBatch]) -> _Value:
        """Return what a node comes to."""
        if isinstance(node, ast.BoolOp):
            parts = [self._truth(self._work(part, batches), part) for part in node.values]
            return _joined(parts, is_and=isinstance(node.op, ast.And))
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, batches)
        if isinstance(node, ast.BinOp):
            return self._binary(node, batches)
        if isinstance(node, ast.Compare):
            return self._comparison(node, batches)
        if isinstance(node, ast.Call):
            return self._call(node, batches)
        if isinstance(node, ast.Name) and node.id in _WORDS:
            return _Value("truth", np.bool_(_WORDS[node.id]))
        if isinstance(node, ast.Name | ast.Attribute):
            side, column = self._place(node)
            return self._column(batches[side].column(column), side, column)
        if isinstance(node, ast.Constant):
            return _constant(node, self.text)
        raise ConditionError(f"'{_source(node, self.text)}' is not part of a condition; see 'fairdeal ask --help'")

    def _column(self, column: pa.Array, side: int, name: str) -> _Value:
        import pyarrow as pa

        kind = column.type
        note = self._sides[side].run.columns.get(name)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            column = column.dictionary_encode()
        if pa.types.is_dictionary(column.type):
            codes, valid = to_numpy(column.indices)
            there = tuple(str(word.as_py()) for word in column.dictionary)
            declared = tuple(note.categories) if note else ()
            words = (*there, *(word for word in declared if word not in there))
            return _Value("words", codes.astype(np.int64), valid, words, name, bool(declared))
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise ConditionError(f"column '{name}' holds neither numbers nor words ({kind})")
        data, valid = to_numpy(column)
        is_flag = note is not None and not note.share and (note.low, note.high) == (0, 1)
        if pa.types.is_floating(kind):
            finite = np.isfinite(data)
            known = valid if finite.all() else finite if valid is None else valid & finite
            return _Value("number", data.astype(np.float64), known, name=name)
        wide = data.astype(np.float64 if data.dtype == np.uint64 and (data >= 2**63).any() else np.int64)
        return _Value("flag" if is_flag or pa.types.is_boolean(kind) else "number", wide, valid, name=name)

    def _truth(self, value: _Value, node: ast.AST) -> _Value:
        """Return a value as true or false."""
        if value.kind == "truth":
            return value
        if value.kind == "flag":
            return _Value("truth", value.data != 0, value.known)
        what = _source(node, self.text)
        example = f"{what} == '{value.words[0]}'" if value.words else f"{what} > 0"
        raise ConditionError(f"'{what}' is {_called(value)}, not a condition: compare it, for example {example}")

    def _number(self, value: _Value, node: ast.AST) -> _Value:
        if value.kind in ("words", "word"):
            raise ConditionError(f"'{_source(node, self.text)}' is {_called(value)}; it cannot be reckoned with")
        return dataclasses.replace(value, data=np.asarray(value.data, np.float64))  # whole numbers could overflow

    def _unary(self, node: ast.UnaryOp, batches: Sequence[pa.RecordBatch]) -> _Value:
        value = self._work(node.operand, batches)
        if isinstance(node.op, ast.Not | ast.Invert):
            truth = self._truth(value, node.operand)
            return _Value("truth", ~np.asarray(truth.data, bool), truth.known)
        number = self._number(value, node.operand)
        return _Value("number", -number.data if isinstance(node.op, ast.USub) else number.data, number.known)

    def _binary(self, node: ast.BinOp, batches: Sequence[pa.RecordBatch]) -> _Value:
        left, right = self._work(node.left, batches), self._work(node.right, batches)
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            parts = [self._truth(left, node.left), self._truth(right, node.right)]
            return _joined(parts, is_and=isinstance(node.op, ast.BitAnd))
        if type(node.op) not in _ARITHMETIC:
            raise ConditionError(
                f"'{_source(node, self.text)}': only + - * / // % can be reckoned with (and 'and', 'or', 'not')"
            )
        a, b = self._number(left, node.left), self._number(right, node.right)
        known = _both(a.known, b.known)
        if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            is_zero = np.asarray(b.data == 0)
            known = _both(known, ~is_zero) if is_zero.any() else known
            return _Value("number", _ARITHMETIC[type(node.op)](a.data, np.where(is_zero, 1, b.data)), known)
        return _Value("number", _ARITHMETIC[type(node.op)](a.data, b.data), known)

    def _call(self, node: ast.Call, batches: Sequence[pa.RecordBatch]) -> _Value:
        name = node.func.id if isinstance(node.func, ast.Name) else _source(node.func, self.text)
        if name not in _FUNCTIONS or node.keywords or not node.args or (name == "abs") != (len(node.args) == 1):
            raise ConditionError(
                f"'{_source(node, self.text)}': the functions are abs(x), min(x, y, …) and max(x, y, …)"
            )
        values = [self._number(self._work(argument, batches), argument) for argument in node.args]
        found = values[0]
        if name == "abs":
            return _Value("number", np.abs(found.data), found.known)
        for value in values[1:]:
            found = _Value("number", _FUNCTIONS[name](found.data, value.data), _both(found.known, value.known))
        return found

    def _comparison(self, node: ast.Compare, batches: Sequence[pa.RecordBatch]) -> _Value:
        parts = []
        left_node, left = node.left, self._work(node.left, batches)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                if not isinstance(right_node, ast.Tuple | ast.List | ast.Set) or not right_node.elts:
                    raise ConditionError(f"'{_source(right_node, self.text)}': after 'in' write values, as in (0, 2)")
                each = [
                    self._compared(left, self._work(item, batches), ast.Eq(), left_node, item)
                    for item in right_node.elts
                ]
                found = _joined(each, is_and=False)
                if isinstance(op, ast.NotIn):
                    found = _Value("truth", ~np.asarray(found.data, bool), found.known)
                parts.append(found)
                break
            right = self._work(right_node, batches)
            parts.append(self._compared(left, right, op, left_node, right_node))
            left_node, left = right_node, right
        if len(parts) < len(node.ops):
            raise ConditionError(f"'{_source(node, self.text)}': nothing can follow 'in (…)'; join with 'and'")
        return _joined(parts, is_and=True)

    def _compared(self, a: _Value, b: _Value, op: ast.cmpop, a_node: ast.AST, b_node: ast.AST) -> _Value:
        if type(op) not in _COMPARISONS:
            raise ConditionError(f"'{self.text}': compare with == != < <= > >= or in")
        sign, compare = _COMPARISONS[type(op)]
        of_words = [value.kind in ("words", "word") for value in (a, b)]
        if any(of_words):
            if not all(of_words):
                one, other = (a, b) if of_words[0] else (b, a)
                one_node, other_node = (a_node, b_node) if of_words[0] else (b_node, a_node)
                raise ConditionError(
                    f"'{_source(one_node, self.text)}' is {_called(one)} and '{_source(other_node, self.text)}' is "
                    f"{_called(other)}: they cannot be compared"
                )
            if sign not in ("==", "!="):
                raise ConditionError(f"words have no order: '{_source(a_node, self.text)}' can be == or !=, not {sign}")
            equal = _same_word(a, b)
            return _Value("truth", equal if sign == "==" else ~np.asarray(equal), _both(a.known, b.known))
        return _Value("truth", compare(_wide(a.data), _wide(b.data)), _both(a.known, b.known))


def _parse(text: str) -> ast.AST:
    """Return a condition's tree."""
    if not text:
        raise ConditionError("the condition is empty; write for example 'winner == 0'")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        place = getattr(error, "offset", None)
        raise ConditionError(f"'{text}' cannot be read{_advice(text, place)}") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise ConditionError(f"the condition is too long (more than {MOST_NODES} parts)")
    return tree


def _advice(text: str, place: int | None) -> str:
    """Return what may be wrong with a text that is no expression."""
    import re

    if re.search(r"(?<![=!<>])=(?!=)", text):
        return ": write == to compare"
    if "&&" in text or "||" in text or re.search(r"!(?!=)", text):
        return ": write and, or, not"
    if text.count("(") != text.count(")"):
        return ": a bracket is missing"
    return f" (at character {place})" if place else ""


def _source(node: ast.AST, text: str) -> str:
    return ast.get_source_segment(text, node) or text


def _constant(node: ast.Constant, text: str) -> _Value:
    value = node.value
    if isinstance(value, bool):
        return _Value("truth", np.bool_(value))
    if isinstance(value, str):
        return _Value("word", value)
    if isinstance(value, int | float):
        is_small = isinstance(value, int) and abs(value) < 2**62
        return _Value("number", np.int64(value) if is_small else np.float64(min(value, 1e300)))
    raise ConditionError(f"'{_source(node, text)}' is neither a number nor a word")


def _called(value: _Value) -> str:
    return {"words": "a column of words", "word": "a word", "truth": "a condition"}.get(value.kind, "a number")


def _wide(data: Any) -> Any:
    """Return truth as numbers."""
    return np.asarray(data, np.int64) if np.asarray(data).dtype.kind == "b" else data


def _both(a: Array | None, b: Array | None) -> Array | None:
    if a is None or b is None:
        return b if a is None else a
    return np.asarray(a & b)


def _joined(parts: Sequence[_Value], *, is_and: bool) -> _Value:
    """Return parts joined by ``and`` or ``or``, unknown only where that decides (Kleene)."""
    found = parts[0]
    for part in parts[1:]:
        a, b = np.asarray(found.data, bool), np.asarray(part.data, bool)
        data = a & b if is_and else a | b
        known = None
        if found.known is not None or part.known is not None:
            a_known, b_known = (np.True_ if value.known is None else value.known for value in (found, part))
            # One known part settles it: a false one an 'and', a true one an 'or'.
            settled = (a_known & (a != is_and)) | (b_known & (b != is_and))
            known = (a_known & b_known) | settled
            data = np.where(settled, not is_and, data)
        found = _Value("truth", data, known)
    return found


def _same_word(a: _Value, b: _Value) -> Any:
    """Return where two words, or columns of words, are the same."""
    if a.kind == "word" and b.kind == "word":
        return np.bool_(a.data == b.data)
    if a.kind == "word":
        a, b = b, a
    assert a.words is not None
    if b.kind == "word":
        if b.data not in a.words:
            if not a.is_complete:
                return np.zeros(len(a.data), bool)
            near = difflib.get_close_matches(b.data, a.words, n=1, cutoff=0.5)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(a.words)}"
            raise ConditionError(f"{a.name} has no value '{b.data}'; {hint}")
        return a.data == a.words.index(b.data)
    assert b.words is not None
    numbers = {word: number for number, word in enumerate(dict.fromkeys([*a.words, *b.words]))}
    ours, theirs = (np.array([*(numbers[word] for word in value.words or ()), -1]) for value in (a, b))
    return ours[a.data] == theirs[b.data]


def _first_batch(table: pa.Table) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [column.combine_chunks() for column in table.columns]
    arrays = [array.chunk(0) if isinstance(array, pa.ChunkedArray) else array for array in arrays]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def mentioned(condition: Condition, names: Mapping[str, Any]) -> bool:
    """Tell whether a condition reads one of these columns."""
    return any(name in names for columns in condition.columns for name in columns)


__all__ = ["Condition", "ConditionError", "mentioned"]
