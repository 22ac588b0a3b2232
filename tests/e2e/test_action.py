"""The GitHub Action in `action/`, played step by step: outcome, summary, outputs, comment, hostile inputs."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from github_runner import Played, Runner

from .conftest import ROOT
from .hostile_checkout import HostileCheckout

ACTION = ROOT / "action"
MARKER = "<!-- skillgauge:report -->"
HOSTILE = "a\n::error::owned by a case\n::add-mask::x <b>"
MOCK = ("--set", "engines.mock.script=mock.yaml")

Play = Callable[..., Played]


@pytest.fixture
def repository(work: Path) -> Path:
    """A repository with a skill whose second case fails, and the script of the mock agent."""
    (work / ".git").mkdir()
    evals = [
        {"id": "hello", "prompt": "Greet.", "assertions": [{"type": "contains", "value": "hello"}]},
        {"id": HOSTILE, "prompt": "Part.", "assertions": [{"type": "contains", "value": "goodbye"}]},
    ]
    skill = work / "greetings"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greetings\ndescription: Greets.\n---\n")
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greetings", "evals": evals}, indent=1))
    replies = [
        {"match": "Greet", "skill": "greetings", "text": "hello\n::error::owned by an agent"},
        {"text": "::error::owned by an agent"},
    ]
    (work / "mock.yaml").write_text(yaml.safe_dump({"replies": replies}))
    return work


@pytest.fixture
def play(repository: Path, tmp_path: Path, environment: dict[str, str]) -> Play:
    """Play the action in the repository, with the installed program and the mock agent."""

    def with_inputs(event: object = None, env: dict[str, str] | None = None, **inputs: str) -> Played:
        runner = Runner(repository, tmp_path, environment | (env or {}), event, github={"token": "t0ken"})
        given = {"version": "none", "engine": "mock", "paths": "greetings", "args": "\n".join(MOCK)} | inputs
        return runner.action(ACTION, given)

    return with_inputs


@pytest.mark.slow
def test_green(play: Play, repository: Path) -> None:
    """Without a gate a failing case is told and the job is green; nothing is left in the repository but the store."""
    played = play()
    assert played.code == 0, played.log
    assert played.ran == ["Install skillgauge", "Evaluate", "Result"]
    assert played.summary.startswith("## skillgauge\n")
    assert "1 of 2 cases passed, 1 failed." in played.summary
    outputs = played.outputs
    assert outputs | {"reports": ""} == {
        "exit-code": "0",
        "verdict": "passed",
        "pass-rate": "0.5000",
        "balanced-accuracy": "",
        "lift-points": "50.0",
        "failed": "1",
        "errors": "0",
        "quarantined": "0",
        "reports": "",
    }
    reports = Path(outputs["reports"])
    assert {path.name for path in reports.glob("eval-result.*")} == {
        "eval-result.github.md",
        "eval-result.html",
        "eval-result.junit.xml",
    }
    assert {path.name for path in repository.iterdir()} == {".git", "greetings", "mock.yaml", "skillgauge.db"}
    line = (repository / "greetings/evals/evals.json").read_text().splitlines().index("  {", 4) + 1
    (command,) = played.commands
    assert command[0] == "error"
    assert f"file=greetings/evals/evals.json,line={line}," in command[1]


@pytest.mark.slow
def test_what_cases_and_agents_say_is_no_command(play: Play) -> None:
    """Whatever stands in the log, the runner obeys annotations of ours only."""
    played = play(args="\n".join([*MOCK, "--verbose"]))
    assert "owned by" in played.log
    assert [kind for kind, _, _ in played.commands] == ["error"]
    assert "title=" in played.commands[0][1]


@pytest.mark.parametrize(
    ("gate", "more", "code"),
    [
        pytest.param("0.5", (), 0, marks=pytest.mark.slow),
        ("0.6", (), 1),
        pytest.param("better", ("--margin", "60"), 3, marks=pytest.mark.slow),
        ("x", (), 2),
    ],
)
def test_gates(play: Play, gate: str, more: tuple[str, ...], code: int) -> None:
    """A gate that is missed, or that is none, turns the job red; what was found is shown all the same."""
    played = play(gate=gate, args="\n".join([*MOCK, *more, "--runs=5"]))
    assert (played.code, played.outputs["exit-code"]) == (code, str(code)), played.log
    assert ("1 of 2 cases passed" in played.summary) == (code != 2)


def git(folder: Path, *arguments: str) -> None:
    """Run git as somebody."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def pull_request(repository: Path, tmp_path: Path) -> dict[str, str]:
    """The variables of a pull request after which the second case fails, which passes in the base branch."""
    script = (repository / "mock.yaml").read_text()
    better = {"match": "Part", "skill": "greetings", "text": "goodbye"}
    replies = yaml.safe_load(script)["replies"]
    (repository / "mock.yaml").write_text(yaml.safe_dump({"replies": [better, *replies]}))
    (repository / ".git").rmdir()
    git(repository, "init")
    git(repository, "add", "greetings", "mock.yaml")
    git(repository, "commit", "-m", "Begin")
    git(tmp_path, "clone", "--bare", str(repository), "origin.git")
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    (repository / "mock.yaml").write_text(script)
    return {
        "GITHUB_BASE_REF": "main",
        "GITHUB_SERVER_URL": "https://github.invalid",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "7",
    }


