"""Figures: nothing overlaps or is cut off, whatever there is to draw; what is drawn is the data; the same bytes."""

import functools
import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from reports import figures, style
from sim.games.bussikuski.answers import answers_frame
from sim.games.bussikuski.rules import BussikuskiRules

SIZES = [pytest.param(False, id="wide"), pytest.param(True, id="narrow")]
LONG = "policy = greedy,careful,random,greedy,careful,random,greedy,careful and then some more of it"


def drawn(paint, height, narrow):
    """Return a figure with everything laid out, and its Axes."""
    with style.styled():
        figure = Figure((style.NARROW if narrow else style.WIDE, height), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        paint(axes)
        figure.canvas.draw()
    return figure, axes


def visible_texts(figure, axes):
    """Yield (text, its box in pixels) for all that is to be read."""
    found = [*axes.texts, axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title]
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axes.axison:
            inside = [tick for tick in axis.get_major_ticks() if min(limits) <= tick.get_loc() <= max(limits)]
            found += [tick.label1 for tick in inside]
    for legend in figure.legends:
        found += legend.get_texts()
    renderer = figure.canvas.get_renderer()
    for text in found:
        if text.get_text().strip() and text.get_visible():
            box = text.get_window_extent(renderer)
            yield text.get_text(), (box.x0, box.y0, box.x1, box.y1)


def check_readable(paint, height, narrow):
    figure, axes = drawn(paint, height, narrow)
    boxes = list(visible_texts(figure, axes))
    assert boxes
    width, height = figure.bbox.width, figure.bbox.height
    for text, (x0, y0, x1, y1) in boxes:
        assert min(x0, y0) >= -1, f"{text!r} is cut off"
        assert max(x1 - width, y1 - height) <= 1, f"{text!r} is cut off"
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        across = min(a[2], b[2]) - max(a[0], b[0])
        down = min(a[3], b[3]) - max(a[1], b[1])
        assert across < 1 or down < 1.5, f"{one!r} and {other!r} overlap"
    return figure, axes


def share_frame(n, label="seat {}", text="{:.2f} ± 0.14 %"):
    shares = np.linspace(0, 1, n) if n > 1 else np.array([1.0])
    return pd.DataFrame(
        {
            "label": [label.format(k) for k in range(n)],
            "share": shares,
            "low": (shares - 0.1).clip(0),
            "high": (shares + 0.1).clip(max=1),
            "text": [text.format(100 * share) for share in shares],
        }
    )


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("label", ["seat {}", LONG + " {}"], ids=["short", "long"])
@pytest.mark.parametrize("n", [1, 8, 24])
def test_shares_are_readable_with_any_number_of_rows(n, label, narrow):
    frame = share_frame(n, label, "{:.4f} (0.0008 – 0.0058) %")
    height = figures.height_of(list(frame["label"]), narrow=narrow)
    _, axes = check_readable(functools.partial(figures.shares, frame, fair=0.25), height, narrow)
    widths = [bar.get_width() for bar in axes.patches][:n]
    assert widths == pytest.approx(list(100 * frame["share"]))


def test_of_open_shares_both_parts_are_drawn():
    frame = share_frame(2).assign(share=[0.2, 0.3], open=[0.0, 0.4])
    _, axes = drawn(functools.partial(figures.shares, frame, legend="unknown"), 2, False)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([20, 30, 0, 40])
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([0, 0, 20, 30])


def forest_frame(n_labels, n_kinds, label="number {}", kind="size = {}"):
    rng = np.random.default_rng(1)
    rows = [
        (label.format(i), kind.format(k), x := rng.normal(), x - 0.3, x + 0.3, 0.2, f"{x:.3f} ± 0.300")
        for i in range(n_labels)
        for k in range(n_kinds)
    ]
    return pd.DataFrame(rows, columns=["label", "kind", "estimate", "low", "high", "margin", "text"])


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("names", [("number {}", "size = {}"), (LONG + " {}", LONG + " {}")], ids=["short", "long"])
@pytest.mark.parametrize(("n_labels", "n_kinds"), [(1, 1), (24, 1), (10, 4)])
def test_forests_are_readable_with_any_number_of_variants(n_labels, n_kinds, names, narrow):
    frame = forest_frame(n_labels, n_kinds, *names)
    legend = list(dict.fromkeys(frame["kind"])) if n_kinds > 1 else ()
    labels = list(dict.fromkeys(frame["label"]))
    height = figures.height_of(labels, narrow=narrow, rows=n_kinds, legend=legend)
    _, axes = check_readable(functools.partial(figures.forest, frame), height, narrow)
    points = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert points == pytest.approx(list(frame["estimate"]))
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([-0.2] * len(frame))
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.4] * len(frame))


