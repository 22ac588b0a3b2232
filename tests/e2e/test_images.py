"""A suite that brings a Dockerfile: run where images run, and refused everywhere else, whatever format it has."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from docker_daemons import IMAGE, DockerDaemon
from skillgauge_testkit import ModelReply, ModelServer, with_skill
from skillgauge_testkit.program import Done, Program

from .conftest import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

InDocker = Callable[..., tuple[Done, list[list[str]]]]
KEY = "made-up-key-of-the-tests-0123456789"
STAND_IN = ROOT / "plugins/sandboxes/docker/tests/stand_in.py"
GOOD = {"text": "good", "type": "equals", "value": "GOOD"}
FORMATS = {
    "agent-skills": {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [GOOD]}]},
    "benchflow": {"skill_name": "s", "cases": [{"id": "1", "question": "p", "ground_truth": "GOOD"}]},
}
ENGINE = ("--engine", "mock", "--set", 'engines.mock.replies=[{"text": "GOOD"}]')


@pytest.fixture(params=FORMATS)
def suite(request: pytest.FixtureRequest, work: Path) -> str:
    """A skill with a Dockerfile beside its evals; the name of its format."""
    folder = work / "s/evals"
    folder.mkdir(parents=True)
    (work / "s/SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
    (folder / "evals.json").write_text(json.dumps(FORMATS[request.param]))
    (folder / "Dockerfile").write_text("FROM python:3.12-slim\n")
    return str(request.param)


@pytest.mark.requirement("BF-ENV-001")
def test_a_sandbox_without_images_refuses_it(program: Program, suite: str, work: Path) -> None:
    """With the place and both ways on, before anything runs; a dry run shows the rest, and a check needs no daemon."""
    done = program("eval", "s", *ENGINE)
    assert done.code == 2, done.stderr
    assert "brings a Dockerfile for its image, and sandbox 'local' runs none" in done.stderr
    assert "s/evals/evals.json:" in done.stderr
    assert not (work / "reports").exists()
    dry = program("eval", "s", "--dry-run", *ENGINE)
    assert (dry.code, "sandbox 'local' runs none" in dry.stderr) == (0, True)
    checked = program("validate", "s")
    assert (checked.code, checked.stderr.count(f"--set formats.{suite}.image=ignore")) == (0, 1)
    assert "warning[sandbox.image]" not in checked.stderr  # would send to `validate`, where the reader is


@pytest.mark.requirement("BF-ENV-001")
def test_the_image_can_be_left_out(program: Program, suite: str) -> None:
    """Then nothing is said of it, and any sandbox will do."""
    done = program("eval", "s", *ENGINE, "--set", f"formats.{suite}.image=ignore")
    assert done.code == 0, done.stderr
    assert "Dockerfile" not in done.stderr


@pytest.fixture
def in_docker(program: Program, work: Path) -> Callable[..., tuple[Done, list[list[str]]]]:
    """Evaluate the skill in containers of a stand-in for the program; how it ended, and every call of the stand-in."""
    docker = work / "docker"
    docker.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
    docker.chmod(0o755)

    def call(*arguments: str, **variables: str) -> tuple[Done, list[list[str]]]:
        environment = {**program.environment, **variables, "DOCKER_STAND_IN": str(work / "daemon")}
        sandbox = ("--sandbox", "docker", "--set", f"sandboxes.docker.program={docker}")
        done = program("eval", "s", *arguments, *sandbox, env=environment)
        journal = (work / "daemon/journal").read_text().splitlines()
        return done, [json.loads(line)["argv"] for line in journal]

    return call


@pytest.mark.requirement("BF-ENV-001")
def test_a_sandbox_with_images_builds_it(in_docker: InDocker, suite: str) -> None:
    """Once, and both arms run in it."""
    assert suite
    done, calls = in_docker(*ENGINE)
    assert done.code == 0, done.stderr
    (build,) = (call for call in calls if call[0] == "build")
    of_it = [call for call in calls if call[0] == "run" and build[build.index("--tag") + 1] in call]
    assert len(of_it) == 2


def test_a_run_tells_what_it_builds(in_docker: InDocker, suite: str) -> None:
    """A dry run names the image and its file and builds nothing; the run that built it says what removes it."""
    assert suite
    dry, calls = in_docker(*ENGINE, "--dry-run")
    (line,) = (line for line in dry.stdout.splitlines() if line.startswith("image "))
    assert "is built from" in line
    assert line.endswith("s/evals/Dockerfile, of python:3.12-slim")
    (image,) = in_docker(*ENGINE, "--dry-run", "--json")[0].document["images"]
    assert (image["is_there"], image["bases"], image["fetched"]) == (False, ["python:3.12-slim"], [])
    assert not [call for call in calls if call[0] == "build"]
    done, _ = in_docker(*ENGINE)
    assert " ".join(done.stderr.split()).count(f"docker image rm {image['name']}") == 1
    again, calls = in_docker(*ENGINE)
    assert "image rm" not in again.stderr
    assert len([call for call in calls if call[0] == "build"]) == 1
    assert f"image {image['name']} is here" in in_docker(*ENGINE, "--dry-run")[0].stdout


def test_a_strangers_image_is_built_only_on_the_users_word(in_docker: InDocker, suite: str, work: Path) -> None:
    """With --untrusted the place and the next step are told before anything is built; a word of the folder is none."""
    assert suite
    facts = work / "daemon/facts"
    facts.parent.mkdir()
    facts.touch()  # the stand-in then confines, as it says
    allowed = {"plugins": {"sandboxes": {"docker": {"build_from": ["python:3.12-slim"]}}}}
    (work / "skillgauge.config.yaml").write_text(json.dumps(allowed))
    done, calls = in_docker(*ENGINE, "--untrusted", "--trust-config")
    assert done.code == 2, done.stderr
    assert not [call for call in calls if call[0] == "build"]
    (work / "skillgauge.config.yaml").unlink()
    done, calls = in_docker(*ENGINE, "--untrusted")
    assert done.code == 2, done.stderr
    assert "s/evals/Dockerfile:1:1: error[sandbox.untrusted-image]" in done.stderr
    word = 'sandboxes.docker.build_from=["python:3.12-slim"]'
    assert f"--set '{word}'" in done.stderr
    assert not (work / "reports").exists()
    dry, calls = in_docker(*ENGINE, "--untrusted", "--dry-run")
    assert (dry.code, "warning[sandbox.untrusted-image]" in dry.stderr) == (0, True)
    assert "s/evals/Dockerfile, of python:3.12-slim" in dry.stdout
    assert not [call for call in calls if call[0] == "build"]
    done, calls = in_docker(*ENGINE, "--untrusted", "--set", word)
    assert done.code == 0, done.stderr
    (build,) = (call for call in calls if call[0] == "build")
    assert {"--network", "--memory", "--cpu-quota", "--ulimit"} <= set(build)


@pytest.mark.containers
def test_a_strangers_image_reads_no_other(
    program: Program, docker_daemon: DockerDaemon, suite: str, work: Path
) -> None:
    """A Dockerfile that takes a file of another image here is refused, and an honest one runs in a real daemon."""
    assert suite
    place, private = work / "s/evals/Dockerfile", "someones-app:1"
    docker_daemon.call("tag", IMAGE, private)
    allowed = f"sandboxes.docker.build_from={json.dumps([IMAGE])}"
    command = ("eval", "s", "--engine", "command", "--set", 'engines.command.argv=["cat", "/answer"]', "--untrusted")
    command += ("--set", "engines.command.skill_folder=.skills", "--set", f"sandboxes.docker.image={IMAGE}")
    command += ("--sandbox", "docker", "--set", allowed)
    place.write_text(f"FROM {IMAGE}\nRUN printf GOOD >/answer\nCOPY --from={private} /etc /stolen\n")
    refused = program(*command, env=docker_daemon.environment)
    assert refused.code == 2, refused.stderr
    assert "s/evals/Dockerfile:3:1: error[sandbox.untrusted-image]" in refused.stderr
    assert f"takes image '{private}'" in refused.stderr
    place.write_text(f"FROM {IMAGE}\nRUN printf GOOD >/answer\n")
    done = program(*command, "--json", env=docker_daemon.environment)
    assert {one["verdict"] for one in done.document["results"]} == {"pass"}, done.stderr
    assert {one["execution"]["sandbox"] for one in done.document["results"]} == {"docker/strict"}


PROGRAM = """#!/bin/sh
case "$STAND_IN_CONTAINER" in ?*) echo "env: 'node': No such file or directory" >&2; exit 127;; esac
echo 9.9.9
"""
"""An agent's program that starts on this machine, and in no container: the image lacks what it needs."""


