"""Exported pages are whole without a server, and as inert as the served ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skillgauge.api import UsageError
from skillgauge.api.report import Changes, Decided, RunView, opening
from skillgauge_command_view.export import export
from skillgauge_command_view.links import key_of
from skillgauge_command_view.rows import row_of
from skillgauge_testkit.program import Program


def exported(views: Sequence[RunView], folder: Path) -> dict[str, str]:
    """The pages of some runs, by the names of their files."""
    runs = [(row_of(view, key_of(view.run.run_id), "file"), view) for view in views]
    files = list(export(runs, folder))
    assert len(files) == len(set(files))
    assert sorted(files) == sorted(folder.iterdir())
    return {file.name: file.read_text("utf-8") for file in files}


class Addresses(HTMLParser):
    """The addresses and elements of a page."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__(convert_charrefs=True)
        self.leads_to: list[str] = []
        self.elements: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of an element."""
        self.elements.add(tag)
        self.leads_to += [value or "" for name, value in attrs if name in ("href", "src", "action")]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 8])
def test_every_address_is_a_file_beside_it(views: list[RunView], tmp_path: Path, number: int) -> None:
    """A page leads to other pages of the folder only, and the first one is `index.html`."""
    pages = exported(views[-number:], tmp_path / "pages")
    assert "index.html" in pages
    reached = {"index.html"}
    for page in pages.values():
        found = Addresses(page)
        assert not found.elements & {"script", "form", "img", "iframe", "link", "base", "object", "input", "button"}
        for address in found.leads_to:
            if address.startswith(("data:image/svg+xml;base64,", "data:text/csv;charset=utf-8;base64,")):
                continue  # a picture of this page, to be taken away
            name = address.partition("#")[0]
            assert not name or name in pages, address
            reached.add(name or "index.html")
        assert "default-src 'none'; style-src 'sha256-" in page
    assert reached == set(pages), "no page is left that none leads to"


@pytest.mark.slow
def test_the_policy_names_the_style_of_the_page(views: list[RunView], tmp_path: Path) -> None:
    """The hash is that of the style, so that a browser applies it."""
    import base64  # noqa: PLC0415 - this test alone
    import hashlib  # noqa: PLC0415 - as above

    page = exported(views[2:3], tmp_path / "pages")["index.html"]
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    named = re.search("'sha256-([^']+)'", page)
    assert style is not None
    assert named is not None
    assert named[1] == base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()


def test_a_folder_that_holds_anything_is_left_alone(views: list[RunView], tmp_path: Path) -> None:
    """Nothing is written, and nothing is overwritten."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something already"):
        exported(views[:1], tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_the_command(program: Program, work: Path) -> None:
    """A record becomes pages; what is no run is refused, and nothing is made."""
    suite = Path(__file__).resolve().parents[4] / "examples/skills/calculator"
    done = program("eval", suite, "--benchmark", "coding-easy", "--format", "record", "--store", "none")
    assert done.code == 0, done.stderr
    record = next((work / "reports").glob("*.record.json"))
    done = program("--json", "view", "export", "pages", record)
    assert done.code == 0, done.stderr
    assert done.document["files"] == len(list((work / "pages").iterdir())) == 21
    assert done.verdict == "done: wrote 21 pages of 1 run"
    refused = program("view", "export", "others", "missing.json", "nothing", "--store", "none.db")
    assert refused.code == 2
    assert "missing.json" in refused.stderr
    assert not (work / "others").exists()


def test_several_skills_stand_side_by_side(views: list[RunView], tmp_path: Path) -> None:
    """A run of many skills begins with their count, and each has a row that leads to its history where there is one."""
    view = next(view for view in views if len({group.target_id for group in view.summary.groups}) > 3)
    page = exported([view], tmp_path / "pages")["index.html"]
    opened = opening(view)
    assert opened.skills is not None
    assert opened.answers[0] in page
    assert "and 6 more" in page
    table = page.partition('aria-label="Skills side by side"')[2].partition("</table>")[0]
    assert table.count('<th scope="row"') == len(opened.skills.rows) == 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("gate met: pass rate is 90% (at least 80%)", "met"),
        ("gate missed: pass rate is 50% (at least 80%)", "missed"),
        ("gate inconclusive: pass rate is unknown", "open"),
    ],
)
def test_a_page_begins_with_the_gates_and_the_changes(
    views: list[RunView], tmp_path: Path, line: str, kind: str
) -> None:
    """The answers of the gates and what changed stand above the figures, as in every report."""
    decided = Decided(lines=(line,), changes=Changes(since="main", groups=()))
    page = exported([replace(views[-2], decided=decided)], tmp_path / "pages")["index.html"]
    answer, _, asked = line.partition(": ")
    assert f'<p class="banner gate {kind}"><strong><bdi>{answer}</bdi>:</strong> <bdi>{asked}</bdi></p>' in page
    assert (
        page.index(f"banner gate {kind}") < page.index("since main: no case came out differently") < page.index("<h2")
    )


def test_a_run_that_compares_nothing_begins_with_its_score(views: list[RunView], tmp_path: Path) -> None:
    """As in a report; the page of a run without a result has no such line."""
    for number, found in ((2, ["<strong>12 of 12 passed</strong>"]), (1, [])):
        page = exported([views[number]], tmp_path / str(number))["index.html"]
        assert re.findall('<p class="answer">(.*?)</p>', page) == found
