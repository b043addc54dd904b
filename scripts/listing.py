"""What ``fairdeal games`` and ``fairdeal rules`` print."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from sim.game import Game
from sim.games import GAMES, get_game
from sim.outcome import Column
from sim.rules import Rules

WIDTH = 99


def games_text() -> str:
    """Return the games, one line each, with their policies."""
    width = max(map(len, GAMES))
    return "\n".join(
        f"{game.name:<{width}}  {game.origin}: {game.summary}. "
        + " ".join(f"--{slot.name} {'|'.join(slot.choices)}" for slot in game.slots)
        for game in map(get_game, GAMES)
    )


def games_json() -> str:
    """Return the games as JSON."""
    told = [
        {
            "name": game.name,
            "title": game.title,
            "origin": game.origin,
            "summary": game.summary,
            "policies": _policies(game),
        }
        for game in map(get_game, GAMES)
    ]
    return json.dumps({"games": told}, ensure_ascii=False)


def _policies(game: Game) -> dict[str, Any]:
    return {
        slot.name: {"meaning": slot.meaning, "default": slot.default, "choices": dict(slot.choices)}
        for slot in game.slots
    }


def rules_text(game: Game, rules: Rules) -> str:
    """Return a rule set, option by option, then the variants, the policies and the columns there are."""
    return "\n".join(_rules_lines(game, rules))


def _rules_lines(game: Game, rules: Rules) -> Iterator[str]:
    changes = rules.changes()
    idle = dict(rules.idle())
    yield from textwrap.wrap(f"{game.title} ({game.origin}): {game.summary}", WIDTH, subsequent_indent="    ")
    yield ""
    yield (
        "Options (--rule OPTION=VALUE):"
        if not changes
        else "Options (--rule OPTION=VALUE; * differs from the default):"
    )
    defaults = game.rules().texts()
    for name, kind in rules.kinds().items():
        mark = "*" if name in changes else " "
        yield f"{mark} {name} = {rules.texts()[name]}"
        default = f"; default {defaults[name]}" if name in changes else ""
        yield from _paragraph(f"{kind.meaning}{' (gap)' if kind.gap else ''}")
        yield from _paragraph(f"allowed: {kind.allowed}{default}")
        if name in idle:
            yield from _paragraph(f"cannot matter here: {idle[name]}")
    yield ""
    yield "Variants (--variant NAME):"
    width = max(map(len, game.rules.VARIANTS))
    for name, (meaning, _) in game.rules.VARIANTS.items():
        yield from _entry(name, meaning, width)
    for slot in game.slots:
        yield ""
        yield f"Policies, {slot.meaning} (--{slot.name} NAME, or one a seat; default {slot.default}):"
        width = max(map(len, slot.choices))
        for name, meaning in slot.choices.items():
            yield from _entry(name, meaning, width)
    yield ""
    yield "Columns of the results, one row a game (beside game, its index):"
    columns = game.columns(rules)
    deciding = _solver_columns(game, rules)
    width = max(len(column.name) for column in columns + deciding)
    for column in columns + deciding:
        if deciding and column is deciding[0]:
            yield "and of the policy solver:"
        what = f": {', '.join(column.categories)}" if column.categories else ""
        yield from _entry(column.name, column.description + what, width)
    if any(kind.gap for kind in rules.kinds().values()):
        yield ""
        yield "(gap): settles something that the source document leaves open."


def _solver_columns(game: Game, rules: Rules) -> list[Column]:
    """Return the columns that only a game's solver writes."""
    if game.solver is None:
        return []
    names = [column.name for column in game.columns(rules)]
    return [column for column in game.solver.columns(rules, True) if column.name not in names]


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 8, break_on_hyphens=False)


def _entry(name: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=" " * (width + 4), break_on_hyphens=False
    )


def rules_json(game: Game, rules: Rules) -> str:
    """Return a rule set as JSON: every option with its value, default, allowed values and meaning."""
    values, defaults, idle = rules.plain(), game.rules().plain(), dict(rules.idle())
    options = [
        {
            "name": name,
            "value": values[name],
            "default": defaults[name],
            "allowed": kind.allowed,
            "meaning": kind.meaning,
            "gap": kind.gap,
            "cannot_matter": idle.get(name),
        }
        for name, kind in rules.kinds().items()
    ]
    variants = {
        name: {
            "meaning": meaning,
            "rules": {option: rules.kind(option).plain(value) for option, value in changed.items()},
        }
        for name, (meaning, changed) in game.rules.VARIANTS.items()
    }
    columns = [
        {"name": column.name, "description": column.description, "categories": list(column.categories)}
        for column in game.columns(rules) + _solver_columns(game, rules)
    ]
    told = {
        "game": game.name,
        "options": options,
        "variants": variants,
        "policies": _policies(game),
        "columns": columns,
    }
    return json.dumps(told, ensure_ascii=False)
