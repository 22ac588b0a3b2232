"""The trajectory text, format v1: what an agent did, line by line, the same for every runner, byte for byte."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

FORMAT_VERSION = "v1"
"""Any change of a rule here needs another one."""
LONGEST_OUTPUT = 200
"""Characters of a tool's output that are shown. What people and agents say is never cut."""

Record = Mapping[str, Any]


def render(
    user_input: str | None, final_output: str | None, calls: Iterable[Record] = (), spans: Iterable[Record] = ()
) -> str:
    """The text of one session.

    Args:
        user_input: what the agent was asked.
        final_output: its answer; it is shown even if the last call said the same.
        calls: calls of the model: `output_preview` or `output_json`, `tool_calls_json`, `latency_ms` or `started_at`
            and `ended_at`, `id`.
        spans: what ran; of those of `span_type` tool the `output_preview` is shown after the call of the same `name`.
    """
    lines = Lines(user_input)
    outputs = _outputs(spans)
    for call in sorted(calls, key=_order):
        text = _text(call)
        if text:
            lines.agent(text, _seconds(call))
        for tool in call.get("tool_calls_json") or ():
            if isinstance(tool, Mapping):
                name, arguments = _tool(tool)
                waiting = outputs.get(name)
                lines.tool(name, arguments, waiting.popleft() if waiting else "")
    return lines.end(final_output)


class Lines:
    """The lines of one session while they are told.

    Args:
        user_input: what the agent was asked.
    """

    def __init__(self, user_input: str | None) -> None:
        self._lines: list[str] = []
        if user_input:
            self._tell(f"User: {user_input.strip()}")

    def agent(self, text: str, seconds: Decimal | None) -> None:
        """Add the words of the agent, and their duration; `None` is unknown."""
        shown = seconds.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP) if seconds is not None else Decimal(0)
        self._tell(f"Agent: {text.strip()}", f" · {shown}s" if shown > 0 else "")

    def tool(self, name: str, arguments: object, output: str) -> None:
        """A call of a tool and what came back, if anything did."""
        self._tell(f"Agent → tool: {name}({_arguments(arguments)})")
        if output:
            self._tell(f"Tool output: {_cut(output)}")

    def end(self, final_output: str | None) -> str:
        """The text with the answer, without a line break at its end."""
        if final_output:
            self.agent(final_output, None)
        return "\n".join(self._lines)

    def _tell(self, body: str, took: str = "") -> None:
        self._lines.append(f"[Step {len(self._lines) + 1}{took}] {body}")


def _outputs(spans: Iterable[Record]) -> dict[str, deque[str]]:
    by_tool: dict[str, deque[str]] = {}
    for span in spans:
        name, output = span.get("name"), span.get("output_preview")
        if span.get("span_type") == "tool" and name and output:
            text = output if isinstance(output, str) else json.dumps(output, default=str)
            by_tool.setdefault(str(name), deque()).append(text)
    return by_tool


def _order(call: Record) -> tuple[float, str]:
    started = _epoch(call.get("started_at"))
    return (float("inf") if started is None else started, str(call.get("id")))


def _epoch(moment: object) -> float | None:
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return None
    if isinstance(moment, datetime):
        return moment.timestamp()
    return float(moment) if isinstance(moment, int | float) and not isinstance(moment, bool) else None


def _text(call: Record) -> str:
    preview = call.get("output_preview")
    if preview:
        return str(preview)
    output = call.get("output_json")
    content = output.get("content") if isinstance(output, Mapping) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return " ".join(str(part.get("text") or "") for part in parts)


def _seconds(call: Record) -> Decimal | None:
    """Return the duration of a call."""
    milliseconds = call.get("latency_ms")
    if milliseconds:
        return Decimal(str(milliseconds)) / 1000
    started, ended = _epoch(call.get("started_at")), _epoch(call.get("ended_at"))
    return None if started is None or ended is None else Decimal(str(ended - started))


def _tool(tool: Record) -> tuple[str, object]:
    function = tool.get("function")
    inner: Record = function if isinstance(function, Mapping) else {}
    name = tool.get("name") or inner.get("name") or "unknown_tool"
    return str(name), tool.get("args") or tool.get("arguments") or inner.get("arguments") or {}


def _arguments(given: object) -> str:
    if isinstance(given, Mapping):
        return ", ".join(f"{key}={_argument(value)}" for key, value in given.items())
    return given if isinstance(given, str) else _argument(given)


def _argument(value: object) -> str:
    """Text in quotes as it is, without escapes; anything else as JSON."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    more = len(text) - LONGEST_OUTPUT
    return f"{text[:LONGEST_OUTPUT]} [truncated, {more} more chars]" if more > 0 else text
