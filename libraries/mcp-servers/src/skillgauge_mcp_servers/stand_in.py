"""An MCP server that answers from a text in place of a real one, and writes down what it was asked.

    python3 stand_in.py SPECIFICATION.json

It needs nothing but the standard library, because it is copied into the private home of a session and runs there. It
speaks the protocol by its stdin and stdout, one message a line.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

PROTOCOL_VERSION = "2025-06-18"
"""The version told to a client that names none."""
OK, TOOL_ERROR, ABORT = "ok", "tool_error", "abort"
ENDING = "The session ends with this call of"
"""Begins the answer to a call after which a session makes no sense."""
LOGGED_CHARACTERS = 16_384
"""Of an input or an output in the log."""
_PLACE = re.compile(r"\{\{\s*(input\.[A-Za-z0-9_.-]+|file:(?:[^{}]|\{input\.[A-Za-z0-9_.-]+\})+?)\s*\}\}")
_INNER = re.compile(r"\{input\.([A-Za-z0-9_.-]+)\}")
_FILE_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")
_MISSING = object()


def main() -> None:
    """Answer until the client closes its end."""
    server = Server(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        answer = server.answer(message) if isinstance(message, dict) else None
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


class Server:
    """Answers the messages of a client.

    Args:
        specification: its `name`, its `tools`, the `answers` of each, the `folder` with files that answers quote, and
            the `log` that calls are written into.
    """

    def __init__(self, specification: dict[str, Any]) -> None:
        self._specification = specification

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message; `None` for one that wants none."""
        if "id" not in message or "method" not in message:
            return None
        try:
            result = self._result(message["method"], message.get("params") or {})
        except KeyError:
            error = {"code": -32601, "message": f"there is no method {message['method']!r}"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", PROTOCOL_VERSION),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self._specification["name"], "version": "1"},
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self._specification["tools"]}
        if method == "tools/call":
            return self._call(str(params.get("name")), params.get("arguments") or {})
        raise KeyError(method)

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        verdict, text = self._verdict(tool, arguments)
        self._note({"tool": tool, "input": arguments, "verdict": verdict, "output": text[:LOGGED_CHARACTERS]})
        if verdict == ABORT:
            text = f"{ENDING} {tool}: {text}"
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        return result if verdict == OK else {**result, "isError": True}

    def _verdict(self, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
        for answer in self._specification["answers"].get(tool, ()):
            if "equals" in answer and answer["equals"] != arguments:
                continue
            if broken_guard(answer.get("when", ()), arguments) is not None:
                continue
            if (broken := broken_guard(answer.get("expect", ()), arguments)) is not None:
                return ABORT, f"the call breaks what is expected of it: {broken}"
            text, problem = answer["text"], None
            if answer.get("is_template"):
                folder = Path(self._specification["folder"], answer.get("folder", ""))
                text, problem = filled(text, arguments, folder)
            if problem is not None:
                return TOOL_ERROR, problem
            return (TOOL_ERROR if answer.get("is_error") else OK), text
        return TOOL_ERROR, f"{self._specification['name']} has no answer to this call of {tool}"

    def _note(self, call: dict[str, Any]) -> None:
        line = json.dumps({"server": self._specification["name"], **call})
        if len(line) > 4 * LOGGED_CHARACTERS:
            line = json.dumps({"server": self._specification["name"], **call, "input": None})
        with Path(self._specification["log"]).open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def broken_guard(guards: Any, arguments: dict[str, Any]) -> str | None:
    """Return the first guard that the arguments of a call break, in words; `None` if all hold."""
    for guard in guards:
        value = value_at(arguments, guard["at"])
        if not _holds(guard, value):
            shown = "missing" if value is _MISSING else f"{json.dumps(value)[:80]}"
            return f"{guard['at']} is {shown}, and not {guard['words']}"
    return None


def _holds(guard: dict[str, Any], value: Any) -> bool:
    if "type" in guard:
        return bool(type_of(value) == guard["type"])
    text = scalar_text(value)
    if "pattern" in guard:
        return text is not None and re.search(guard["pattern"], text) is not None
    return text is not None and text in guard["one_of"]


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path of keys and positions with dots between them, or a mark of its absence."""
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if re.fullmatch(r"\d+", step) and int(step) < len(value) else _MISSING
        else:
            value = value.get(step, _MISSING) if isinstance(value, dict) else _MISSING
    return value


def type_of(value: Any) -> str:
    """Return the name of a value's type, as guards name types."""
    if value is None or value is _MISSING:
        return "missing"
    if isinstance(value, bool):
        return "bool"
    kinds = ((str, "string"), (int | float, "number"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def scalar_text(value: Any) -> str | None:
    """Return a text, number or truth value as guards write it; `None` for anything else."""
    if isinstance(value, str):
        return value
    return as_json(value) if isinstance(value, bool | int | float) else None


def as_json(value: Any) -> str:
    """Return a value as JavaScript writes it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def filled(text: str, arguments: dict[str, Any], folder: Path) -> tuple[str, str | None]:
    """Return a text with the values and files that it names in double braces, and what keeps it from being made."""
    problems: list[str] = []

    def replaced(place: re.Match[str]) -> str:
        if place[1].startswith("input."):
            value = value_at(arguments, place[1].removeprefix("input."))
            return value if isinstance(value, str) else "" if value is _MISSING else as_json(value)
        return _file_text(place[1].removeprefix("file:").strip(), arguments, folder, problems)

    filled = _PLACE.sub(replaced, text)
    return (filled, None) if not problems else ("", problems[0])


def _file_text(name: str, arguments: dict[str, Any], folder: Path, problems: list[str]) -> str:
    def segment(place: re.Match[str]) -> str:
        part = scalar_text(value_at(arguments, place[1])) or ""
        if not _FILE_NAME.fullmatch(part):
            problems.append(f"the value of {place[1]} is no name of a file")
        return part

    path = folder / _INNER.sub(segment, name)
    if problems:
        return ""
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        problems.append(f"there is no file {name!r} beside the answer")
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main()
