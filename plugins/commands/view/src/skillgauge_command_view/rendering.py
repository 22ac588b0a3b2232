"""Pages from templates that escape every value; `text` also takes out what hides or turns text around."""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skillgauge.api import LINE, cut, plain
from skillgauge.api.report import (
    BAR_HEAD,
    Outcome,
    cases_text,
    counted,
    decimal,
    duration,
    interval_text,
    moment,
    percent,
    points,
    rate_notes,
    rated_figures,
    signed_points,
)
from skillgauge_run_views import latency_text, outcome_text

from .links import Links
from .pages.compare_page import turn_class
from .pages.efforts import HEIGHT, WIDTH
from .pages.run_page import group_name, step_text
from .pages.waterfall import SCALE
from .rows import dollars


def text(value: object, limit: int = LINE) -> Markup:
    """Text from outside as HTML that keeps its own reading direction to itself and says how much was cut."""
    whole = plain(value, limit=sys.maxsize)
    shown = Markup("<bdi>{}</bdi>").format(cut(whole, limit))
    if len(whole) > limit:
        shown += Markup(' <span class="cut">({:,} characters)</span>').format(len(whole))
    return shown


def asset(name: str) -> str:
    """A file that pages use, as text."""
    return files(__package__).joinpath("static", name).read_text("utf-8")


class Pages:
    """Draws pages.

    Args:
        links: the addresses that pages name each other by.
        inline_style: whether a page holds its style; a file that is opened without a server has to.
    """

    def __init__(self, links: Links, *, inline_style: bool) -> None:
        self.links = links
        self._inline_style = inline_style

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=PackageLoader(__package__ or "", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update(
            cases=cases_text,
            counted=counted,
            cut=cut,
            dollars=dollars,
            duration=duration,
            group_name=group_name,
            interval=interval_text,
            latency=latency_text,
            moment=moment,
            notes=rate_notes,
            number=decimal,
            outcome=outcome_text,
            percent=percent,
            plain=plain,
            points=points,
            rated=rated_figures,
            signed_points=signed_points,
            step=step_text,
            text=text,
            turn=turn_class,
        )
        environment.globals.update(
            bar_head=BAR_HEAD,
            link=self.links,
            outcomes=tuple(Outcome),
            plane_height=HEIGHT,
            plane_width=WIDTH,
            scale=SCALE,
            **self._style(),
        )
        return environment

    def _style(self) -> Mapping[str, object]:
        if not self._inline_style:
            return {"style": None, "style_hash": None}
        content = "\n" + asset("view.css")
        return {
            "style": Markup(content),  # our own file, nothing from outside
            "style_hash": base64.b64encode(hashlib.sha256(content.encode()).digest()).decode(),
        }

    def draw(self, template: str, **values: object) -> str:
        """A page as HTML."""
        return self._environment.get_template(f"{template}.html.jinja").render(**values)
