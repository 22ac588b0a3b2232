"""The lints through `validate`, on suites in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done, Program

SKILL = """---
name: greet
description: Greets people by name. Use when somebody is to be greeted.
---

# Greet

Say hello.
"""
GOOD = {"text": "says hello", "type": "contains", "value": "hello"}


def case(number: int, *assertions: object, **more: object) -> dict[str, object]:
    """An eval."""
    return {"id": number, "prompt": f"Greet person {number}.", "assertions": assertions or [GOOD], **more}


@pytest.fixture
def greet(work: Path) -> Path:
    """A skill that no lint has anything against."""
    folder = work / "greet"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    write(folder)
    return folder


def write(folder: Path, *cases: Mapping[str, object]) -> None:
    """Write four cases, the first ones as given; one line a case, the first in line 2."""
    given = [*cases, *(case(number) for number in range(len(cases) + 1, 5))]
    rows = ",\n".join(json.dumps(one) for one in given)
    (folder / "evals/evals.json").write_text(f'{{"skill_name": "greet", "evals": [\n{rows}\n]}}\n')


def found(done: Done) -> dict[str, tuple[str, int]]:
    """Where each lint found something: the file's name and the line."""
    problems: list[dict[str, Any]] = done.document["problems"]
    return {
        one["code"].removeprefix("lint."): (Path(one["file"]).name, one["line"])
        for one in problems
        if one["code"].startswith("lint.")
    }


def test_nothing_is_said_of_a_good_skill(program: Program, greet: Path) -> None:
    """A lint that always fires says nothing; the exit code is 0 even with --strict."""
    done = program("validate", greet, "--json", "--strict")
    assert (done.code, found(done)) == (0, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lint", "bad"),
    [
        ("cannot-fail", case(1, {"text": "a", "type": "command", "value": "python3 x.py || true"})),
        ("cannot-fail", case(1, {"text": "a", "type": "regex", "value": ".*"})),
        ("matches-anything", case(1, {"text": "a", "type": "regex", "value": r"\w+"})),
        ("matches-anything", case(1, {"text": "a", "type": "regex", "value": "^[A-Z].*"})),
        ("begins-with-digit", case(1, {"text": "a", "type": "contains", "value": "0 errors"})),
        ("long-timeout", case(1, timeout_s=60_000)),
        ("prompt-is-path", case(1, prompt="evals/evals.json")),
        ("prompt-is-path", case(1, prompt="@SKILL.md")),
        ("exit-code-trap", case(1, {"text": "a", "type": "command", "value": "pytest -q | tee log.txt"})),
        ("answer-in-prompt", case(1, {"text": "a", "type": "contains", "value": "person 1"})),
        ("missing-file", case(1, prompt="Greet all of files/people.csv.")),
        ("missing-file", case(1, {"text": "a", "type": "command", "value": "python3 evals/check.py"})),
        ("prose-as-truth", case(1, {"text": "a", "type": "contains", "value": "a b c d e f g h i j k l m n o"})),
        ("several-claims", case(1, "The greeting is short and names the person.")),
        ("only-with-skill", case(1, "The agent used the greet skill.")),
        ("repeated", case(1, GOOD, GOOD | {"text": "again"})),
    ],
)
def test_each_lint_of_a_case(program: Program, greet: Path, lint: str, bad: dict[str, object]) -> None:
    """It is found at its line, warns only, and alone; it can be raised and switched off."""
    write(greet, bad)
    done = program("validate", greet, "--json")
    assert (done.code, found(done)) == (0, {lint: ("evals.json", 2)})
    assert program("validate", greet, "--lint", f"{lint}=error").code == 2
    assert program("validate", greet, "--strict").code == 2
    off = program("validate", greet, "--json", "--strict", "--lint", f"{lint}=off")
    assert (off.code, found(off)) == (0, {})


@pytest.mark.parametrize(
    ("lint", "old", "new", "line"),
    [
        ("skill-link", "Say hello.", "See [rules](docs/rules.md).", 8),
        ("skill-names-evals", "Say hello.", "Pass evals/evals.json.", 8),
        ("skill-description", "Use when somebody is to be greeted.", "", 3),
        ("skill-length", "Say hello.", "Say hello.\n" * 501, 2),
        ("skill-folder", "name: greet", "name: Greet", 2),
    ],
)
def test_each_lint_of_a_skill(program: Program, greet: Path, lint: str, old: str, new: str, line: int) -> None:
    """Each is found at its line in SKILL.md."""
    (greet / "SKILL.md").write_text(SKILL.replace(old, new))
    if lint == "skill-folder":
        evals = greet / "evals/evals.json"
        evals.write_text(evals.read_text().replace('"greet"', '"Greet"'))
    assert found(program("validate", greet, "--json")) == {lint: ("SKILL.md", line)}


