"""Writing suites, of this format and of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillgauge.api import Case, Check, FileSpec, Limits, Suite, Target
from skillgauge_format_agent_skills.suites.dumping import dump

from .conftest import Load


def written(suite: Suite) -> tuple[dict[str, Any], list[str]]:
    """The document of evals or queries, and what was lost."""
    dumped = dump(suite)
    (document,) = [json.loads(content) for path, content in dumped.artifacts if path.startswith("evals/")]
    return document, [loss.message for loss in dumped.losses]


def test_nothing_is_lost_of_what_was_read(skill: Callable[..., Path], load: Load) -> None:
    """Ids keep their type, objects and unknown keys come back as they were."""
    evals = [
        {
            "id": 1,
            "name": "n",
            "prompt": "p",
            "expected_output": "e",
            "assertions": ["a", {"id": "x", "text": "t", "type": "contains", "value": "v"}],
            "expected_skill": "tables",
            "case_set": "dev",
        },
        {"id": "two", "prompt": "q", "expected_output": "e"},
    ]
    (suite,) = load(skill(*evals, schema_version=1)).suites
    document, losses = written(suite)
    assert document == {"skill_name": "tables", "evals": evals, "schema_version": 1}
    assert not losses


def test_scenarios_are_decided_as_before(skill: Callable[..., Path], load: Load, tmp_path: Path) -> None:
    """A suite of `scenarios` is written as evals whose checks are the same when they are read."""
    assertions = [
        {"type": "output_contains", "value": "Paper"},
        {"type": "output_not_matches", "pattern": "glue"},
        {"type": "file_contains", "path": "a.md", "value": "Boat"},
        {"type": "exit_success"},
    ]
    root = skill()
    (root / "eval.yaml").write_text(json.dumps({"scenarios": [{"prompt": "p", "assertions": assertions}]}))
    (suite,) = load(root).suites
    document, losses = written(suite)
    assert not losses
    (again,) = load(skill(*document["evals"]) / "evals/evals.json").suites
    before, after = ([(one.id, one.scorer, one.options) for one in of.cases[0].checks] for of in (suite, again))
    assert before == after


def test_queries(skill: Callable[..., Path], load: Load, tmp_path: Path) -> None:
    """A trigger set is written as the list that most tools read."""
    root = skill()
    (root / "queries.json").write_text('{"should_trigger": ["q"], "should_not_trigger": [{"query": "r", "why": "w"}]}')
    (suite,) = load(root).suites
    assert written(suite) == (
        [{"query": "q", "should_trigger": True}, {"query": "r", "should_trigger": False, "why": "w"}],
        [],
    )


def test_suites_of_other_formats(tmp_path: Path) -> None:
    """What an eval can say is said, with checks as the types that mean the same; the rest is a loss."""
    checks = (
        Check(id="is right", scorer="rubric", options={"criteria": "is right"}),
        Check(id="c", scorer="contains", options={"keywords": ["x"], "case_sensitive": False}),
        Check(id="f", scorer="files", options={"path": "a", "state": "created"}),
        Check(id="v", scorer="command", options={"command": "true", "label": "v"}),
        Check(id="odd", scorer="acme", options={"level": 3}),
        Check(id="trigger", scorer="trigger", options={"skill": "s", "should_trigger": True}),
    )
    case = Case(
        id="a",
        prompt="p",
        checks=checks,
        files=(FileSpec(path="in.txt", text="1"),),
        setup=("true",),
        limits=Limits(timeout_s=3),
    )
    suite = Suite(id="s", format="other", root=str(tmp_path), cases=(case,), targets=(Target(id="s"),))
    document, losses = written(suite)
    assert document["evals"] == [
        {
            "id": "a",
            "prompt": "p",
            "files": ["in.txt"],
            "assertions": [
                {"text": "is right", "scale": "pass-fail"},
                {"text": "c", "type": "icontains", "value": "x"},
                {"text": "f", "type": "file-created", "path": "a"},
                {"text": "v", "type": "command", "value": "true", "fail_codes": [0, 1]},
                {"text": "odd", "type": "acme", "options": {"level": 3}},
            ],
            "setup": {"commands": ["true"]},
            "timeout_s": 3.0,
            "should_trigger": True,
        }
    ]
    assert losses == [
        "direct calls are left out: an eval asks an agent",
        "the suite is about no skill with a SKILL.md, which has to lie beside it",
        "case 'a': check 'odd' of scorer 'acme' is left to a judge",
    ]


def test_servers_come_back(skill: Callable[..., Path], load: Load) -> None:
    """Those of the file stand with each eval, and answers from files in it; of another format they are a loss."""
    root = skill({"prompt": "Go", "assertions": ["It goes"]}, mcp_servers={"sea": {"mock": "sea.yaml"}})
    next(root.rglob("evals.json")).with_name("sea.yaml").write_text("tools: [{name: tide, answers: [{text: high}]}]\n")
    (suite,) = load(root).suites
    document, losses = written(suite)
    assert losses == []
    (only,) = document["evals"]
    assert only["mcp_servers"] == {"sea": {"mock": {"tools": [{"name": "tide", "answers": [{"text": "high"}]}]}}}
    bare = tuple(case.model_copy(update={"extras": {}}) for case in suite.cases)
    _, losses = written(suite.model_copy(update={"cases": bare}))
    assert "installs cannot be written" in losses[0]
