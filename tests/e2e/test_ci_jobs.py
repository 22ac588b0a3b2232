"""Every job of docs/ci.md, carried out: of GitHub and of GitLab, green and red, with recorded sessions and no key."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree

import pytest
import yaml

from github_runner import Played, Runner
from skillgauge_testkit.program import Program

from .conftest import ROOT
from .hostile_checkout import HostileCheckout

pytestmark = pytest.mark.slow

INSTALL = "pip install skillgauge"
TRIED = {"skills", "evals", "skills, by hand", "a hook", "gitlab"}
"""The blocks: here, in test_ci, and the hook in test_pre_commit."""


def blocks() -> dict[str, dict[str, Any]]:
    """The blocks of YAML on the page, by what they are called."""
    page = (ROOT / "docs/ci.md").read_text()
    found = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.S)]
    return {("a hook" if "repos" in one else one.get("name", "gitlab")): one for one in found}


@pytest.fixture(params=["good", "bad"])
def sort(request: pytest.FixtureRequest) -> str:
    """Whether the skill reaches the gate."""
    return str(request.param)


@pytest.fixture
def repository(work: Path, program: Program, sort: str) -> Path:
    """A repository with a skill and its recorded sessions, of which one in five fails, or two."""
    (work / ".git").mkdir()
    wanted = ["hello"] * 4 + ["goodbye"] if sort == "good" else ["hello"] * 3 + ["goodbye"] * 2
    evals = [
        {"id": f"c{place}", "prompt": f"Greet {place}.", "assertions": [{"type": "contains", "value": word}]}
        for place, word in enumerate(wanted)
    ]
    (work / "my-skill/evals").mkdir(parents=True)
    (work / "my-skill/SKILL.md").write_text("---\nname: my-skill\ndescription: Greets.\n---\n")
    (work / "my-skill/evals/evals.json").write_text(json.dumps({"skill_name": "my-skill", "evals": evals}, indent=1))
    (work / "mock.yaml").write_text(yaml.safe_dump({"replies": [{"text": "hello"}]}))
    mock = ("--engine", "mock", "--set", "engines.mock.script=mock.yaml")
    done = program("eval", "my-skill", *mock, "--runs", "3", "--record", "recordings", "--store", "none")
    assert done.code == 0, done.stderr
    return work


@pytest.fixture
def runner(repository: Path, tmp_path: Path, environment: dict[str, str]) -> Runner:
    """Of GitHub, after a push."""
    return Runner(repository, tmp_path, environment, github={"token": ""})


def told(played: Played) -> list[tuple[str, str]]:
    """The annotations, by file."""
    return [(kind, re.findall("file=([^,]*)", more)[0]) for kind, more, _ in played.commands]


def code_of(sort: str) -> int:
    """What the job ends with."""
    return 0 if sort == "good" else 1


def test_every_block_is_tried() -> None:
    """A new one needs a test."""
    assert set(blocks()) == TRIED
    assert blocks()["a hook"]["repos"][0]["hooks"][0]["id"] in (ROOT / ".pre-commit-hooks.yaml").read_text()


def test_pull_requests_without_a_key(runner: Runner, repository: Path, sort: str) -> None:
    """The job with the action: red if the gate is missed, and all reports are kept either way."""
    kept: list[str] = []

    def action(inputs: Any) -> Played:
        return runner.action(ROOT / "action", {**inputs, "version": "none"})

    def keep(inputs: Any) -> Played:
        kept.extend(path.name for path in Path(inputs["path"]).iterdir())
        return Played()

    workflow = blocks()["skills"]
    actions = {
        "actions/checkout@v4": lambda _: Played(),
        "skillgauge/skillgauge/action@v0.1.0": action,
        "actions/upload-artifact@v4": keep,
    }
    played = runner.job(workflow["jobs"]["skills"], actions)
    assert played.code == code_of(sort), played.log
    assert f"{4 if sort == 'good' else 3} of 5 cases passed" in played.summary
    assert told(played) == [("error", "my-skill/evals/evals.json")] * (1 if sort == "good" else 2)
    assert {"eval-result.html", "eval-result.junit.xml"} <= set(kept)
    assert "no pull request, so no comment" in played.log

    (repository / "my-skill/SKILL.md").write_text("---\nname: my-skill\ndescription: Greets better.\n---\n")
    played = runner.job(workflow["jobs"]["skills"], actions)
    assert played.code == 3, played.log
    assert "these differ: skills" in played.log


def test_by_hand(runner: Runner, sort: str) -> None:
    """The job without the action shows the same."""
    job = blocks()["skills, by hand"]["jobs"]["skills"]
    scripts = [step for step in job["steps"] if "run" in step]
    assert scripts[0]["run"] == INSTALL
    played = runner.job({"steps": scripts[1:]}, {})
    assert played.code == code_of(sort), played.log
    assert f"{4 if sort == 'good' else 3} of 5 cases passed" in played.summary
    assert told(played) == [("error", "my-skill/evals/evals.json")] * (1 if sort == "good" else 2)


def test_by_hand_executes_nothing_of_the_checkout(runner: Runner, repository: Path, tmp_path: Path, sort: str) -> None:
    """A pull request brings modules, names of files that look like options, and files that look like our reports."""
    hostile = HostileCheckout(repository, tmp_path / "trace")
    planted = repository / "build/0/github/annotations.txt"
    planted.parent.mkdir(parents=True)
    planted.write_text("::notice file=planted::owned\n")
    steps = [step for step in blocks()["skills, by hand"]["jobs"]["skills"]["steps"] if "run" in step]
    played = runner.job({"steps": steps[1:]}, {})
    assert hostile.executed() == []
    assert played.code == code_of(sort), played.log
    assert told(played) == [("error", "my-skill/evals/evals.json")] * (1 if sort == "good" else 2)
    assert re.search("^::stop-commands::[0-9a-f]{32}$", played.log, re.M)


@contextmanager
def notes(received: list[tuple[str, str | None, str]]) -> Iterator[str]:
    """The address of a service that takes notes: path, token, text."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            received.append((self.path, self.headers["PRIVATE-TOKEN"], body["body"][0]))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def with_origin(repository: Path) -> None:
    """Commit what is there, and give the repository an origin whose branch `main` has the same."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "init.defaultBranch=main")
    (repository / ".git").rmdir()
    origin = str(repository.with_name("origin.git"))
    for arguments in (
        ("init",),
        ("add", "my-skill", "recordings"),
        ("commit", "-m", "Begin"),
        ("clone", "--bare", ".", origin),
        ("remote", "add", "origin", origin),
    ):
        subprocess.run(["git", *who, *arguments], cwd=repository, check=True, capture_output=True)


def test_gitlab(repository: Path, environment: dict[str, str], sort: str) -> None:
    """Every artifact that the job names is there, whatever the outcome, and the note is the report."""
    job = blocks()["gitlab"]["skills"]
    assert job["before_script"] == [INSTALL]
    received: list[tuple[str, str | None, str]] = []
    planted = repository / "build/0/gitlab/variables.env"  # a merge request may bring files that look like our reports
    planted.parent.mkdir(parents=True)
    planted.write_text("PATH=.\n")

    def run(part: str, variables: dict[str, str]) -> int:
        script = "\n".join(job[part])
        command = ["bash", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=repository, env=environment | variables, check=False).returncode

    with notes(received) as address:
        of_gitlab = {"CI_API_V4_URL": address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
        assert run("script", of_gitlab) == code_of(sort)
        assert run("after_script", of_gitlab | {"NOTE_TOKEN": "t0ken"}) == 0
        report = (repository / "build/eval-result.gitlab.md").read_text()
        assert received == [("/projects/3/merge_requests/7/notes", "t0ken", report)]
        assert "### Changed" not in report
        with_origin(repository)
        in_a_request = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_JOB_URL": "https://gitlab.invalid/jobs/7"}
        assert run("script", of_gitlab | in_a_request) == code_of(sort)
        changed = (repository / "build/eval-result.gitlab.md").read_text()
        assert "- since target: no case came out differently" in changed
        assert "(https://gitlab.invalid/jobs/7/artifacts/file/build/eval-result.html)" in changed
    reports = job["artifacts"]["reports"]
    assert all((repository / path).is_file() for path in (*reports.values(), *job["artifacts"]["paths"]) if "." in path)
    findings = json.loads((repository / reports["codequality"]).read_text())
    assert [one["location"]["path"] for one in findings] == ["my-skill/evals/evals.json"] * (1 if sort == "good" else 2)
    suites = [
        one for one in ElementTree.parse(repository / reports["junit"]).iter("testsuite") if one.get("name") != "gates"
    ]
    cases = [case.attrib for suite in suites for case in suite.iter("testcase")]
    assert {case["file"] for case in cases} == {"my-skill/evals/evals.json"}
    lines = (repository / "my-skill/evals/evals.json").read_text().splitlines()
    assert [int(case["line"]) for case in cases] == [lines.index(f'   "id": "c{number}",') for number in range(5)]
    variables = (repository / reports["dotenv"]).read_text().splitlines()
    page = (ROOT / "docs/ci.md").read_text()
    assert [line.partition("=")[0] for line in variables if f"`{line.partition('=')[0]}`" not in page] == []
