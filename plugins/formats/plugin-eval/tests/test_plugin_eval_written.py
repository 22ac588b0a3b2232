"""Suites of other formats written as case folders, and the result document written and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    ALL_PASSED,
    Case,
    Check,
    FileSpec,
    Limits,
    LoadRequest,
    Suite,
    SuiteDefaults,
    SuiteError,
    VerdictMode,
    VerdictRule,
    thaw,
)
from skillgauge.api.report import RunState
from skillgauge_format_plugin_eval.dumping import dump
from skillgauge_format_plugin_eval.loading import load
from skillgauge_format_plugin_eval.options import PluginEvalOptions
from skillgauge_format_plugin_eval.reporter import PluginEvalReporter
from skillgauge_format_plugin_eval.written import graders_of
from skillgauge_testkit import FORMATS, REPORTERS, Maker, check_format, check_reporter
from skillgauge_testkit.program import Program

FORMAT, REPORTER = "skillgauge_format_plugin_eval.plugin", "skillgauge_format_plugin_eval.reporter_plugin"
SKILL = "---\nname: fold\ndescription: Use when a boat is folded.\n---\nCrease twice.\n"


def test_contracts(tmp_path: Path) -> None:
    """Format and reporter keep what every one of their kind promises."""
    folder = tmp_path / "fold/evals/a"
    (folder / "graders").mkdir(parents=True)
    (tmp_path / "fold/SKILL.md").write_text(SKILL)
    (folder / "prompt.md").write_text("Fold.\n")
    (folder / "graders/g.md").write_text("---\ntype: regex\n---\ncrease\n")
    other = tmp_path / "other/evals/a"
    other.mkdir(parents=True)
    (other / "prompt.md").write_text("Fold.\n")
    check_format(Maker(FORMATS, FORMAT), samples=[folder], foreign=[other, other / "prompt.md"])
    check_reporter(Maker(REPORTERS, REPORTER), reads_back=False)


@pytest.mark.parametrize(
    ("check", "graders"),
    [
        (
            {"scorer": "contains", "options": {"keywords": ["a.b", "c"]}, "weight": 2},
            [{"type": "regex", "pattern": "a\\.b", "flags": "i"}, {"type": "regex", "pattern": "c", "flags": "i"}],
        ),
        (
            {"scorer": "contains", "options": {"keywords": ["a"], "case_sensitive": True, "absent": True}},
            [{"type": "regex", "pattern": "a", "match": "not_contains"}],
        ),
        ({"scorer": "contains", "options": {"keywords": ["a"], "stream": "stdout"}}, []),
        (
            {"scorer": "regex", "options": {"patterns": ["(?im)^a"], "absent": True}},
            [{"type": "regex", "pattern": "^a", "flags": "im", "match": "not_contains"}],
        ),
        (
            {"scorer": "regex", "options": {"patterns": ["a"], "case_sensitive": False, "at_least": 1}},
            [{"type": "regex", "pattern": "a", "flags": "i"}],
        ),
        (
            {"scorer": "regex", "options": {"patterns": ["a"], "at_least": 2, "at_most": 2, "source": "events"}},
            [{"type": "regex", "pattern": "a", "target": "trace", "match": "count:2"}],
        ),
        ({"scorer": "regex", "options": {"patterns": ["a"], "at_least": 2}}, []),
        ({"scorer": "regex", "options": {"patterns": ["a"], "source": "messages"}}, []),
        ({"scorer": "regex", "options": {"patterns": [r"\Aa\Z"]}}, [{"type": "regex", "pattern": "^a$"}]),
        ({"scorer": "regex", "options": {"patterns": [r"a|\Ab"]}}, []),
        ({"scorer": "regex", "options": {"patterns": ["a++"]}}, []),
        ({"scorer": "files", "options": {"path": "a", "state": "created"}}, [{"type": "file_exists", "path": "a"}]),
        (
            {"scorer": "files", "options": {"path": "a", "contains": ["x+"]}},
            [{"type": "regex", "pattern": "x\\+", "target": {"source": "file", "path": "a"}}],
        ),
        ({"scorer": "files", "options": {"path": "a", "equals": "x"}}, []),
        (
            {"scorer": "tool-call", "options": {"tool": "A", "called": False}},
            [{"type": "tool_used", "tool": "A", "min": 0, "max": 0}],
        ),
        ({"scorer": "tool-call", "options": {"tool": "A", "words": ["x"]}}, []),
        (
            {"scorer": "tool-call", "options": {"tool": "A", "before": {"tool": "B"}}},
            [{"type": "tool_order", "before": {"tool": "A"}, "after": {"tool": "B"}}],
        ),
        (
            {"scorer": "trigger", "options": {"skill": "fold"}, "beside": True},
            [{"type": "tool_used", "tool": "Skill", "input_match": '"([^"]*:)?(fold)"', "arm": "with-only"}],
        ),
        (
            {"scorer": "rubric", "options": {"claims": ["It floats.", "It is dry."]}},
            [
                {"type": "llm", "criteria": "It floats.", "focus": "trace", "weight": 0.5},
                {"type": "llm", "criteria": "It is dry.", "focus": "trace", "weight": 0.5},
            ],
        ),
        (
            {"scorer": "rubric", "options": {"criteria": "It floats.", "reference": "A boat.", "trajectory": False}},
            [{"type": "llm", "criteria": "It floats.\n\nAn output that would be right:\nA boat."}],
        ),
        ({"scorer": "rubric", "options": {"criteria": "x", "scale": "0-10"}}, []),
        ({"scorer": "exit-code", "options": {}}, []),
        ({"scorer": "regex", "options": {"patterns": ["a"]}, "stage": 1}, []),
    ],
)
def test_checks_of_others(check: dict[str, Any], graders: list[dict[str, Any]]) -> None:
    """Each is written as what decides the same, or not at all."""
    assert list(graders_of(Check(id="c", **check))) == graders


def test_a_suite_of_another_format(tmp_path: Path) -> None:
    """It is written with everything that has words, the rest is told, and what is written is read."""
    regex = Check(id="Says 'crease'!", scorer="regex", options={"patterns": ("crease",)})
    command = Check(id="ok", scorer="command", options={"command": "true"})
    file = FileSpec(path="in/paper.txt", text="x")
    suite = Suite(
        id="s",
        format="other",
        root=str(tmp_path),
        cases=(
            Case(
                id="A case: one",
                prompt="Fold.",
                checks=(regex, command),
                setup=("mkdir out",),
                files=(file,),
                tags=("t",),
                env={"EVAL_A": "1", "B": "2"},
                limits=Limits(timeout_s=9999, max_turns=7),
                weight=2,
                rule=VerdictRule(mode=VerdictMode.MEAN, threshold=0.5),
            ),
            Case(id="two", checks=(regex,)),
            Case(id="three", prompt="Sail.", checks=(command,)),
        ),
        defaults=SuiteDefaults(runs=4, model="m"),
    )
    dumped = dump(suite)
    losses = "\n".join(one.message for one in dumped.losses)
    for part in (
        "'ok' of scorer 'command' is left out",
        "variables that do not begin with EVAL_: B",
        "timeout_seconds 9999 is more than the 3600",
        "its weight is left out",
        "its rule for a verdict is left out",
        "case 'two' is left out: it has no prompt",
        "case 'three' is left out: nothing would grade it",
    ):
        assert part in losses
    (tmp_path / "SKILL.md").write_text(SKILL)
    for name, content in dumped.artifacts:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (again,) = load(LoadRequest(paths=(str(tmp_path / "evals/A-case-one"),), cwd="/"), PluginEvalOptions()).suites
    (only,) = again.cases
    assert (only.name, only.prompt, only.tags) == ("A case: one", "Fold.", ("t",))
    assert (only.limits, again.defaults.runs, again.defaults.model) == (Limits(timeout_s=3600, max_turns=7), 4, "m")
    assert thaw(only.env) == {"EVAL_A": "1"}
    assert [(check.id, thaw(check.options)) for check in only.checks] == [
        (regex.id, {"keywords": ["crease"], "case_sensitive": True})
    ]
    assert only.setup == ('bash "scaffold.sh"',)
    assert sorted(one.path for one in only.setup_files) == ["inputs/in/paper.txt", "scaffold.sh"]
    assert only.rule != ALL_PASSED


def theirs(**changes: Any) -> dict[str, Any]:
    """Return a document as the program writes it."""
    grade = {"name": "g", "passed": True, "weight": 1, "explanation": "found", "withOnly": False, "scored": True}
    run = {"score": 1, "passed": True, "turns": 2, "costUsd": 0.5, "judgeCostUsd": 0, "error": None, "graders": [grade]}
    failed = {**run, "score": 0, "passed": False, "graders": [{**grade, "passed": False}]}
    limit = {**failed, "error": "exit 1: Reached maximum number of turns (4)"}
    broken = {**run, "error": "exit 1: a shell was granted, but this machine cannot confine it"}
    case = {
        "name": "a",
        "dir": "/x/evals/a",
        "promptMarkdown": "Fold.",
        "arms": {"with": [run, limit], "without": [failed, broken]},
    }
    return {
        "schemaVersion": 1,
        "claudeVersion": "2.1.330",
        "startedAt": "2026-11-20T10:00:00Z",
        "partial": False,
        "suite": {"root": "/x", "ablation": "with-without", "plugins": [{"name": "boats", "path": "/x"}]},
        "cases": [case],
        "aggregates": {"casesTotal": 1},
    } | changes


def test_a_document_of_the_program(tmp_path: Path) -> None:
    """It is a run with both arms; a session that did not start is an error, whatever its graders said."""
    file = tmp_path / "aggregate-result.json"
    file.write_text(json.dumps(theirs()))
    view = PluginEvalReporter().read(file)
    assert view is not None
    verdicts = [(one.arm, one.repeat, one.verdict.value) for one in view.results()]
    assert verdicts == [
        ("with_plugin", 1, "pass"),
        ("with_plugin", 2, "fail"),
        ("without_plugin", 1, "fail"),
        ("without_plugin", 2, "error"),
    ]
    (pair,) = view.summary.pairs
    assert pair.lift == 0.5
    assert view.run.state is RunState.FINISHED
    file.write_text(json.dumps(theirs(partial=True)))
    again = PluginEvalReporter().read(file)
    assert again is not None
    assert again.run.state is RunState.INTERRUPTED


def test_documents_of_others_are_left(tmp_path: Path) -> None:
    """One that is damaged is told with its place."""
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"cases": []}))
    assert PluginEvalReporter().read(file) is None
    document = theirs()
    document["cases"][0]["arms"]["with"][0]["score"] = 3
    file.write_text(json.dumps(document))
    with pytest.raises(SuiteError, match="less than or equal to 1"):
        PluginEvalReporter().read(file)


@pytest.mark.slow
def test_the_document_of_a_run(program: Program, work: Path) -> None:
    """It has what the program's document has, and beside it what that lacks; the program itself reads it again."""
    folder = work / "fold/evals/a"
    (folder / "graders").mkdir(parents=True)
    (work / "fold/SKILL.md").write_text(SKILL)
    (folder / "prompt.md").write_text("---\nruns: 2\n---\nFold a boat.\n")
    (folder / "graders/g.md").write_text("---\ntype: regex\n---\nwith-skill\n")
    (folder / "graders/s.md").write_text("---\ntype: tool_used\ntool: Skill\n---\n")
    done = program("eval", "fold", "--engine", "mock", "--format", "plugin-eval", "-o", work / "out.json")
    assert done.code == 0, done.stderr
    document = json.loads((work / "out.json").read_text())
    (case,) = document["cases"]
    assert case["aggregates"] == {
        "score": 1,
        "passRate": 1,
        "scoreWithout": 0,
        "passRateWithout": 0,
        "delta": 1,
    }
    assert document["aggregates"] == {
        "casesTotal": 1,
        "casesPassed": 1,
        "overallScore": 1,
        "overallPassRate": 1,
        "meanDelta": 1,
    }
    assert (case["source"], case["maxTurns"], case["timeoutSeconds"], case["runsPerCase"]) == ("prose", 10, 300, 2)
    assert [one["name"] for one in case["arms"]["with"][0]["graders"]] == ["g", "s"]
    assert [one["name"] for one in case["arms"]["without"][0]["graders"]] == ["g"]
    assert [one["config"]["type"] for one in case["graders"]] == ["regex", "tool_used"]
    beyond = document["skillgauge"]
    assert (beyond["engine"], beyond["lift"]["estimate"], beyond["lift"]["n"]) == ("mock", 1, 1)
    assert beyond["passRate"]["with"]["lower"] < 1
    shown = program("report", "show", work / "out.json")
    assert shown.code == 0
    assert "with_skill" in shown.stdout
