"""The results of sessions that never took place: the published mock run says so much of each, whatever was asked.

An engine that plays scripts leaves these figures in a session's record, as a notice beside what it measured. Documents
of this format give them, since the format's mock run is defined by them; every other report tells what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import EventKind, Execution, JsonObject

MADE_UP = "skillevaluation.made-up"
"""Name of the notice that holds the figures."""
_WITH_SKILL = {"duration_ms": 1200, "turns": 2, "total_tokens": 400, "tool_call_count": 1}
_WITHOUT_SKILL = {"duration_ms": 2400, "turns": 4, "total_tokens": 900, "tool_call_count": 3}


def replies(skill: str) -> tuple[JsonObject, ...]:
    """Return the replies of an engine that plays scripts: with the skill, if that is offered, and else without."""
    return {"skill": skill, "notices": {MADE_UP: _WITH_SKILL}}, {"notices": {MADE_UP: _WITHOUT_SKILL}}


def made_up_figures(execution: Execution) -> Mapping[str, Any]:
    """The figures that stand in a session's record, by their names in a result document; empty if it has none."""
    events = execution.trajectory.events if execution.trajectory else ()
    data = next((one.data for one in events if one.kind is EventKind.NOTICE and one.name == MADE_UP), None)
    figures = data if isinstance(data, Mapping) else {}
    return {name: value for name in _WITH_SKILL if isinstance(value := figures.get(name), int)}
