"""How figures look, and how they become SVG, PNG and inline SVG: the same figure gives the same bytes.

The colours are Okabe and Ito's without their yellow, told apart by colour-blind eyes; beside the colour, every figure
has another mark of what is what (a label at the row, a marker, a hatch), so that it reads in grey too.

References
----------
Okabe, M. and Ito, K. (2008). Color Universal Design. https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

INK, MUTED, GRID, BAND, PAPER = "#1f2328", "#59636e", "#d1d9e0", "#e6eaef", "#fffffe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "|||")

_VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", BAND: "band", PAPER: "paper"} | {
    colour: f"c{number}" for number, colour in enumerate(PALETTE)
}
"""Colour → the page's CSS variable that stands for it, so that dark mode can change it."""

WIDE, NARROW = 6.9, 3.5
"""Widths of a figure in inches: in a page or a PDF, and on a phone."""

_TITLE = 0.26

_FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"  # none wider than the first

_SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "fairdeal",
    "text.parse_math": False,  # a dollar sign in a name is one
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.linewidth": 0.8,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.5,
    "hatch.color": PAPER,
    "path.simplify": True,
}


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each name, in the order of their first appearance; the same ones begin again after seven."""
    return {name: PALETTE[number % len(PALETTE)] for number, name in enumerate(dict.fromkeys(names))}


def markers(names: Iterable[str]) -> dict[str, str]:
    """Return a marker for each name, so that names of the same colour differ."""
    order = list(dict.fromkeys(names))
    return {name: MARKERS[(number + number // len(MARKERS)) % len(MARKERS)] for number, name in enumerate(order)}


@contextmanager
def styled(**settings: Any) -> Iterator[None]:
    """Draw in the project's style within the block."""
    import matplotlib as mpl

    with mpl.rc_context({**_SETTINGS, **settings}):  # type: ignore[dict-item]
        yield


def draw(
    paint: Callable[[Any], None],
    width: float,
    height: float,
    kind: str = "svg",
    *,
    as_text: bool = False,
    title: str = "",
) -> bytes:
    """Return a picture.

    Parameters
    ----------
    paint
        Draws on the Axes that it is given.
    width, height
        In inches.
    kind
        ``svg``, ``png``, ``pdf``.
    as_text
        SVG: keep text as text, for the reader's fonts; else it is drawn, and looks the same anywhere.
    title
        Stands above the figure.
    """
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    with styled(**{"svg.fonttype": "none" if as_text else "path", "pdf.fonttype": 42}):
        figure = Figure(figsize=(width, height + bool(title) * _TITLE), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)  # type: ignore[union-attr, call-arg]
        paint(figure.add_subplot())
        if title and figure.legends:
            figure.legends[0].set_title(title, prop=FontProperties(size=10.5, weight="bold"))
        elif title:
            figure.suptitle(title, x=0.006, ha="left", size=10.5, weight="bold")
        target = io.BytesIO()
        nothing = {"svg": ("Date", "Creator", "Format", "Type"), "png": ("Software",)}.get(
            kind, ("CreationDate", "Creator")
        )
        face = "none" if as_text else PAPER
        figure.savefig(target, format=kind, dpi=160, metadata=dict.fromkeys(nothing), facecolor=face)
    return target.getvalue()


def inline(svg: bytes, name: str, alt: str) -> str:
    """Return an SVG as an element of a page.

    Its colours become the page's, its identifiers get a prefix, so that figures do not meet each other's, and what it
    shows is told to those who cannot see it.
    """
    from markupsafe import escape

    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)  # nothing refers to groups
    text = re.sub(r'((?: id="|url\(#|href="#))', rf"\g<1>{name}-", text)
    text = re.sub(r'( width="[\d.]+pt")( height="[\d.]+pt")|( height="[\d.]+pt")( width="[\d.]+pt")', "", text, count=1)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    text = text.replace("'DejaVu Sans'", _FONTS)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)


def for_pdf(svg: bytes) -> bytes:
    """Return an SVG without what the PDF writer does not know: clipping (nothing here needs it) and metadata."""
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", svg.decode(), flags=re.DOTALL)
    return re.sub(r' clip-path="[^"]*"', "", text).encode()


__all__ = [
    "BAND",
    "GRID",
    "HATCHES",
    "INK",
    "MARKERS",
    "MUTED",
    "NARROW",
    "PALETTE",
    "PAPER",
    "WIDE",
    "colours",
    "draw",
    "for_pdf",
    "inline",
    "markers",
    "styled",
]
