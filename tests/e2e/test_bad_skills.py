"""A skill that misbehaves costs its own trial and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]

PREFIX = """import json, os, signal, subprocess, sys, time
say = sys.argv[1] if len(sys.argv) > 1 else None
"""
BEHAVIOURS = {
    "crash": "sys.exit(3)",
    "hang": "time.sleep(600)",
    "flood": "\n".join(
        ["block = b'x' * 65536", "for _ in range(400):", "    sys.stdout.buffer.write(block)", "sys.stdout.flush()"]
    ),
    "noise": "print('log line'); print('{not json}'); answer(); print('bye')",
    "wrong-id": "print(json.dumps({'jsonrpc': '2.0', 'id': 99, 'result': 'x'}))",
    "binary": "sys.stdout.buffer.write(bytes(range(256)) * 10)",
    "silent": "pass",
    "grandchild": "subprocess.Popen(['sleep', '600']); answer()",
    "daemon": "subprocess.Popen(['sleep', '600'], start_new_session=True); answer()",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "rpc-error": "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'error': {'code': -32000, 'message': 'no'}}))",
    "good": "answer()",
}
SKILL = """import json, os, signal, subprocess, sys, time
request = json.loads(sys.stdin.read())
say = request["params"]["say"]

def answer():
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": say}))
    sys.stdout.flush()

with open(PIDS, "a") as file:
    file.write(f"{os.getpid()}\\n")
BEHAVIOURS = json.loads(TEXT)
exec(BEHAVIOURS[say])
"""
EXPECTED = {
    "crash": "error",
    "hang": "timeout",
    "flood": "error",
    "noise": "pass",
    "wrong-id": "error",
    "binary": "error",
    "silent": "error",
    "grandchild": "pass",
    "daemon": "pass",
    "killed": "error",
    "rpc-error": "error",
    "good": "pass",
}


@pytest.mark.e2e
@pytest.mark.requirement("ES-ADAPT-004")
@pytest.mark.slow
def test_each_way_to_misbehave_costs_one_trial(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """Crash, hang, flood, noise, wrong id, silence, grandchildren, death &c.: one result each, no other is touched."""
    pids = work / "pids"
    code = SKILL.replace("PIDS", repr(str(pids))).replace("TEXT", repr(json.dumps(BEHAVIOURS)))
    skill = make_skill(code)
    file = tasks(*(task(name, name) for name in BEHAVIOURS))
    done = program.process("eval", "--skills", skill, "--tasks", file, "--timeout", "10s")
    assert done.code == 0, done.stderr
    (report,) = json.loads((work / "reports" / "eval-result.json").read_text())
    assert {one["taskId"]: one["status"] for one in report["taskResults"]} == EXPECTED
    assert all(len(one.get("error", "")) < 3000 for one in report["taskResults"]), "output must not be copied whole"
    for pid in pids.read_text().split():
        assert not Path(f"/proc/{pid}").exists(), "a skill's process is still there"
    leftovers = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _is_our_sleep(path, work)]
    assert not leftovers


def _is_our_sleep(path: Path, work: Path) -> bool:
    try:
        return path.read_bytes() == b"sleep\x00600\x00" and str(work) in str((path.parent / "cwd").readlink())
    except OSError:
        return False


@pytest.mark.requirement("ES-DEFECT-03")
@pytest.mark.e2e
def test_a_skill_that_closes_its_input_early(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """2 MB of input to a skill that reads none of it neither hangs nor ends the run."""
    code = """import json, os, sys
os.close(0)
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": "done"}))
"""
    file = tasks(task("big", "x" * 2_000_000, "done"), task("small", "x", "done"))
    done = program("eval", "--skills", make_skill(code), "--tasks", file)
    assert done.verdict == "done: 2 of 2 passed"


@pytest.mark.e2e
@pytest.mark.requirement("UA-REPORT-015")
def test_a_skill_sees_no_foreign_variable(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """Keys of the caller reach a skill only if its configuration names them, and then they are in no file."""
    code = """import json, os, sys
names = [name for name in os.environ if "CANARY" in name]
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": [sorted(names), os.environ.get("MY_CANARY"), os.getcwd()]}))
"""
    skill = make_skill(code)
    secrets = {"MY_CANARY": "s3cret-value-of-the-canary", "OTHER_CANARY": "another-secret-value"}
    file = tasks(task("env", "x", "y"))
    first = program("eval", "--skills", skill, "--tasks", file, "--json", env=secrets).document
    assert first["results"][0]["execution"]["output"] == [[], None, str(skill.parent)]
    (skill.parent / "adapter.config.json").write_text(json.dumps({"type": "subprocess", "pass_env": ["MY_CANARY"]}))
    second = program("eval", "--skills", skill, "--tasks", file, "--json", "--format", "json", "record", env=secrets)
    output = second.document["results"][0]["execution"]["output"]
    assert output[0] == ["MY_CANARY"]
    assert output[1] == "[redacted:MY_CANARY]"
    for path in work.rglob("*"):
        if path.is_file():
            assert b"s3cret-value" not in path.read_bytes(), path
    assert "s3cret-value" not in second.stdout + second.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_a_configured_limit_is_only_a_default(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """The skill knows better than the folder it is evaluated in, and the command line better than the skill."""
    skill = make_skill("import time\ntime.sleep(120)\n")
    (skill.parent / "adapter.config.json").write_text(json.dumps({"type": "subprocess", "timeoutMs": 300}))
    (work / "skillgauge.config.yaml").write_text("timeoutMs: 90000\n")
    command = ["eval", "--skills", skill, "--tasks", tasks(task("t", "x")), "--json"]
    done = program(*command, timeout_s=60)
    assert done.document["results"][0]["execution"]["failure"]["message"] == "no answer within 0.3 s"
    done = program(*command, "--timeout", "400ms", timeout_s=60)
    assert done.document["results"][0]["execution"]["failure"]["message"] == "no answer within 0.4 s"
