"""The actions of an agent in a trial, as the trajectory text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal

from skillgauge.api import EventKind, Execution, TrajectoryEvent, thaw

from .trajectory import Lines


def transcript_of(prompt: str | None, execution: Execution) -> str:
    """The trajectory text of a session.

    The last message is the answer, which the text has once, at its end. A tool's output follows its own call, whichever
    came back first.
    """
    events = execution.trajectory.events if execution.trajectory else ()
    outputs = _outputs(events)
    answer_at = _answer_at(events, execution.text)
    lines = Lines(prompt)
    for at, event in enumerate(events):
        if event.kind is EventKind.MESSAGE:
            if event.text.strip() and at != answer_at:
                lines.agent(event.text, _duration(event))
        elif event.kind is EventKind.TOOL_CALL:
            output = outputs.get(event.call_id) if event.call_id else None
            lines.tool(event.name or "unknown_tool", event.data or {}, _output_text(output))
    return lines.end(execution.text)


def _outputs(events: Iterable[TrajectoryEvent]) -> dict[str, TrajectoryEvent]:
    """Return the results of tools by the ids of their calls."""
    results = (event for event in events if event.kind is EventKind.TOOL_RESULT)
    return {event.call_id: event for event in results if event.call_id}


def _answer_at(events: Sequence[TrajectoryEvent], answer: str | None) -> int | None:
    """Return the place of the message that is the answer; `None` if the last one says something else."""
    last = max((at for at, event in enumerate(events) if event.kind is EventKind.MESSAGE), default=None)
    if last is None or events[last].text.strip() != (answer or "").strip():
        return None
    return last


def _duration(event: TrajectoryEvent) -> Decimal | None:
    return None if event.duration_s is None else Decimal(str(event.duration_s))


def _output_text(result: TrajectoryEvent | None) -> str:
    if result is None:
        return ""
    if result.text or result.data is None:
        return result.text
    if isinstance(result.data, str):
        return result.data
    return json.dumps(thaw(result.data))
