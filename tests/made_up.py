"""Made-up results in the file format of the contract, written without sim."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SPEC = {
    "game": "whist",
    "rules_version": 1,
    "rules": {"players": 3, "stakes": [1, 2], "table": "round", "swap": False},
    "policies": {"guess": ["own", "own", "own"], "give": ["leader", "spread", "leader"]},
    "seed": 7,
    "random_scheme": "none/v1",
}


def column(name, description="", low=0, high=0, categories=(), share=False):
    return {
        "name": name,
        "description": description,
        "low": low,
        "high": high,
        "categories": list(categories),
        "share": share,
    }


ENDS = ("out", "stalemate", "turn_cap", "resigned")


def columns(seats=3):
    """Return the notes of a game with every kind of column."""
    return [
        *[column(f"points_{k}", f"points of seat {k} at the end; most win", -20, 300) for k in range(seats)],
        *[
            column(f"win_share_{k}", f"seat {k}'s share of the win: 1/k for each of k", 0, 1, share=True)
            for k in range(seats)
        ],
        column("dealer", "seat that deals, -1 for nobody", -1, seats - 1),
        column("turns", "turns played", 0, 100_000),
        column("slam", "a slam was made", 0, 1),
        column("end", "how the game ended", categories=ENDS),
    ]


def rows(games, seats=3, seed=0, capped=0.01):
    """Return the columns as numpy arrays (categories as indices)."""
    rng = np.random.default_rng(seed)
    points = rng.integers(-20, 300, (seats, games)).astype(np.int16)
    points[:, rng.random(games) < 0.2] = 5
    best = points == points.max(axis=0)
    shares = best / best.sum(axis=0)
    return {
        "game": np.arange(games, dtype=np.uint64),
        **{f"points_{k}": points[k] for k in range(seats)},
        **{f"win_share_{k}": shares[k] for k in range(seats)},
        "dealer": rng.integers(-1, seats, games).astype(np.int8),
        "turns": (rng.pareto(2.0, games) * 20).clip(0, 100_000).astype(np.uint32),
        "slam": (rng.random(games) < 0.05).astype(np.uint8),
        "end": rng.choice(4, games, p=[0.7, 0.3 - capped, capped, 0]).astype(np.int8),
    }


def table(data, spec=SPEC, categories=("end",)):
    arrays = {
        name: pa.DictionaryArray.from_arrays(pa.array(values), pa.array(ENDS))
        if name in categories
        else pa.array(values)
        for name, values in data.items()
    }
    fields = [pa.field(name, array.type, nullable=False) for name, array in arrays.items()]
    metadata = {"fairdeal": json.dumps({"format": 1, "spec": spec, "kernel_hash": "0"})} if spec else None
    return pa.table(list(arrays.values()), schema=pa.schema(fields, metadata=metadata))


def write(folder, data, cuts=(), *, seats=3, spec=SPEC, row_group=1_000, order=None, **document):
    """Write a results folder, its rows cut into parts at `cuts`; return it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    games = len(data["game"])
    order = np.arange(games) if order is None else order
    names = []
    for number, where in enumerate(np.split(order, list(cuts))):
        names.append(f"part-{number:06d}.parquet")
        part = table({name: values[where] for name, values in data.items()}, spec)
        pq.write_table(part, folder / names[-1], row_group_size=row_group, write_page_checksum=True)
    document = {
        "format": 1,
        "spec": spec,
        "kernel_hash": "0",
        "games": games,
        "columns": columns(seats),
        "parts": [{"name": name} for name in names],
        "complete": True,
    } | document
    (folder / "_run.json").write_text(json.dumps(document))
    return folder
