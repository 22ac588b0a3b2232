"""Defects of the original, each through the whole program; those not here are proved where the part is tested."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]


def results(work: Path) -> dict[str, dict[str, Any]]:
    """The task results of the newest report, by task."""
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    return {one["taskId"]: one for one in report["taskResults"]}


@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-04")
def test_case_sensitivity_reaches_the_scorer(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """`caseSensitive` decides, in the evaluator and in the expectation, both ways."""
    loose = {"evaluator": {"type": "exact", "caseSensitive": False}}
    strict_contains = {"evaluator": {"type": "contains", "caseSensitive": True}}
    keyword = {"expectedOutput": {"type": "contains", "keywords": ["hello"]}}
    file = tasks(
        task("loose", "HELLO", "hello", **loose),
        task("default", "HELLO", "hello"),
        {**task("keyword", "HELLO"), **keyword, "evaluator": {"type": "contains"}},
        {**task("strict keyword", "HELLO"), **keyword, **strict_contains},
    )
    program("eval", "--skills", make_skill(), "--tasks", file)
    status = {name: one["status"] for name, one in results(work).items()}
    assert status == {"loose": "pass", "default": "fail", "keyword": "pass", "strict keyword": "fail"}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-09")
def test_a_skill_in_node_runs(program: Program, make_skill: MakeSkill, tasks: Tasks) -> None:
    """No limit on address space keeps the engine of JavaScript from starting."""
    path = make_skill(entrypoint="node skill.mjs")
    (path.parent / "skill.mjs").write_text(
        """let text = "";
process.stdin.on("data", (part) => (text += part)).on("end", () => {
  const { id, params } = JSON.parse(text);
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: params.say.toUpperCase() }));
});
"""
    )
    done = program("eval", "--skills", path, "--tasks", tasks(task("t", "x", "X")))
    assert done.verdict == "done: 1 of 1 passed", done.stdout


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-10")
def test_a_signal_is_told_as_what_it_is(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """Whoever kills itself, or is killed by somebody else, is not said to have used too much memory."""
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    program("eval", "--skills", make_skill(code), "--tasks", tasks(task("t", "x")))
    error = results(work)["t"]["error"]
    assert "SIGKILL" in error or "signal 9" in error
    assert "memory" not in error


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-13")
@pytest.mark.parametrize(
    "command",
    [
        ["eval", "--tasks", "tasks.json", "--skills", "echo"],
        ["eval", "--tasks", "tasks.json", "--skills", "echo", "--dry-run"],
        ["validate", "echo"],
        ["config", "list"],
        ["config", "get", "concurrency"],
        ["plugins", "list"],
        ["schema"],
        ["find", "--skills-dir", "."],
        ["create", "--name", "new"],
        ["init", "--dir", "project"],
        ["history", "list"],
        ["eval", "--benchmark", "nope", "--skills", "echo"],
        ["nonsense"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_json_is_one_document(program: Program, make_skill: MakeSkill, tasks: Tasks, command: list[str]) -> None:
    """Whatever the command, and whether it succeeds or not: stdout parses as JSON as a whole."""
    make_skill()
    tasks(task("t", "x"))
    done = program(*command, "--json")
    assert isinstance(done.document, dict | list)


@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-16")
@pytest.mark.parametrize(
    "wrong",
    [["--min-completion", "abc"], ["--min-completion", "nan"], ["--min-completion", "1.5"], ["--concurrency", "0"]],
    ids=" ".join,
)
def test_numbers_are_checked_before_anything_runs(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, wrong: list[str]
) -> None:
    """A threshold that is no number would make a gate that never fails."""
    marker = work / "ran"
    skill = make_skill(f"open({str(marker)!r}, 'w')\n")
    done = program("eval", "--skills", skill, "--tasks", tasks(task("t", "x")), "--exit-on-fail", *wrong)
    assert done.code == 2
    assert not marker.exists()


@contextmanager
def flaky_service(failures: int, status: int, headers: dict[str, str]) -> Iterator[tuple[str, list[int]]]:
    """A service that refuses its first requests; yields its address and the statuses that it sent."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            refused = len(sent) < failures
            sent.append(status if refused else 200)
            answer = b'{"message": "busy"}' if refused else json.dumps(json.loads(body)["input"]["say"]).encode()
            self.send_response(sent[-1])
            for name, value in (headers if refused else {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-19")
@pytest.mark.parametrize(
    ("status", "headers", "verdict", "requests"),
    [(500, {}, "pass", 2), (429, {"retry-after": "1"}, "pass", 2), (404, {}, "fail", 1)],
)
def test_what_may_pass_is_tried_again(
    program: Program,
    make_skill: MakeSkill,
    tasks: Tasks,
    status: int,
    headers: dict[str, str],
    verdict: str,
    requests: int,
) -> None:
    """A server's own failure and a rate limit are worth another attempt, after the pause asked for; a 404 is not."""
    with flaky_service(1, status, headers) as (address, sent):
        skill = make_skill(adapterType="http", entrypoint=address)
        file = tasks(task("t", "x"))
        done = program("eval", "--skills", skill, "--tasks", file, "--retries", "1", "--json")
    (result,) = done.document["results"]
    assert (result["verdict"], len(sent)) == (verdict, requests)


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-22", "ES-DEFECT-24")
def test_failures_count_in_the_percentiles(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """A skill that hangs looks slow, not fast; what a skill floods us with is not copied into its error."""
    code = """import json, sys, time
request = json.loads(sys.stdin.read())
if request["params"]["say"] == "hang":
    time.sleep(60)
print("x" * 300_000)
"""
    file = tasks(task("flood", "flood"), task("hang", "hang", timeoutMs=700))
    program("eval", "--skills", make_skill(code), "--tasks", file)
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert report["latency"]["p95Ms"] >= 600
    assert len(results(work)["flood"]["error"]) < 3000


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-DEFECT-23")
def test_the_interval_is_the_same_each_time(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """The resampling has a seed, so that equal results have equal intervals."""
    skill = make_skill()
    file = tasks(*(task(f"t{number}", "x", "x" if number % 3 else "y") for number in range(12)))
    intervals = []
    for _ in range(2):
        program.process("eval", "--skills", skill, "--tasks", file, "--fresh")
        (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
        intervals.append(report["summary"]["confidenceInterval"])
    assert intervals[0] == intervals[1]
    assert intervals[0]["lower"] < report["summary"]["completionRate"] < intervals[0]["upper"]
