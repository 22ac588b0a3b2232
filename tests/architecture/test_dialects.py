"""docs/dialects.md is what the code and the counts say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import dialect_census  # noqa: E402 - a script, no package


def test_the_tables_of_dialects_are_those_of_the_code() -> None:
    """A type, a key or a count that changes changes the page: run benchmarks/dialect_census.py."""
    counts = json.loads(dialect_census.COUNTS.read_text(encoding="utf-8"))
    text = dialect_census.PAGE.read_text(encoding="utf-8")
    assert dialect_census.page(text, counts) == text


def test_the_census_is_large_enough_and_says_why() -> None:
    """At least 500 files of 60 repositories; each loaded, or refused for a reason with a place; no text of anybody."""
    counts = json.loads(dialect_census.COUNTS.read_text(encoding="utf-8"))
    assert counts["repositories"] >= 60
    assert sum(row["files"] for row in counts["shapes"]) >= 500
    for row in counts["shapes"]:
        assert row["files"] == row["loaded"] + sum(row["refused"].values())
        assert not any("no line" in reason for reason in row["refused"])


def test_folders_of_cases_are_told_by_their_files(tmp_path: Path) -> None:
    """The names of files say what a folder is; a checklist of another program is none of Tessl's."""
    for name in ("a/prompt.md", "b/case.yaml", "c/task.md", "d/task.md", "e/prompt.md", "a/graders/g.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "c/criteria.json").write_text('{"checklist": []}')
    (tmp_path / "d/criteria.json").write_text('{"criteria": []}')
    kinds = [dialect_census.case_kind(tmp_path / name) for name in "abcde"]
    assert [kind.removeprefix("folders with ") for kind in kinds] == [
        "`prompt.md` and `graders`",
        "`case.yaml`",
        "`task.md` and `criteria.json`",
        "`task.md` and `criteria.json`, no checklist",
        "",
    ]


def test_cases_are_loaded_together(tmp_path: Path) -> None:
    """All of a plugin are one suite, as a search of it has them, and each of them is counted."""
    plugin = tmp_path / "one/boats"
    files = {".claude-plugin/plugin.json": '{"name": "boats"}', "skills/fold/SKILL.md": "---\nname: fold\n---\nFold.\n"}
    for name in "ab":
        files |= {f"evals/{name}/prompt.md": "Fold.\n", f"evals/{name}/graders/g.md": "---\ntype: regex\n---\na\n"}
    for name, text in files.items():
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_text(text)
    counts = dialect_census.census(tmp_path)
    (row,) = counts["shapes"]
    assert (counts["repositories"], row["files"], row["suites"], row["loaded"]) == (1, 2, 1, 2)