@pytest.mark.slow
def test_what_changed_since_the_base_branch(play: Play, repository: Path, pull_request: dict[str, str]) -> None:
    """R3-F4: two cases are enough to see that one was lost; the comment names gate, change, case and page."""
    played = play(env=pull_request, against="base", gate="no-regression", args="\n".join([*MOCK, "--runs=3"]))
    assert played.code == 1, played.log
    summary = played.summary.replace("\\", "")
    parts = (
        "gate missed: greetings · with_skill is worse than main on these cases (pass rate -50.0 points",
        "- since main: greetings · with_skill is worse: pass rate -50.0 points, lift -50.0 points (n = 2 cases",
        "- newly failing: ",
        "[The page with every session](https://github.invalid/o/r/actions/runs/7)",
    )
    places = [summary.index(part) for part in parts]
    assert places == sorted(places)
    worktrees = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
    assert len(worktrees.stdout.splitlines()) == 1


@pytest.mark.slow
def test_without_a_base_branch_nothing_is_compared(play: Play) -> None:
    """After a push the same job has no gate on the change, and is not red for want of one."""
    played = play(against="base", gate="no-regression", args="\n".join([*MOCK, "--runs=1"]))
    assert played.code == 0, played.log
    assert "no pull request, so no base branch" in played.log


@pytest.mark.slow
def test_no_report(play: Play) -> None:
    """Where nothing was evaluated the summary says so, the job is red, and no output pretends anything."""
    played = play(paths="greeting", comment="true")
    assert played.code == 2
    assert "exit code 2" in played.summary
    assert "there is no 'greeting' here" in played.log or "greeting" in played.log
    assert played.outputs["verdict"] == ""
    assert [kind for kind, _, _ in played.commands] == ["error"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paths", "engine", "gate", "args"])
def test_inputs_are_never_commands(play: Play, repository: Path, name: str) -> None:
    """An input is one word for skillgauge, whatever it holds: no part of the script, and no pattern of files."""
    text = "*$(touch owned)`touch owned`\"; touch owned; \"'; touch owned; ' ${{ github.token }}"
    played = play(**{name: text})
    assert played.code == 2, played.log
    assert not list(repository.glob("**/owned"))
    assert "${{ github.token }}" in played.log  # told as it is


@pytest.mark.slow
def test_a_path_is_no_option(play: Play, repository: Path) -> None:
    """What stands among the paths cannot load a plugin."""
    (repository / "evil.py").write_text("raise SystemExit('owned')")
    played = play(paths="--plugin=evil.py\ngreetings")
    assert played.code == 2
    assert "owned" not in played.log.replace("owned by", "")


@pytest.fixture
def hostile(repository: Path, tmp_path: Path) -> HostileCheckout:
    """The repository as a pull request leaves it that tries to run code of its own."""
    return HostileCheckout(repository, tmp_path / "trace")


@pytest.mark.slow
def test_evaluating_and_commenting_execute_nothing_of_the_checkout(play: Play, hostile: HostileCheckout) -> None:
    """Modules in the checkout are not imported, and the comment is still written."""
    service = Service()
    played = commented(play, service, paths=".")
    assert hostile.executed() == []
    assert played.code == 0, played.log
    assert service.comments[0]["body"].startswith(MARKER)
    assert re.search("^::stop-commands::[0-9a-f]{32}$", played.log, re.M)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ensurepip") is None, reason="Debian: apt install python3-venv")
def test_installing_executes_nothing_of_the_checkout(play: Play, hostile: HostileCheckout) -> None:
    """This holds for the check of Python's version, the new environment and pip, which has no index here and stops."""
    played = play(version="0.1.0", env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""})
    assert hostile.executed() == []
    assert played.ran == ["Install skillgauge"]
    assert "No matching distribution found for skillgauge" in played.log


