"""The command ``doctor``: a good installation is good, and each fault is found."""

import json

import pytest

from scripts import doctor
from sim import store
from tests.command_line import call, good


def test_a_good_installation_is_good(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = good("doctor")
    assert "WRONG" not in told
    for what in ("numba", "autobus: plays as it must", "can be written in", "compiled kernels"):
        assert what in told
    assert {finding["is_good"] for finding in json.loads(good("doctor", "--json"))} == {True}
    assert list(tmp_path.iterdir()) == []


def test_a_game_that_plays_otherwise_is_found(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(doctor.KNOWN, "dupa", "000000000000")
    done = call("doctor")
    assert done.exit_code == 1
    assert "WRONG  dupa: RuntimeError: plays its first 200 games of seed 1 otherwise" in done.stdout
    assert done.stderr == "fairdeal: wrong: dupa\n"


@pytest.mark.parametrize("error", [store.StoreError("here: read-only file system"), OSError(28, "No space left")])
def test_a_folder_that_cannot_be_written_is_found(monkeypatch, tmp_path, error):
    monkeypatch.chdir(tmp_path)

    def refuse(*_):
        raise error

    monkeypatch.setattr("sim.storage.begin_file", refuse)
    done = call("doctor")
    assert done.exit_code == 1
    assert "WRONG  results here: StoreError" in done.stdout
