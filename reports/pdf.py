"""A report as a PDF of A4 pages: the same blocks in the same order as in the page, its figures drawn as vectors.

Written by fpdf2: matplotlib alone lays out no text, and printing the page needs a browser, whose version the bytes
would depend on.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import logging
from pathlib import Path
from typing import Any

from reports import style
from reports.page import Command, Page, Picture, Story, Table, Terms, Text

_STORY_LINES = 110  # of a longer game the middle is left out; the page has more of it
_FONT, _MONO = "DejaVu", "DejaVuMono"
_MARGIN, _SIZE = 18, 9.5


def write_pdf(page: Page) -> bytes:
    """Return the PDF."""
    logging.getLogger("fpdf").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    paper = _paper(page.title)
    paper.add_page()
    _write(paper, page.title, size=9, colour=style.MUTED)
    _write(paper, page.answer, size=15, bold=True)
    paper.ln(2)
    _terms(paper, page.facts)
    for section in page.sections:
        paper.ln(4)
        first = section.blocks[0]
        needed = _needed(paper, first) + 14 if isinstance(first, Picture) else 45
        if paper.get_y() + needed > paper.h - _MARGIN:
            paper.add_page()
        paper.start_section(section.title)
        _write(paper, section.title, size=13, bold=True)
        paper.ln(1)
        for block in section.blocks:
            _block(paper, block)
    return bytes(paper.output())


def _paper(title: str) -> Any:
    import matplotlib as mpl
    from fpdf import FPDF

    class Paper(FPDF):
        """Pages with their numbers."""

        def footer(self) -> None:
            """Write the page's number."""
            self.set_y(-13)
            self.set_font(_FONT, size=8)
            self.set_text_color(style.MUTED)
            self.cell(0, 5, f"{self.page_no()} / {{nb}}", align="R")

    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    paper = Paper(format="A4")
    paper.creation_date = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)  # the same results give the same bytes
    paper.set_producer("fairdeal")
    paper.set_title(title)
    paper.set_lang("en")
    paper.set_margins(_MARGIN, _MARGIN, _MARGIN)
    paper.set_auto_page_break(True, margin=_MARGIN)
    for family, bold, file in (
        (_FONT, "", "DejaVuSans.ttf"),
        (_FONT, "B", "DejaVuSans-Bold.ttf"),
        (_MONO, "", "DejaVuSansMono.ttf"),
    ):
        paper.add_font(family, bold, fonts / file)
    return paper


def _write(
    paper: Any, text: str, *, size: float = _SIZE, bold: bool = False, mono: bool = False, colour: str = style.INK
) -> None:
    paper.set_font(_MONO if mono else _FONT, "B" if bold else "", size)
    paper.set_text_color(colour)
    paper.multi_cell(0, size * 0.5, text, align="L", new_x="LMARGIN", new_y="NEXT", wrapmode="WORD")


def _block(paper: Any, block: Any) -> None:
    if isinstance(block, Text):
        for line in block.lines:
            _write(paper, f"•  {line}" if len(block.lines) > 1 else line)
        paper.ln(1.5)
    elif isinstance(block, Terms):
        _terms(paper, block.entries)
    elif isinstance(block, Command):
        _mono(paper, [block.line], 8)
    elif isinstance(block, Story):
        _heading(paper, block.title, 40)
        _write(paper, block.why, colour=style.MUTED)
        if block.command:
            _mono(paper, [block.command], 8)
        _mono(paper, block.shown(_STORY_LINES), 6.5)
    elif isinstance(block, Table):
        _table(paper, block)
    elif isinstance(block, Picture):
        height = block.height(False) / style.WIDE * paper.epw
        _heading(paper, block.title, _needed(paper, block))
        paper.image(
            io.BytesIO(style.for_pdf(block.draw())),
            w=paper.epw,
            h=min(height, paper.eph - 12),
            keep_aspect_ratio=True,
            alt_text=block.alt,
        )
        paper.ln(1)
        _write(paper, block.caption, size=8.5, colour=style.MUTED)
        paper.ln(2)


def _needed(paper: Any, picture: Picture) -> float:
    """Return how much of a page a figure takes with its title and caption, all of it at most."""
    return float(min(picture.height(False) / style.WIDE * paper.epw + 22, paper.eph - 14))


def _heading(paper: Any, text: str, needed: float) -> None:
    """Write a small heading, on a new page if what follows does not fit."""
    if paper.get_y() + needed > paper.h - _MARGIN:
        paper.add_page()
    paper.ln(1.5)
    _write(paper, text, size=10, bold=True)


def _terms(paper: Any, entries: Any) -> None:
    if not entries:
        return
    rows = [(name, text) for name, text in entries]
    _grid(paper, rows, widths=(22, 78), borders="NONE", muted_first=True)


def _table(paper: Any, block: Table) -> None:
    longest = [max([len(str(row[k])) for row in block.rows], default=0) for k in range(len(block.head))]
    heads = [max((len(word) for word in name.split()), default=0) for name in block.head]
    widths = [max(6, min(longest[k], 34 if k == 0 else 26), min(heads[k], 14)) for k in range(len(longest))]
    total = sum(widths) + 3 * len(widths)
    size = max(5.5, min(8.5, 8.5 * 92 / total))
    if total * size < 92 * 8.5 and len(widths) < 4:  # a small table does not stretch over the page
        widths = [*widths, 92 - total]
        block = dataclasses.replace(block, head=[*block.head, ""], rows=[[*row, ""] for row in block.rows])
    _grid(paper, [block.head, *block.rows], widths=widths, borders="HORIZONTAL_LINES", size=size, headings=True)
    paper.ln(2)


def _grid(
    paper: Any,
    rows: Any,
    *,
    widths: Any,
    borders: str,
    size: float = 8.5,
    headings: bool = False,
    muted_first: bool = False,
) -> None:
    from fpdf.fonts import FontFace

    paper.set_font(_FONT, "", size)
    paper.set_text_color(style.INK)
    paper.set_draw_color(style.GRID)
    with paper.table(
        rows=(),
        col_widths=tuple(widths),
        borders_layout=borders,
        first_row_as_headings=headings,
        line_height=size * 0.52,
        text_align="LEFT",
        v_align="TOP",
        headings_style=FontFace(emphasis="", color=style.MUTED),
        padding=0.6,
    ) as grid:
        for entries in rows:
            row = grid.row()
            for place, entry in enumerate(entries):
                row.cell(str(entry), style=FontFace(color=style.MUTED) if muted_first and not place else None)


def _mono(paper: Any, lines: Any, size: float) -> None:
    paper.ln(1)
    paper.set_font(_MONO, "", size)
    paper.set_text_color(style.INK)
    for line in lines:
        paper.multi_cell(0, size * 0.47, line or " ", align="L", new_x="LMARGIN", new_y="NEXT", wrapmode="CHAR")
    paper.ln(2)


__all__ = ["write_pdf"]
