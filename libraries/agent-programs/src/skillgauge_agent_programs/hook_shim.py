"""A program between an agent's program and a hook: it makes what the hook calls a block a block for the agent, too.

    python3 hook_shim.py ENTRIES.json NUMBER < event

It needs nothing but the standard library, because it is copied into the private home of a session and runs there. The
event gets the neutral spelling beside the native one; the hook's answer becomes the native one; and what was decided is
added to a log. Agents' programs fail open: an answer in another spelling than their own blocks nothing.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BLOCKING = {"pre-tool-use", "permission-request"}
PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
APPLIED = re.compile(r"\bapply_patch\b.*?^\*\*\* Begin Patch", re.MULTILINE | re.DOTALL)
"""A patch that is given to the shell."""
DEFAULT = "a hook of the package stopped it"


def main() -> None:
    """Run the hook, answer natively, write a line into the log."""
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    entry = document["entries"][int(sys.argv[2])]
    try:
        event = json.loads(sys.stdin.buffer.read() or b"{}")
    except ValueError:
        event = {}
    event = event if isinstance(event, dict) else {}
    answer: Answer | None = None
    for payload in payloads(event, entry["event"]):
        if not is_meant(entry["matcher"], payload["toolName"]):
            continue
        began = time.monotonic()
        code, stdout, stderr = run(entry, document, payload)
        answer = Answer(entry, code, stdout, stderr)
        note(document["log"], entry, payload, answer, round((time.monotonic() - began) * 1000))
        if answer.blocks:
            break
    if answer is not None:
        answer.give()


def is_meant(matcher: str | None, tool: object) -> bool:
    """Tell whether a hook is for a tool: the program may call it for more, since it has other names for the same."""
    return not matcher or not isinstance(tool, str) or re.search(matcher, tool) is not None


def payloads(event: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The event in both spellings; a patch of several files is an event for each, as other programs have it."""
    tool, tool_input = event.get("tool_name"), event.get("tool_input")
    event_names = {**event, "hookEventName": name, "toolName": tool, "toolInput": tool_input}
    text = "\n".join(map(str, tool_input.values())) if isinstance(tool_input, dict) else str(tool_input or "")
    files = PATCHED.findall(text) if tool == "apply_patch" or APPLIED.search(text) else []
    if not files:
        return [event_names]
    words = {"Add": "Write", "Update": "Edit", "Delete": "Edit"}
    shared = tool_input if isinstance(tool_input, dict) else {"patch": tool_input}
    return [
        {**event_names, "toolName": words[kind], "toolInput": {**shared, "file_path": path}} for kind, path in files
    ]


def run(entry: dict[str, Any], document: dict[str, Any], payload: dict[str, Any]) -> tuple[int | None, bytes, bytes]:
    """The hook's exit code, `None` if it took too long, and what it wrote."""
    environment = {**os.environ, document["root_variable"]: document["root"]}
    path = payload["toolInput"].get("file_path") if isinstance(payload["toolInput"], dict) else None
    if isinstance(path, str):
        environment["file"] = path
    try:
        process = subprocess.Popen(
            ["sh", "-c", entry["command"]],
            cwd=document["root"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return 126, b"", str(error).encode()
    try:
        stdout, stderr = process.communicate((json.dumps(payload) + "\n").encode(), timeout=entry["timeout_s"])
        return process.returncode, stdout, stderr
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, b"", b""


class Answer:
    """The answer of a hook, and its meaning for the agent's program."""

    def __init__(self, entry: dict[str, Any], code: int | None, stdout: bytes, stderr: bytes) -> None:
        self.entry, self.code, self.stdout = entry, code, stdout
        self.stderr = stderr.decode("utf-8", "replace").strip()
        try:
            answer = json.loads(stdout)
        except ValueError:
            answer = None
        self.said: dict[str, Any] = answer if isinstance(answer, dict) else {}
        specific = self.said.get("hookSpecificOutput")
        self.specific: dict[str, Any] = specific if isinstance(specific, dict) else {}

    @property
    def blocks(self) -> bool:
        """True if the specification calls it a block."""
        if self.code == 2:
            return True
        refused = self.specific.get("permissionDecision") == "deny" or self.said.get("decision") == "block"
        return self.code == 0 and refused

    @property
    def failed(self) -> bool:
        """True if it neither agreed nor refused, so that the agent goes on."""
        return self.code not in (0, 2)

    @property
    def reason(self) -> str:
        """The reason, in the words of the hook."""
        reason = self.specific.get("permissionDecisionReason") or self.said.get("reason") or self.stderr
        return str(reason or DEFAULT)

    def give(self) -> None:
        """Answer natively."""
        native = self.entry["native"]
        if self.blocks and self.entry["event"] == "pre-tool-use":
            decision = {"permissionDecision": "deny", "permissionDecisionReason": self.reason}
            put({"hookSpecificOutput": {"hookEventName": native, **decision}})
        elif self.blocks and self.entry["event"] == "permission-request":
            refusal = {"behavior": "deny", "message": self.reason}
            put({"hookSpecificOutput": {"hookEventName": native, "decision": refusal}})
        elif self.code == 2:
            sys.stderr.write(self.reason)
            sys.exit(2)
        elif self.code == 0 and self.specific:
            put({**self.said, "hookSpecificOutput": {**self.specific, "hookEventName": native}})
        else:
            sys.stdout.buffer.write(self.stdout)
            sys.stderr.write(self.stderr)
            sys.exit(1 if self.code is None else self.code)


def put(answer: dict[str, Any]) -> None:
    """Write an answer."""
    sys.stdout.write(json.dumps(answer))


def note(log: str, entry: dict[str, Any], payload: dict[str, Any], answer: Answer, milliseconds: int) -> None:
    """A line for each time that a hook ran."""
    decision = "block" if answer.blocks else "failed" if answer.failed else "go on"
    line = {
        "event": entry["event"],
        "tool": payload.get("toolName"),
        "exit": answer.code,
        "decision": decision,
        "reason": answer.reason if answer.blocks else "",
        "ms": milliseconds,
    }
    place = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(place, (json.dumps(line) + "\n").encode())
    finally:
        os.close(place)


if __name__ == "__main__":
    main()
