"""Runs that are killed at any moment: the next command finds no process, no credential and no workspace of theirs."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, run_shell
from skillgauge_testkit.program import PROGRAM, Program

from .conftest import MakeSkill, task

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.slow]

Tasks = Callable[..., Path]

ROUNDS = 5
"""Of each of six: 30 in all."""
CANARY = "canary-of-the-leftovers-0123456789"
SLOW = """import json, subprocess, sys, time
request = json.loads(sys.stdin.read())
subprocess.Popen(["sleep", "600"], start_new_session=True)
time.sleep(30)
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": "x"}))
"""
AGENTS = {
    "claude-code": ("claude", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", ""),
    "codex": ("codex", "OPENAI_API_KEY", "gpt-5.5", "/v1"),
}
LOGINS: dict[str, tuple[str, object]] = {
    "claude-code": (
        ".claude/.credentials.json",
        {"claudeAiOauth": {"accessToken": CANARY, "expiresAt": 2**45, "scopes": ["user:inference"]}},
    ),
    "codex": (".codex/auth.json", {"auth_mode": "apikey", "OPENAI_API_KEY": CANARY}),
}
"""Files in the user's home, and what is in them."""


def busy(request: ModelRequest) -> ModelReply:
    """Keeps an agent at work, with processes of its own and a copy of what it knows."""
    script = "cp -r ~ copy 2>/dev/null; env >copy.env; sleep 600 & sleep 20"
    return ModelReply(tools=[run_shell(script)]) if not request.turn else ModelReply("done", delay_s=20)


def log_in(who: str, home: Path, address: str) -> dict[str, str]:
    """Give the user a login, so that a copy of it lies in each workspace; the settings that lead it to an address."""
    name, content = LOGINS[who]
    (home / name).parent.mkdir(parents=True)
    (home / name).write_text(json.dumps(content))
    if who == "claude-code":
        return {"pass_env": '["ANTHROPIC_BASE_URL"]'}  # its option is for servers without logins
    config = {"openai_base_url": address, "features.enable_request_compression": False}
    return {"config": json.dumps(config)}


def ours(place: Path) -> list[str]:
    """Processes that have a folder in their environment, working directory or arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            where = str((process / "cwd").readlink())
        except OSError:
            continue
        if str(place).encode() in words or where.startswith(str(place)):
            found.append(f"{process.name} {words[:200]!r}")
    return found


def kill_after(
    command: list[object],
    work: Path,
    environment: dict[str, str],
    seconds: float,
    number: signal.Signals,
    awaited: ModelServer | None,
) -> None:
    """Start a command and kill it some time later, at the earliest when an awaited server was asked."""
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    until = time.monotonic() + 60
    while awaited and not awaited.requests and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(number)
    process.wait()


def require_nothing(place: Path) -> None:
    """No process, no credential and no workspace."""
    until = time.monotonic() + 20
    while (ours(place) or list(place.iterdir())) and time.monotonic() < until:
        time.sleep(0.05)
    assert not ours(place)
    assert not [str(path) for path in place.rglob("*")]


@pytest.mark.parametrize("sandbox", ["local", "bubblewrap"])
@pytest.mark.parametrize("who", ["subprocess", *AGENTS])
def test_nothing_stays_of_killed_runs(
    program: Program,
    work: Path,
    environment: dict[str, str],
    make_skill: MakeSkill,
    tasks: Tasks,
    agent_program: Callable[[str], Path],
    sandbox: str,
    who: str,
) -> None:
    """Killed by SIGKILL or by a closed terminal, at random moments (E-C1, E-C2, T-M5).

    In sandbox `local` agents use a login, a copy of which lies in the workspace while they run; else a key.
    """
    if sandbox == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    place = work / "temporary"
    place.mkdir()
    quick = ["eval", "--skills", make_skill(), "--tasks", tasks(task("q", "x"), name="quick.json"), "--store", "none"]
    (work / "greet").mkdir()
    (work / "greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    (work / "greet/evals").mkdir()
    check = {"text": "always", "type": "command", "value": "true"}
    evals = {"skill_name": "greet", "evals": [{"id": 1, "prompt": "Say hello.", "assertions": [check]}]}
    (work / "greet/evals/evals.json").write_text(json.dumps(evals))
    variables = environment | {"TMPDIR": str(place)}
    with ModelServer(busy) as server:
        if who == "subprocess":
            slow = make_skill(SLOW, folder="slow")
            command: list[object] = ["eval", "--skills", slow, "--tasks", tasks(task("a", "x"), task("b", "y"))]
        else:
            name, variable, model, path = AGENTS[who]
            address = f"{server.url}{path}"
            settings = {"program": str(agent_program(name))}
            if sandbox == "local":
                settings |= log_in(who, Path(environment["HOME"]), address)
                variables |= {"ANTHROPIC_BASE_URL": address}
            else:
                settings |= {"base_url": address}
                variables |= {variable: CANARY}
            command = ["eval", "greet", "--engine", who, "--model", model]
            command += [word for key, value in settings.items() for word in ("--set", f"engines.{who}.{key}={value}")]
        command = [PROGRAM, *command, "--sandbox", sandbox, "--concurrency", "2"]
        chance = random.Random(f"{who} in {sandbox}")
        each_s = (4 if who == "subprocess" else 12) / ROUNDS
        for one in range(ROUNDS):  # early and late ones, so that in some the work has begun
            number = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGHUP])
            is_last = one == ROUNDS - 1 and who != "subprocess"  # on a slow machine no session may have begun before
            seconds = 0.3 + (one + chance.random()) * each_s
            kill_after(command, work, variables, seconds, number, server if is_last else None)
    done = program.process(*quick, "--sandbox", sandbox, env={"TMPDIR": str(place)})
    assert done.code == 0, done.stderr
    require_nothing(place)
    if who != "subprocess":
        assert server.requests, "no session ever began"
        assert {request.key for request in server.requests} == {CANARY}
