"""Workers as a user meets them: chosen beside the skill, seen only in speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(sys.executable).parent / "skillgauge"
CALLS = 40
SKILL = """import json, os, sys
with open("started.log", "a") as log:
    log.write("x")
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "healthcheck":
        answer = {"result": {"status": "healthy"}}
    elif request["params"]["n"] % 10 == 3:
        answer = {"error": {"code": -32602, "message": "not a three"}}
    else:
        answer = {"result": str(request["params"]["n"] * 2)}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""
READS_ALL = SKILL.replace("in sys.stdin", "in sys.stdin.readlines()")

Evaluate = Callable[..., tuple[Any, str]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Evaluate a skill on tasks, a few of which it fails; gives the document of `--json` and stderr."""
    home = tmp_path / "home"
    home.mkdir()
    skill = {"id": "double", "name": "Double", "version": "1.0.0", "description": "", "adapterType": "subprocess"}
    (tmp_path / "skill.json").write_text(json.dumps(skill | {"entrypoint": "python3 skill.py"}))
    tasks = [
        {
            "id": f"t{n}",
            "inputData": {"n": n},
            "timeoutMs": 60_000,
            "expectedOutput": {"type": "exact", "value": "wrong" if n % 7 == 0 else str(n * 2)},
        }
        for n in range(CALLS)
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))

    def run(code: str, **config: object) -> tuple[Any, str]:
        (tmp_path / "started.log").unlink(missing_ok=True)
        (tmp_path / "skill.py").write_text(code)
        (tmp_path / "adapter.config.json").write_text(json.dumps(config))
        done = subprocess.run(
            [PROGRAM, "eval", "--skills", "skill.json", "--tasks", "tasks.json", "--concurrency", "4", "--json"],
            cwd=tmp_path,
            env={
                "HOME": str(home),
                "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
                "LANG": "C.UTF-8",
                "SKILLGAUGE_SANDBOX": "local",  # skills here leave their traces outside of what a strict one shows
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=True,
        )
        return json.loads(done.stdout), done.stderr.decode()

    return run


def judged(document: Any) -> list[tuple[object, ...]]:
    """What a reader of the results goes by: which case, how it was judged, what was answered, why it failed."""
    return [
        (
            result["case_id"],
            result["verdict"],
            result.get("scores"),
            result["execution"].get("output"),
            result["execution"].get("failure"),
        )
        for result in document["results"]
    ]


@pytest.mark.slow
@pytest.mark.e2e
def test_a_worker_gives_the_same_results_with_no_more_processes_than_calls_at_once(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    """Forty tasks, four at a time: at most four processes instead of forty, the same results, another execution id."""
    log = tmp_path / "started.log"
    single, _ = evaluate(SKILL)
    assert log.stat().st_size == CALLS
    worker, said = evaluate(SKILL, worker=True)
    assert log.stat().st_size <= 4
    assert "worker" not in said
    assert judged(worker) == judged(single)
    assert {result["verdict"] for result in worker["results"]} == {"pass", "fail"}
    ids, other_ids = [{result["execution_id"] for result in one["results"]} for one in (single, worker)]
    assert len(ids) == len(other_ids) == CALLS
    assert not ids & other_ids


@pytest.mark.slow
@pytest.mark.e2e
def test_a_skill_that_is_no_worker_says_so_once(evaluate: Evaluate, tmp_path: Path) -> None:
    """A skill that reads to the end runs as one process per task: once said on stderr and once in the results."""
    single, _ = evaluate(READS_ALL)
    document, said = evaluate(READS_ALL, worker=True, timeoutMs=2000)
    assert judged(document) == judged(single)
    assert (tmp_path / "started.log").stat().st_size == 1 + CALLS
    assert said.count("skill 'double' runs as one process per task") == 1
    notes = [note for result in document["results"] for note in result["execution"].get("notes", ())]
    assert len(notes) == 1
    assert "no answer within 2 s" in notes[0]
