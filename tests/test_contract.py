"""Every game keeps the contract."""

from sim.games import GAMES
from tests.contract import GameContract


class TestAutobus(GameContract):
    name = "autobus"
    small = {"max_turns": 200}  # noqa: RUF012
    calm = {"recycle": "bottom"}  # noqa: RUF012


class TestBludiste(GameContract):
    name = "bludiste"


class TestBussikuski(GameContract):
    name = "bussikuski"
    small = {"max_turns": 60}  # noqa: RUF012


class TestDupa(GameContract):
    name = "dupa"
    small = {"max_turns": 60}  # noqa: RUF012


def test_every_game_is_under_contract():
    assert {kind.name for kind in GameContract.__subclasses__()} == set(GAMES)
