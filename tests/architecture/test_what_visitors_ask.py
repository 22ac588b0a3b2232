"""Visitors find a page for what they bring: each format has one, and so has what a company asks."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from skillgauge.config.configuration import KEYS

ROOT = Path(__file__).resolve().parents[2]
FORMATS = sorted({entry.name for entry in entry_points(group="skillgauge.formats")})
PAGES = {"plugin-eval": "plugin-evals.md", "skillevaluation": "from-skillevaluation.md"}
"""Of formats whose page has another name."""


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_page_in_the_table(name: str) -> None:
    """R3-F28: README leads to a page of each format that is installed by default."""
    page = PAGES.get(name, f"{name}.md")
    assert (ROOT / "docs" / page).is_file()
    assert f"(docs/{page})" in (ROOT / "README.md").read_text("utf-8")


def test_the_page_answers_what_a_company_asks() -> None:
    """R3-F24: index, proxies, audit trail and image are on one page that README names, and its names are real ones."""
    page = (ROOT / "docs/organisation.md").read_text("utf-8")
    assert "(docs/organisation.md)" in (ROOT / "README.md").read_text("utf-8")
    assert "docs/organisation.md" in (ROOT / "docs/install.md").read_text("utf-8") or (
        "(organisation.md)" in (ROOT / "docs/install.md").read_text("utf-8")
    )
    for heading in ("An index and a lock file", "Proxies", "Who ran what"):
        assert f"\n## {heading}\n" in page
        assert f"(#{heading.lower().replace(' ', '-')})" in page
    reporters = {entry.name for entry in entry_points(group="skillgauge.reporters")}
    assert set(re.findall(r"--format ([a-z]+)", page)) <= reporters
    keys = set(KEYS)
    assert set(re.findall(r"`(plugins\.[a-z]+)`", page)) <= keys
    assert "attestation" in page
