"""One self-contained page: no script, no address of anything else, both colour schemes, fit for paper.

The template escapes every value by itself; `wording.text` also takes the invisible characters out. Should markup ever
slip through, the page's own policy forbids scripts, and every style but the one whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
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

from .content import page
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
        """One file."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A page is not read back."""
        return None


def _chunks(view: RunView) -> Iterator[bytes]:
    """The page, made while it is written."""
    here = files(__package__)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(counted=counted, duration=duration, figure=figure_text, latency=latency_text)
    environment.filters.update(cases=cases_text, rated=rated_figures, notes=rate_notes, number=decimal, percent=percent)
    environment.filters.update(plain=plain, table_texts=table_texts, text=text)
    style = "\n" + here.joinpath("report.css").read_text("utf-8")
    stream = environment.from_string(here.joinpath("report.html.jinja").read_text("utf-8")).stream(
        page=page(view),
        subject=_subject(view),
        style=Markup(style),  # our own file, nothing from outside
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        signs=_SIGNS,
        verdicts=_VERDICTS,
    )
    stream.enable_buffering(_BUFFERED)
    for piece in stream:
        yield piece.encode()


def _subject(view: RunView) -> str:
    """Name the subject: the targets, or the suites if those are nameless."""
    suites = view.head.suites
    targets = [target.name or target.id for suite in suites for target in suite.targets]
    names = tuple(dict.fromkeys(targets or [suite.name or suite.id for suite in suites]))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{plain(names[0], 60)}{more}" if names else "Empty run"
