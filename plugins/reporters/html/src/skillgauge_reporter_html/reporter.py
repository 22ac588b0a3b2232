"""One self-contained page: no address of anything outside, both colour schemes, fit for paper.

The template escapes every value by itself; `text` also takes the invisible characters out. Should markup ever
slip through, the page's own policy forbids every style but the one whose hash it names, and every script; a page of
several skills has one script, to sort and search them, and its policy names the hash of that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from skillgauge.api import Artifact, plain
from skillgauge.api.report import RunView
from skillgauge_run_pages import asset, content_hash, environment

from .content import Page
from .pages import has_files, overview, page, parts

PART = 200
"""Rows of a table that stand open; a browser lays out those that are folded when they are opened."""
_BUFFERED = 200
"""Pieces of the template that become one piece of the file."""


class HtmlReporter:
    """Writes a page."""

    suffix = "html"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """One file; of very many skills an overview, and a file for each of them."""
        if not has_files(view):
            yield Artifact(chunks=_chunks(view, page))
            return
        yield Artifact(chunks=_chunks(view, overview))
        for name, part in parts(view):
            yield Artifact(chunks=_drawn(part), path=name)

    def read(self, path: Path) -> RunView | None:
        """A page is not read back."""
        return None


def _chunks(view: RunView, make: Callable[[RunView], Page]) -> Iterator[bytes]:
    """The page of a run, made while it is written."""
    yield from _drawn(make(view))


def _drawn(drawn: Page) -> Iterator[bytes]:
    stream = _template().stream(page=drawn, subject=_subject(drawn.view))
    stream.enable_buffering(_BUFFERED)
    for piece in stream:
        yield piece.encode()


@cache
def _template() -> Template:
    """The template, made once: of very many skills each has a page of its own."""
    templates = environment(__package__ or "")
    style, script = "\n" + asset("pages.css"), "\n" + asset("skills.js")
    templates.globals.update(
        part_size=PART,
        style=Markup(style),  # our own file, nothing from outside
        style_hash=content_hash(style),
        script=Markup(script),  # likewise
        script_hash=content_hash(script),
    )
    return templates.get_template("report.html.jinja")


def _subject(view: RunView) -> str:
    """Name the subject: the targets, or the suites if those are nameless."""
    suites = view.head.suites
    targets = [target.name or target.id for suite in suites for target in suite.targets]
    names = tuple(dict.fromkeys(targets or [suite.name or suite.id for suite in suites]))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{plain(names[0], 60)}{more}" if names else "Empty run"
