"""Compiled kernels on disk: what decides them, and that nothing else does."""

import importlib
import os
import subprocess
import sys
import time

import pytest
from numba.core.registry import CPUDispatcher

from sim import jit

KERNELS = [f"sim.games.{name}.kernel" for name in ("autobus", "bludiste", "bussikuski", "dupa")]


@pytest.mark.parametrize("name", KERNELS)
def test_sources_hold_every_module_that_a_kernel_takes_something_from(name):
    waiting = [
        function
        for module in jit.sources(name)
        for function in vars(importlib.import_module(module)).values()
        if isinstance(function, CPUDispatcher)
    ]
    assert len(waiting) > 20
    for function in waiting:
        for used in function.py_func.__code__.co_names:
            value = function.py_func.__globals__.get(used)
            module = getattr(value, "__module__", None) or getattr(value, "__name__", None)
            if isinstance(module, str) and module.startswith("sim."):
                assert module in jit.sources(function.py_func.__module__), (function, used)


@pytest.mark.parametrize("name", KERNELS)
def test_sources_hold_no_other_game_and_no_text(name):
    game = name.split(".")[2]
    found = jit.sources(name)
    assert {"sim.jit", "sim.rng", "sim.rules", f"sim.games.{game}.moves", f"sim.games.{game}.rules"} <= set(found)
    games = {module.split(".")[2] for module in found if module.startswith("sim.games.")}
    assert games == {game}
    assert not {module.split(".")[-1] for module in found} & {"tell", "store", "runner", "api", "replays"}


HASHES = "from sim import jit; print(*(jit.kernel_hash(f'sim.games.{name}') for name in ('one', 'other')))"


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("games/one.py", (True, False)),
        ("games/other.py", (False, True)),
        ("games/text.py", (False, False)),
        ("helper.py", (True, False)),
        ("numbers.py", (True, True)),
    ],
)
def test_an_edit_changes_the_hash_of_what_imports_it(tmp_path, edited, changes):
    sim = tmp_path / "sim"
    (sim / "games").mkdir(parents=True)
    for path, source in {
        "jit.py": (jit.ROOT / "sim" / "jit.py").read_text(),
        "games/one.py": "from sim import (\n    helper,\n)\n",
        "games/other.py": "    from sim.numbers import two  # within a function\n",
        "games/text.py": "from sim.games.one import three\n",
        "helper.py": "import sim.numbers\n",
        "numbers.py": "two = 2\n",
    }.items():
        (sim / path).write_text(source)
    for folder in (sim, sim / "games"):
        (folder / "__init__.py").write_text("")

    def hashes():
        ran = subprocess.run([sys.executable, "-c", HASHES], cwd=tmp_path, capture_output=True, text=True, check=True)
        return ran.stdout.split()

    before = hashes()
    with (sim / edited).open("a") as file:
        file.write("# more\n")
    assert tuple(a != b for a, b in zip(before, hashes(), strict=True)) == changes


def test_kernels_are_kept_by_module(tmp_path, monkeypatch):
    monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
    code = (
        "import numpy as np; from sim.rng import STREAM_DTYPE, start_stream, draw_below\n"
        "stream = np.zeros(1, STREAM_DTYPE)[0]\n"
        "draw_below(stream, 6)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=jit.ROOT, check=True)
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"rng-{jit.kernel_hash('sim.rng')}"
    assert list(folder.rglob("*.nbc"))


def test_kernels_of_old_sources_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
    jit.cache_folder.cache_clear()
    days = {"rng-0123456789abcdef": 31, "rng-0123456789abcde0": 29, "cards-0123456789abcdef": 31, "rng-mine": 31}
    for name, age in days.items():
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, 2 * (time.time() - age * jit.DAY,))
    try:
        folder = jit.cache_folder("sim.rng")
        assert {path.name for path in tmp_path.iterdir()} == {folder.name, *days} - {"rng-0123456789abcdef"}
        (folder / "kernel").touch()
        os.utime(folder, 2 * (time.time() - 31 * jit.DAY,))
        jit.cache_folder.cache_clear()
        assert jit.cache_folder("sim.rng") == folder
        assert time.time() - folder.stat().st_mtime < 60
    finally:
        jit.cache_folder.cache_clear()
