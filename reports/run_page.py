"""The report of one run: who wins, how games end and how long they are, points, precision, three games, provenance."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.intervals import Interval, normal_quantile
from analysis.summary import Category, Number, Summary
from reports import figures, words
from reports.gather import Gathered, quantiles
from reports.page import Block, Command, Page, Picture, Section, Story, Table, Terms, Text
from reports.table import capitalised, cell, games_text, plain
from reports.text import seat_groups

if TYPE_CHECKING:
    import pandas as pd

    from analysis.load import Run


@dataclasses.dataclass(frozen=True)
class About:
    """What the caller knows beside the results, as plain data.

    Attributes
    ----------
    title
        The game's name.
    changes
        The options that are not by the letter, as typed; None if that is not known.
    diagnosis
        Sentences about the rule set.
    command
        The command that gives the results again.
    stories
        Games worth reading, told.
    folder
        The name of the results folder.
    card
        Bussikuski: the best answer in every situation, as `figures.strategy_card` draws it.
    """

    title: str | None = None
    changes: Mapping[str, str] | None = None
    diagnosis: Sequence[str] = ()
    command: str = ""
    stories: Sequence[Story] = ()
    folder: str = ""
    card: pd.DataFrame | None = None


NOTHING = About()
"""For results of which nothing more is known."""


def run_page(found: Gathered, about: About = NOTHING) -> Page:
    """Return a run's report."""
    summary = found.summary
    sections = [
        section("Who wins", winners(summary)),
        section("How games end", endings(summary)),
        section("How long games are", lengths(summary)),
        section("Points" if "points" in seat_groups(summary) else "Cards placed", points(summary)),
        section("Diagnosis", [Text(about.diagnosis)] if about.diagnosis else []),
        section("What to answer", card(about.card) if about.card is not None else []),
        section("Every column", [numbers(summary)]),
        section("How precise this is", precision(found)),
        section("Three games worth reading", list(about.stories)),
        section("The terms", terms(summary.run)),
        section("Where this comes from", provenance(summary.run, about)),
    ]
    n = games_text(summary.games) if summary.run.game else f"{summary.games:,} row{'' if summary.games == 1 else 's'}"
    title = f"{words.title(summary.run, about.title)}: {n}"
    return Page(title, answer(summary), facts(summary, about), [section for section in sections if section])


def section(title: str, blocks: Sequence[Block]) -> Section | None:
    """Return a section, None if there is nothing to put under its heading."""
    return Section(title, blocks) if blocks else None


# -- the answer -------------------------------------------------------------------------------------------------------


def answer(summary: Summary) -> str:
    """Return what the run says, in one sentence."""
    shares, run = words.win_columns(summary), summary.run
    if not summary.games:
        return "No game is finished yet."
    if not shares:
        return _patience(summary)
    if summary.games == 1:
        winners = [words.seat(k) for k, share in enumerate(shares) if share.estimate > 0]
        return f"One game, and {', '.join(winners) or 'nobody'} won it: that says nothing about the rules."
    nobody = nobody_wins(summary)
    policies = words.seat_policies(run, len(shares))
    best = max(range(len(shares)), key=lambda k: shares[k].estimate)
    worst = min(range(len(shares)), key=lambda k: shares[k].estimate)
    told = words.interval(shares[best], percent=True), words.interval(shares[worst], percent=True)
    names = words.seat(best, policies), words.seat(worst, policies)
    fair = fair_share(summary)
    if _differ(shares[best], shares[worst], len(shares)):
        said = f"{names[0]} wins most, {told[0]} of the games, {names[1]} least, {told[1]}"
        said += f" (a fair share is {plain(round(100 * fair, 2))} %)"
        said = ("it matters who plays how and where: " if policies else "it matters where you sit: ") + said
    else:
        lowest, highest = cell(shares[worst], percent=True).number, cell(shares[best], percent=True).number
        between = lowest if lowest == highest else f"between {lowest} and {highest}"
        said = f"no seat is shown to be better off: every one wins {between} % of the games"
        said += f" (a fair share is {plain(round(100 * fair, 2))} %)"
    if nobody is not None and nobody.estimate > 0.5:
        return (
            f"Mostly nobody wins: {words.interval(nobody, percent=True)} of the games have no winner; otherwise {said}."
        )
    if nobody is not None and nobody.estimate >= 0.05:
        return f"{capitalised(said)}; nobody wins {words.interval(nobody, percent=True)} of the games."
    return f"{capitalised(said)}."


