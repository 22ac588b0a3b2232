"""One self-contained page: no address of anything outside, both colour schemes, fit for paper.

The template escapes every value by itself; `wording.text` also takes the invisible characters out. Should markup ever
slip through, the page's own policy forbids every style but the one whose hash it names, and every script; a page of
several skills has one script, to sort and search them, and its policy names the hash of that one.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from skillgauge.api import Artifact, Verdict, plain
from skillgauge.api.report import (
    CaseOutcome,
    RunView,
    cases_text,
    counted,
    decimal,
    duration,
    figure_text,
    percent,
    rate_notes,
    rated_figures,
    table_texts,
)
from skillgauge_run_views import latency_text

from .content import Page
from .pages import has_files, overview, page, parts
from .wording import text

_BUFFERED = 200
"""Pieces of the template that become one piece of the file."""
_VERDICTS = {Verdict.PASS: "✓ Pass", Verdict.FAIL: "✗ Fail", Verdict.ERROR: "! Error", Verdict.SKIPPED: "– Skipped"}

_SIGNS = {
    CaseOutcome.PASSED: "✓",
    CaseOutcome.FAILED: "✗",
    CaseOutcome.ERROR: "!",
    CaseOutcome.SKIPPED: "–",
    CaseOutcome.QUARANTINED: "–",
}


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
    here = files(__package__)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(counted=counted, duration=duration, figure=figure_text, latency=latency_text)
    environment.filters.update(cases=cases_text, rated=rated_figures, notes=rate_notes, number=decimal, percent=percent)
    environment.filters.update(plain=plain, table_texts=table_texts, text=text)
    style = "\n" + here.joinpath("report.css").read_text("utf-8")
    script = "\n" + here.joinpath("catalogue.js").read_text("utf-8")
    environment.globals.update(
        style=Markup(style),  # our own file, nothing from outside
        style_hash=_hash(style),
        script=Markup(script),  # likewise
        script_hash=_hash(script),
        signs=_SIGNS,
        verdicts=_VERDICTS,
    )
    return environment.from_string(here.joinpath("report.html.jinja").read_text("utf-8"))


def _hash(content: str) -> str:
    """The hash by which the page's policy knows its own style and script."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _subject(view: RunView) -> str:
    """Name the subject: the targets, or the suites if those are nameless."""
    suites = view.head.suites
    targets = [target.name or target.id for suite in suites for target in suite.targets]
    names = tuple(dict.fromkeys(targets or [suite.name or suite.id for suite in suites]))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{plain(names[0], 60)}{more}" if names else "Empty run"
