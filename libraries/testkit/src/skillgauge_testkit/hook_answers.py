"""The answers of hooks, for tests of engines that place them: blocks in the specification's sense, and others."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Install

EVENT = "pre-tool-use"


@dataclass(frozen=True)
class HookAnswer:
    """One way to answer."""

    name: str
    script: str
    """Shell commands of the hook."""
    blocks: bool
    """Whether that is a block."""
    reason: str = ""
    """What the agent has to be told then."""


def _deny(event: str | None) -> str:
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "it is protected"}
    named = {"hookEventName": event} if event else {}
    return f"echo {shlex.quote(json.dumps({'hookSpecificOutput': {**named, **decision}}))}"


HOOK_ANSWERS = (
    HookAnswer("exit 2 with a reason", "echo 'it is protected' >&2; exit 2", True, "it is protected"),
    HookAnswer("exit 2 in silence", "exit 2", True, "a hook of the package stopped it"),
    HookAnswer("exit 2 with neutral JSON", f"{_deny(EVENT)}; exit 2", True, "it is protected"),
    HookAnswer("exit 2 with native JSON", f"{_deny('PreToolUse')}; exit 2", True, "it is protected"),
    HookAnswer("exit 0 with neutral JSON", _deny(EVENT), True, "it is protected"),
    HookAnswer("exit 0 with native JSON", _deny("PreToolUse"), True, "it is protected"),
    HookAnswer("exit 0 with JSON for no event", _deny(None), True, "it is protected"),
    HookAnswer("exit 0 in silence", "exit 0", False),
    HookAnswer("exit 0 with leave", "echo '{}'", False),
    HookAnswer("failure", "echo 'broken' >&2; exit 1", False),
)
"""What may come of a hook before a tool is used."""


def hooks(*scripts: str, matcher: str = "Write|Edit|Bash", timeout_s: float = 30) -> Install:
    """Hooks that run shell scripts before a tool is used."""
    entries: list[dict[str, Any]] = [
        {"event": EVENT, "matcher": matcher, "command": script, "timeout_s": timeout_s} for script in scripts
    ]
    return Install(kind="hooks", name="guard", content={"root_variable": "PACKAGE_ROOT", "hooks": tuple(entries)})