def _patience(summary: Summary) -> str:
    """Return the answer where there are no seats that win."""
    won, placed = summary.columns.get("won"), summary.columns.get("placed")
    if won is None or not won.n:
        return f"{games_text(summary.games) if summary.run.game else f'{summary.games:,} rows'}, each column by itself."
    if summary.games == 1:
        return f"One deal, {'won' if won.mean.estimate else 'not won'}: that says nothing about the rules."
    said = f"{capitalised(words.interval(won.mean, percent=True))} of the deals are won"
    if placed is not None and placed.n:
        most = f" of {placed.note.high:g}" if placed.note.high else ""
        said += f"; {words.interval(placed.mean)}{most} cards are placed on the average"
    return f"{said}."


def _differ(best: Interval, worst: Interval, n_seats: int) -> bool:
    """Tell whether two seats' shares of the same games differ, the most and the least of all pairs of seats.

    The variance of the difference of two shares is at most (p + q) / n; the error is shared by all pairs (Bonferroni).
    """
    if best.n < 2:
        return False
    n_pairs = n_seats * (n_seats - 1) / 2
    z = normal_quantile(1 - (1 - best.confidence) / n_pairs)
    return best.estimate - worst.estimate > z * math.sqrt((best.estimate + worst.estimate) / best.n)


def nobody_wins(summary: Summary) -> Interval | None:
    """Return the share of the games without a winner, if they say so."""
    winner = summary.columns.get("winner")
    if winner is None or not winner.names_a_seat or "end" not in summary.categories:
        return None
    rounds = summary.run.rules.get("rounds", 1)  # a match of several rounds may be shared: then the shares tell
    return None if rounds != 1 else winner.share(-1)


def fair_share(summary: Summary) -> float:
    """Return what each seat would win if all won the same, of the games that have a winner."""
    shares = words.win_columns(summary)
    return sum(share.estimate for share in shares) / len(shares)


def facts(summary: Summary, about: About) -> list[tuple[str, str]]:
    """Return what was played, in named lines."""
    run = summary.run
    told = []
    if run.seed is not None:
        told.append(("Played", f"{games_text(summary.games)}, seed {run.seed}"))
    if run.games is not None and run.games > summary.games:
        told.append(("Unfinished", f"{summary.games:,} of {run.games:,} games are played"))
    if run.rules:
        told.append(("Rules", words.rules(run, about.changes)))
    if run.policies:
        told.append(("Policies", words.policies(run)))
    if summary.games:
        told.append(("Intervals", f"{100 * summary.confidence:.10g} %, each for itself; ± is half the width"))
    return told


# -- sections ---------------------------------------------------------------------------------------------------------


