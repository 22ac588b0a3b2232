"""Drafts of evals: proposed from headings, told by what is blank, and never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

DRAFTS = "evals/evals.draft.json"
HEAD = "---\nname: tables\ndescription: Convert tables. Use when a table has to change its form.\n---\n\n"
BODY = """# Tables

## Overview

Of no use.

## CSV to Markdown

Read the file, and write
one row a line.

```sh
## no heading
```

### Wide tables

## Wide tables
"""


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill without evals."""
    folder = work / "tables"
    folder.mkdir()
    (folder / "SKILL.md").write_text(HEAD + BODY)
    return folder


def drafts(skill: Path) -> list[dict[str, object]]:
    """What was proposed."""
    found: list[dict[str, object]] = json.loads((skill / DRAFTS).read_text())["drafts"]
    return found


def test_a_draft_for_each_heading(program: Program, skill: Path) -> None:
    """Headings that say what the skill does, each with its line and first words; nothing else is made, nor twice."""
    told = program("validate", skill)
    assert (told.code, "SKILL.md:1:1" in told.stderr, f"skillgauge init --dir {skill}" in told.stderr) == (
        2,
        True,
        True,
    )
    done = program("init", "--dir", "tables")
    assert (done.code, done.verdict) == (0, "1 created, 0 already present"), done.stderr
    assert sorted(path.name for path in skill.rglob("*")) == ["SKILL.md", "evals", "evals.draft.json"]
    lines = (skill / "SKILL.md").read_text().splitlines()
    found = drafts(skill)
    assert [one["id"] for one in found] == ["csv-to-markdown", "wide-tables", "wide-tables-2"]
    assert found[0]["about"] == "Read the file, and write one row a line."
    for one in found:
        _, line, heading = str(one["of"]).split(":", 2)
        assert lines[int(line) - 1].lstrip("# ") == heading.strip()
    before = (skill / DRAFTS).read_bytes()
    again = program("init", "--dir", "tables")
    assert (again.verdict, (skill / DRAFTS).read_bytes()) == ("0 created, 1 already present", before)


def test_a_skill_without_headings(program: Program, skill: Path) -> None:
    """One draft for the skill as a whole, about its description."""
    (skill / "SKILL.md").write_text(f"{HEAD}Convert it.\n")
    assert program("init", "--dir", "tables").code == 0
    (one,) = drafts(skill)
    assert (one["id"], one["about"]) == ("tables", "Convert tables. Use when a table has to change its form.")


def test_drafts_are_told_and_never_run(program: Program, skill: Path) -> None:
    """With a line each of what is blank; alone they are nothing to run, and beside evals they are none of them."""
    program("init", "--dir", "tables")
    for path in (skill, skill / DRAFTS):
        alone = program("validate", path)
        assert alone.code == 2
        assert "this skill has drafts of evals, and no eval" in alone.stderr
        assert alone.stderr.count("warning[suite.draft]") == 3
    assert program("eval", skill, "--engine", "mock").code == 2
    document = json.loads((skill / DRAFTS).read_text())
    document["drafts"][0] |= {"prompt": "Convert a.csv.", "assertions": ["It is a table."]}
    document["drafts"][1] |= {"prompt": "Convert b.csv.", "assertions": [" "]}
    document["drafts"][2] = "later"
    (skill / DRAFTS).write_text(json.dumps(document, indent=1))
    evals = {"evals": [{"id": 1, "prompt": "Convert c.csv.", "assertions": [{"type": "contains", "value": "|"}]}]}
    (skill / "evals/evals.json").write_text(json.dumps(evals))
    done = program("validate", skill, "--json")
    assert done.code == 0, done.stderr
    told = [(one["message"], one["line"]) for one in done.document["problems"] if one["code"] == "suite.draft"]
    assert told == [
        ("draft 'csv-to-markdown' is finished, and no run counts it: move it to evals/evals.json", 5),
        ("draft 'wide-tables': blank is assertions", 15),
        ("a draft must be an object", 25),
    ]
    assert not [one for one in done.document["problems"] if one["code"] == "suite.not-read"]
    dry = program("eval", skill, "--engine", "mock", "--dry-run", "--json")
    assert [one["case_count"] for one in dry.document["plan"]["suites"]] == [1]


def test_broken_drafts(program: Program, skill: Path) -> None:
    """A file that cannot be read, or has another shape, is told by its line."""
    (skill / "evals").mkdir()
    for text, words in (("[", "evals.draft.json:1"), ("[]", "drafts are an object with a list 'drafts'")):
        (skill / DRAFTS).write_text(text)
        done = program("validate", skill)
        assert (done.code, words in done.stderr) == (2, True), done.stderr


def test_a_search_goes_on(program: Program, work: Path, skill: Path) -> None:
    """Drafts of one skill do not make a run over many invalid."""
    program("init", "--dir", "tables")
    other = work / "other"
    (other / "evals").mkdir(parents=True)
    (other / "SKILL.md").write_text(HEAD.replace("tables\n", "other\n", 1) + BODY)
    evals = {"evals": [{"id": 1, "prompt": "Convert c.csv.", "assertions": [{"type": "contains", "value": "|"}]}]}
    (other / "evals/evals.json").write_text(json.dumps(evals))
    done = program("validate", ".")
    assert done.code == 0, done.stderr
    assert "warning[suite.no-evals]" in done.stderr


def test_a_skill_with_evals_is_no_project(program: Program, skill: Path) -> None:
    """There the configuration alone is made: folders for skills in a skill are of no use."""
    (skill / "eval.yaml").write_text("cases: []\n")
    assert program("init", "--dir", "tables").code == 0
    assert sorted(path.name for path in skill.iterdir()) == ["SKILL.md", "eval.yaml", "skillgauge.config.yaml"]


def test_drafts_stay_in_the_skills_folder(program: Program, skill: Path, work: Path) -> None:
    """Who sends a skill with a link for a folder does not choose where files are made."""
    elsewhere = work / "elsewhere"
    elsewhere.mkdir()
    (skill / "evals").symlink_to(elsewhere)
    done = program("init", "--dir", "tables")
    assert done.code == 2
    assert "is a link" in done.stderr
    assert not [*elsewhere.iterdir()]
