"""Scenarios of Tessl: each file of them is read, told or refused at its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import (
    Limits,
    Severity,
    SkillRole,
    SuiteDefaults,
    VerdictMode,
    thaw,
)
from skillgauge_format_tessl.options import TesslOptions

from .conftest import (
    ITEMS,
    TASK,
    case_of,
    laid,
    loaded,
    notices,
    only_case,
    refusals,
    scenario,
)


def test_what_is_read(skill: Path) -> None:
    """Each file of a scenario becomes what the documentation says."""
    suite = loaded(skill / "evals")
    pond, raft = suite.cases
    assert (suite.id, suite.name, suite.format, suite.root) == (
        "paper-boats",
        "paper-boats",
        "tessl",
        str(skill / "evals"),
    )
    assert (pond.id, pond.name, pond.prompt) == ("pond-", "Order of folds", TASK)
    assert (raft.id, raft.name, raft.prompt) == ("river/scenario-0", "", "Fold a raft.\n")
    assert (pond.rule.mode, pond.rule.threshold, pond.rule.above) == (VerdictMode.MEAN, 0.8, False)
    assert thaw(pond.extras) == {"context": "Tests the order of folds."}
    assert (pond.files, pond.setup, pond.network) == ((), (), False)
    sheet, glue = pond.checks
    assert (sheet.id, sheet.scorer, sheet.weight) == ("Sheet", "rubric", 70.0)
    assert thaw(sheet.options) == {"claims": ["Sheet: boat.md says that the sheet is square"], "trajectory": False}
    assert (glue.weight, thaw(glue.options)["claims"]) == (30.0, ["No glue: boat.md MUST NOT ask for glue"])
    assert sheet.origin is not None
    assert (Path(sheet.origin.file).name, sheet.origin.pointer) == ("criteria.json", ("checklist", 0))


def test_arms_and_defaults(skill: Path) -> None:
    """The skill is in one arm, without its scenarios, and an agent has ten minutes."""
    suite = loaded(skill / "evals")
    with_skill, without_skill = suite.arms
    (ref,) = with_skill.skills
    assert (with_skill.name, ref.name, ref.role, ref.leaves_out) == (
        "with_skill",
        "paper-boats",
        SkillRole.CANDIDATE,
        ("evals",),
    )
    assert (without_skill.name, without_skill.skills) == ("without_skill", ())
    assert [(one.candidate, one.baseline) for one in suite.comparisons] == [("with_skill", "without_skill")]
    assert suite.defaults == SuiteDefaults(limits=Limits(timeout_s=600))
    assert [one.id for one in suite.targets] == ["paper-boats"]


def test_pass_mark(skill: Path) -> None:
    """The mark is an option of the format, and is said once for all scenarios."""
    suite = loaded(skill / "evals", pass_mark=0.55)
    assert {case.rule.threshold for case in suite.cases} == {0.55}
    (mark,) = [one for one in suite.warnings if "pass mark" in one.message]
    assert "55%" in mark.message
    assert "formats.tessl.pass_mark" in str(mark.hint)
    for value in (-0.1, 1.1):
        with pytest.raises(ValidationError):
            TesslOptions(pass_mark=value)


def test_what_differs_from_tessl_is_said_once(skill: Path) -> None:
    """Pass mark, partial credit and what the judge sees, each with a place, however many scenarios there are."""
    suite = loaded(skill / "evals")
    messages = notices(suite)
    for word in ("no pass mark", "whole or not at all", "sees the answer"):
        assert len([one for one in messages if word in one]) == 1, (word, messages)
    assert all(one.startswith("criteria.json:4:2 ") for one in messages)
    assert {one.severity for one in suite.warnings} == {Severity.WARNING}
    assert len(messages) == 3


def test_private_keys_are_told_and_kept(skill: Path) -> None:
    """Keys that generators add change nothing, and are there when the suite is written."""
    item = ITEMS[0] | {"category": "MUST", "source": {"line": 3}}
    suite = loaded(scenario(skill / "evals/only", item, item | {"name": "Other"}, metadata={"by": "me"}))
    kept = {"category": "MUST", "source": {"line": 3}}
    assert thaw(only_case(suite).extras) == {
        "context": "Tests the order of folds.",
        "metadata": {"by": "me"},
        "items": {"Sheet": kept, "Other": kept},
    }
    messages = notices(suite)
    assert "criteria.json:9:4 category of an item has no effect (2 places)" in messages
    assert any("source of an item" in one for one in messages)
    assert any("metadata" in one for one in messages)


def test_claims(skill: Path) -> None:
    """A claim has the name in front, unless it begins with it; checks of one name are told apart."""
    case = case_of(
        skill,
        {"name": "Keel", "description": "Keel is folded twice", "max_score": 1},
        {"name": "Mast", "description": "is a straw", "max_score": 1},
        {"name": "Mast", "description": "leans aft", "max_score": 2},
    )
    assert [(one.id, thaw(one.options)["claims"], one.weight) for one in case.checks] == [
        ("Keel", ["Keel is folded twice"], 1.0),
        ("Mast", ["Mast: is a straw"], 1.0),
        ("Mast (2)", ["Mast: leans aft"], 2.0),
    ]


@pytest.mark.parametrize(
    ("description", "is_free"),
    [
        ("The ratio is `7:4`", True),
        ('Names the paper "washi"', True),
        ("Uses the fold no. 4711", True),
        ("Uses the fold no. 4712", False),
        ("Names `washi` and `kozo`", False),
        ("`boat.md` tells the ratio", False),
        ("The boat's bow isn't torn", False),
        ("Is folded in order", False),
    ],
)
def test_points_that_are_free(skill: Path, description: str, is_free: bool) -> None:
    """An item whose values all stand in the task is told; names of files are no values."""
    task = "Fold a boat of washi in the ratio 7:4 by fold 4711, and describe it in boat.md."
    item = {"name": "Item", "description": description, "max_score": 1}
    messages = notices(loaded(scenario(skill / "evals/only", item, task=task)))
    assert any(one.startswith("criteria.json:7:4 all values") for one in messages) is is_free, messages


@pytest.mark.parametrize(
    ("description", "is_told"),
    [
        ("The transcript shows that the sheet was measured", True),
        ("Made three tool calls at most", True),
        ("log.md lists the folds", False),
    ],
)
def test_items_about_the_session(skill: Path, description: str, is_told: bool) -> None:
    """An item that only a record of the session could show is told."""
    item = {"name": "Item", "description": description, "max_score": 1}
    messages = notices(loaded(scenario(skill / "evals/only", item)))
    assert any("about the session" in one for one in messages) is is_told, messages


def test_name_and_description(skill: Path) -> None:
    """The first line of capability.txt is the name, and scenario.json has the description."""
    case = case_of(skill, capability="\n  Folding \nmore\n", settings={"type": "generic", "description": "A boat."})
    assert (case.name, case.description) == ("Folding", "A boat.")
    assert case_of(skill, capability="\n").name == ""


def test_byte_order_marks_and_line_ends(skill: Path) -> None:
    """The mark goes, and the line ends of a task stay."""
    folder = scenario(skill / "evals/only")
    (folder / "task.md").write_bytes(b"\xef\xbb\xbfFold.\r\nSail.\r\n")
    assert only_case(loaded(folder)).prompt == "Fold.\r\nSail.\r\n"


@pytest.mark.parametrize(
    ("include", "task", "paths"),
    [
        (["./inputs"], "Fold sheet.md.", {"sheet.md", "deep/pond.txt"}),
        (["inputs/"], "Read inputs/sheet.md.", {"inputs/sheet.md", "inputs/deep/pond.txt"}),
        (["./inputs/deep"], "Fold.", {"pond.txt"}),
        (["./inputs/deep"], "See inputs/deep/pond.txt.", {"inputs/deep/pond.txt"}),
        (["./inputs/sheet.md"], "Fold.", {"sheet.md"}),
        (["./inputs/sheet.md"], "Read inputs/sheet.md.", {"inputs/sheet.md"}),
        (["../shared"], "Fold.", {"sail.txt"}),
        (["../shared", "./inputs/sheet.md"], "See shared/sail.txt.", {"shared/sail.txt", "sheet.md"}),
    ],
)
def test_include(skill: Path, include: list[str], task: str, paths: set[str]) -> None:
    """Included files lie in the workspace itself, or in the folder that the task names."""
    laid(skill / "evals", {"shared/sail.txt": "s", "only/inputs/sheet.md": "a", "only/inputs/deep/pond.txt": "b"})
    folder = scenario(skill / "evals/only", task=task, settings={"include": include})
    suite = loaded(folder)
    assert {file.path for file in only_case(suite).files} == paths
    assert "scenario.json:2:2 files of `include` lie in the workspace itself, or in the folder that task.md names" in (
        one.partition(" (")[0] for one in notices(suite)
    )


def test_fixtures_and_setup(skill: Path) -> None:
    """A folder is copied to its place; a script runs before the agent does, and is gone then."""
    laid(skill / "evals", {"harbour/src/pier.txt": "p", "only/setup.sh": "#!/bin/sh\nmkdir dock\n"})
    settings = {
        "fixtures": {
            "a": {"type": "directory", "path": "../harbour", "installPath": "."},
            "b": {"type": "directory", "path": "../harbour/src", "installPath": "far/away"},
        },
        "setup": ["./setup.sh"],
    }
    case = case_of(skill, settings=settings)
    assert {file.path for file in case.files} == {"src/pier.txt", "far/away/pier.txt"}
    assert case.setup == ("./setup.sh",)
    assert [(one.path, one.executable, one.text) for one in case.setup_files] == [
        ("setup.sh", True, "#!/bin/sh\nmkdir dock\n")
    ]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"include": ["./none"]}, "scenario.json:3:3 there is no './none' as seen from 'only'"),
        ({"include": ["/etc"]}, "scenario.json:3:3 there is no '/etc' as seen from 'only'"),
        ({"include": ["../../SKILL.md"]}, "scenario.json:3:3 there is no '../../SKILL.md' as seen from 'only'"),
        ({"include": ["."]}, "scenario.json:3:3 '.' would show the scenario itself to the agent"),
        ({"include": [".."]}, "scenario.json:3:3 '..' would show the scenario itself to the agent"),
        ({"include": ["criteria.json"]}, "scenario.json:3:3 'criteria.json' would show the scenario itself"),
        ({"include": ["inputs", "inputs/sheet.md"]}, "scenario.json:4:3 two files would be 'sheet.md'"),
        ({"include": ["", "inputs"]}, "scenario.json:3:3 'include[0]'"),
        ({"fixtures": {"a": {"type": "git"}}}, "scenario.json:3:3 fixtures of type 'git' are not installed"),
        ({"fixtures": {"a": {}}}, "scenario.json:3:3 fixtures of type None are not installed"),
        ({"fixtures": {"a": {"type": "directory"}}}, "scenario.json:3:3 'path' is missing"),
        (
            {"fixtures": {"a": {"type": "directory", "path": "inputs", "installPath": "../x"}}},
            "scenario.json:6:4 '../x' is no place in the workspace",
        ),
        (
            {"fixtures": {"a": {"type": "directory", "path": "inputs/sheet.md"}}},
            "scenario.json:5:4 'inputs/sheet.md' is no folder",
        ),
        ({"setup": ["npm install"]}, "scenario.json:3:3 there is no 'npm install' as seen from 'only'"),
        ({"setup": ["inputs"]}, "scenario.json:3:3 'inputs' is no file"),
        (
            {"include": ["inputs"], "setup": ["sheet.md"]},
            "scenario.json:6:3 a file of the workspace is called 'sheet.md', as this script is",
        ),
        ({"type": "commit"}, "scenario.json:2:2 'type' must be 'generic'"),
        ({"commit": "abc"}, "scenario.json:2:2 unknown key 'commit'"),
    ],
)
def test_settings_that_are_refused(skill: Path, settings: dict[str, Any], problem: str) -> None:
    """What would change the workspace and cannot be honoured is an error at its line."""
    laid(skill / "evals/only", {"inputs/sheet.md": "a", "sheet.md": "b"})
    messages = refusals(scenario(skill / "evals/only", task="Fold.", settings=settings))
    assert [one for one in messages if one.startswith(problem)], messages


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ({"type": "rubric"}, "criteria.json:3:2 'type' must be 'weighted_checklist'"),
        ({"checklist": []}, "criteria.json:4:2 'checklist'"),
        ({"checklist": None}, "criteria.json:4:2 'checklist' must be a list"),
        ({"threshold": 0.5}, "criteria.json:16:2 unknown key 'threshold'"),
        ({"context": 3}, "criteria.json:2:2 'context' must be text"),
        ({"checklist": [ITEMS[0] | {"max_score": 0}]}, "criteria.json:8:4 'max_score'"),
        ({"checklist": [ITEMS[0] | {"max_score": "7"}]}, "criteria.json:8:4 'max_score' must be a whole number"),
        ({"checklist": [ITEMS[0] | {"max_score": 0.5}]}, "criteria.json:8:4 'max_score' must be a whole number"),
        ({"checklist": [ITEMS[0] | {"name": " "}]}, "criteria.json:6:4 'name'"),
        ({"checklist": [ITEMS[0] | {"weight": 2}]}, "criteria.json:9:4 unknown key 'weight'"),
        ({"checklist": [{"name": "a", "max_score": 1}]}, "criteria.json:5:3 'description' is missing"),
    ],
)
def test_checklists_that_are_refused(skill: Path, criteria: dict[str, Any], problem: str) -> None:
    """Wrong types, empty texts and unknown keys are errors at their line."""
    messages = refusals(scenario(skill / "evals/only", **criteria))
    assert [one for one in messages if one.startswith(problem)], messages


def test_type_may_be_left_out(skill: Path) -> None:
    """A checklist can be nothing else."""
    folder = scenario(skill / "evals/only")
    (folder / "criteria.json").write_text(json.dumps({"checklist": ITEMS}))
    assert len(only_case(loaded(folder)).checks) == 2


def test_texts_that_are_refused(skill: Path) -> None:
    """An empty task, and bytes that are no text."""
    folder = scenario(skill / "evals/only", task=" \n")
    assert refusals(folder) == ["task.md:1:1 task.md is empty, so an agent would be asked nothing"]
    (folder / "task.md").write_bytes(b"Fold.\n\xff")
    assert refusals(folder) == ["task.md:2:1 byte 0xff of 'task.md' is not UTF-8"]


def test_all_problems_of_all_files(skill: Path) -> None:
    """Everything that is wrong with every scenario is told at once."""
    scenario(skill / "evals/pond-", task="", type="x", settings={"commit": "a"})
    scenario(skill / "evals/river/scenario-0", ITEMS[0] | {"max_score": -1})
    (skill / "SKILL.md").unlink()
    messages = refusals(skill / "evals")
    for word in ("no skill around", "is empty", "weighted_checklist", "unknown key 'commit'", "'max_score'"):
        assert any(word in one for one in messages), (word, messages)
