"""A red job says why: every report begins with the gate, and names what changed and the case that shows it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from skillgauge_testkit.program import Done

from .conftest import Letters, Scripted, letters

pytestmark = pytest.mark.e2e

FORMATS = ("record", "markdown", "html", "csv", "junit", "github", "gitlab")
RUNS = ("--runs", "3")


@dataclass(frozen=True)
class Asked:
    """A gate that is asked of a run."""

    options: tuple[str, ...]
    with_skill: Letters
    without: Letters
    code: int
    told: str
    """The beginning of the line on the gate, with figure, threshold and value."""


GOOD, BAD = letters("p"), letters("f")
GATES = {
    "pass rate missed": Asked(
        ("--exit-on-fail", "--min-completion", "0.9"),
        letters("p", case_2="f"),
        BAD,
        1,
        "gate missed: pass rate below 90.0%: s · with_skill 75.0%",
    ),
    "pass rate met": Asked(
        ("--exit-on-fail", "--min-completion", "0.7"),
        letters("p", case_2="f"),
        BAD,
        0,
        "gate met: pass rate at least 70.0%: s · with_skill 75.0%",
    ),
    "pass rate open": Asked(
        ("--exit-on-fail", "--min-completion", "0.95"),
        letters("p", case_2="ppe"),
        BAD,
        3,
        "gate inconclusive: errors leave open whether pass rate is below 95.0%: s · with_skill 91.7% to 100.0%",
    ),
    "least lift": Asked(("--min-delta-pts", "60"), letters("p", case_2="f", case_3="f"), BAD, 1, "gate missed: "),
    "better": Asked(("--gate", "better"), BAD, letters("p"), 1, "gate missed: s · with_skill is not better"),
    "not worse": Asked(("--gate", "not-worse"), BAD, GOOD, 1, "gate missed: s · with_skill is worse"),
    "verdict": Asked(("--fail-on-verdict", "fail"), BAD, BAD, 1, "gate missed: s · with_skill: verdict fail"),
    "against an earlier run": Asked(
        ("--against", "main", "--gate", "not-worse"),
        BAD,
        BAD,
        1,
        "gate missed: s · with_skill is worse than main on these cases (pass rate -100.0 points",
    ),
    "too many errors": Asked(
        ("--exit-on-fail",), letters("e"), BAD, 3, "gate inconclusive: invalid run: s: 12 of 12 pairs ended in an error"
    ),
}


@pytest.fixture
def with_main(scripted: Scripted) -> Scripted:
    """The skill with a baseline `main` in which it passes every case."""
    scripted.evaluate(GOOD, BAD, *RUNS)
    scripted.run_plain("baseline", "save", "main")
    return scripted


@pytest.mark.slow
@pytest.mark.parametrize("asked", GATES.values(), ids=GATES)
def test_every_report_begins_with_the_gate(with_main: Scripted, asked: Asked) -> None:
    """R3-F2: gate, figure and threshold stand first on each surface, for each gate option, in the same words."""
    arguments = ("--format", *FORMATS, "--output-dir", "out", *RUNS, *asked.options)
    done = with_main.evaluate(asked.with_skill, asked.without, *arguments, code=asked.code)
    lines = dict(first_lines(with_main.work / "out", done))
    told = lines["record"]
    assert told.startswith(asked.told)
    assert lines == dict.fromkeys(lines, told)


def first_lines(out: Path, done: Done) -> Iterator[tuple[str, str]]:
    """Yield the line that each surface begins with."""
    yield "terminal", done.stdout.splitlines()[0]
    record = json.loads(next(out.glob("run-*.record.json")).read_text())
    yield "record", record["decided"]["lines"][0]
    for suffix in ("md", "github.md", "gitlab.md"):
        yield suffix, in_words(first_bold((out / f"eval-result.{suffix}").read_text()))
    yield "comment", in_words(first_bold(next(out.glob("*/github/comment.md")).read_text()))
    page = (out / "eval-result.html").read_text()
    banner = page[page.index('<p class="banner gate') :].partition("</p>")[0].partition(">")[2]
    assert 'class="answer"' not in page[: page.index("banner gate")]
    yield "html", unescape(without_tags(banner))
    suite = ElementTree.fromstring((out / "eval-result.junit.xml").read_text()).find("testsuite")
    assert suite is not None
    case = suite.find("testcase")
    assert suite.get("name") == "gates"
    assert case is not None
    element = next(iter(case))
    yield "junit", f"{case.get('name')}: {element.get('message') or element.text}"
    rows = list(csv.DictReader(next(out.glob("*/csv/gates.csv")).read_text().splitlines()))
    yield "csv", f"gate {rows[0]['answer']}: {rows[0]['reason']}".replace("gate inconclusive: gate", "gate")


def first_bold(text: str) -> str:
    """Return the first line in bold type."""
    line = next(line for line in text.splitlines() if line.startswith("**"))
    return line.strip("*").partition(" ")[2]  # without its sign


def in_words(markdown: str) -> str:
    """Return Markdown as people read it."""
    return unescape(markdown.replace("&#8203;", "")).replace("\\", "")


def without_tags(text: str) -> str:
    """Return a text of a page without its tags."""
    parts = (part.partition(">")[2] for part in f">{text}".split("<"))
    return "".join(parts)


@pytest.mark.slow
def test_what_changed_and_the_case_stand_in_the_comment(with_main: Scripted) -> None:
    """R3-F2: after the gate what changed against the base, then the case, the page and the command that shows it."""
    page = "https://ci.example/runs/7"
    asked = ("--against", "main", "--gate", "not-worse", "--set", f"reporters.github.page={page}")
    arguments = ("--format", "github", "record", "--output-dir", "out", *RUNS, *asked)
    with_main.evaluate(letters("p", case_1="f", case_2="f", case_3="f"), BAD, *arguments, code=1)
    comment = next((with_main.work / "out").glob("*/github/comment.md")).read_text()
    parts = (
        "gate missed: s · with\\_skill is worse than main",
        "### Changed",
        "- since main: s · with\\_skill is worse: pass rate -75.0 points, lift -75.0 points (n = 4 cases, p ",
        "- newly failing: 1 (3 of 3 before, 0 of 3 now), 2 (3 of 3 before, 0 of 3 now)",
        "### Cases that did not pass",
        f"[The page with every session]({page})",
        "The first of these cases: `skillgauge report show ",
    )
    places = [comment.index(part) for part in parts]
    assert places == sorted(places)
    command = comment.partition("The first of these cases: `skillgauge ")[2].partition("`")[0]
    shown = with_main.run_plain(*command.split())
    assert "Case 1 of s" in shown.stdout
    assert shown.stdout.count("== s · with_skill") == 3


@pytest.mark.slow
def test_a_comparison_needs_no_gate(with_main: Scripted) -> None:
    """`--against` alone reports what changed, and fails nothing."""
    done = with_main.evaluate(letters("p", case_1="pff"), BAD, *RUNS, "--against", "main")
    assert done.stdout.startswith("since main: s · with_skill is different, perhaps by chance: pass rate -16.7 points")
    assert done.verdict.startswith("done: ")
    same = with_main.evaluate(GOOD, BAD, *RUNS, "--against", "main")
    assert same.stdout.startswith("since main: no case came out differently\n")


@pytest.mark.parametrize("address", ["javascript:alert(1)", "https://a b", "https://a/(b)"])
def test_the_address_of_the_page_is_an_address(scripted: Scripted, address: str) -> None:
    """Anything else would be a link of another kind in the comment."""
    done = scripted.evaluate(
        GOOD, BAD, *RUNS, "--format", "github", "--set", f"reporters.github.page={address}", code=2
    )
    assert "must be an address that begins with https://" in done.stderr