def test_links_that_are_no_files_of_the_skill(program: Program, greet: Path) -> None:
    """Addresses, anchors, code and files that are there are passed over."""
    (greet / "rules.md").write_text("Rules.\n")
    links = "[a](https://example.org/x.md) [b](#top) [c](rules.md#part) `[d](no.md)`\n```\n[e](no.md)\n```\n"
    (greet / "SKILL.md").write_text(SKILL + links)
    assert found(program("validate", greet, "--json")) == {}


def test_three_cases_decide_nothing(program: Program, greet: Path) -> None:
    """Fewer than four cases of a comparison are told."""
    rows = json.dumps({"skill_name": "greet", "evals": [case(1), case(2), case(3)]})
    (greet / "evals/evals.json").write_text(rows)
    assert set(found(program("validate", greet, "--json"))) == {"too-few-cases"}


@pytest.mark.slow
def test_a_baseline_that_passes_everything_is_told_from_history(program: Program, greet: Path) -> None:
    """After a run whose arm without the skill passed everything; not before, and not where a case failed."""
    write(greet, *(case(number, {"text": "a", "type": "contains", "value": "mock"}) for number in range(1, 5)))
    assert found(program("validate", greet, "--json")) == {}
    assert program("eval", greet, "--engine", "mock").code == 0
    assert set(found(program("validate", greet, "--json"))) == {"baseline-passes"}
    write(greet, *(case(number, {"text": "a", "type": "contains", "value": "with-skill"}) for number in range(1, 5)))
    assert program("eval", greet, "--engine", "mock").code == 0
    assert found(program("validate", greet, "--json")) == {}


def test_fixes_are_shown_and_written_only_when_asked(program: Program, greet: Path) -> None:
    """--diff changes no file, --fix does, and a second one has nothing to do."""
    write(greet, case(1, {"text": "a", "type": "command", "value": "test -f hello.txt || true"}))
    file = greet / "evals/evals.json"
    before = file.read_bytes()
    shown = program("validate", greet, "--diff")
    assert file.read_bytes() == before
    done = program("validate", greet, "--fix")
    assert shown.stdout == done.stdout
    assert "-" in shown.stdout
    assert file.read_bytes() == before.replace(b" || true", b"")
    again = program("validate", greet, "--fix", "--strict")
    assert (again.code, again.stdout) == (0, "")


@pytest.mark.parametrize(
    "good",
    [
        case(1, {"text": "a", "type": "regex", "value": r"\d+"}),
        case(1, {"text": "a", "type": "regex", "value": "hello"}),
        case(1, {"text": "a", "type": "regex", "value": r"(?m)^api: [a-z].{1,50} \(7\)$"}),
        case(1, {"text": "a", "type": "regex", "value": r"(\w+)*x"}),
        case(1, {"text": "a", "type": "contains", "value": "1.2"}),
        case(1, {"text": "a", "type": "not-contains", "value": "0 errors"}, GOOD),
        case(1, timeout_s=600),
        case(1, prompt="README.md"),
        case(1, prompt="What does SKILL.md say?"),
    ],
)
def test_what_asks_for_something_is_left_alone(program: Program, greet: Path, good: dict[str, object]) -> None:
    """A pattern that answers to no question do not match, a number alone, minutes, a name that is no file here."""
    write(greet, good)
    assert found(program("validate", greet, "--json")) == {}


def test_a_suite_that_says_only_what_must_not_be_there(program: Program, greet: Path) -> None:
    """R3-W-14: an agent that says nothing passes it; one positive check is enough."""
    bad = {"text": "a", "type": "not-contains", "value": "sorry"}
    write(greet, *(case(number, bad) for number in range(1, 5)))
    assert set(found(program("validate", greet, "--json"))) == {"negative-only"}
    write(greet, *(case(number, bad) for number in range(1, 4)), case(4, bad, GOOD))
    assert found(program("validate", greet, "--json")) == {}
