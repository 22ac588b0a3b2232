"""Many skills in one run: all of them in one line and one table, those that hurt first, the same on every surface."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

from .catalogue_suites import ENGINE, write_skills

pytestmark = pytest.mark.e2e

KINDS = {
    "alpha": "helps",
    "beta": "useless",
    "gamma": "triggers",
    "delta": "hurts",
    "epsilon": "helps",
    "zeta": "useless",
}
HEADLINE = "6 skills: 2 help, 1 hurts, 2 cannot be told, 1 has trigger queries only"
HURTS = "hurts: delta (-100.0 points)"
ORDER = ["delta", "beta", "zeta", "alpha", "epsilon", "gamma"]
VERDICTS = ["hurts", "cannot be told", "cannot be told", "helps", "helps", "trigger queries"]
FORMATS = ("record", "markdown", "html", "github", "gitlab")
Row = tuple[str, ...]


def evaluated(program: Program, *arguments: str, code: int = 0) -> Done:
    """Evaluate all skills here."""
    done = program("eval", "skills", *ENGINE, "--format", *FORMATS, "--output-dir", "out", *arguments)
    assert done.code == code, done.stdout + done.stderr
    return done


def in_words(markdown: str) -> str:
    """Return Markdown as people read it."""
    return unescape(markdown.replace("&#8203;", "")).replace("\\", "")


def page_words(page: str) -> list[str]:
    """Return the texts of a page below its style, piece by piece."""
    body = page.partition("<body>")[2].partition("<script>")[0]
    return [text for piece in re.sub("<[^>]*>", "\n", body).split("\n") if (text := unescape(piece).strip())]


def markdown_rows(text: str) -> list[Row]:
    """Return name, verdict and lift of each skill in the tables of a Markdown report."""
    lines = in_words(text).splitlines()
    rows = []
    for at, line in enumerate(lines):
        if line.startswith("| Skill | Verdict |"):
            for row in lines[at + 2 :]:
                if not row.startswith("| "):
                    break
                rows.append(tuple(row.strip("| ").split(" | ")[:3]))
    return rows


def page_rows(page: str) -> list[Row]:
    """Return the same of the page."""
    body = page.partition('<table class="catalogue">')[2].partition("</table>")[0].partition("<tbody>")[2]
    cells = [re.findall(r"<(?:th|td)[^>]*>(.*?)</(?:th|td)>", row, re.DOTALL) for row in body.split("</tr>")]
    return [tuple(unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in row[:3]) for row in cells if row]


def terminal_rows(text: str) -> list[Row]:
    """Return the same of the terminal."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Skill  "))
    return [tuple(re.split(r"\s{2,}", line)[:3]) for line in lines[at + 1 : at + 1 + len(KINDS)]]


@pytest.mark.slow
def test_every_surface_shows_the_same_skills(program: Program, work: Path) -> None:
    """R3-F13: the first ten lines say how many help and hurt and name the one that hurts; the table has it first."""
    write_skills(work, KINDS)
    done = evaluated(program)
    out = work / "out"
    page = (out / "eval-result.html").read_text()
    texts = {suffix: (out / f"eval-result.{suffix}").read_text() for suffix in ("md", "github.md", "gitlab.md")}
    texts["comment"] = next(out.glob("*/github/comment.md")).read_text()
    beginnings = {name: in_words(text).splitlines()[:10] for name, text in texts.items()}
    beginnings |= {"terminal": done.stdout.splitlines()[:10], "page": page_words(page)[:10]}
    for name, lines in beginnings.items():
        assert [HEADLINE in "".join(lines), HURTS in "".join(lines)] == [True, True], name
    assert done.verdict == f"done: {HEADLINE}"
    rows = {name: markdown_rows(text) for name, text in texts.items()}
    rows |= {"page": page_rows(page), "terminal": terminal_rows(done.stdout)}
    expected = rows.pop("page")
    assert [row[:2] for row in expected] == list(zip(ORDER, VERDICTS, strict=True))
    assert [row[2] for row in expected] == ["-100.0", "+0.0", "+0.0", "+100.0", "+100.0", "–"]
    assert rows == dict.fromkeys(rows, expected)
    head = "Fires as it should"  # and not "when": the figure counts the queries that it should leave alone, too
    assert [name for name, text in {**texts, "page": page}.items() if head not in text] == []


