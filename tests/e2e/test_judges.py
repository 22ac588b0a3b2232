"""Rubric checks through the whole program, against a scripted model server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.testing import ModelFault, ModelReply, ModelServer

from .conftest import MakeSkill, Run, task

Tasks = Callable[..., Path]

KEY = "sk-canary-of-the-judge-0123456789"


def rubric_task(name: str) -> dict[str, object]:
    """A task that a judge grades."""
    return {
        "id": name,
        "description": name,
        "inputData": {"say": "hello"},
        "expectedOutput": {"type": "llm_judge", "judgePrompt": "Is it a greeting?"},
        "evaluator": {"type": "llm_judge"},
    }


@pytest.mark.requirement("ES-DEFECT-18")
@pytest.mark.e2e
def test_a_judge_grades_and_its_failure_is_an_error(run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """8 of 10 passes with value 0.8, 2 fails, a refused key is an error; the key is in no file."""
    skill = make_skill()
    file = tasks(rubric_task("good"), rubric_task("bad"))
    replies = [ModelReply(text='{"score": 8, "reason": "yes"}'), ModelReply(text='{"score": 2, "reason": "no"}')]
    with ModelServer(replies) as server:
        command = ["eval", "--skills", skill, "--tasks", file, "--concurrency", "1", "--json"]
        command += ["--judge", "openai", "--judge-model", "m1", "--format", "json", "record"]
        command += ["--set", f"judges.openai.base_url={server.url}/v1"]
        done = run(*command, env={"OPENAI_API_KEY": KEY})
    assert done.code == 0, done.stdout + done.stderr
    results = {one["case_id"]: one for one in done.document["results"]}
    assert (results["good"]["verdict"], results["good"]["value"]) == ("pass", 0.8)
    assert (results["bad"]["verdict"], results["bad"]["value"]) == ("fail", 0.2)
    with ModelServer([ModelReply(fault=ModelFault.UNAUTHORIZED)] * 4) as server:
        command[-1] = f"judges.openai.base_url={server.url}/v1"
        refused = run(*command, env={"OPENAI_API_KEY": KEY})
    assert refused.code == 3
    assert {one["verdict"] for one in refused.document["results"]} == {"error"}
    assert "401" in refused.stdout
    for path in work.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in done.stdout + done.stderr + refused.stdout + refused.stderr


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--judge", "nobody"], "'nobody' is no installed judge"),
        (["--judge", "openai"], "OPENAI_API_KEY"),
        (["--judge", "claude-9"], "ANTHROPIC_API_KEY"),
        (["--judge-model", "gemini-9"], "GEMINI_API_KEY"),
    ],
)
def test_a_judge_that_cannot_work_is_known_before_anything_runs(
    run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks, arguments: list[str], words: str
) -> None:
    """An unknown judge and a missing key end with exit 2; a model id picks the judge that serves it."""
    done = run("eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("t")), *arguments)
    assert done.code == 2
    assert words in done.stderr
    assert not (work / "reports").exists()


@pytest.mark.e2e
def test_without_a_judge_a_rubric_is_an_error_that_says_so(run: Run, make_skill: MakeSkill, tasks: Tasks) -> None:
    """Nobody graded it, so it is neither passed nor failed, and the reason names the option."""
    done = run("eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("t")), "--json")
    assert done.code == 3
    (result,) = done.document["results"]
    assert result["verdict"] == "error"
    assert "--judge" in json.dumps(result["scores"])


@pytest.mark.e2e
@pytest.mark.requirement("ES-CONFIG-004", "ES-CONFIG-005")
def test_configured_model_and_temperature_reach_the_judge(
    run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """`llm.*` of eval-skills, here in a file of eval-skills; a run without rubric checks needs no judge and no key."""
    skill = make_skill()
    (work / "eval-skills.config.yaml").write_text("llm:\n  model: gpt-4o\n  temperature: 0.25\nconcurrency: 1\n")
    with ModelServer([ModelReply(text='{"score": 8, "reason": "yes"}')]) as server:
        command = ["eval", "--skills", skill, "--tasks", tasks(rubric_task("t"))]
        command += ["--set", f"judges.openai.base_url={server.url}/v1"]
        done = run(*command, env={"OPENAI_API_KEY": KEY})
        (request,) = server.requests
    assert done.code == 0, done.stderr
    assert (request.body["model"], request.body["temperature"]) == ("gpt-4o", 0.25)
    assert "eval-skills.config.yaml" in done.stderr
    plain = run("eval", "--skills", skill, "--tasks", tasks(task("plain", "x"), name="plain.json"))
    assert plain.code == 0, plain.stderr
    asked = run(*command[:5])
    assert asked.code == 2
    assert "OPENAI_API_KEY" in asked.stderr


@pytest.mark.e2e
def test_further_checks_reach_any_suite(run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """From the configuration and from the command line; the reports name them, and one that fits nothing is told."""
    skill, file = make_skill(), tasks(task("a", "hello"), task("b", "bye"))
    config = [{"scorer": "contains", "options": {"keywords": ["hell"]}, "case": "a"}, {"scorer": "exact", "tag": "no"}]
    (work / "skillgauge.config.yaml").write_text(json.dumps({"checks": config}))
    done = run("eval", "--skills", skill, "--tasks", file, "--check", 'regex={"patterns": ["^h"]}', "--json")
    assert done.code == 0, done.stderr
    results = {one["case_id"]: one for one in done.document["results"]}
    assert [score["check_id"] for score in results["a"]["scores"][1:]] == ["checks[0] contains", "--check regex"]
    assert (results["a"]["verdict"], results["b"]["verdict"]) == ("pass", "fail")
    assert "skillgauge.config.yaml:1:" in done.stderr
    assert "fits no case" in done.stderr
    bad = run("eval", "--skills", skill, "--tasks", file, "--check", "regexx={}", "--check", "regex={")
    assert bad.code == 2
    assert not [name for name in ("regexx",) if name in bad.stdout]