def winners(summary: Summary) -> list[Block]:
    """Return the seats' shares of the wins, or the share of deals won."""
    shares = words.win_columns(summary)
    if not shares or not summary.games:
        return []
    policies = words.seat_policies(summary.run, len(shares))
    labels = [words.seat(k, policies) for k in range(len(shares))]
    fair = fair_share(summary)
    frame = share_frame(labels, shares, list(policies) or None)
    told = "; ".join(
        f"{label} {words.interval(share, percent=True)}" for label, share in zip(labels, shares, strict=True)
    )
    caption = "Each seat's share of the wins with its interval; the dashed line is a fair share, "
    caption += f"{plain(round(100 * fair, 2))} %."
    blocks: list[Block] = [
        Picture(
            "seats",
            "Each seat's share of the wins",
            caption,
            f"Bars of each seat's share of the wins: {told}.",
            frame,
            functools.partial(figures.shares, fair=fair, xlabel="wins, %"),
            row_height(labels),
        ),
    ]
    if summary.undecided:
        by = ", ".join(words.value(value) for (_, value), count in summary.undecided_by.items() if count)
        rows = []
        for name, column in summary.columns.items():
            if name.startswith("win_share_") or name == "won":
                limits = [(words.column(column.note), summary.bounds(name))]
            elif name == "winner" and column.names_a_seat and "win_share_0" not in summary.columns:
                limits = [(words.who(column.note, k), summary.bounds(name, k)) for k in range(len(shares))]
            else:
                continue
            rows += [(label, *(_told(end) for end in (bound.lost, bound.won))) for label, bound in limits]
        said = f"No verdict ({by}): {summary.undecided:,} of {games_text(summary.games)}. The figures above take them "
        said += "as they stand; here they are counted once as lost, once as won, to show what they leave open."
        blocks.append(Text([said]))
        blocks.append(Table(("No verdict counted as", "all lost, %", "all won, %"), rows))
    return blocks


def share_frame(labels: Sequence[str], shares: Sequence[Interval], kinds: Sequence[str] | None = None) -> pd.DataFrame:
    """Return shares as `figures.shares` draws them."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "label": list(labels),
            "share": [share.estimate for share in shares],
            "low": [share.low for share in shares],
            "high": [share.high for share in shares],
            "text": [_told(share) + " %" for share in shares],
        }
    )
    return frame if kinds is None else frame.assign(kind=list(kinds))


def endings(summary: Summary) -> list[Block]:
    """Return how often each value of each category occurs."""
    blocks: list[Block] = []
    for category in summary.categories.values():
        if category.n:
            blocks.append(_ending(category, summary.games))
    return blocks


def _ending(category: Category, games: int) -> Picture:
    seen = [value for value, count in category.counts.items() if count]
    never = [words.value(value) for value, count in category.counts.items() if not count]
    labels = [capitalised(words.value(value)) for value in seen]
    shares = [category.shares[value] for value in seen]
    title = capitalised(words.category(category.note))
    of = "" if category.n == games else f" Of {games_text(category.n)} that have a value."
    told = "; ".join(
        f"{label.lower()} {words.interval(share, percent=True)}" for label, share in zip(labels, shares, strict=True)
    )
    caption = f"Share of the games, with intervals.{of}" + (f" Never: {', '.join(never)}." if never else "")
    return Picture(
        category.name,
        title,
        caption,
        f"{title}, as bars: {told}.",
        share_frame(labels, shares),
        functools.partial(figures.shares, xlabel="games, %"),
        row_height(labels),
    )


def lengths(summary: Summary) -> list[Block]:
    """Return the histogram and the survival curve of the games' length."""
    told = words.length_column(summary)
    if told is None:
        return []
    column, what = told
    frame = count_frame(column)
    counts = dict(column.moments.counts or {})
    median, most = quantiles(counts, [0.5])[0], max(counts)
    tail = quantiles(counts, [0.9, 0.99])
    said = (
        f"half of the games have {median:g} or fewer, nine in ten {tail[0]:g} or fewer, 99 in 100 {tail[1]:g} or fewer"
    )
    said = f"{what}, {words.interval(column.mean)} on the average; {said}; the longest has {most:g}."
    if len(counts) == 1:
        return [Text([f"{capitalised(what)}: {most:g} in every game."])]
    return [
        Picture(
            "length",
            "Length of a game",
            capitalised(said),
            f"Histogram of the length of a game: {said}",
            frame,
            functools.partial(figures.histogram, xlabel=what),
            fixed_height(2.5, 2.3),
        ),
        Picture(
            "survival",
            "How many games go on",
            f"Share of the games that have more than so many {what}.",
            f"Falling curve: share of the games longer than each length; {said}",
            frame,
            functools.partial(figures.survival, xlabel=what),
            fixed_height(2.5, 2.3),
        ),
    ]


