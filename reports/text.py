"""The summary as a person reads it in a terminal: plain text, at most 100 columns wide.

Nothing here knows a game. What is a seat's, how it is called and in which unit it is shown follows from the columns'
names (``points_0``, ``points_1``, … are the seats') and their descriptions.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping

from analysis.intervals import Interval
from analysis.summary import Category, Number, Summary
from reports.table import (
    WIDTH,
    Cell,
    Column,
    capitalised,
    cell,
    entry,
    games_text,
    option_text,
    plain,
    table,
    words,
    wrapped,
)

_DESCRIPTION = 56


def render(
    summary: Summary,
    *,
    title: str | None = None,
    changes: Mapping[str, str] | None = None,
    diagnosis: Iterable[str] = (),
    width: int = WIDTH,
) -> str:
    """Return a summary as text, without a line feed at its end.

    Parameters
    ----------
    title
        The game's name; else the run's, with a capital letter.
    changes
        The options that are not at their default, as typed: ``{}`` for the rules by the letter. None if the caller
        does not know them; then every option is listed.
    diagnosis
        Sentences about the rule set.
    width
        Columns of text.
    """
    seats = seat_groups(summary)
    n_seats = len(next(iter(seats.values()), ()))
    blocks = [
        _heading(summary, title, changes, n_seats, width),
        _seat_table(summary, seats, n_seats, width),
        _end_table(summary, width),
        _other_table(summary, seats, n_seats, width),
        _undecided(summary, width),
        _diagnosis(diagnosis, width),
    ]
    return "\n\n".join("\n".join(line.rstrip().replace("\xa0", " ") for line in block) for block in blocks if block)


def seat_groups(summary: Summary) -> dict[str, list[Number]]:
    """Return stem → the columns stem_0, stem_1, …, of those stems that have one for each of two seats or more."""
    groups: dict[str, dict[int, Number]] = {}
    for name, column in summary.columns.items():
        found = re.fullmatch(r"(.+)_(\d+)", name)
        if found:
            groups.setdefault(found[1], {})[int(found[2])] = column
    full = {stem: group for stem, group in groups.items() if len(group) > 1 and sorted(group) == [*range(len(group))]}
    most = max(map(len, full.values()), default=0)
    return {stem: [group[k] for k in range(most)] for stem, group in full.items() if len(group) == most}


def _label(column: Number) -> tuple[str, str]:
    """Return a short name for a column and the rest of its description; a seat's number is left out of both."""
    seat = re.search(r"_(\d+)$", column.name)
    text = column.note.description or words(column.name[: seat.start()] if seat else column.name)
    if seat:
        number = seat[1]
        text = re.sub(rf"\bseat {number}'s ", "", text)
        text = re.sub(rf" (of|to|by|for|from|in|at) seat {number}\b", "", text)
        text = re.sub(rf"\bseat {number}\b ?", "", text).strip()
    text = re.sub(r"^(the )?seat that ", "", text)
    short, mark, rest = re.match(r"([^,;:(]*)([,;:(]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    return short.strip(), (mark + rest if mark == "(" else rest).strip()


def _heading(
    summary: Summary, title: str | None, changes: Mapping[str, str] | None, n_seats: int, width: int
) -> list[str]:
    run = summary.run
    if run.game is None and title is None:
        first = f"{summary.games:,} row{'' if summary.games == 1 else 's'}"
    else:
        first = f"{title or capitalised(run.game or '')}: {games_text(summary.games)}"
    if run.seed is not None:
        first += f", seed {run.seed}"
    lines = [first]
    if run.games is not None and run.games > summary.games:
        lines += entry("Unfinished", f"{summary.games:,} of {run.games:,} games are played", width)
    if changes is not None:
        said = ", ".join(f"{name} = {value}" for name, value in changes.items())
        lines += entry("Rules", f"by the letter, but {said}" if said else "by the letter", width)
    elif run.rules:
        lines += entry("Rules", ", ".join(f"{name} = {option_text(value)}" for name, value in run.rules.items()), width)
    alike = {slot: names[0] for slot, names in run.policies.items() if len(set(names)) == 1}
    told = [name if slot == "policy" else f"{slot} {name}" for slot, name in alike.items()]
    for slot, names in run.policies.items():
        if slot not in alike:
            told.append(f"{slot} by seat (see the table)" if len(names) == n_seats else f"{slot} {', '.join(names)}")
    if told:
        lines += entry("Policies", ", ".join(told), width)
    if summary.games:
        one = "; one game gives none for a mean" if summary.games == 1 else ""
        covers = f"{100 * summary.confidence:.10g} %"
        lines += entry("Intervals", f"{covers}, each for itself; ± is half the width{one}", width)
    if summary.left_out:
        lines += entry("Left out", ", ".join(summary.left_out), width)
    return lines


def _seat_table(summary: Summary, seats: Mapping[str, list[Number]], n_seats: int, width: int) -> list[str]:
    """Return the table with a line a seat: wins first, then points, the rest in the file's order, and named seats."""
    if not n_seats:
        return []
    ranked: list[tuple[int, Column]] = []
    notes = []
    for stem, group in seats.items():
        label, remark = _label(group[0])
        percent = all(column.is_rate for column in group)
        cells = [cell(column.mean, percent=percent) for column in group]
        rank = 0 if _is_win(stem) else 1 if "points" in stem else 2
        ranked.append((rank, Column(_seat_head(label, percent, n_seats if rank == 0 else 0), cells)))
        if remark:
            notes.append((rank, f"{capitalised(label)}: {remark}."))
    for column in summary.columns.values():
        if _is_of_seats(column, n_seats):
            label, _ = _label(column)
            cells = [cell(column.share(seat), percent=True) for seat in range(n_seats)]
            rank = 0 if _is_win(column.name) else 3
            ranked.append((rank, Column(_seat_head(label, True, n_seats if rank == 0 else 0), cells)))
            nobody = column.share(-1)
            if nobody.estimate > 0:
                notes.append((rank, f"{capitalised(label)}: nobody in {_in_line(nobody)} of the games."))
    for slot, names in summary.run.policies.items():
        if len(set(names)) > 1 and len(names) == n_seats:
            ranked.append((-1, Column(words(slot), list(names))))
    columns = [column for _, column in sorted(ranked, key=lambda entry: entry[0])]
    lines = table(Column("Seat", [str(seat) for seat in range(n_seats)]), columns, width)
    return lines + [line for _, note in sorted(notes, key=lambda entry: entry[0]) for line in wrapped(note, width)]


def _seat_head(label: str, percent: bool, n_winners: int) -> str:
    """Return a column's head; of wins it tells what would be fair (hard spaces keep words on one line)."""
    fair = f" (fair:\xa0{100 / n_winners:.3g})" if n_winners and percent else ""
    return f"{label},\xa0%{fair}" if percent else label


def _is_win(name: str) -> bool:
    return name.startswith("win")


def _is_of_seats(column: Number, n_seats: int) -> bool:
    return column.names_a_seat and column.note.high == n_seats - 1


def _in_line(interval: Interval) -> str:
    """Return a rate for use in a sentence."""
    told = cell(interval, percent=True)
    return f"{told.number} {told.tail}".strip() + " %"


def _end_table(summary: Summary, width: int) -> list[str]:
    """Return how often each value of each category occurs; those that never did in one line."""
    names: list[str] = []
    shares: list[Cell | str] = []
    counts: list[str] = []
    notes: dict[int, str] = {}
    for category in summary.categories.values():
        if not category.n:
            continue
        names.append(_category_title(category, summary.games))
        shares.append("")
        counts.append("")
        for value, count in category.counts.items():
            if count:
                names.append(f"  {words(value)}")
                shares.append(cell(category.shares[value], percent=True))
                counts.append(f"{count:,}")
        never = [value for value, count in category.counts.items() if not count]
        if never:
            bound = cell(category.shares[never[0]], percent=True).tail.strip("()")
            each = "each " if len(never) > 1 else ""
            notes[len(names)] = f"never: {', '.join(map(words, never))} ({each}{bound} %)"
    if not names:
        return []
    longest = max(map(len, ["games", *counts]))
    count_column = Column("games".rjust(longest), [count.rjust(longest) for count in counts])
    lines = table(Column("", names), [Column("share, %", shares), count_column], width)
    n_head = len(lines) - len(names)
    for row in sorted(notes, reverse=True):
        lines[n_head + row : n_head + row] = wrapped(notes[row], width, "  ")
    return lines


def _category_title(category: Category, games: int) -> str:
    title = capitalised(category.note.description or words(category.name))
    return title if category.n == games else f"{title} (of {games_text(category.n)})"


def _other_table(summary: Summary, seats: Mapping[str, list[Number]], n_seats: int, width: int) -> list[str]:
    """Return the columns that are not the seats'."""
    shown = {column.name for group in seats.values() for column in group}
    shown |= {column.name for column in summary.columns.values() if _is_of_seats(column, n_seats)}
    names: list[str] = []
    means: list[Cell | str] = []
    ranges: list[str] = []
    for column in summary.columns.values():
        if column.name in shown:
            continue
        label = capitalised(column.note.description or words(column.name))
        if column.n != summary.games:
            label += f" (of {games_text(column.n)})"
        first, *more = textwrap.wrap(label, _DESCRIPTION) or [column.name]
        value = cell(column.mean, percent=column.is_rate)
        if column.is_rate and column.n:
            value = Cell(value.number, f"{value.tail} %".strip())
        low, high = column.moments.low, column.moments.high
        told = "" if column.is_rate or low is None or high is None or low == high else f"{plain(low)} – {plain(high)}"
        names += [first, *[f"  {line}" for line in more]]
        means += [value, *[""] * len(more)]
        ranges += [told, *[""] * len(more)]
    if not names:
        return []
    columns = [Column("mean", means)]
    if any(ranges):
        columns.append(Column("least – most", ranges))
    return table(Column("Per game", names), columns, width)


def _undecided(summary: Summary, width: int) -> list[str]:
    """Return what the games without a verdict leave open: every rate with all of them lost, and all won."""
    if not summary.undecided:
        return []
    by = ", ".join(words(value) for (_, value), count in summary.undecided_by.items() if count)
    lines = wrapped(
        f"No verdict ({by}): {summary.undecided:,} of {games_text(summary.games)}. The figures above take them as they "
        "stand; here they are counted once as lost, once as won, to show what they leave open.",
        width,
    )
    names, losts, wons = [], [], []
    for column in summary.columns.values():
        label = capitalised(_label(column)[0])
        seat = re.search(r"_(\d+)$", column.name)
        if column.is_rate:
            entries = [(f"{label}, seat {seat[1]}" if seat else label, summary.bounds(column.name))]
        elif column.names_a_seat and _is_win(column.name):
            n_seats = int(column.note.high or 0) + 1
            entries = [(f"{label}, seat {k}", summary.bounds(column.name, k)) for k in range(n_seats)]
        else:
            continue
        for name, bounds in entries:
            names.append(name)
            losts.append(cell(bounds.lost, percent=True))
            wons.append(cell(bounds.won, percent=True))
    if names:
        bounds_columns = [Column("all lost, %", losts), Column("all won, %", wons)]
        lines += ["", *table(Column("No verdict counted as", names), bounds_columns, width)]
    return lines


def _diagnosis(sentences: Iterable[str], width: int) -> list[str]:
    lines = []
    for sentence in sentences:
        lines += textwrap.wrap(sentence, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
    return ["Diagnosis", *lines] if lines else []
