"""What an agent did in a trial, as the trajectory text."""

from __future__ import annotations

import json
from decimal import Decimal

from skillgauge.api import EventKind, Execution, TrajectoryEvent, thaw

from .trajectory import Lines


def transcript_of(prompt: str | None, execution: Execution) -> str:
    """The trajectory text of a session.

    The last message is the answer, which the text has once, at its end. A tool's output follows its own call, whichever
    came back first.
    """
    events = execution.trajectory.events if execution.trajectory else ()
    outputs = {event.call_id: event for event in events if event.kind is EventKind.TOOL_RESULT and event.call_id}
    final = (execution.text or "").strip()
    last = max((at for at, event in enumerate(events) if event.kind is EventKind.MESSAGE), default=-1)
    lines = Lines(prompt)
    for at, event in enumerate(events):
        if event.kind is EventKind.MESSAGE and event.text.strip() and not (at == last and event.text.strip() == final):
            took = event.duration_s
            lines.agent(event.text, None if took is None else Decimal(str(took)))
        elif event.kind is EventKind.TOOL_CALL:
            found = outputs.get(event.call_id) if event.call_id else None
            lines.tool(event.name or "unknown_tool", event.data or {}, _said(found))
    return lines.end(execution.text)


def _said(result: TrajectoryEvent | None) -> str:
    if result is None:
        return ""
    if result.text or result.data is None:
        return result.text
    return result.data if isinstance(result.data, str) else json.dumps(thaw(result.data))
