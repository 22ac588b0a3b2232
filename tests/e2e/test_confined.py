"""The main job in a strict sandbox, which is taken by itself where it works."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

from .conftest import MakeSkill, task

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


def results(work: Path) -> list[dict[str, object]]:
    """What the newest record says of each execution."""
    (path,) = (work / "reports").glob("run-*.record.json")
    return [one["execution"] for one in json.loads(path.read_text())["results"]]


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
@pytest.mark.parametrize(("language", "file"), [("python3", "skill.py"), ("node", "skill.js")])
def test_skills_run_as_before(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, language: str, file: str
) -> None:
    """Without a word about sandboxes the strict one is taken, is named in the result, and skills pass in it."""
    if shutil.which(language) is None:
        pytest.skip(f"{language} is not installed")
    skill = make_skill(entrypoint=f"{language} {file}")
    (skill.parent / "skill.js").write_text(NODE)
    arguments = ["--tasks", tasks(task("a", "x"), task("b", "y")), "--format", "record", "--exit-on-fail"]
    done = program("eval", "--skills", skill, *arguments)
    assert done.code == 0, done.stderr
    assert {one["sandbox"] for one in results(work)} == {"bubblewrap+network/strict"}


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
def test_untrusted_skills_see_and_reach_nothing(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """With --untrusted there is no network, and what lies beside the skill, its tasks among it, is hidden."""
    secret = work / "secret.txt"
    secret.write_text("canary")
    expected = json.dumps(["hidden", "Connection refused", 1])
    file = tasks(task("a", str(secret), expected), task("b", str(work / "tasks.json"), expected))
    arguments = ["--tasks", file, "--format", "record", "--untrusted", "--exit-on-fail"]
    done = program("eval", "--skills", make_skill(PRYING), *arguments)
    assert {one["sandbox"] for one in results(work)} == {"bubblewrap/strict"}
    assert done.code == 0, (done.stderr, results(work))


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
def test_a_scorer_of_the_user_is_found(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """A custom scorer beside the tasks, with a module beside it, can be loaded although the folder is hidden."""
    (work / "beside.py").write_text("WANTED = 'x'\n")
    (work / "own.py").write_text("import beside\ndef score(output, expected):\n    return output == beside.WANTED\n")
    check = json.dumps({"path": str(work / "own.py")})
    arguments = ["--tasks", tasks(task("a", "x")), "--check", f"custom={check}", "--exit-on-fail"]
    done = program("eval", "--skills", make_skill(), *arguments)
    assert done.code == 0, done.stderr


@pytest.mark.e2e
@pytest.mark.usefixtures("strongest")
def test_an_agent_that_is_named_by_its_path_is_found(program: Program, work: Path) -> None:
    """The engine `command` shows the sandbox the file of its program, and nothing else beside it (E-D4)."""
    folder = work / "agents"
    folder.mkdir()
    (folder / "secret").write_text("canary")
    (folder / "agent").write_text('#!/bin/sh\necho "made"; cat "$(dirname "$0")/secret" || true\n')
    (folder / "agent").chmod(0o755)
    (work / "greet").mkdir()
    (work / "greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    suite = {"skill": "greet", "cases": [{"id": "a", "prompt": "go", "says": "made"}]}
    (work / "path.agents.json").write_text(json.dumps(suite))
    argv = json.dumps([str(folder / "agent")])
    engine = ("--engine", "command", "--set", f"engines.command.argv={argv}")
    more = ("--set", "engines.command.skill_folder=.agents/skills", "--format", "record")
    plugin = Path(__file__).with_name("agent_suites.py")
    done = program("eval", "path.agents.json", "--plugin", plugin, *engine, *more)
    assert done.code == 0, done.stdout + done.stderr
    assert [str(one["text"]).strip() for one in results(work)] == ["made", "made"]
