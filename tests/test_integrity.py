"""A results folder that somebody changed: the summary refuses it as the run does, and nothing is counted twice."""

import json
import shutil

import pytest

from analysis import summarise
from analysis.load import LoadError
from sim import run
from tests.toy import GAME


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        run(GAME, 3000, seed=seed, block=1000, out=folder / f"seed{seed}")
    return folder


@pytest.fixture
def folder(two_runs, tmp_path):
    return shutil.copytree(two_runs / "seed1", tmp_path / "run")


PARTS = [f"part-{first:012d}-{first + 999:012d}.parquet" for first in (0, 1000, 2000)]


def refused(folder, match):
    with pytest.raises(LoadError, match=match) as caught:
        summarise(folder)
    assert "\n" not in str(caught.value)


def test_a_sound_folder(folder):
    assert summarise(folder).games == 3000


def test_a_part_of_another_seed(folder, two_runs):
    shutil.copy(two_runs / "seed2" / PARTS[1], folder / PARTS[1])
    refused(folder, "is of another run|is not the file")


def test_a_part_of_another_seed_listed_as_it_is(folder, two_runs):
    shutil.copy(two_runs / "seed2" / PARTS[1], folder / PARTS[1])
    document, other = (json.loads((where / "_run.json").read_bytes()) for where in (folder, two_runs / "seed2"))
    document["parts"][1] = other["parts"][1]
    (folder / "_run.json").write_text(json.dumps(document))
    refused(folder, r"is of another run than .*\(seed is 2, there 1\)")


def test_a_part_twice(folder):
    shutil.copy(folder / PARTS[0], folder / PARTS[1])
    refused(folder, "holds the games from 0 on|is not the file")


@pytest.mark.parametrize(("key", "value"), [("seed", 2), ("rules", {"players": 5})])
def test_a_changed_document(folder, key, value):
    document = json.loads((folder / "_run.json").read_bytes())
    document["spec"][key] = value
    (folder / "_run.json").write_text(json.dumps(document))
    refused(folder, "is of another run than _run.json")


def test_a_flipped_bit_in_the_footer(folder):
    data = bytearray((folder / PARTS[2]).read_bytes())
    data[-200] ^= 1
    (folder / PARTS[2]).write_bytes(data)
    refused(folder, "its footer differs|cannot be read")


def test_a_flipped_bit_in_the_data_says_what_to_do(folder):
    data = bytearray((folder / PARTS[2]).read_bytes())
    data[len(data) // 3] ^= 1
    (folder / PARTS[2]).write_bytes(data)
    refused(folder, "cannot be read as Parquet: .*; delete it and give the run's command again")
    (folder / PARTS[2]).unlink()
    assert run(GAME, 3000, seed=1, out=folder).n_played == 1000
    assert summarise(folder).games == 3000


def test_readers_of_arrow_find_the_provenance(folder):
    import pyarrow.parquet as pq

    for metadata in (pq.read_schema(folder / PARTS[0]).metadata, pq.read_metadata(folder / PARTS[0]).metadata):
        assert json.loads(metadata[b"fairdeal"])["spec"]["seed"] == 1
