"""The README's picture, from a results folder: ``python -m reports.pictures.make DIR FILE.svg``."""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis import summarise

# Okabe and Ito's colours, told apart by colour-blind eyes and in grey.
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#666666"


def seat_shares(axes: Any, source: str) -> None:
    """Draw each seat's share of the wins with its 95 % interval, beside the fair share."""
    summary = summarise(source)
    shares = [summary.columns[name].mean for name in summary.columns if name.startswith("win_share_")]
    fair = 100 / len(shares)
    seats = range(len(shares))
    axes.axvline(fair, color=GREY, linewidth=1, linestyle="--")
    axes.text(fair + 0.4, -0.42, "fair share", color=GREY, va="bottom", fontsize=8)
    for seat, share in zip(seats, shares, strict=True):
        axes.barh(seat, 100 * share.estimate, height=0.6, color=BLUE, alpha=0.85)
        axes.plot([100 * share.low, 100 * share.high], [seat, seat], color="black", linewidth=2)
        label = f"{100 * share.estimate:.1f} %"
        axes.text(100 * share.low - 0.5, seat, label, va="center", ha="right", color="white", fontsize=9)
    axes.set(yticks=list(seats), yticklabels=[f"seat {seat}" for seat in seats], xlim=(0, 32), xlabel="wins (%)")
    axes.set_title("Who wins when gifts go to the leader", loc="left", fontsize=10)
    axes.set_ylim(-0.8, len(shares) - 0.5)
    axes.invert_yaxis()


def ride_cost(axes: Any, rows: pd.DataFrame) -> None:
    """Draw what the bus costs its driver, by how the ride ended."""
    most = int(rows["bus_penalty"].max())
    bottom = pd.Series(0.0, index=range(most + 1))
    for end, label, colour in (
        ("success", "the driver got through", BLUE),
        ("stock_out", "the stock ran out", ORANGE),
    ):
        share = rows.loc[rows["bus_end"] == end, "bus_penalty"].value_counts() / len(rows) * 100
        heights = share.reindex(range(most + 1), fill_value=0)
        axes.bar(range(most + 1), heights, bottom=bottom, color=colour, width=0.9, label=label)
        bottom = bottom + heights
    axes.set(xlabel="points the bus costs its driver", ylabel="rides (%)")
    axes.set_title("What a ride on the diamond costs", loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    """Draw both and save them."""
    folder, target = sys.argv[1:3]
    mpl.rcParams["svg.hashsalt"] = "fairdeal"
    mpl.rcParams["font.family"] = "DejaVu Sans"
    figure = Figure(figsize=(9, 3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    seat_shares(left, folder)
    ride_cost(right, pd.read_parquet(folder, columns=["bus_penalty", "bus_end"]))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None}, dpi=150)


if __name__ == "__main__":
    main()