def points(summary: Summary) -> list[Block]:
    """Return where each seat's points lie; of a patience, how many cards were placed."""
    import pandas as pd

    group = seat_groups(summary).get("points")
    if group is None:
        placed = summary.columns.get("placed")
        if placed is None or not placed.n or placed.moments.counts is None:
            return []
        said = f"{words.interval(placed.mean)} {words.column(placed.note)} on the average"
        return [
            Picture(
                "placed",
                "Cards placed",
                capitalised(said) + ".",
                f"Histogram: {said}.",
                count_frame(placed),
                functools.partial(figures.histogram, xlabel=words.column(placed.note)),
                fixed_height(2.5, 2.3),
            )
        ]
    if any(column.moments.counts is None or not column.n for column in group):
        return []
    policies = words.seat_policies(summary.run, len(group))
    labels = [words.seat(k, policies) for k in range(len(group))]
    parts = [quantiles(dict(column.moments.counts or {}), [0.05, 0.25, 0.5, 0.75, 0.95]) for column in group]
    frame = pd.DataFrame(parts, columns=["q05", "q25", "q50", "q75", "q95"])
    frame.insert(0, "label", labels)
    frame["mean"] = [column.mean.estimate for column in group]
    frame["text"] = [_told(column.mean, percent=False) for column in group]
    if policies:
        frame["kind"] = policies
    what = words.seats(group[0].note)
    told = "; ".join(f"{label} {words.interval(column.mean)}" for label, column in zip(labels, group, strict=True))
    caption = (
        f"{capitalised(what)}: nine games in ten lie on the thin line, half of them on the thick one; the gap in "
        "it is the median, the diamond the mean, given at the side."
    )
    return [
        Picture(
            "points",
            f"{capitalised(what)}, seat by seat",
            caption,
            f"Spread of {what}; means: {told}.",
            frame,
            functools.partial(figures.spread, xlabel=what),
            row_height(labels),
        )
    ]


def count_frame(column: Number) -> pd.DataFrame:
    """Return how often each value of a column occurs."""
    import pandas as pd

    counts = column.moments.counts or {}
    return pd.DataFrame({"value": list(counts), "games": list(counts.values())})


def numbers(summary: Summary) -> Table:
    """Return every column's mean."""
    rows = []
    for column in summary.columns.values():
        if column.names_a_seat:
            rows += [
                (words.who(column.note, seat), _told(share) + " %", "", column.name)
                for seat, share in column.shares().items()
            ]
            continue
        low, high = column.moments.low, column.moments.high
        ends = "" if column.is_rate or low is None or high is None else f"{plain(low)} – {plain(high)}"
        mean = _told(column.mean, percent=column.is_rate) + (" %" if column.is_rate and column.n else "")
        rows.append((capitalised(words.column(column.note)), mean, ends, column.name))
    return Table(("Per game", "mean", "least – most", "column"), rows, folded="Every column's mean with its interval")


def precision(found: Gathered) -> list[Block]:
    """Return how the estimates settled, and how precise they are."""
    summary, frame = found.summary, found.settling
    if frame.empty or summary.games < 2:
        return []
    last = frame.groupby("label", sort=False).tail(1).sort_values("estimate")
    shown = list(dict.fromkeys([last["label"].iloc[-1], last["label"].iloc[0]]))
    names = {label: _settled(summary, label) for label in shown}
    frame = frame[frame["label"].isin(shown)].assign(label=lambda rows: rows["label"].map(names))
    half = float(100 * (last["high"] - last["low"]).max() / 2)
    said = (
        f"With {games_text(summary.games)} the rates above are known to ± {half:.2g} percentage points or better; "
        f"ten times as many games would give ± {half / math.sqrt(10):.2g}."
    )
    alt = f"Running estimates of {' and '.join(names.values())}, narrowing as the games come in. {said}"
    return [
        Text([said]),
        Picture(
            "convergence",
            "How the estimates settled",
            "The running estimate and its interval after so many games, in the order of their numbers.",
            alt,
            frame,
            figures.convergence,
            fixed_height(2.5, 2.4),
        ),
    ]


