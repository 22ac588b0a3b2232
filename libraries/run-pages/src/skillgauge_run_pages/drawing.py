"""The environment of templates: every value is escaped, and `text` takes out what hides or turns text around."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from skillgauge.api import Verdict, cut, plain
from skillgauge.api.report import (
    BAR_HEAD,
    CaseOutcome,
    Outcome,
    counted,
    decimal,
    duration,
    figure_text,
    group_notes,
    interval_text,
    moment,
    percent,
    points,
    rated_figures,
    signed_points,
    table_texts,
)
from skillgauge_run_views.latency import latency_text
from skillgauge_run_views.outcomes import outcome_text

from . import efforts, pictures, waterfall
from .summary import group_name
from .trials import numbered
from .wording import dollars, text

VERDICTS = {Verdict.PASS: "✓ Pass", Verdict.FAIL: "✗ Fail", Verdict.ERROR: "! Error", Verdict.SKIPPED: "– Skipped"}
SIGNS = {
    CaseOutcome.PASSED: "✓",
    CaseOutcome.FAILED: "✗",
    CaseOutcome.ERROR: "!",
    CaseOutcome.SKIPPED: "–",
    CaseOutcome.QUARANTINED: "–",
}


def environment(package: str) -> Environment:
    """Return an environment for the templates of a package, which may import those of this library by their names.

    Args:
        package: its templates lie in its folder `templates`.
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__ or "")]),
        auto_reload=False,  # a server goes on with the templates that it began with, whatever is installed meanwhile
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(counted=counted, cut=cut, dollars=dollars, duration=duration)
    templates.filters.update(
        figure=figure_text, group_name=group_name, interval=interval_text, latency=latency_text, moment=moment
    )
    templates.filters.update(notes=group_notes, number=decimal, numbered=numbered, outcome=outcome_text)
    templates.filters.update(percent=percent, plain=plain)
    templates.filters.update(points=points, rated=rated_figures, signed_points=signed_points)
    templates.filters.update(table_texts=table_texts, text=text)
    templates.filters.update(forest=pictures.forest, matrix_text=pictures.matrix_text, quality=pictures.quality)
    templates.filters.update(session_picture=pictures.session, spread=pictures.spread, squares=pictures.squares)
    templates.globals.update(
        bar_head=BAR_HEAD,
        outcomes=tuple(Outcome),
        plane_height=efforts.HEIGHT,
        plane_width=efforts.WIDTH,
        scale=waterfall.SCALE,
        signs=SIGNS,
        verdicts=VERDICTS,
    )
    return templates


def asset(name: str) -> str:
    """Return a file that pages use: `pages.css`, or `skills.js`, which sorts and searches the table of skills."""
    return files(__package__).joinpath("static", name).read_text("utf-8")


def content_hash(content: str) -> str:
    """Return the hash by which the policy of a page knows its own style or script."""
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