def test_the_colour_of_a_variant_is_the_same_in_every_figure():
    kinds = [f"size = {k}" for k in range(5)]
    frame = forest_frame(2, 5)
    few = frame[frame["kind"] == "size = 3"]
    colour = style.colours(kinds)["size = 3"]
    _, axes = drawn(functools.partial(figures.forest, few, kinds=kinds), 2, False)
    assert {line.get_color() for line in axes.lines if len(line.get_xdata()) == 1} == {colour}
    bars = share_frame(1).assign(kind=["size = 3"])
    _, axes = drawn(functools.partial(figures.shares, bars, kinds=kinds), 2, False)
    assert {style_of(bar) for bar in axes.patches} == {colour}


def style_of(bar):
    from matplotlib.colors import to_hex

    return to_hex(bar.get_facecolor())


def test_rows_of_one_colour_have_different_markers():
    names = [f"size = {k}" for k in range(24)]
    looks = {(style.colours(names)[name], style.markers(names)[name]) for name in names}
    assert len(looks) == 24


def luminance(colour):
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (red, green, blue)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_colours_stand_out_from_the_paper_and_texts_clearly():
    paper = luminance(style.PAPER)
    for colour in style.PALETTE:
        assert (paper + 0.05) / (luminance(colour) + 0.05) > 1.9
    for colour in (style.INK, style.MUTED):
        assert (paper + 0.05) / (luminance(colour) + 0.05) > 4.5  # as WCAG 2 asks of texts


def count_frame(values, games, label=None):
    frame = pd.DataFrame({"value": values, "games": games})
    return frame if label is None else frame.assign(label=label)


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("reach", [1, 13, 20_000])
def test_histograms_show_all_games_and_are_readable(reach, narrow):
    values = np.arange(reach)
    games = np.random.default_rng(1).integers(1, 9, reach)
    _, axes = check_readable(
        functools.partial(figures.histogram, count_frame(values, games), xlabel="turns"), 2.4, narrow
    )
    shown = sum(bar.get_height() for bar in axes.patches)
    assert 99.9 < shown <= 100 + 1e-9
    if reach <= 13:
        assert [bar.get_height() for bar in axes.patches] == pytest.approx(list(100 * games / games.sum()))


@pytest.mark.parametrize("narrow", SIZES)
def test_survival_is_the_share_of_longer_games(narrow):
    frame = count_frame([1, 2, 5], [5, 3, 2])
    _, axes = check_readable(functools.partial(figures.survival, frame, xlabel="turns"), 2.4, narrow)
    (line,) = axes.lines
    assert list(line.get_xdata()) == [0, 1, 2, 5]
    assert list(line.get_ydata()) == pytest.approx([100, 50, 20, 0])
    several = pd.concat([count_frame([1, 4, 9], [1, 2, 3], f"{LONG} {k}") for k in range(5)])
    check_readable(functools.partial(figures.survival, several), 3.4, narrow)


