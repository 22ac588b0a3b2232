"""`rescore` as a user runs it, on runs of a skill that counts its calls and a model that judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Done, Program

pytestmark = pytest.mark.e2e
SKILL = {
    "id": "echo",
    "name": "Echo",
    "version": "1.0.0",
    "description": "Answers with what it was given.",
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
}
ECHO = """import json, os, sys
request = json.load(sys.stdin)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.txt"), "a") as calls:
    calls.write("called\\n")
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}))
"""


def judgement(request: ModelRequest) -> ModelReply:
    """The first model likes what the second does not."""
    return ModelReply("9, an opinion" if request.model == "kind" else "1, an opinion")


@pytest.fixture
def judge() -> Iterator[ModelServer]:
    """The model that judges."""
    with ModelServer(judgement) as server:
        yield server


class Bench:
    """A skill, its tasks, and commands about them."""

    def __init__(self, program: Program, work: Path, judge: ModelServer) -> None:
        self.program, self.work, self.judge = program, work, judge
        (work / "skill").mkdir()
        (work / "skill/skill.json").write_text(json.dumps(SKILL))
        (work / "skill/skill.py").write_text(ECHO)
        self.tasks("Is it polite?")

    def tasks(self, criteria: str, *, say: str = "hello", count: int = 2) -> None:
        """Tasks that a judge decides."""
        items = [
            {
                "id": f"t{number}",
                "description": "Greet.",
                "inputData": {"say": f"{say} {number}"},
                "expectedOutput": {"type": "llm_judge", "judgePrompt": criteria},
                "evaluator": {"type": "llm_judge"},
            }
            for number in range(count)
        ]
        (self.work / "tasks.json").write_text(json.dumps(items))

    def __call__(self, *arguments: str, model: str | None = "kind", code: int = 0) -> Done:
        """A command with the skill, the tasks and a judge."""
        words = [*arguments, "--skills", "skill", "--tasks", "tasks.json", "--format", "record"]
        words += ["--set", f"judges.openai.base_url={self.judge.url}/v1"]
        words += ["--judge", "openai", "--judge-model", model] if model else []
        done = self.program(*words, env={"OPENAI_API_KEY": "made-up-key", "SKILLGAUGE_SANDBOX": "local"})
        assert done.code == code, done.stdout + done.stderr
        return done

    @property
    def calls(self) -> int:
        """How often the skill was called."""
        return len((self.work / "skill/calls.txt").read_text().splitlines())

    def record(self) -> dict[str, Any]:
        """The newest record."""
        path = max(self.work.glob("reports/run-*.record.json"), key=lambda one: one.stat().st_mtime_ns)
        found: dict[str, Any] = json.loads(path.read_text())
        return found


@pytest.fixture
def bench(program: Program, work: Path, judge: ModelServer) -> Bench:
    """Two tasks of an echo."""
    return Bench(program, work, judge)


def test_another_judge_at_the_price_of_the_judge_alone(bench: Bench) -> None:
    """The stored answers are graded by another model; the skill is not called, and only judging is counted."""
    bench("eval")
    first, asked = bench.record(), len(bench.judge.requests)
    done = bench("rescore", "latest", model="stern")
    assert "0 of 2 passed" in done.verdict
    assert (bench.calls, len(bench.judge.requests)) == (2, 2 * asked)
    second = bench.record()
    assert second["plan"]["origin"]["run_id"] == first["run"]["run_id"]
    before, after = (record["results"] for record in (first, second))
    assert [one["execution_id"] for one in before] == [one["execution_id"] for one in after]
    assert {one["score_id"] for one in before}.isdisjoint(one["score_id"] for one in after)
    assert second["summary"]["spending"]["replayed"] == 2
    judged = sum(one["scores"][0]["usage"]["total_tokens"] for one in after)
    assert second["summary"]["spending"]["tokens"] == judged > 0


def test_an_edited_rubric_and_an_added_check_are_what_it_is_for(bench: Bench) -> None:
    """Checks never enter the execution id: other ones grade the same answers; the judge is that of the run."""
    bench("eval")
    bench.tasks("Is it rude?")
    done = bench("rescore", "latest", "--check", 'contains={"keywords": ["hello 1"]}', model=None)
    assert "1 of 2 passed" in done.verdict
    assert "Is it rude?" in str(bench.judge.requests[-1].text)
    assert bench.calls == 2
    diff = bench.program("report", "diff", "latest~1", "latest")
    assert "they ask or check something else now: t0, t1" in diff.stderr


def test_what_cannot_be_made_again_is_ungraded(bench: Bench, work: Path) -> None:
    """A command has no workspace to run in: no verdict, with the reason, and the run proves nothing."""
    bench("eval")
    done = bench("rescore", "latest", "--check", 'command={"command": "true"}', code=3)
    assert "the workspace is gone, so the command cannot be run again" in " ".join(done.stdout.split())
    assert done.verdict.startswith("invalid run: ")


def test_what_changed_is_refused_at_once(bench: Bench) -> None:
    """Another input and a case that is gone: each a line, exit 2, and nothing is stored."""
    bench("eval")
    bench.tasks("Is it polite?", say="goodbye", count=1)
    done = bench("rescore", "latest", code=2)
    assert "rescore.changed-case]: case 't0' asks something else now than in run " in done.stderr
    assert "rescore.changed-case]: case 't1' of run " in done.stderr
    assert len(bench.program("history", "list", "--json").document["runs"]) == 1
    assert bench.calls == 2


def test_documents_that_do_not_hold_executions(bench: Bench) -> None:
    """The report of a format does not tell what was executed; an absent run is none; a missing judge is said before."""
    bench("eval")
    bench.program("report", "convert", "--input", "latest", "--format", "json", "--output", "own.json")
    assert "rescore.untold" in bench("rescore", "own.json", code=2).stderr
    assert "there is no run 'nothing'" in bench("rescore", "nothing", code=2).stderr
    assert "'nobody'" in bench("rescore", "latest", "--judge", "nobody", model=None, code=2).stderr
    (bench.work / "skill/skill.json").write_text(json.dumps(SKILL | {"id": "other"}))
    assert "rescore.unknown-target" in bench("rescore", "latest", code=2).stderr