def test_python_is_isolated_in_every_script() -> None:
    """In the action and in the jobs of the page the first option of Python is `-I`."""
    page = (ROOT / "docs/ci.md").read_text()
    scripts = [step["run"] for step in yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]]
    scripts += re.findall("```(?:yaml|sh)\n(.*?)```", page, re.S)
    options = [option for script in scripts for option in re.findall(r"""python3?"? +(-\w+|"?\$)""", script)]
    assert options == ["-I"] * 4


def test_scripts_hold_no_expression_and_every_output_is_described() -> None:
    """What an expression gives would be a part of the program; and the page names every input and output."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    scripts = [step["run"] for step in action["runs"]["steps"]]
    assert not [script for script in scripts if "${{" in script]
    page = (ROOT / "docs/ci.md").read_text()
    told = {*action["inputs"], *action["outputs"]}
    assert [name for name in told if f"`{name}`" not in page] == []
    assert all(one["description"] for one in [*action["inputs"].values(), *action["outputs"].values()])


def _comment(number: int, body: str, kind: str = "Bot", association: str = "NONE") -> dict[str, Any]:
    user = {"login": "somebody", "type": kind}
    return {"id": number, "body": body, "user": user, "author_association": association}


class Service:
    """The comments of a pull request, as GitHub gives and takes them over HTTP."""

    def __init__(self, *comments: dict[str, Any], status: int = 200) -> None:
        self.comments, self.status = list(comments), status
        self.asked: list[tuple[str, str]] = []
        self.tokens: set[str | None] = set()

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Do what is asked."""
        self.asked.append((method, path.partition("?")[0]))
        if method == "GET":
            page = int(re.findall(r"\bpage=(\d+)", path)[0])
            return self.comments[(page - 1) * 100 : page * 100]
        if method == "POST":
            self.comments.append(_comment(len(self.comments) + 1, body["body"]))
            return self.comments[-1]
        (found,) = (one for one in self.comments if path.endswith(f"/comments/{one['id']}"))
        found["body"] = body["body"]
        return found

    @contextmanager
    def served(self) -> Iterator[str]:
        """Its address."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def _do(self) -> None:
                service.tokens.add(self.headers["Authorization"])
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                answer = service.answer(self.command, self.path, json.loads(body) if body else None)
                content = json.dumps(answer).encode()
                self.send_response(service.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = _do  # noqa: N815 - the names that the library calls

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()


def commented(play: Play, service: Service, event: object = None, **inputs: str) -> Played:
    """Play the action with a comment."""
    event = {"pull_request": {"number": 7}} if event is None else event
    with service.served() as address:
        env = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "acme/skills"}
        return play(event, env, comment="true", **inputs)


@pytest.mark.slow
def test_a_comment_is_written_once_and_kept_up_to_date(play: Play) -> None:
    """The comment of an earlier run is found among many and replaced; one that a stranger copied is left alone."""
    strangers = [_comment(number, f"{MARKER}\nmine", kind="User") for number in range(1, 131)]
    service = Service(*strangers)
    assert commented(play, service).code == 0
    assert service.comments[-1]["body"].startswith(f"{MARKER}\n## skillgauge")
    assert service.asked[-1] == ("POST", "/repos/acme/skills/issues/7/comments")
    assert service.tokens == {"Bearer t0ken"}


@pytest.mark.slow
def test_the_comment_of_an_earlier_run_is_replaced(play: Play) -> None:
    """Written by a program, or by somebody who may write in the repository anyway."""
    service = Service(_comment(1, "hi"), _comment(2, f"{MARKER}\nold", kind="User", association="MEMBER"))
    played = commented(play, service)
    assert "up to date" in played.log
    assert len(service.comments) == 2
    assert service.comments[1]["body"].startswith(f"{MARKER}\n## skillgauge")
    assert service.asked[-1] == ("PATCH", "/repos/acme/skills/issues/comments/2")


@pytest.mark.slow
def test_a_comment_that_cannot_be_written_is_a_warning(play: Play) -> None:
    """A pull request of a fork may write nothing: the verdict stays what it is."""
    played = commented(play, Service(status=403), gate="0.6")
    assert played.code == 1
    warnings = [message for kind, _, message in played.commands if kind == "warning"]
    assert warnings == ["No comment: the answer is 403. Has the job pull-requests: write?"]


@pytest.mark.slow
def test_no_pull_request(play: Play) -> None:
    """A push has none, so nobody is asked."""
    service = Service()
    played = commented(play, service, event={"head_commit": {}})
    assert played.code == 0
    assert "no pull request" in played.log
    assert service.asked == []
