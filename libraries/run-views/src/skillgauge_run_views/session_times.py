"""The model calls and tool calls of a session, with their times, as far as its events tell them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skillgauge.api import EventKind, TrajectoryEvent

_OF_MODEL = (EventKind.MESSAGE, EventKind.REASONING, EventKind.TOOL_CALL)


@dataclass
class ModelCall:
    """An answer of the model: what it said and which tools it asked for, until it waited for their results."""

    start_s: float
    end_s: float
    events: list[TrajectoryEvent] = field(default_factory=list)


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool with its result."""

    call: TrajectoryEvent
    result: TrajectoryEvent
    start_s: float
    end_s: float


def model_calls(events: Sequence[TrajectoryEvent]) -> Iterator[ModelCall]:
    """Yield the answers of the model whose times are known, in order.

    The model works from the moment at which it has everything, the prompt or the results of its tools, until the last
    part of its answer was reported. An event that says how long it took counts by that.
    """
    ready_s = 0.0
    current: ModelCall | None = None
    for event in events:
        if event.kind is EventKind.NOTICE or event.at_s is None:
            continue
        if event.kind not in _OF_MODEL:
            if current:
                yield current
            current, ready_s = None, event.at_s
            continue
        if current is None:
            current = ModelCall(ready_s, event.at_s)
        current.end_s = max(current.end_s, event.at_s)
        if event.duration_s is not None and event.kind is not EventKind.TOOL_CALL:
            current.start_s = max(current.start_s, event.at_s - event.duration_s)
        current.events.append(event)
    if current:
        yield current


def tool_calls(events: Sequence[TrajectoryEvent]) -> Iterator[ToolCall]:
    """Yield the calls of tools that had a result and whose times are known, in the order of their results."""
    open_calls: dict[str, TrajectoryEvent] = {}
    for event in events:
        if event.call_id is None or event.at_s is None:
            continue
        if event.kind is EventKind.TOOL_CALL:
            open_calls[event.call_id] = event
        elif event.kind is EventKind.TOOL_RESULT and event.call_id in open_calls:
            call = open_calls.pop(event.call_id)
            duration_s = call.duration_s if call.duration_s is not None else event.duration_s
            start_s = call.at_s or 0.0
            end_s = max(start_s, event.at_s) if duration_s is None else start_s + duration_s
            yield ToolCall(call, event, start_s, end_s)