def _settled(summary: Summary, label: str) -> str:
    name, _, seat = label.partition("=")
    note = summary.columns[name].note
    return words.who(note, int(seat)) if seat else words.column(note)


def card(frame: pd.DataFrame) -> list[Block]:
    """Return what to answer in each situation, as a card."""
    rows = [
        (f"{question}: {situation or 'no card yet'}", str(best), f"{100 * chance:.1f}")
        for question, situation, best, chance in zip(
            frame["question"], frame["situation"], frame["best"], frame["chance"], strict=True
        )
    ]
    told = "; ".join(f"{situation}, {best} {chance} %" for situation, best, chance in rows if situation[0] in "12")
    caption = (
        "The answer that most cards fit when nothing but one's own cards is known, and its chance of being right in "
        "percent, exact under these rules. Question 3: the row is the lower card, the column the higher one."
    )
    height = functools.partial(_card_height, frame)
    alt = f"What to answer, by question and cards: {told}. The table beneath has all {len(rows)} situations."
    return [
        Picture("card", "The strategy card", caption, alt, frame, figures.strategy_card, height),
        Table(("question: your cards", "answer", "right, %"), rows, folded="The same as a table"),
    ]


def _card_height(frame: pd.DataFrame, narrow: bool) -> float:
    return figures.card_height(frame, narrow=narrow)


def terms(run: Run) -> list[Block]:
    """Return the game's own words, explained."""
    found = words.TERMS.get(run.game or "")
    return [Terms(list(found.items()))] if found else []


def provenance(run: Run, about: About) -> list[Block]:
    """Return what gives the results again, and what they are from."""
    document = run.document
    software = document.get("software") or {}
    environment = document.get("environment") or {}
    version = " ".join(str(software[key]) for key in ("name", "version") if software.get(key))
    if software.get("commit"):
        version += f", commit {str(software['commit'])[:12]}" + (" with changes" if software.get("dirty") else "")
    spec = document.get("spec") or {}
    entries = [
        ("Results folder", about.folder),
        ("Made by", version),
        ("Kernels", str(document.get("kernel_hash") or "")),
        ("Random numbers", str(spec.get("random_scheme") or "")),
        ("Rules version", str(spec.get("rules_version") or "")),
        ("Environment", ", ".join(f"{name} {text}" for name, text in environment.items())),
        ("All rules", words.rules(run, None)),
    ]
    blocks: list[Block] = []
    if about.command:
        blocks += [
            Text(["This command gives the same results again, to the last row, on any machine:"]),
            Command(about.command),
        ]
    told = [(name, text) for name, text in entries if text]
    return [*blocks, *([Terms(told)] if told else [])]


# -- shared -----------------------------------------------------------------------------------------------------------


def _told(interval: Interval, *, percent: bool = True) -> str:
    found = cell(interval, percent=percent)
    return f"{found.number} {found.tail}".strip()


def row_height(labels: Sequence[str], rows: int = 1, *, legend: Sequence[str] = ()) -> functools.partial[float]:
    """Return the height of a figure whose rows have these labels."""
    return functools.partial(_labelled, tuple(labels), rows, tuple(legend))


def _labelled(labels: Sequence[str], rows: int, legend: Sequence[str], narrow: bool) -> float:
    return figures.height_of(labels, narrow=narrow, rows=rows, legend=legend)


def fixed_height(wide: float, narrow: float) -> functools.partial[float]:
    """Return the height of a figure without rows: wide, and narrow."""
    return functools.partial(_fixed, wide, narrow)


def _fixed(wide: float, narrow_height: float, narrow: bool) -> float:
    return narrow_height if narrow else wide


__all__ = ["About", "run_page"]
