"""Pages of all kinds look alike: one style, one wording, and no text from outside that is markup."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from skillgauge.api import plain
from skillgauge_run_pages import asset, content_hash, dollars, environment, text


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package with a template that uses one of the library's."""
    folder = tmp_path / "acme_pages"
    (folder / "templates").mkdir(parents=True)
    (folder / "__init__.py").touch()
    page = '{% from "parts.html.jinja" import facts %}{{ title }}|{{ title | text }}|{{ facts(shown) }}'
    (folder / "templates" / "page.html.jinja").write_text(page)
    monkeypatch.syspath_prepend(tmp_path)
    return "acme_pages"


def test_a_package_draws_with_parts_of_the_library(package: str) -> None:
    """Its own template imports one of the library's; values are escaped, and a name that nothing gives is an error."""
    page = environment(package).get_template("page.html.jinja")
    drawn = page.render(title="<b>\u202e", shown={"facts": [("Exit code", "<i>")]})
    assert drawn.startswith("&lt;b&gt;\u202e|<bdi>&lt;b&gt;\N{REPLACEMENT CHARACTER}</bdi>|")
    assert "<dt>Exit code</dt><dd><bdi>&lt;i&gt;</bdi></dd>" in drawn
    with pytest.raises(UndefinedError):
        page.render(title="x")


def test_words_of_amounts_and_texts() -> None:
    """An unknown amount is a dash, a small one keeps its digits, and a long text says how long it was."""
    assert [dollars(value) for value in (None, 0.0, 0.01234, 12.345)] == ["–", "0 USD", "0.0123 USD", "12.35 USD"]
    assert "(300 characters)" in text("x" * 300)


@given(st.text(st.sampled_from("<>&\"' aé\u202e")))
def test_no_text_is_markup(value: str) -> None:
    """Whatever comes in is shown by a page as it is shown elsewhere, in an element of its own."""
    shown = str(text(value, sys.maxsize)).removeprefix("<bdi>").removesuffix("</bdi>")
    assert not set("<>\"'") & set(shown)
    assert html.unescape(shown) == plain(value, sys.maxsize)


def test_style_and_script_are_inert() -> None:
    """Neither loads anything, nor closes the element that it stands in; the hash is the one that browsers make."""
    for name in ("pages.css", "skills.js"):
        assert not re.search(r"url\(|@import|https?:|</", asset(name)), name
    assert content_hash("") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_text_stands_out(scheme: int) -> None:
    """Every colour of text has a contrast of at least 4.5 to both backgrounds, in both schemes and on paper."""
    style = asset("pages.css")
    block = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)[scheme]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
    for ink in ("text", "muted", "accent", "pass", "fail", "error", "skipped"):
        for ground in ("page", "raised"):
            low, high = sorted((luminance(colours[ink]), luminance(colours[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)
