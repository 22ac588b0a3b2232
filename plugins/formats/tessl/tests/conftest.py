"""Scenarios of Tessl in temporary folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Case, Loaded, LoadRequest, Suite, SuiteError, located_all
from skillgauge_testkit import FORMATS, Maker

MODULE = "skillgauge_format_tessl.plugin"
FORMAT = Maker(FORMATS, MODULE)()
SKILL = "---\nname: paper-boats\ndescription: Folds paper boats. Use when a boat is needed.\n---\n\nFold.\n"
TASK = """# A boat for the pond

Fold a boat, and describe it in boat.md.

=============== FILE: inputs/pond.txt ===============
The pond is two metres wide.
=============== END FILE ===============
"""
ITEMS: list[dict[str, Any]] = [
    {"name": "Sheet", "description": "boat.md says that the sheet is square", "max_score": 70},
    {"name": "No glue", "description": "boat.md MUST NOT ask for glue", "max_score": 30},
]
CRITERIA = {"context": "Tests the order of folds.", "type": "weighted_checklist", "checklist": ITEMS}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill with two scenarios."""
    folder = laid(tmp_path / "paper-boats", {"SKILL.md": SKILL})
    scenario(folder / "evals/pond-", capability="Order of folds\n")
    scenario(folder / "evals/river/scenario-0", task="Fold a raft.\n")
    return folder


def laid(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    return folder


def scenario(
    folder: Path,
    *items: dict[str, Any],
    task: str = TASK,
    settings: dict[str, Any] | None = None,
    capability: str | None = None,
    **keys: Any,
) -> Path:
    """A scenario with these items, or with the usual ones."""
    criteria = {**CRITERIA, "checklist": list(items) or ITEMS, **keys}
    files = {"task.md": task, "criteria.json": json.dumps(criteria, indent=1)}
    files |= {"scenario.json": json.dumps(settings, indent=1)} if settings is not None else {}
    files |= {"capability.txt": capability} if capability is not None else {}
    return laid(folder, files)


def load(*paths: Path, searched: tuple[Path, ...] = (), **options: Any) -> Loaded:
    """What the format makes of paths."""
    request = LoadRequest(
        paths=tuple(map(str, paths)), searched=tuple(map(str, searched)), cwd=str(Path.cwd()), options=options
    )
    return FORMAT.load(request)


def loaded(path: Path, **options: Any) -> Suite:
    """The one suite of a path."""
    (suite,) = load(path, **options).suites
    return suite


def only_case(suite: Suite) -> Case:
    """The case of a suite that has one."""
    (case,) = suite.cases
    return case


def case_of(skill: Path, *items: dict[str, Any], **more: Any) -> Case:
    """The case of a scenario that is laid down for it."""
    return only_case(loaded(scenario(skill / "evals/only", *items, **more)))


def notices(suite: Suite) -> list[str]:
    """Place and message of every warning."""
    return [placed(one) for one in located_all(suite.warnings)]


def placed(problem: Any) -> str:
    """Place and message of a problem."""
    assert problem.span is not None
    assert problem.span.line is not None
    return f"{Path(problem.span.file).name}:{problem.span.line}:{problem.span.column} {problem.message}"


def refusals(*paths: Path, searched: tuple[Path, ...] = ()) -> list[str]:
    """Place and message of everything that is wrong with paths."""
    with pytest.raises(SuiteError) as caught:
        load(*paths, searched=searched)
    return [placed(one) for one in located_all(caught.value.problems)]


TILE = {"name": "harbour/paper", "version": "1.2.0", "summary": "Things of paper."}


def plugin(folder: Path, files: dict[str, str]) -> Path:
    """A plugin with two skills and a scenario."""
    scenario(folder / "evals/one")
    skills = {f"skills/{name}/SKILL.md": SKILL.replace("paper-boats", name) for name in ("boats", "kites")}
    return laid(folder, skills | files)
