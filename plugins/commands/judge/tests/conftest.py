"""Runs that a scripted model has judged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

SKILL = {
    "id": "echo",
    "name": "Echo",
    "version": "1.0.0",
    "description": "Answers with what it was given.",
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
}
ECHO = """import json, sys
request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}))
"""
TASKS = 10
LIKED = 6
"""Tasks below this number the judge passes."""

Evaluate = Callable[..., Done]


def judgement(request: ModelRequest) -> ModelReply:
    """8 of 10 for the first tasks, 2 for the others."""
    number = re.search(r"greeting (\d+)", request.text)
    assert number
    score = 8 if int(number[1]) < LIKED else 2
    return ModelReply(json.dumps({"score": score, "reason": f"secret opinion {score}"}))


@pytest.fixture
def judge() -> Iterator[ModelServer]:
    """The model that judges, at one address for a whole test."""
    with ModelServer(judgement) as server:
        yield server


@pytest.fixture
def evaluate(program: Program, work: Path, judge: ModelServer) -> Evaluate:
    """Evaluate a skill on ten tasks, each graded by the judge, or without one."""

    def call(
        *arguments: str,
        model: str = "m-1",
        criteria: str = "Is it a greeting?",
        judged: bool = True,
        codes: tuple[int, ...] = (0,),
    ) -> Done:
        (work / "skill").mkdir(exist_ok=True)
        (work / "skill/skill.json").write_text(json.dumps(SKILL))
        (work / "skill/skill.py").write_text(ECHO)
        expected = {"type": "llm_judge", "judgePrompt": criteria} if judged else {"type": "contains", "keywords": ["g"]}
        items = [
            {
                "id": f"t{number}",
                "description": f"Greet {number}.",
                "inputData": {"say": f"greeting {number}\x1b[31m"},
                "expectedOutput": expected,
                "evaluator": {"type": expected["type"]},
            }
            for number in range(TASKS)
        ]
        (work / "tasks.json").write_text(json.dumps(items))
        command = ["eval", "--skills", "skill", "--tasks", "tasks.json", "--format", "record", *arguments]
        if judged:
            command += ["--judge", "openai", "--judge-model", model, "--set", f"judges.openai.base_url={judge.url}/v1"]
        done = program(*command, env={"OPENAI_API_KEY": "made-up-key", "SKILLGAUGE_SANDBOX": "local"})
        assert done.code in codes, done.stdout + done.stderr
        return done

    return call


@pytest.fixture
def label(program: Program) -> Callable[[Callable[[int], str]], Done]:
    """Answer every question of the newest run that is still open, by the number of its task."""

    def call(answer: Callable[[int], str], run: str = "latest") -> Done:
        shown = program("judge", "label", run, stdin="skip\n" * TASKS)
        assert shown.code == 0, shown.stderr
        asked = [int(number) for number in re.findall(r"^Case t(\d+)", shown.stderr, re.MULTILINE)]
        return program("judge", "label", run, stdin="".join(f"{answer(number)}\n" for number in asked))

    return call
