"""A report as blocks, and the files it becomes: one HTML file, Markdown, PDF, or a folder of pictures.

A page is plain data: sentences, tables, pictures, stories. Every form is made from the same blocks. Whatever came from
a rule file, a folder's name or a results folder is text here, and the writers escape it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_LINES = 400
"""Of a longer story only the beginning and the end are told."""

PICTURES = (".svg", ".png", ".pdf")


class ReportError(ValueError):
    """A report or a figure that cannot be made as asked."""


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """A figure with what is said of it.

    Attributes
    ----------
    name
        The kind: what ``fairdeal figure`` calls it, and the file's name.
    alt
        What it shows, in words, for those who cannot see it.
    frame
        What is drawn.
    paint
        Draws `frame` on an Axes (see `reports.figures`).
    height
        Inches, of a narrow figure or of a wide one.
    """

    name: str
    title: str
    caption: str
    alt: str
    frame: pd.DataFrame
    paint: Callable[[pd.DataFrame, Axes], None]
    height: Callable[[bool], float]

    kind = "picture"

    def draw(self, kind: str = "svg", *, narrow: bool = False, as_text: bool = False, title: str = "") -> bytes:
        """Return it as ``svg``, ``png`` or ``pdf``."""
        width, height = style.NARROW if narrow else style.WIDE, self.height(narrow)
        return style.draw(functools.partial(self.paint, self.frame), width, height, kind, as_text=as_text, title=title)


@dataclasses.dataclass(frozen=True)
class Text:
    """A paragraph; with several lines, a list."""

    lines: Sequence[str]
    kind = "text"


@dataclasses.dataclass(frozen=True)
class Terms:
    """Names and what stands behind them."""

    entries: Sequence[tuple[str, str]]
    kind = "terms"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table; the first column is text, the rest numbers (or text).

    Attributes
    ----------
    folded
        A line that opens the table, where it is too long to be always open.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: str = ""
    kind = "table"


@dataclasses.dataclass(frozen=True)
class Story:
    """A game told move by move, or any text with line breaks.

    Attributes
    ----------
    command
        What prints the whole of it.
    """

    title: str
    why: str
    lines: Sequence[str]
    command: str = ""
    kind = "story"

    def shown(self, most: int = MOST_LINES) -> list[str]:
        """Return the lines, the middle of a long story left out."""
        lines = list(self.lines)
        if len(lines) <= most:
            return lines
        tail = most // 4
        left_out = len(lines) - most + 1
        where = "; the command above prints them" if self.command else ""
        return [*lines[: most - tail - 1], f"… {left_out:,} lines left out{where} …", *lines[-tail:]]


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to type."""

    line: str
    kind = "command"


Block = Picture | Text | Terms | Table | Story | Command


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading and what is under it."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """Return a name for links to it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclasses.dataclass(frozen=True)
class Page:
    """A report.

    Attributes
    ----------
    answer
        The answer in one sentence, with which it opens.
    facts
        What it is the answer to: named lines.
    """

    title: str
    answer: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        """Return all figures, in their order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Picture)]

    def picture(self, name: str) -> Picture:
        """Return one figure.

        Raises
        ------
        ReportError
            If the page has none of this name; the message lists those it has.
        """
        found = {picture.name: picture for picture in self.pictures}
        if name not in found:
            import difflib

            near = difflib.get_close_matches(name, found, n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise ReportError(f"there is no figure '{name}' of this{hint}; there are {', '.join(found) or 'none'}")
        return found[name]

    # -- what it becomes ----------------------------------------------------------------------------------------------

    def html(self) -> str:
        """Return one HTML document that needs nothing else."""
        return str(_environment().get_template("page.html").render(page=self, inline=_both_sizes))

    def markdown(self, folder: str = "") -> str:
        """Return Markdown; its pictures are files in `folder` (see `write`)."""
        return str(_environment().get_template("page.md").render(page=self, folder=folder))

    def pdf(self) -> bytes:
        """Return a PDF of A4 pages."""
        from reports.pdf import write_pdf

        return write_pdf(self)

    def write(self, target: str | os.PathLike[str]) -> list[Path]:
        """Write the report; return the files, that to open first.

        Parameters
        ----------
        target
            ``….html``, ``….pdf``, ``….md`` (its pictures lie in a folder beside it), or a folder for pictures
            alone.

        Raises
        ------
        ReportError
            For another ending.
        OSError
            If it cannot be written.
        """
        path = Path(target)
        ending = path.suffix.lower()
        if ending in (".html", ".htm"):
            return [_write(path, self.html().encode())]
        if ending == ".pdf":
            return [_write(path, self.pdf())]
        if ending == ".md":
            folder = path.with_name(f"{path.stem}_files")
            files = self._write_pictures(folder, ["svg"])
            return [_write(path, self.markdown(folder.name).encode()), *files]
        if ending and not path.is_dir():
            raise ReportError(f"a report is not written as '{ending}'; allowed: .html, .pdf, .md, or a folder")
        return self._write_pictures(path, ["svg", "png"])

    def _write_pictures(self, folder: Path, kinds: Sequence[str]) -> list[Path]:
        return [
            _write(folder / f"{number:02}-{picture.name}.{kind}", picture.draw(kind))
            for number, picture in enumerate(self.pictures, start=1)
            for kind in kinds
        ]


def _write(path: Path, data: bytes) -> Path:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def write_picture(picture: Picture, target: str | os.PathLike[str], *, narrow: bool = False, title: str = "") -> Path:
    """Write a single figure as ``….svg``, ``….png`` or ``….pdf``.

    Raises
    ------
    ReportError
        For another ending.
    """
    path = Path(target)
    if path.suffix.lower() not in PICTURES:
        raise ReportError(f"a figure is not written as '{path.suffix}'; allowed: {', '.join(PICTURES)}")
    return _write(path, picture.draw(path.suffix.lower()[1:], narrow=narrow, title=title))


def _both_sizes(picture: Picture, number: int) -> Iterator[tuple[str, Any]]:
    """Yield (``wide`` or ``narrow``, the picture as an element of the page)."""
    from markupsafe import Markup

    for size in ("wide", "narrow"):
        svg = picture.draw(narrow=size == "narrow", as_text=True)
        yield size, Markup(style.inline(svg, f"f{number}{size[0]}", picture.alt))


@functools.cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": _for_markdown, "fence": _fenced}
    return environment


def _for_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return (
        re.sub(r"([\\`*_{}\[\]<>#|~&])", r"\\\1", " ".join(str(text).split()))
        .replace("\\&", "&amp;")
        .replace("\\<", "&lt;")
    )


def _fenced(text: str) -> str:
    """Return a text between fences that are longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


__all__ = [
    "Command",
    "Page",
    "Picture",
    "ReportError",
    "Section",
    "Story",
    "Table",
    "Terms",
    "Text",
    "write_picture",
]
