"""Pages from templates that escape every value; `text` also takes out what hides or turns text around."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

import skillgauge_run_pages
import skillgauge_skill_maps.page
from skillgauge_run_pages import content_hash, environment

from .links import Links
from .pages.compare_page import turn_class
from .pages.run_page import step_text


def icon() -> str:
    """The sign of these pages in a browser."""
    return files(__package__).joinpath("static", "view.svg").read_text("utf-8")


def style() -> str:
    """The style of all pages."""
    return skillgauge_run_pages.asset("pages.css")


def map_style() -> str:
    """The style of maps, which comes after that of all pages."""
    return skillgauge_skill_maps.page.style()


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
        templates = environment(__package__ or "")
        templates.filters.update(step=step_text, turn=turn_class)
        templates.globals.update(link=self.links, **self._style())
        return templates

    def _style(self) -> Mapping[str, object]:
        if not self._inline_style:
            return {"style": None, "style_hash": None}
        return _inline("\n" + style())

    def prepare(self) -> None:
        """Compile every template, so that the first look at a page does not wait for that."""
        for name in self._environment.list_templates(extensions=["jinja"]):
            self._environment.get_template(name)

    def draw(self, template: str, **values: object) -> str:
        """A page as HTML."""
        if template == "map" and self._inline_style:
            values |= _inline(f"\n{style()}{map_style()}")
        return self._environment.get_template(f"{template}.html.jinja").render(**values)


def _inline(content: str) -> dict[str, object]:
    """A style that stands in a page, with the hash by which the policy of the page knows it."""
    return {
        "style": Markup(content),  # our own file, nothing from outside
        "style_hash": content_hash(content),
    }
