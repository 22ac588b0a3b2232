"""The command as users run it, up to a new skill that passes its own benchmark."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from packaging.requirements import Requirement

from skillgauge_command_create.command import next_steps, schemas
from skillgauge_command_create.skeleton import Template, skeleton
from skillgauge_testkit.program import Done, Program

from .conftest import Shell, started, tree, unused_port

FILES = {"skill.json", "adapter.config.json", "README.md", "tests", "tests/basic.eval.json"}


def commands(done: Done) -> list[str]:
    """The command lines among the next steps that are printed for people."""
    return [line.strip() for line in done.stdout.splitlines() if line.startswith("       ")]


def report(work: Path) -> Any:
    """The result document of the last evaluation."""
    return json.loads((work / "reports" / "eval-result.json").read_text())


def assert_perfect(done: Done, work: Path, skill_id: str) -> None:
    """Require an evaluation without a flaw."""
    assert done.code == 0, done.stderr
    assert "warning" not in done.stderr
    (one,) = report(work)
    assert one["skillId"] == skill_id
    assert one["summary"]["completionRate"] == 1
    assert [(task["taskId"], task["status"]) for task in one["taskResults"]] == [(f"{skill_id}_test_001", "pass")]


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-006", "ES-CREATE-007")
@pytest.mark.parametrize("name", ["my_calc", "Ann's $kill (2)"])
def test_python_script_runs_at_once(program: Program, shell: Shell, work: Path, name: str) -> None:
    """The printed command evaluates the new skill with 100 %, whatever its name, and so does --tasks."""
    made = program("create", "--name", name, "--from-template", "python_script")
    assert made.code == 0, made.stderr
    skill_id = "my_calc" if name == "my_calc" else "ann_s__kill__2_"
    (evaluate,) = commands(made)
    assert_perfect(shell(evaluate), work, skill_id)
    assert_perfect(shell(evaluate.replace("--benchmark", "--tasks")), work, skill_id)


@pytest.mark.slow
@pytest.mark.e2e
def test_python_script_can_be_kept(program: Program, shell: Shell, work: Path) -> None:
    """With "worker" in its configuration, as its README says, a new skill is one process for many calls."""
    made = program("create", "--name", "echo", "--from-template", "python_script")
    folder = work / "skills" / "echo"
    assert '"worker": true' in (folder / "README.md").read_text()
    config = folder / "adapter.config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"worker": True}))
    script = folder / "skill.py"
    own_answer, with_process = 'f"You asked: {query}"', 'f"{os.getpid()}: {query}"'
    assert own_answer in script.read_text()
    script.write_text("import os\n" + script.read_text().replace(own_answer, with_process))
    (evaluate,) = commands(made)
    done = shell(f"{evaluate} --runs 5 --concurrency 1 --json")
    assert done.code == 0, done.stderr
    outputs = {result["execution"]["output"]["result"] for result in done.document["results"]}
    assert len(outputs) == 1


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-002", "ES-CREATE-007")
def test_mcp_tool_runs_at_once(program: Program, shell: Shell, work: Path) -> None:
    """The printed command starts the server and evaluates its tool with 100 %, and so does --tasks."""
    made = program("create", "--name", "Ask Me", "--from-template", "mcp_tool")
    assert made.code == 0, made.stderr
    install, evaluate = commands(made)
    assert install == "python3 -m pip install 'mcp>=2.3,<3'"
    assert_perfect(shell(evaluate), work, "ask_me")
    assert_perfect(shell(evaluate.replace("--benchmark", "--tasks")), work, "ask_me")


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-002", "ES-CREATE-007")
def test_http_request_runs_at_once(program: Program, shell: Shell, work: Path, environment: dict[str, str]) -> None:
    """The printed commands start the service and evaluate it with 100 %, at a port that is set in one place."""
    made = program("create", "--name", "Ask Me")
    assert made.code == 0, made.stderr
    path = work / "skills" / "Ask Me" / "skill.json"
    skill = json.loads(path.read_text())
    skill["entrypoint"] = f"http://127.0.0.1:{unused_port()}/invoke"
    path.write_text(json.dumps(skill))
    start, evaluate = commands(made)
    with started(start, cwd=work, env=environment) as said:
        assert said == f"listening at {skill['entrypoint']}\n"
        assert_perfect(shell(evaluate), work, "ask_me")
        assert_perfect(shell(evaluate.replace("--benchmark", "--tasks")), work, "ask_me")


@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-002", "ES-CREATE-003", "ES-CREATE-005", "ES-CREATE-006")
@pytest.mark.parametrize("template", [None, *Template])
def test_files(program: Program, work: Path, template: Template | None) -> None:
    """The documented files appear below ./skills; without --from-template they are those of http_request."""
    choice = ("--from-template", template) if template else ()
    assert program("create", "--name", "echo", *choice).code == 0
    template = template or Template.HTTP_REQUEST
    adapter = {"http_request": "http", "python_script": "subprocess", "mcp_tool": "mcp"}[template]
    folder = work / "skills" / "echo"
    assert tree(folder).keys() == FILES | {template.program}
    assert (template.program == "skill.py") is (template is Template.PYTHON_SCRIPT)
    skill = json.loads((folder / "skill.json").read_text())
    assert (skill["id"], skill["name"], skill["version"], skill["adapterType"]) == ("echo", "echo", "0.1.0", adapter)
    assert json.loads((folder / "adapter.config.json").read_text())["type"] == adapter
    benchmark = json.loads((folder / "tests" / "basic.eval.json").read_text())
    assert len(benchmark["tasks"]) == 1
    checked = program("validate", folder / "tests" / "basic.eval.json", folder)
    assert checked.code == 0, checked.stderr
    assert "warning" not in checked.stderr


@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-003", "ES-CREATE-004")
def test_output_dir_and_description(program: Program, work: Path) -> None:
    """The skill goes where --output-dir says, folders made as needed, and carries the description as it was given."""
    text = 'Says "naïve" things: $name, {}, \\n 🚀'
    made = program("create", "--name", "echo", "--output-dir", "a/b", "--description", text)
    assert made.code == 0, made.stderr
    assert json.loads((work / "a" / "b" / "echo" / "skill.json").read_text())["description"] == text
    assert not (work / "skills").exists()


@pytest.mark.e2e
def test_services_get_ports_of_their_own(program: Program, work: Path) -> None:
    """Two new services do not claim the same address, so that both can run."""
    for name in ("one", "two"):
        assert program("create", "--name", name).code == 0
    addresses = {json.loads(path.read_text())["entrypoint"] for path in work.glob("skills/*/skill.json")}
    assert len(addresses) == 2


@pytest.mark.e2e
@pytest.mark.requirement("ES-CREATE-001")
def test_name_is_required(program: Program, work: Path) -> None:
    """Without one the exit code is 2, the message says how to give it, and nothing is made."""
    done = program("create")
    assert done.code == 2
    assert "error[usage.skill-name]: no name is given\n  next: Name it: skillgauge create NAME.\n" in done.stderr
    assert tree(work) == {}


@pytest.mark.e2e
def test_a_name_needs_no_option(program: Program, work: Path) -> None:
    """It is the word after the command, as in other programs; two names are refused, whichever way they are given."""
    assert program("create", "adder", "--from-template", "python_script").code == 0
    assert (work / "skills/adder/skill.json").is_file()
    for names in (["web", "search"], ["web", "--name", "search"]):
        done = program("create", *names)
        assert done.code == 2
        assert (
            "2 names are given: web, search\n  next: A name with spaces is one word in quotation marks: 'web search'."
            in (done.stderr)
        )
    assert [path.name for path in (work / "skills").iterdir()] == ["adder"]


@pytest.mark.e2e
def test_json_is_one_document(program: Program) -> None:
    """With --json stdout is one document: what was made, and the next commands."""
    made = program("create", "--name", "My Calc", "--from-template", "python_script", "--json")
    assert made.code == 0
    assert made.stderr == "skill 'my_calc' created in skills/My Calc from python_script\n"
    document = made.document
    assert (document["id"], document["name"], document["template"]) == ("my_calc", "My Calc", "python_script")
    assert document["folder"] == "skills/My Calc"
    assert set(document["files"]) == FILES - {"tests"} | {"skill.py"}
    assert document["next"][0]["command"].startswith("skillgauge eval --skills 'skills/My Calc' ")
    assert not list(Draft202012Validator(schemas()["create"]).iter_errors(document))
    refused = program("create", "--name", "My Calc", "--json")
    assert refused.code == 2
    assert [problem["code"] for problem in refused.document["problems"]] == ["create.exists"]


@pytest.mark.requirement("ES-DEFECT-26")
@pytest.mark.e2e
def test_nothing_is_overwritten(program: Program, work: Path) -> None:
    """A second call is refused with the names of what is there, although it asks for another template."""
    assert program("create", "--name", "echo", "--from-template", "python_script").code == 0
    (work / "skills" / "echo" / "skill.py").write_text("mine")
    before = tree(work)
    refused = program("create", "--name", "echo")
    assert refused.code == 2
    assert "skills/echo' exists already and holds README.md, adapter.config.json" in refused.stderr
    assert tree(work) == before


@pytest.mark.e2e
def test_all_that_is_wrong_is_told_at_once(program: Program, work: Path) -> None:
    """A path for a name and an unknown template are both named, the latter with what is near."""
    refused = program("create", "--name", "../up", "--from-template", "python-script", "--json")
    assert refused.code == 2
    problems = {problem["code"]: problem["message"] for problem in refused.document["problems"]}
    assert problems.keys() == {"create.name", "create.template"}
    assert "did you mean python_script" in problems["create.template"]
    assert tree(work) == {}
    assert not (work.parent / "up").exists()


@pytest.mark.e2e
def test_a_description_that_is_no_text_is_refused(environment: dict[str, str], work: Path) -> None:
    """Bytes that are not UTF-8 are refused before anything is written."""
    line = [b"skillgauge", b"create", b"--name", b"echo", b"--description", b"caf\xe9"]
    program = Path(environment["PATH"].split(":")[0], "skillgauge")
    done = subprocess.run(
        [bytes(program), *line[1:]], cwd=work, env=environment, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert b"create.description" in done.stderr
    assert tree(work) == {}


@pytest.mark.e2e
def test_help_says_what_it_does(program: Program) -> None:
    """The program's help has the command with its summary, and the command's own help all options and templates."""
    assert "Make a skill that runs" in program("--help").stdout
    text = " ".join(program("create", "--help").stdout.split())
    for word in ("--name", "--from-template", "--output-dir", "--description", "[default: http_request]", *Template):
        assert word in text


def test_the_package_named_is_the_one_the_adapter_is_tested_with(tmp_path: Path) -> None:
    """The versions of mcp that the next step and the README ask for are those that the adapter is made for."""
    (ours,) = (Requirement(text) for text in requires("skillgauge-adapter-mcp") or () if text.startswith("mcp"))
    command = next_steps(Template.MCP_TOOL, tmp_path)[0].command
    readme = skeleton(Template.MCP_TOOL, name="echo", description=None, port=1)["README.md"].decode()
    named = re.findall(r"pip install '(.*)'", f"{command}\n{readme}")
    assert len(named) == 3
    assert {Requirement(text) for text in named} == {ours}
