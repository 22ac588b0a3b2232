"""Writing benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    FileSpec,
    HostVariable,
    Limits,
    Loaded,
    Suite,
    VerdictMode,
    VerdictRule,
)
from skillgauge_format_eval_skills.benchmarks import built_in_ids
from skillgauge_format_eval_skills.dumping import dump

Skill = Callable[..., Path]
Load = Callable[..., Loaded]
KEPT = ("id", "name", "version", "description", "parameters", "extras")


def essence(suite: Suite) -> list[Any]:
    """Everything about a suite that a benchmark file can say."""
    head = [getattr(suite, name) for name in KEPT]
    cases = [
        (case.id, case.execution_digest, case.checks_digest, case.tags, case.weight, case.limits, case.extras)
        for case in suite.cases
    ]
    return [head, cases]


def test_benchmarks_survive_writing_and_reading(
    skill: Skill, write: Callable[[str, object], Path], load: Load, tmp_path: Path
) -> None:
    """Every built-in benchmark, and one with all that a file can say, reads back as it was."""
    write("s.py", "")
    tasks = [
        {"id": "1", "expectedOutput": {"keywords": ["a"]}, "evaluator": {"type": "contains", "caseSensitive": True}},
        {"id": "7", "expectedOutput": {"patterns": ["a"]}, "evaluator": {"type": "regex", "options": {"timeout_s": 2}}},
        {"id": "2", "expectedOutput": {"patterns": ["^a"]}, "evaluator": {"type": "regex"}, "weight": 2.5},
        {"id": "3", "expectedOutput": {"judgePrompt": "?", "value": [1]}, "evaluator": {"type": "llm_judge"}},
        {"id": "4", "expectedOutput": {"customScorerPath": "s.py"}, "evaluator": {"type": "custom"}},
        {"id": "5", "expectedOutput": {"vector": [1]}, "evaluator": {"type": "acme"}, "timeoutMs": 1500.5},
        {"id": "6", "expectedOutput": {"value": 1, "odd": 2}, "evaluator": {"type": "exact", "strange": 3}, "x": 4},
    ]
    full = {"id": "full", "version": "1.0.0", "domain": "web", "scoringMethod": "weighted_mean", "owner": "me"}
    write("full.json", {**full, "name": "Full", "metadata": {"source": "me"}, "tasks": tasks})
    for name in (*built_in_ids(), "full.json"):
        (suite,) = load(skill(), benchmark=name).suites
        (written,) = dump(suite).artifacts
        assert written[0] == "benchmark.json"
        write("again.json", written[1].decode())
        (again,) = load(skill(), benchmark="again.json").suites
        assert essence(again) == essence(suite), name


def test_losses_are_told() -> None:
    """What a benchmark cannot say is named, case by case, and never dropped in silence."""
    check = Check(id="c", scorer="exact", options={"value": 1})
    suite = Suite(
        id="s",
        format="other",
        root="/s",
        arms=(Arm(name="with_skill", kind=ArmKind.AGENT),),
        cases=(
            Case(id="none"),
            Case(id="text", input="hello", checks=(check, Check(id="d", scorer="exact", options={"value": 1}))),
            Case(id="agent", prompt="Do it.", checks=(check,)),
            Case(
                id="files",
                checks=(check,),
                files=(FileSpec(path="a", text=""),),
                env={"A": "1"},
                rule=VerdictRule(mode=VerdictMode.MEAN, threshold=0.5),
                limits=Limits(max_turns=3),
            ),
        ),
    )
    dumped = dump(suite)
    content = json.loads(dumped.artifacts[0][1])
    assert [(task["id"], task["inputData"]) for task in content["tasks"]] == [
        ("text", {"input": "hello"}),
        ("files", {}),
    ]
    assert (content["version"], content["domain"], content["scoringMethod"]) == ("1.0.0", "general", "mean")
    assert [loss.message for loss in dumped.losses] == [
        "arms and comparisons are left out: a task calls a skill directly",
        "case 'none': it checks nothing and is left out",
        "case 'text': a task has one check; left out: d",
        "case 'text': its input is no object and was put under the key 'input'",
        "case 'agent' is left out: its prompt is meant for an agent, and a task calls a skill itself",
        "case 'files': its rule for a verdict is left out",
        "case 'files': limits other than the time are left out",
        "case 'files': files cannot be written",
        "case 'files': env cannot be written",
    ]


@pytest.mark.parametrize("said", [{"beside": True}, {"stage": 1}, {"turn": 0}], ids=lambda said: next(iter(said)))
def test_a_check_that_would_count_otherwise_is_named(said: dict[str, Any]) -> None:
    """A task has one check, which decides."""
    check = Check(id="c", scorer="exact", options={"value": 1}, **said)
    (loss,) = dump(Suite(id="s", format="other", root="/s", cases=(Case(id="c", checks=(check,)),))).losses
    assert loss.message == "case 'c': check 'c' decides by itself, about the whole of it"


@pytest.mark.parametrize(
    "said",
    [
        {"name": "second"},
        {"arm_prompts": (("with_skill", "Do it."),)},
        {"image_files": (FileSpec(path="Dockerfile", text="FROM scratch"),)},
        {"setup": ("make",)},
        {"setup_files": (FileSpec(path="a", text=""),)},
        {"grader_files": (FileSpec(path="a", text=""),)},
        {"pass_env": (HostVariable(name="A", host="B"),)},
        {"network": True},
        {"skip": "Not yet."},
        {"targets": ("one",)},
    ],
    ids=lambda said: next(iter(said)),
)
def test_no_field_of_a_case_is_lost_in_silence(said: dict[str, Any]) -> None:
    """Each that a task has no key for is named."""
    case = Case(id="c", checks=(Check(id="c", scorer="exact", options={"value": 1}),), **said)
    (loss,) = dump(Suite(id="s", format="other", root="/s", cases=(case,))).losses
    assert loss.message == f"case 'c': {next(iter(said)).replace('_', ' ')} cannot be written"
