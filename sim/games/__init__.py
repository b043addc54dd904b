"""The games there are. A fifth one: copy a folder, fill the same files, add one line here."""

from __future__ import annotations

import importlib

from sim.game import Game
from sim.rules import RuleError, listed, nearest

GAMES = {
    "autobus": "sim.games.autobus",
    "bludiste": "sim.games.bludiste",
    "bussikuski": "sim.games.bussikuski",
    "dupa": "sim.games.dupa",
}


def get_game(name: str) -> Game:
    """Return the game called `name`.

    Raises
    ------
    RuleError
        If there is none; the message lists the games.
    """
    if name not in GAMES:
        there_are = f"the games are {listed(sorted(GAMES), 'and')}" if len(GAMES) > 1 else f"the game is {min(GAMES)}"
        raise RuleError(f"'{name}' is not a game{nearest(name, GAMES)}; {there_are}")
    game: Game = importlib.import_module(GAMES[name]).GAME
    return game
