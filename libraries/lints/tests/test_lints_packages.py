"""The lints of packages, through `validate`, on packages in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

TESTS = ("--set", "formats.uaaps.stage=tests")
HOOK = {"type": "command", "command": "sh ${PACKAGE_ROOT}/hooks/guard.sh"}
OTHER = {"type": "command", "command": "sh ${PACKAGE_ROOT}/hooks/log.sh"}


@pytest.fixture
def package(work: Path) -> Path:
    """A package with two skills and hooks for two events, of which nothing is tested yet."""
    folder = work / "pack"
    for name in ("greet", "part"):
        put(folder / f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: Use to {name}.\n---\n\nDo it.\n")
    put(folder / "package.agent.json", json.dumps({"name": "pack", "version": "1.0.0"}))
    hooks = {"pre-tool-use": [{"hooks": [HOOK]}], "post-tool-use": [{"hooks": [OTHER]}]}
    put(folder / "hooks/hooks.json", json.dumps({"version": 1, "hooks": hooks}))
    put(folder / "evals/eval-config.json", json.dumps({"version": 1, "engine": "mock", "judge": "m"}))
    for place in ("skills/greet/tests", "hooks/tests"):
        put(folder / place / "test-config.json", json.dumps({"version": 1}))
    return folder


def put(path: Path, text: str) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def an_eval(package: Path, name: str, target: str | None) -> None:
    """An eval of a package about something in it."""
    about = {"target": target} if target else {}
    case = {"name": name, **about, "input": {"prompt": f"Do {name}."}, "judge": {"criteria": "It is done."}}
    put(package / f"evals/cases/{name}.yaml", json.dumps(case))


def a_hook_test(package: Path, name: str, event: str, code: int, **more: Any) -> None:
    """A test of a hook."""
    case = {"name": name, "event": event, "expected": {"exit-code": code, **more}}
    put(package / f"hooks/tests/cases/{name}.yaml", json.dumps(case))


def a_skill_test(package: Path, name: str, **expected: Any) -> None:
    """A test of a skill."""
    case = {"name": name, "input": {"command": f"echo {name}"}, "expected": {"exit-code": 0, **expected}}
    put(package / f"skills/greet/tests/cases/{name}.yaml", json.dumps(case))


def found(program: Program, package: Path, *options: str) -> list[tuple[str, str, str]]:
    """What the lints of packages say: id, file, message."""
    done = program("validate", package, "--json", *options)
    ours = ("lint.untested-target", "lint.one-way-hook", "lint.exit-code-only")
    return [
        (one["code"].removeprefix("lint."), Path(one["file"]).relative_to(package).as_posix(), one["message"])
        for one in done.document["problems"]
        if one["code"] in ours
    ]


def test_what_no_case_is_about(program: Program, package: Path) -> None:
    """Where cases name a skill, another without a case is told at its SKILL.md, and so is an event with hooks."""
    an_eval(package, "greets", "skill:greet")
    assert found(program, package) == [
        ("untested-target", "skills/part/SKILL.md", "skill 'part' is tested by no case"),
    ]
    an_eval(package, "stopped", "hook:pre-tool-use")
    told = found(program, package)
    assert told[1:] == [("untested-target", "evals/eval-config.json", "hook 'post-tool-use' is tested by no case")]
    an_eval(package, "parts", "skill:part")
    an_eval(package, "logs", "hook:post-tool-use")
    assert found(program, package) == []


def test_cases_that_name_nothing_are_about_all(program: Program, package: Path) -> None:
    """A package whose cases name no skill may well use each."""
    an_eval(package, "works", None)
    assert found(program, package) == []


def test_a_hook_with_one_answer(program: Program, package: Path) -> None:
    """Each hook for itself: two that differ from each other are both told, until one has another answer or output."""
    for name, event, code in (("a", "pre-tool-use", 2), ("b", "pre-tool-use", 2), ("c", "post-tool-use", 0)):
        a_hook_test(package, name, event, code)
    told = found(program, package, *TESTS)
    assert told == [("one-way-hook", "hooks/tests/cases/a.yaml", "all 2 cases of this hook expect the same exit code")]
    a_hook_test(package, "d", "post-tool-use", 0)
    assert [place for _, place, _ in found(program, package, *TESTS)] == [
        "hooks/tests/cases/a.yaml",
        "hooks/tests/cases/c.yaml",
    ]
    a_hook_test(package, "b", "pre-tool-use", 0)
    a_hook_test(package, "d", "post-tool-use", 0, **{"stdout-json": {"a": 1}})
    assert found(program, package, *TESTS) == []


def test_a_skill_whose_output_nobody_looks_at(program: Program, package: Path) -> None:
    """Told at the first of its cases; one that looks at the output is enough, and commands of the package may not."""
    a_skill_test(package, "a")
    a_skill_test(package, "b")
    quality = {"tests": [{"name": "compiles", "command": "true"}]}
    put(package / "package.agent.json", json.dumps({"name": "pack", "version": "1.0.0", "quality": quality}))
    ((lint, place, message),) = found(program, package, *TESTS)
    assert (lint, place) == ("exit-code-only", "skills/greet/tests/cases/a.yaml")
    assert message == "every case of 'greet' looks at the exit code alone, never at the output"
    a_skill_test(package, "b", **{"stdout-contains": ["b"]})
    assert found(program, package, *TESTS) == []