@pytest.mark.slow
def test_cases_of_many_skills(program: Program, work: Path) -> None:
    """R3-F14, R3-F15: a lost case of the skill that hurts stands first, no skill twice before each; it can be shown."""
    write_skills(work, KINDS)
    done = evaluated(program)
    lines = done.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("did not pass"))
    cases = [line.strip() for line in lines[at + 1 :] if re.match(r"  \S", line)]
    named = [case.split(" · ")[1] for case in cases if " · " in case]
    assert cases[0] == "c0 · delta · with_skill: passed 0 of 3, lost"
    assert named[:3] == ["delta", "beta", "zeta"]
    command = next(case for case in cases if case.startswith("skillgauge report show"))
    assert "--target delta --case c0" in command
    shown = program(*shlex.split(command)[1:])
    assert shown.stdout.count("== delta · with_skill") == shown.stdout.count("\n== ") == 3
    comment = in_words(next((work / "out").glob("*/github/comment.md")).read_text())
    of = re.findall(r"^\| ❌ \| \S+ \| (\S+) ", comment, re.MULTILINE)
    assert of[:3] == ["delta", "beta", "zeta"]


@pytest.mark.slow
def test_a_list_of_runs_names_the_skill_of_each_lift(program: Program, work: Path) -> None:
    """The first three of a run, and how many more there are; a run of one skill needs no name."""
    write_skills(work, KINDS)
    evaluated(program)
    one = program("eval", "skills/alpha", *ENGINE)
    assert one.code == 0, one.stderr
    assert program("view", "export", "site", "latest~1", "latest").code == 0
    cells = re.findall('data-label="Lift">(.*?)</td>', (work / "site/index.html").read_text(), re.DOTALL)
    of_one, of_all = (" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in cells)
    assert re.fullmatch(r"\+100\.0 points \(\S+ to \+100\.0\)", of_one)
    assert re.findall(r"(\w+) : \S+ points", of_all) == ["alpha", "beta", "delta"]
    assert of_all.endswith("and 2 more")


@pytest.mark.slow
def test_what_changed_stands_in_the_table(program: Program, work: Path) -> None:
    """A skill that got worse is named above the table, and its newly failing case is listed before the others."""
    write_skills(work, KINDS)
    evaluated(program)
    assert program("baseline", "save", "main").code == 0
    write_skills(work, {**KINDS, "epsilon": "useless"})
    done = evaluated(program, "--against", "main", "--gate", "not-worse", "--margin", "50", code=1)
    comment = in_words(max((work / "out").glob("*/github/comment.md")).read_text())
    for text in (done.stdout, comment, "\n".join(page_words((work / "out/eval-result.html").read_text()))):
        assert "is worse than main" in text
        assert "worse than before: epsilon (-100.0 points)" in text
        assert "since main: epsilon · with_skill is worse: pass rate -100.0 points" in text
        assert "since main: in 5 others no case came out differently" in text
        assert "worse -100.0" in text
    assert "  c0 · epsilon · with_skill: passed 0 of 3, newly failing" in done.stdout
    first = re.search(r"^\| ❌ \| \S+ \| (\S+) ", comment, re.MULTILINE)
    assert first is not None
    assert first[1] == "epsilon"


def test_engines_of_many_skills_stand_behind_the_skills(program: Program, work: Path) -> None:
    """Two tables for each skill, its engines by lift and by pass rate, are folded: the skills come first."""
    write_skills(work, {"alpha": "helps", "beta": "useless", "delta": "hurts"})
    evaluated(program, "--model", "first", "--model", "second")
    out = work / "out"
    page = (out / "eval-result.html").read_text()
    markdown = (out / "eval-result.md").read_text()
    places = [page.index(part) for part in ('<table class="catalogue">', '<details class="skill" id="engines">')]
    assert places == sorted(places)
    assert page.index('<table class="ranking">') > places[1]
    assert page.count('<table class="ranking">') == 6
    assert markdown.index("| Skill | Verdict |") < markdown.index("<details><summary>Engines side by side")
    assert markdown.index("| Place | Engine |") > markdown.index("<details><summary>Engines side by side")


@pytest.mark.slow
def test_very_many_skills(program: Program, work: Path) -> None:
    """R3-V3: a terminal holds them, and the page of all is small and leads to a file for each skill and case."""
    kinds = {f"skill-{number:03}": ("helps", "useless", "same")[number % 3] for number in range(69)}
    write_skills(work, {**kinds, "worst": "hurts"})
    done = evaluated(program)
    assert len(done.stdout.splitlines()) < 60
    assert "70 skills: 23 help, 1 hurts, 46 cannot be told" in done.stdout.splitlines()[0]
    out = work / "out"
    page = (out / "eval-result.html").read_text()
    rows = page_rows(page)
    assert len(rows) == 70
    assert rows[0][0] == "worst"
    links = {unescape(link) for link in re.findall(r'<a href="([^"]*)"', page)}
    assert len({link.partition("#")[0] for link in links}) == 70
    for link in links:
        file, _, anchor = link.partition("#")
        part = (out / file).read_text()
        assert "<script" not in part
        assert not anchor or f'id="{anchor}"' in part
    first = page.partition('<table class="stack">')[2]
    lost = re.search(r'<a href="([^"#]*)#case-1-0"', first)
    assert lost is not None
    assert "worst" in "".join(page_words((out / lost[1]).read_text())[:3])
