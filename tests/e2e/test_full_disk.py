"""Sessions on a disk that is full, or that they fill: nobody's failure; and workspaces that hold more than they may."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelReply, ModelServer, run_shell
from skillgauge_testkit.program import Done, Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KEY = "made-up-key-of-the-tests-0123456789"
AGENTS = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", ""),
    "codex": ("codex", "OPENAI_API_KEY", "gpt-5.5", "/v1"),
}
FILL = "head -c 400000000 /dev/zero > fill.bin; echo filled"


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill with one case, whose check no agent passes by an answer alone."""
    folder = work / "greeting"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nSay hello.\n")
    checks = [
        {"text": "says it", "type": "contains", "value": "DONE"},
        {"text": "leaves it", "type": "command", "value": "grep -q hello hello.txt"},
    ]
    case = {"id": 1, "prompt": "Say hello", "assertions": checks}
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": [case]}))
    return folder


def evaluate(
    program: Program, skill: Path, settings: Sequence[str], *words: str | Path, env: dict[str, str] | None = None
) -> tuple[Done, list[dict[str, Any]]]:
    """Evaluate a skill and return how that ended, with the results of both arms."""
    options = [word for setting in settings for word in ("--set", setting)]
    done = program.process(
        "eval", skill, *words, *options, "--store", "none", "--format", "record", env=env, timeout_s=300
    )
    (record,) = (program.work / "reports").glob("run-*.record.json")
    results = json.loads(record.read_text())["results"]
    assert len(results) == 2, done.stderr
    return done, results


def by_shell(script: str) -> list[str]:
    """Settings of an agent that is a script."""
    return [f"engines.command.argv={json.dumps(['sh', '-c', script])}", "engines.command.skill_folder=.skills"]


def require_full(done: Done, results: list[dict[str, Any]], disk: Path) -> None:
    """Both arms are errors of the set-up that name the folder and what to do, and the run is invalid."""
    for one in results:
        failure = one["execution"]["failure"]
        found = (one["verdict"], failure["failure_class"], failure["blame"])
        assert found == ("error", "setup", "infrastructure"), one
        assert f"the disk of the temporary folder {str(disk)!r} is full" in failure["message"]
        assert "set TMPDIR to a folder with more" in failure["message"]
    assert done.code == 3


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_fills_the_disk(
    program: Program,
    skill: Path,
    small_disk: Callable[..., Path],
    agent_program: Callable[[str], Path],
    name: str,
) -> None:
    """Its program cannot save the session then, and the other arm on the same disk is no better off."""
    command, variable, model, path = AGENTS[name]
    disk = small_disk(120)

    def script(request: Any) -> ModelReply:
        return ModelReply("Fills.", tools=[run_shell(FILL)]) if not request.turn else ModelReply("DONE full")

    with ModelServer(script) as server:
        settings = [
            f"engines.{name}.program={agent_program(command)}",
            f"engines.{name}.base_url={server.url}{path}",
            f"engines.{name}.api_retries=0",
        ]
        environment = {variable: KEY, "TMPDIR": str(disk)}
        words = ["--engine", name, "--model", model, "--sandbox", "local"]
        done, results = evaluate(program, skill, settings, *words, env=environment)
    require_full(done, results, disk)


@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
def test_a_program_that_fills_the_disk(
    program: Program, skill: Path, small_disk: Callable[..., Path], sandbox: str, request: pytest.FixtureRequest
) -> None:
    """The same for any agent and any sandbox, also if the file is removed before the agent ends."""
    if sandbox == "bubblewrap":
        request.getfixturevalue("strongest")
    disk = small_disk(120)
    settings = by_shell(f"{FILL}; sleep 3; rm fill.bin; echo hello > hello.txt; echo DONE")
    done, results = evaluate(
        program, skill, settings, "--engine", "command", "--sandbox", sandbox, env={"TMPDIR": str(disk)}
    )
    require_full(done, results, disk)


def test_no_session_is_started_without_room(program: Program, skill: Path, small_disk: Callable[..., Path]) -> None:
    """Nothing is paid for where the agent's program would soon fail to write its own files."""
    disk, started = small_disk(20), program.work / "started"
    done, results = evaluate(
        program,
        skill,
        by_shell(f"echo x >> {started}; echo DONE"),
        *("--engine", "command", "--sandbox", "local"),
        env={"TMPDIR": str(disk)},
    )
    require_full(done, results, disk)
    assert "64 are needed" in results[0]["execution"]["failure"]["message"]
    assert not started.exists()


@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
def test_what_a_workspace_may_hold(program: Program, skill: Path, sandbox: str, request: pytest.FixtureRequest) -> None:
    """An agent that exceeds it has failed in every sandbox alike, is ended, and is told which option sets it."""
    if sandbox == "bubblewrap":
        request.getfixturevalue("strongest")
    settings = [*by_shell(f"echo hello > hello.txt; {FILL}; sleep 60; echo DONE"), f"sandboxes.{sandbox}.disk_mb=16"]
    done, results = evaluate(program, skill, settings, "--engine", "command", "--sandbox", sandbox)
    for one in results:
        failure = one["execution"]["failure"]
        assert (one["verdict"], failure["failure_class"], failure["blame"]) == ("fail", "sandbox", "target")
        advice = f"write less, or raise plugins.sandboxes.{sandbox}.disk_mb"
        assert failure["message"] == f"the workspace holds more than 16 MiB; {advice}"
        assert "holds more than 16 MiB" in one["execution"]["stderr"]
    assert done.code == 0
