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
    return ModelReply(json.dumps({"marker": marker_of(request), "score": score, "reason": f"secret opinion {score}"}))


def marker_of(request: ModelRequest) -> str:
    """The marker that the judge was told about."""
    marker = re.search(r"END <name> ([0-9a-f]{32})\.", json.dumps(request.body))
    assert marker
    return marker[1]


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


class Biased:
    """30 cases in two arms, of which the judge passes 24 with the skill and 9 without; people pass 14 and 9."""

    def __init__(self, program: Program, work: Path) -> None:
        self._program, self._work = program, work
        skill = work / "my-skill"
        (skill / "evals").mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: my-skill\ndescription: Answers.\n---\nSay GOOD.\n")
        evals = [{"id": at, "prompt": f"case-{at}.", "assertions": ["GOOD"]} for at in range(1, 31)]
        (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "my-skill", "evals": evals}))
        replies = [
            {"match": r"case-(1?\d|2[0-4])\.", "skill": "my-skill", "text": "GOOD"},
            {"match": r"case-\d\.", "text": "GOOD"},
            {"text": "BAD"},
        ]
        (work / "mock.json").write_text(json.dumps({"replies": replies}))

    def evaluate(self, *arguments: str, setting: str = "always", code: int = 0) -> Done:
        """Evaluate the skill."""
        (self._work / "skillgauge.config.yaml").write_text(f"judgedGates: {setting}\n")
        script = "engines.mock.script=mock.json"
        words = ("eval", "my-skill", "--runs", "1", "--engine", "mock", "--judge", "mock", "--set", script, *arguments)
        done = self._program(*words, env={"SKILLGAUGE_SANDBOX": "local"})
        assert done.code == code, done.stdout + done.stderr
        return done

    def label(self, arms: tuple[str, ...] = ("with_skill", "without_skill")) -> None:
        """Say what people think of the newest run: 10 passes with the skill are none."""
        file = self._work / "labels.jsonl"
        assert self._program("judge", "label", "latest", stdin="y\n" * 60).code == 0
        shown = self._program("history", "show", "latest", "--format", "record")
        results = {one["execution_id"]: one for one in json.loads(shown.stdout)["results"]}
        lines = []
        for line in map(json.loads, file.read_text().splitlines()):
            result = results[line["execution"]]
            is_overruled = result["arm"] == "with_skill" and int(result["case_id"]) <= 10
            passes = result["verdict"] == "pass" and not is_overruled
            if result["arm"] in arms:
                lines.append(json.dumps(line | {"passes": passes}))
        file.write_text("\n".join([*lines, ""]))


@pytest.fixture
def biased(program: Program, work: Path) -> Biased:
    """A run whose judge likes the answers of one arm."""
    return Biased(program, work)
