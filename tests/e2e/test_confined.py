"""The main job in a strict sandbox, which is taken by itself where it works."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.plugins.index import read_index
from skillgauge.plugins.kinds import SANDBOXES
from skillgauge.plugins.registry import Registry

from .conftest import MakeSkill, Run, task

Tasks = Callable[..., Path]
NODE = """let text = ''
process.stdin.on('data', piece => text += piece).on('end', () => {
  const request = JSON.parse(text)
  console.log(JSON.stringify({jsonrpc: '2.0', id: request.id, result: request.params.say}))
})
"""
PRYING = """import json, os, socket, sys
request = json.loads(sys.stdin.read())
found = []
try:
    found.append(open(request["params"]["say"]).read())
except OSError:
    found.append("hidden")
try:
    socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "9"))), 5)
    found.append("network")
except OSError as error:
    found.append(os.strerror(error.errno))
found.append(open("/proc/net/dev").read().count(":"))
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": json.dumps(found)}))
"""


@pytest.fixture
def strongest(environment: dict[str, str]) -> None:
    """Lets the strongest sandbox be taken; skips where that is not bubblewrap."""
    try:
        report = asyncio.run(Registry(read_index()).make(SANDBOXES, "bubblewrap").check())
    except OSError as error:
        pytest.skip(str(error))
    if report.problems:
        pytest.skip(f"{report.problems[0].message} (make sandbox)")
    del environment["SKILLGAUGE_SANDBOX"]


def results(work: Path) -> list[dict[str, object]]:
    """What the newest record says of each execution."""
    (path,) = (work / "reports").glob("run-*.record.json")
    return [one["execution"] for one in json.loads(path.read_text())["results"]]


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
@pytest.mark.parametrize(("program", "file"), [("python3", "skill.py"), ("node", "skill.js")])
def test_skills_run_as_before(
    run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks, program: str, file: str
) -> None:
    """Without a word about sandboxes the strict one is taken, is named in the result, and skills pass in it."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    skill = make_skill(entrypoint=f"{program} {file}")
    (skill.parent / "skill.js").write_text(NODE)
    arguments = ["--tasks", tasks(task("a", "x"), task("b", "y")), "--format", "record", "--exit-on-fail"]
    done = run("eval", "--skills", skill, *arguments)
    assert done.code == 0, done.stderr
    assert {one["sandbox"] for one in results(work)} == {"bubblewrap+network/strict"}


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
def test_untrusted_skills_see_and_reach_nothing(run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """With --untrusted there is no network, and what lies beside the skill, its tasks among it, is hidden."""
    secret = work / "secret.txt"
    secret.write_text("canary")
    expected = json.dumps(["hidden", "Connection refused", 1])
    file = tasks(task("a", str(secret), expected), task("b", str(work / "tasks.json"), expected))
    arguments = ["--tasks", file, "--format", "record", "--untrusted", "--exit-on-fail"]
    done = run("eval", "--skills", make_skill(PRYING), *arguments)
    assert {one["sandbox"] for one in results(work)} == {"bubblewrap/strict"}
    assert done.code == 0, (done.stderr, results(work))


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
def test_a_scorer_of_the_user_is_found(run: Run, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """A custom scorer beside the tasks, with a module beside it, can be loaded although the folder is hidden."""
    (work / "beside.py").write_text("WANTED = 'x'\n")
    (work / "own.py").write_text("import beside\ndef score(output, expected):\n    return output == beside.WANTED\n")
    check = json.dumps({"path": str(work / "own.py")})
    arguments = ["--tasks", tasks(task("a", "x")), "--check", f"custom={check}", "--exit-on-fail"]
    done = run("eval", "--skills", make_skill(), *arguments)
    assert done.code == 0, done.stderr
