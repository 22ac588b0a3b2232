"""The command `cache`, on entries that real runs made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

SKILL = "---\nname: tables\ndescription: Tables.\n---\n\nMake tables.\n"
SUITE = """
cases:
  - {name: one, prompt: first, setup: [touch a], validators: [{cmd: test -f a}]}
  - {name: two, prompt: second, validators: [{cmd: "true"}]}
  - {name: three, prompt: third, should_trigger: true}
"""


@pytest.fixture
def suite(work: Path) -> Path:
    """A skill with a suite."""
    pytest.importorskip("skillgauge_format_skillevaluation")
    (work / "tables").mkdir()
    (work / "tables/SKILL.md").write_text(SKILL)
    (work / "tables/eval.yaml").write_text(SUITE)
    return work / "tables/eval.yaml"


def evaluate(program: Program) -> Done:
    """A run that keeps its baselines."""
    done = program("eval", "tables", "--engine", "mock", "--store", "none", "--sandbox", "local")
    assert done.code == 0, done.stderr
    return done


def why(program: Program, *arguments: str) -> dict[str, tuple[bool, list[str]]]:
    """What is told of each case: whether an earlier session is used, and what differs."""
    done = program("cache", "explain", "tables", "--engine", "mock", "--sandbox", "local", "--json", *arguments)
    assert done.code == 0, done.stderr
    return {one["case"]: (one["used"], one["differs"]) for one in done.document["sessions"]}


def test_an_empty_cache(program: Program, suite: Path) -> None:
    """There is nothing to list or to remove, and nothing to use."""
    assert program("cache", "list", "--json").document["entries"] == []
    assert program("cache", "gc", "--all", "--json").document["removed"] == 0
    assert why(program) == {"one": (False, []), "two": (False, [])}


@pytest.mark.slow
def test_why_a_session_is_used_or_not(program: Program, suite: Path) -> None:
    """What differs is named; nothing is run and nothing is kept for the question."""
    evaluate(program)
    assert why(program) == {"one": (True, []), "two": (True, [])}
    (suite.parent / "SKILL.md").write_text(SKILL + "More.\n")
    assert why(program) == {"one": (True, []), "two": (True, [])}
    suite.write_text(SUITE.replace("[touch a]", "[touch a b]"))
    assert why(program) == {"one": (False, ["setup"]), "two": (True, [])}
    assert why(program, "--max-turns", "9")["two"] == (False, ["limits"])
    assert len(program("cache", "list", "--json").document["entries"]) == 2


def test_list_and_gc(program: Program, suite: Path, environment: dict[str, str]) -> None:
    """Entries are told with case, engine and age; old and damaged ones go."""
    evaluate(program)
    entries = program("cache", "list", "--json").document["entries"]
    assert sorted((one["case"], one["engine"], one["damaged"]) for one in entries) == [
        ("one", "mock", False),
        ("two", "mock", False),
    ]
    folder = Path(program("cache", "list", "--json").document["folder"])
    paths = sorted(folder.glob("baselines/*/*.json"))
    paths[0].write_text("{")
    shown = program("cache", "list")
    assert "never used" in shown.stdout
    assert "1 of them damaged" in shown.verdict
    assert program("cache", "gc", "--json").document == {"folder": str(folder), "removed": 1, "kept": 1}
    os.utime(paths[1], (1, 1))
    assert program("cache", "gc", "--older-than", "2w", "--json").document["removed"] == 1
    assert program("cache", "gc", "--older-than", "soon").code == 2


def test_a_place_of_ones_own(program: Program, suite: Path, work: Path) -> None:
    """The variable names the folder."""
    env = {"SKILLGAUGE_CACHE_DIR": str(work / "kept")}
    program("eval", "tables", "--engine", "mock", "--store", "none", "--sandbox", "local", env=env)
    assert len(list((work / "kept/baselines").glob("*/*.json"))) == 2
    assert program("cache", "list", "--json").document["entries"] == []


@pytest.mark.slow
def test_schemas(program: Program) -> None:
    """The documents have schemas."""
    for name in ("cache-list", "cache-gc", "cache-explain"):
        assert program("schema", name).code == 0
