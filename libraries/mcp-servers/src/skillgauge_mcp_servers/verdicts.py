"""The part of stand-in servers in a session: which calls they answered, and whether one of them ended it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Blame,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    Install,
    Trajectory,
    TrajectoryEvent,
    thaw,
)

from .names import SERVERS, plain_name
from .placing import calls_in
from .stand_in import ABORT, ENDING, OK


def with_stand_ins(execution: Execution, home: Path, installs: Sequence[Install]) -> Execution:
    """Return an execution with the verdicts of stand-ins in its trajectory.

    It has failed, by the agent's own fault, if there was a call after which a stand-in ended the session.
    """
    calls = list(calls_in(home)) if any(install.kind == SERVERS for install in installs) else []
    if not calls:
        return execution
    changes: dict[str, object] = {}
    if execution.trajectory is not None:
        changes["trajectory"] = _with_verdicts(execution.trajectory, calls)
    abort = next((call for call in calls if call.get("verdict") == ABORT), None)
    if abort is not None:
        tool, server = abort.get("tool"), abort.get("server")
        message = f"the session ended with a call of {tool} of server {server!r}: {abort.get('output')}"
        changes |= {"failure": _ended(message), "text": None}
    return execution.model_copy(update=changes)


def ending_by(event: TrajectoryEvent) -> Failure | None:
    """Return the failure of a session that an event ends, being the answer of a stand-in after which nothing follows.

    An agent that forges such an answer has failed, too.
    """
    is_ending = event.kind is EventKind.TOOL_RESULT and event.is_error and event.text.startswith(ENDING)
    return _ended(event.text) if is_ending else None


def _ended(message: str) -> Failure:
    return Failure(failure_class=FailureClass.REJECTED, blame=Blame.TARGET, message=message)


def _with_verdicts(trajectory: Trajectory, calls: Sequence[Mapping[str, Any]]) -> Trajectory:
    """Return a trajectory whose results have the verdicts of the stand-ins that gave them."""
    answered: dict[str, str] = {}
    for call in calls:
        event = next((one for one in trajectory.events if one.call_id not in answered and _is(one, call)), None)
        if event is not None and event.call_id is not None:
            answered[event.call_id] = str(call.get("verdict"))
    events = tuple(_with_verdict(event, answered.get(event.call_id or "")) for event in trajectory.events)
    return trajectory.model_copy(update={"events": events})


def _with_verdict(event: TrajectoryEvent, verdict: str | None) -> TrajectoryEvent:
    if event.kind is not EventKind.TOOL_RESULT or verdict is None:
        return event
    return event.model_copy(update={"data": {"verdict": verdict}, "is_error": verdict != OK})


def _is(event: TrajectoryEvent, call: Mapping[str, Any]) -> bool:
    """Tell whether an event is the call that a stand-in wrote down; very long inputs are not written down."""
    if event.kind is not EventKind.TOOL_CALL or event.call_id is None or event.name is None:
        return False
    is_tool = event.name.endswith(f"{plain_name(str(call.get('server')))}__{call.get('tool')}")
    return is_tool and call.get("input") in (None, thaw(event.data))