@pytest.mark.parametrize("narrow", SIZES)
def test_spread_shows_mean_and_quantiles(narrow):
    frame = pd.DataFrame(
        [(f"seat {k}", 4.5, 0, 2, 4, 6, 9 + k, "4.500 ± 0.012") for k in range(8)],
        columns=["label", "mean", "q05", "q25", "q50", "q75", "q95", "text"],
    )
    height = figures.height_of(list(frame["label"]), narrow=narrow)
    _, axes = check_readable(functools.partial(figures.spread, frame, xlabel="points"), height, narrow)
    assert [line.get_xdata()[0] for line in axes.lines] == [4, 4.5] * 8


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("games", [[1], [20, 50, 100], list(np.geomspace(20, 10**7, 60).astype(int))])
def test_convergence_is_readable(games, narrow):
    frame = pd.DataFrame(
        [
            (label, n, 0.25, 0.25 - 0.4 / np.sqrt(n), 0.25 + 0.4 / np.sqrt(n))
            for label in ("seat 0 wins", "seat 3 wins")
            for n in games
        ],
        columns=["label", "games", "estimate", "low", "high"],
    )
    _, axes = check_readable(functools.partial(figures.convergence, frame), 2.5, narrow)
    assert [list(line.get_ydata()) for line in axes.lines] == [[25.0] * len(games)] * 2


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 2), (3, 8), (24, 4)])
def test_heat_maps_are_readable(n_rows, n_columns, narrow):
    frame = pd.DataFrame(
        [(str(i), f"value {j}", 10 * i + j, f"{10 * i + j:.1f} %") for i in range(n_rows) for j in range(n_columns)],
        columns=["row", "column", "value", "text"],
    )
    height = 0.9 + (0.36 if n_rows < 12 else 0.26) * n_rows
    _, axes = check_readable(functools.partial(figures.heat_map, frame, xlabel="b", ylabel="a"), height, narrow)
    assert [text.get_text() for text in axes.texts] == list(frame["text"])


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("shares", [(1, 0, 0), (0, 0, 1), (0.2, 0.3, 0.5), (0.0001, 0.0001, 0.9998)])
def test_verdicts_add_up(shares, narrow):
    labels = ["can be won", "unknown", "cannot be won"]
    frame = pd.DataFrame({"label": labels, "share": shares, "low": 0.1, "high": 0.4})
    _, axes = check_readable(functools.partial(figures.verdicts, frame), 1.65 if narrow else 1.25, narrow)
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(100)


@pytest.mark.parametrize("narrow", SIZES)
def test_budget_is_readable(narrow):
    frame = pd.DataFrame(
        [
            (label, 10**k, k / 20)
            for label in ("proved that it can be won", "proved that it cannot be won")
            for k in range(7)
        ],
        columns=["label", "nodes", "share"],
    )
    check_readable(functools.partial(figures.budget, frame), 2.6, narrow)


@pytest.mark.parametrize("narrow", SIZES)
@pytest.mark.parametrize("rules", [{}, {"fourth_question": "new_or_held"}])
def test_the_strategy_card_has_every_situation(rules, narrow):
    frame = answers_frame(BussikuskiRules.build(options=rules))
    paint = functools.partial(figures.strategy_card, frame)
    _, axes = check_readable(paint, figures.card_height(frame, narrow=narrow), narrow)
    cells = [text.get_text() for text in axes.texts if text.get_text().isdigit() and text.get_weight() != "bold"]
    wanted = frame[frame["question"].isin([2, 3])]
    assert cells == [f"{100 * chance:.0f}" for chance in wanted["chance"]]
    fourth = [text.get_text() for text in axes.texts if "→  " in text.get_text()]
    assert len(fourth) == (frame["question"] == 4).sum()


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_frame_gives_the_same_bytes_in_any_process(kind, tmp_path):
    code = (
        "import functools, pandas as pd, sys; from reports import figures, style\n"
        "frame = pd.DataFrame({'label': ['a', 'b'], 'share': [.2, .8], 'low': [.1, .7], 'high': [.3, .9]})\n"
        f"data = style.draw(functools.partial(figures.shares, frame), 6, 2, {kind!r})\n"
        "sys.stdout.buffer.write(data)"
    )
    root = Path(__file__).parent.parent
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, cwd=root, env={"PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout


def test_names_are_drawn_as_they_are():
    frame = share_frame(1, "$x_1$ & <script>alert(1)</script>")
    svg = style.draw(functools.partial(figures.shares, frame), 6, 2, as_text=True)
    element = style.inline(svg, "f1", 'alt "with" <quotes>')
    assert "$x_1$ &amp; &lt;script&gt;" in element
    assert "<script" not in element
    assert 'aria-label="alt &#34;with&#34; &lt;quotes&gt;"' in element


def test_inline_colours_are_the_pages_own():
    svg = style.draw(functools.partial(figures.forest, forest_frame(3, 3)), 6, 3, as_text=True)
    element = style.inline(svg, "f1", "")
    assert "#" not in element.replace('"#', "").replace("url(#", "").replace("&#", "")
    css = (Path(figures.__file__).parent / "templates" / "page.css").read_text()
    used = set(re.findall(r"var\((--\w+)\)", element))
    assert used
    for variable in used:
        assert css.count(f"{variable}:") == 2  # by day and by night
