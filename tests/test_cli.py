"""The command line: what is printed where, exit statuses, and one clear line for every slip."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from scripts.cli import main
from scripts.options import SLOTS
from scripts.progress import Progress, Voice
from sim.games import GAMES, get_game
from tests.command_line import DECKS, call, good, refused

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def shell(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-c", "from scripts.cli import main; main()", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


# -- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, *main.commands])
def test_every_command_has_help_with_an_example(name: str | None) -> None:
    words = [name] if name else []
    text = good(*words, "--help")
    assert "Example" in text
    assert f"fairdeal {name or 'run'} " in text or name == "games"
    assert text == good(*words, "-h")


def test_without_a_command_help_is_shown() -> None:
    assert good() == good("--help")


def test_version() -> None:
    assert good("--version").startswith("fairdeal ")


def test_every_slot_of_every_game_has_its_option() -> None:
    assert {slot.name for name in GAMES for slot in get_game(name).slots} <= set(SLOTS)


def test_help_and_listings_load_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from scripts.cli import main\n"
        "for words in (['--help'], ['games'], ['rules', 'bussikuski'], ['run', 'bussikuski', '--games', 'x']):\n"
        "    try:\n"
        "        main(words)\n"
        "    except SystemExit:\n"
        "        pass\n"
        "heavy = {'numpy', 'numba', 'pandas', 'pyarrow', 'rich', 'scipy', 'statsmodels', 'matplotlib', 'jinja2'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- games, rules -------------------------------------------------------------------------------------------------


def test_games_has_a_line_for_each_game() -> None:
    lines = good("games").splitlines()
    assert [line.split()[0] for line in lines] == list(GAMES)
    assert "--guess own|counting|random" in lines[list(GAMES).index("bussikuski")]
    told = json.loads(good("games", "--json"))["games"]
    assert [game["name"] for game in told] == list(GAMES)


@pytest.mark.parametrize("name", list(GAMES))
def test_rules_lists_every_option_variant_and_policy(name: str) -> None:
    game = get_game(name)
    text = good("rules", name)
    for option, default in game.rules().texts().items():
        assert f"\n  {option} = {default}\n" in text
    for word in [*game.rules.VARIANTS, *(policy for slot in game.slots for policy in slot.choices)]:
        assert f"\n  {word} " in text
    assert max(map(len, text.splitlines())) < 100
    told = json.loads(good("rules", name, "--json"))
    assert [option["name"] for option in told["options"]] == list(game.rules.kinds())
    assert list(told["variants"]) == list(game.rules.VARIANTS)


def test_rules_of_a_changed_rule_set() -> None:
    text = good("rules", "bussikuski", "--variant", "straight", "--rule", "players=6")
    assert "* players = 6\n" in text
    assert "* bus = straight\n" in text
    assert "allowed: 2–8; default 4" in text
    assert "cannot matter here: the bus is not the diamond" in text
    told = json.loads(good("rules", "bussikuski", "--rule", "players=6", "--json"))
    players = told["options"][0]
    assert (players["name"], players["value"], players["default"]) == ("players", 6, 4)


def test_a_rule_file_can_be_printed_and_given_back() -> None:
    printed = good("rules", "bussikuski", "--toml", "--rule", "bus=questions", "--rule", "blockers=none")
    assert tomllib.loads(printed)["bus"] == "questions"
    Path("mine.toml").write_text(printed)
    again = good("rules", "bussikuski", "--toml", "--rules", "mine.toml")
    assert again == printed
    on_top = good("rules", "bussikuski", "--toml", "--rules", "mine.toml", "--rule", "players=3")
    assert tomllib.loads(on_top)["players"] == 3


# -- wrong calls --------------------------------------------------------------------------------------------------

RUN = ("run", "bussikuski", "--games", "5")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rnu",), "'rnu' is not a command (did you mean 'run'?); the commands are games, rules, run"),
        (("run",), "run needs GAME; see 'fairdeal run --help'"),
        (("run", "bussikuski"), "run needs --games"),
        (("run", "busikuski", "--games", "5"), "'busikuski' is not a game (did you mean 'bussikuski'?); the game"),
        (("run", "chess", "--games", "5"), "'chess' is not a game"),
        (("run", "bussikuski", "--gmaes", "5"), "run has no option --gmaes (did you mean '--games'?)"),
        (("--verson",), "fairdeal has no option --verson (did you mean '--version'?)"),
        (("run", "bussikuski", "--games"), "--games needs a value"),
        (("run", "bussikuski", "--games", "1x"), "--games: '1x' is not a whole number; write for example 1000000,"),
        (("run", "bussikuski", "--games", "0"), "--games: 0 is out of range; allowed: 1 to"),
        (("run", "bussikuski", "--games", "1e20"), "--games: 1e20 is out of range"),
        ((*RUN, "extra"), "unexpected extra argument (extra)"),
        ((*RUN, "--seed", "-1"), "--seed: -1 is out of range; allowed: 0 to 18446744073709551615"),
        ((*RUN, "--seed", "2e19"), "--seed: 2e19 is out of range"),
        ((*RUN, "--threads", "0"), "--threads: 0 is out of range; allowed: 1 to"),
        ((*RUN, "--policy", "own"), "--policy: bussikuski has --guess and --give instead"),
        (
            (*RUN, "--guess", "count"),
            "--guess: 'count' is no policy; choose own, counting or random (did you mean 'counting'?)",
        ),
        ((*RUN, "--guess", "own,own"), "--guess: 2 policies for 4 seats; give one for all or one per seat"),
        ((*RUN, "--rule", "players=9"), "players: 9 is out of range; allowed: 2 to 8"),
        ((*RUN, "--rule", "playrs=4"), "bussikuski has no option 'playrs' (did you mean 'players'?); its options are"),
        ((*RUN, "--rule", "bus=diamont"), "bus: 'diamont' is not allowed; choose diamond, straight, questions or none"),
        ((*RUN, "--rule", "players"), "'players' has no '='; write OPTION=VALUE"),
        ((*RUN, "--rule", "players=8", "--rule", "pyramid_rows=6"), "players = 8 and pyramid_rows = 6 need 53 cards"),
        ((*RUN, "--variant", "strait"), "bussikuski has no variant 'strait' (did you mean 'straight'?)"),
        ((*RUN, "--rules", "no.toml"), "rule file no.toml: No such file or directory"),
        (("rules", "bussikuski", "--toml", "--json"), "--toml and --json exclude each other"),
        (("summary", "nothing"), "there is no folder nothing"),
        (("replay", "bussikuski"), "replay needs --game I (one game of a seed) or --deals FILE"),
        (("replay", "bussikuski", "--game", "1", "--deals", "x"), "--game and --deals exclude each other"),
        (("replay", "bussikuski", "--game", "1", "--jsonl"), "--jsonl is for --deals"),
        (("replay", "bussikuski", "--deals", "x", "--deal"), "--deal is for --game"),
        (("replay", "bussikuski", "--deals", "x", "--json", "--jsonl"), "--jsonl and --json exclude each other"),
        (("replay", "bussikuski", "--deals", "no.txt"), "--deals: no.txt: no such file or directory"),
        (("replay", "bussikuski", "--deals", "."), "--deals: .: is a directory"),
        (("replay", "bussikuski", "--game", "-1"), "--game: -1 is out of range; allowed: 0 to"),
        (("replay", "bussikuski", "--game", "1", "--from", "no"), "there is no folder no"),
        (("replay", "bussikuski", "--game", "1", "--from", "x", "--seed", "2"), "--seed cannot be given too"),
        (("replay", "bussikuski", "--game", "1", "--from", "x", "--rule", "bus=none"), "--rule cannot be given too"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_is_one_line_and_status_2(words: tuple[str, ...], said: str) -> None:
    assert said in refused(*words)
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("players = ", "is not TOML"),
        ("\xff", "is not TOML"),
        ("players = 9", "players: 9 is out of range; allowed: 2 to 8"),
        ("bus = 3", "bus: '3' is not allowed; choose diamond"),
        ("bux = 'none'", "bussikuski has no option 'bux' (did you mean 'bus'?)"),
        ("game = 'dupa'", "is for dupa, not for bussikuski"),
        ("[players]\nn = 4", "players: {'n': 4} is not a whole number"),
    ],
)
def test_a_wrong_rule_file_is_named_with_what_is_wrong(text: str, said: str) -> None:
    Path("rules.toml").write_bytes(text.encode("latin-1"))
    message = refused(*RUN, "--rules", "rules.toml")
    assert message.startswith("rule file rules.toml")
    assert said in message
    assert os.listdir() == ["rules.toml"]


# -- run, summary -------------------------------------------------------------------------------------------------


def test_a_run_says_what_it_does_and_prints_the_summary() -> None:
    done = call("run", "bussikuski", "--games", "2k", "--out", "mine", "--rule", "players=3", "--seed", "5")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Bussikuski: 2,000 games, seed 5\n")
    assert "Playing 2,000 games of Bussikuski, seed 5, into mine\n" in done.stderr
    assert "players = 3; guess own; give leader" in done.stderr
    assert "Played 2,000 games in " in done.stderr
    assert "a second; results in mine" in done.stderr
    assert len(pd.read_parquet("mine")) == 2000
    again = call("run", "bussikuski", "--games", "2k", "--out", "mine", "--rule", "players=3", "--seed", "5")
    assert again.exit_code == 0
    assert again.stdout == done.stdout
    assert again.stderr == "mine is complete: 2,000 games of Bussikuski, nothing to play.\n"
    assert good("summary", "mine") == done.stdout
    more = call("run", "bussikuski", "--games", "3k", "--out", "mine", "--rule", "players=3", "--seed", "5")
    assert "Playing 3,000 games of Bussikuski (2,000 are there), seed 5, into mine\n" in more.stderr
    assert "Played 1,000 games in " in more.stderr


def test_without_out_the_folder_is_the_same_for_the_same_run() -> None:
    good("run", "bussikuski", "--games", "100", "--quiet")
    (folder,) = os.listdir("results")
    assert folder.startswith("bussikuski-100-seed1-")
    assert "is complete" in call("run", "bussikuski", "--games", "1e2").stderr
    assert os.listdir("results") == [folder]


def test_quiet_says_nothing_on_standard_error() -> None:
    assert call("run", "bussikuski", "--games", "100", "--quiet").stderr == ""
    assert call("replay", "bussikuski", "--game", "1", "--quiet").stderr == ""


def test_json_of_a_run_and_of_its_summary() -> None:
    done = call("run", "bussikuski", "--games", "500", "--out", "mine", "--json", "--guess", "own,counting,random,own")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["game"] == "bussikuski"
    assert told["rules"] == get_game("bussikuski").rules().plain()
    assert told["policies"] == {"guess": ["own", "counting", "random", "own"], "give": ["leader"] * 4}
    assert (told["seed"], told["games"], told["undecided"]) == (1, 500, 0)
    assert list(told["columns"]["points_0"]) == ["mean", "se", "low", "high", "n"]
    assert sum(told["ends"]["bus_end"].values()) == 500
    assert set(told["ends"]) == {"driver_by", "bus_end"}
    assert told["diagnosis"] == []
    assert told["seconds"] > 0
    assert told["games_per_second"] > 0
    again = json.loads(good("summary", "mine", "--json"))
    changing = {"seconds", "games_per_second"}
    assert {key: value for key, value in again.items() if key not in changing} == {
        key: value for key, value in told.items() if key not in changing
    }
    assert set(again) == set(told)


def test_the_diagnosis_is_made_of_the_rules_in_the_folder() -> None:
    good("run", "bussikuski", "--games", "100", "--out", "mine", "--rule", "blockers=none", "--quiet")
    assert "Without blockers every ride succeeds at the first attempt" in good("summary", "mine")
    assert any("Without blockers" in said for said in json.loads(good("summary", "mine", "--json"))["diagnosis"])


def test_rows_do_not_depend_on_threads() -> None:
    for threads in (1, 2):
        good("run", "bussikuski", "--games", "5k", "--threads", threads, "--out", f"by{threads}", "--quiet")
    one, two = (pd.read_parquet(f"by{threads}").sort_values("game", ignore_index=True) for threads in (1, 2))
    pd.testing.assert_frame_equal(one, two)


def test_summary_of_anybody_s_parquet() -> None:
    good("run", "bussikuski", "--games", "100", "--out", "mine", "--quiet")
    (part,) = Path("mine").glob("*.parquet")
    table = pq.read_table(part).replace_schema_metadata(None)
    pq.write_table(table, "plain.parquet")
    assert "100 rows" in good("summary", "plain.parquet").splitlines()[0]


def test_a_folder_of_another_run_is_refused() -> None:
    good("run", "bussikuski", "--games", "100", "--out", "mine", "--quiet")
    before = sorted(os.listdir("mine"))
    assert "mine holds another run: seed 1 there, 2 here" in refused(*RUN[:3], "100", "--out", "mine", "--seed", "2")
    assert "players 4 there, 5 here" in refused(*RUN[:3], "100", "--out", "mine", "--rule", "players=5")
    assert "mine is a run of 100 games" in refused(*RUN, "--out", "mine")
    assert sorted(os.listdir("mine")) == before
    Path("notes").mkdir()
    Path("notes/a.txt").touch()
    assert "notes is not a results folder and not empty" in refused(*RUN, "--out", "notes")
    Path("file").touch()
    assert "file is a file, not a folder" in refused(*RUN, "--out", "file")
    assert "notes is not a results folder" in refused("summary", "notes")


def test_damaged_results_are_status_1() -> None:
    good("run", "bussikuski", "--games", "100", "--out", "mine", "--quiet")
    shutil.copytree("mine", "cut")
    (part,) = Path("cut").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:-100])
    assert part.name in refused("summary", "cut", status=1)
    part.unlink()
    assert f"{part} is missing" in refused("summary", "cut", status=1)
    Path("mine/_run.json").write_text("{")
    assert "mine/_run.json is cut short or damaged" in refused("summary", "mine", status=1)


def test_a_folder_that_cannot_be_written_is_status_1() -> None:
    message = refused(*RUN, "--out", "/proc/fairdeal", "--quiet", status=1)
    assert message.startswith("/proc/fairdeal cannot be written: ")


@pytest.mark.parametrize("system_call", ["open", "replace"])
def test_a_full_disk_is_status_1_and_leaves_nothing_half_written(
    monkeypatch: pytest.MonkeyPatch, system_call: str
) -> None:
    real = getattr(Path, system_call)

    def full(path: Path, *given: Any, **how: Any) -> Any:
        if ".parquet" in path.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, *given, **how)

    monkeypatch.setattr(Path, system_call, full)
    message = refused(*RUN, "--out", "mine", "--quiet", status=1)
    assert message.startswith("mine cannot be written: no space left on device; what is finished is kept")
    assert not list(Path("mine").glob("*part*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_kept_and_gone_on_with(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run", "bussikuski", "--games", "200k", "--threads", "1", "--out", "my run"]
    real = Progress.__call__

    def interrupt(progress: Progress, done: int, wanted: int, rate: float) -> None:
        real(progress, done, wanted, rate)
        if 0 < done < wanted:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(Progress, "__call__", interrupt)
    stopped = call(*words)
    assert stopped.exit_code == 130
    assert stopped.stdout == ""
    last = stopped.stderr.splitlines()[-1]
    assert "of 200,000 games are kept in my run." in last
    assert last.endswith("fairdeal run bussikuski --games 200k --threads 1 --out 'my run'")
    manifest = json.loads(Path("my run/_run.json").read_text())
    assert manifest["n_there"] < 200_000
    assert not manifest["complete"]


def test_an_interrupted_run_ends_with_the_rows_of_an_undisturbed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run", "bussikuski", "--games", "100k", "--threads", "1"]
    with monkeypatch.context() as patched:
        real = Progress.__call__

        def interrupt(progress: Progress, done: int, wanted: int, rate: float) -> None:
            real(progress, done, wanted, rate)
            os.kill(os.getpid(), signal.SIGINT)

        patched.setattr(Progress, "__call__", interrupt)
        assert call(*words, "--out", "stopped").exit_code == 130
    good(*words, "--out", "stopped", "--quiet")
    good(*words, "--out", "whole", "--quiet")
    stopped, whole = (pd.read_parquet(folder).sort_values("game", ignore_index=True) for folder in ("stopped", "whole"))
    pd.testing.assert_frame_equal(stopped, whole)


# -- the process --------------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [
        sys.executable,
        "-c",
        "from scripts.cli import main; main()",
        "replay",
        "bussikuski",
        "--deals",
        "-",
        "--jsonl",
    ]
    deals = f"{DECKS[0]} | {DECKS[1]}\n" * 2000
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(deals)
    process.stdin.close()
    assert json.loads(process.stdout.readline())["line"] == 1
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert process.stderr.read() in ("", "Compiling the kernels; this takes about half a minute, once.\n")
    process.stderr.close()


def test_a_second_run_says_nothing_of_compiling_and_loads_no_pandas() -> None:
    call("run", "bussikuski", "--games", "10", "--quiet")
    program = (
        "import sys\n"
        "from scripts.cli import main\n"
        "try:\n"
        "    main(['run', 'bussikuski', '--games', '1000'])\n"
        "except SystemExit as leaving:\n"
        "    assert not leaving.code\n"
        "heavy = {'pandas', 'rich', 'scipy.linalg', 'statsmodels', 'matplotlib', 'jinja2'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Compiling" not in done.stderr
    assert done.stdout.startswith("Bussikuski: 1,000 games, seed 1\n")


def test_compiling_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import numba

    with Voice(quiet=False).about_compiling():
        for add in (1, 2):
            assert numba.njit(lambda x, add=add: x + add)(1) == 1 + add
    assert capsys.readouterr().err == "Compiling the kernels; this takes about half a minute, once.\n"


def test_exit_status_of_the_process() -> None:
    assert shell("--version").returncode == 0
    wrong = shell("run", "bussikuski", "--games", "many")
    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert "Traceback" not in wrong.stderr
