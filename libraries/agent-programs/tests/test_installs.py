"""Hooks behind the shim, without any agent's program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Block, FileSpec, Install, Trajectory
from skillgauge_agent_programs.accounts import Account
from skillgauge_agent_programs.installs import NATIVE, Placed, with_hooks
from skillgauge_testkit.hook_answers import HOOK_ANSWERS, HookAnswer, hooks

WRITE = {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "a.txt"}}


def fire(home: Path, install: Install, event: dict[str, Any]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the first hook, started as an agent's program would."""
    groups = Placed.into(home, [install]).hooks(NATIVE, {})
    ((group, *_),) = groups.values()
    command = group["hooks"][0]["command"].replace("python3", sys.executable, 1)
    done = subprocess.run(
        ["sh", "-c", command],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    return done.returncode, done.stdout, done.stderr


def hook(event: str, script: str) -> Install:
    """A hook for any event."""
    entry = {"event": event, "matcher": None, "command": script, "timeout_s": 20}
    return Install(kind="hooks", name="h", content={"root_variable": "ROOT", "hooks": (entry,)})


@pytest.mark.parametrize("answer", HOOK_ANSWERS, ids=lambda one: one.name)
def test_a_block_before_a_tool_is_native_whatever_the_hook_says(tmp_path: Path, answer: HookAnswer) -> None:
    """Exit code 0 with the native decision: the one answer that every program takes for a block."""
    code, stdout, _ = fire(tmp_path, hooks(answer.script), WRITE)
    said = json.loads(stdout or "{}").get("hookSpecificOutput", {})
    assert (said.get("permissionDecision") == "deny") is answer.blocks
    if answer.blocks:
        assert (code, said["hookEventName"], said["permissionDecisionReason"]) == (0, "PreToolUse", answer.reason)
    else:
        assert code == (1 if answer.name == "failure" else 0)


@pytest.mark.parametrize(
    ("event", "script", "code", "stdout", "stderr"),
    [
        ("stop", "echo 'not done' >&2; exit 2", 2, "", "not done"),
        ("stop", "echo ignored; exit 2", 2, "", "a hook of the package stopped it"),
        (
            "stop",
            """echo '{"decision": "block", "reason": "left"}'""",
            0,
            '{"decision": "block", "reason": "left"}',
            "",
        ),
        ("notification", "echo seen; echo note >&2", 0, "seen", "note"),
    ],
)
def test_other_events(tmp_path: Path, event: str, script: str, code: int, stdout: str, stderr: str) -> None:
    """What is a block by its exit code stays one, with words; anything else comes as it was."""
    found = fire(tmp_path, hook(event, f"cat >/dev/null; {script}"), {})
    assert (found[0], found[1].strip(), found[2].strip()) == (code, stdout, stderr)


def test_a_refused_permission(tmp_path: Path) -> None:
    """Its native answer has another shape."""
    _, stdout, _ = fire(tmp_path, hook("permission-request", "exit 2"), {})
    told = {"behavior": "deny", "message": "a hook of the package stopped it"}
    assert json.loads(stdout)["hookSpecificOutput"] == {"hookEventName": "PermissionRequest", "decision": told}


def test_the_log_tells_of_blocks_and_of_hooks_that_failed(tmp_path: Path) -> None:
    """It is what counts, beside what the program tells of others than hooks."""
    guard = hooks("test -f words.txt || exit 1; exit 2", matcher="Write")
    guard = guard.model_copy(update={"files": (FileSpec(path="words.txt", text="x"),)})
    fire(tmp_path, guard, WRITE)
    (tmp_path / "package/words.txt").unlink()
    fire(tmp_path, guard.model_copy(update={"files": ()}), WRITE)
    told = (Block(tool="Bash", by="hook", event="PreToolUse"), Block(tool="Edit", by="permission"))
    account = with_hooks(Account(Trajectory(blocked=told)), tmp_path, [guard])
    assert account.trajectory.blocked == (Block(tool="Write", by="hook", event="pre-tool-use"), told[1])
    assert account.notes == ("a hook for pre-tool-use ended with exit code 1 and so stopped nothing",)
    unhooked = Account(Trajectory(blocked=told))
    assert with_hooks(unhooked, tmp_path, []) is unhooked


def test_a_matcher_is_widened_by_tools_that_do_the_same(tmp_path: Path) -> None:
    """Only if it means one of them, and only once."""
    placed = Placed.into(
        tmp_path, [hooks("a", matcher="Write|Edit"), hooks("b", matcher="Bash"), hooks("c", matcher=".*")]
    )
    same = ("apply_patch", "Bash")
    groups = placed.hooks(NATIVE, {"Write": same, "Edit": same})["PreToolUse"]
    assert [group["matcher"] for group in groups] == ["Write|Edit|apply_patch|Bash", "Bash", ".*"]


@pytest.mark.parametrize(
    ("tool", "given", "blocked"),
    [
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch"}, "Write"),
        (
            "Bash",
            {"command": "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.txt\n+x\n*** End Patch\nP"},
            "Edit",
        ),
        ("Bash", {"command": "echo '*** Add File: a.txt'"}, None),
    ],
)
def test_a_patch_is_a_write_for_hooks(tmp_path: Path, tool: str, given: dict[str, str], blocked: str | None) -> None:
    """However the program has it; a command of another sort is no business of such a hook."""
    guard = hooks('test "$file" = a.txt && exit 2', matcher="Write|Edit")
    fire(tmp_path, guard, {"tool_name": tool, "tool_input": given})
    found = with_hooks(Account(Trajectory()), tmp_path, [guard]).trajectory.blocked
    assert found == ((Block(tool=blocked, by="hook", event="pre-tool-use"),) if blocked else ())


def test_servers_get_variables_of_the_session(tmp_path: Path) -> None:
    """The root of the package and what the suite sets; what nobody set stays as it is written."""
    servers = {"words": {"command": "python3", "args": ["${ROOT}/s.py", "${MODE}", "${HOST}"]}}
    install = Install(kind="servers", name="s", content={"root_variable": "ROOT", "servers": servers})
    (server,) = Placed.into(tmp_path, [install]).servers({"MODE": "test"}).values()
    assert server["args"] == [f"{tmp_path}/package/s.py", "test", "${HOST}"]