@pytest.mark.requirement("BF-ENV-001")
def test_a_program_that_does_not_start_in_the_image(in_docker: InDocker, suite: str, work: Path) -> None:
    """The run is refused with the program's own words before a session is paid for; a dry run builds nothing."""
    assert suite
    agent = work / "claude"
    agent.write_text(PROGRAM)
    agent.chmod(0o755)
    engine = ("--engine", "claude-code", "--model", "m", "--set", f"engines.claude-code.program={agent}")
    dry, calls = in_docker(*engine, "--dry-run", ANTHROPIC_API_KEY=KEY)
    assert (dry.code, [call for call in calls if call[0] == "build"]) == (0, [])
    done, calls = in_docker(*engine, ANTHROPIC_API_KEY=KEY)
    assert done.code == 2, done.stderr
    assert "the program of engine 'claude-code' does not start in the image of case '1': env: 'node'" in done.stderr
    assert "s/evals/evals.json:" in done.stderr
    assert not (work / "reports").exists()


@pytest.mark.engine
@pytest.mark.requirement("BF-ENV-001")
def test_a_real_agent_in_the_image(in_docker: InDocker, agent_program: Callable[[str], Path], suite: str) -> None:
    """Its program is shown, for reading, at the place where it is here: to both arms, and to the look beforehand."""
    assert suite
    claude = agent_program("claude")
    with ModelServer(with_skill("s", ModelReply("GOOD"), ModelReply("nothing"))) as model:
        done, calls = in_docker(
            *("--engine", "claude-code", "--model", "claude-sonnet-4-5", "--json"),
            *("--set", f"engines.claude-code.program={claude}", "--set", f"engines.claude-code.base_url={model.url}"),
            ANTHROPIC_API_KEY=KEY,
        )
    found = {one["arm"]: one["verdict"] for one in done.document["results"]}
    assert sorted(found.values()) == ["fail", "pass"], done.stdout
    (build,) = (call for call in calls if call[0] == "build")
    of_it = [call for call in calls if call[0] == "run" and build[build.index("--tag") + 1] in call]
    place = claude.resolve().parents[3]
    shown = [any(f"source={place}" in word and word.endswith(",readonly") for word in call) for call in of_it]
    assert (place.name, shown) == ("node_modules", [True] * 3)
