"""The time of a session: what the model and its tools did, one under the other on a common scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillgauge.api import TrajectoryEvent, TrialResult
from skillgauge_run_views.session_times import model_calls, tool_calls

LONGEST = 200
"""Bars of one picture."""
SCALE = 300
"""Width of the picture, in its own units."""


@dataclass(frozen=True)
class Bar:
    """An answer of the model or a call of a tool, in seconds from the beginning of the session."""

    step: int
    """Place of its first event in the session, from 1."""
    title: str
    name: str
    """Of the tool; empty for the model."""
    start_s: float
    end_s: float
    is_error: bool

    @property
    def took_s(self) -> float:
        """Seconds that it took."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Waterfall:
    """The bars of a session in the order in which they began, and what they add up to."""

    bars: tuple[Bar, ...]
    left_out: int
    """Bars that are not shown, the later ones."""
    total_s: float
    """Seconds from the beginning of the session to the end of the scale."""
    model_s: float
    """Seconds in which the model worked."""
    tools_s: float
    """Seconds in which at least one tool worked."""

    def place(self, bar: Bar) -> tuple[float, float]:
        """Return the beginning of a bar in the picture, and its width."""
        start = bar.start_s / self.total_s * SCALE
        return round(start, 1), round(max(1.0, bar.took_s / self.total_s * SCALE), 1)


def waterfall(result: TrialResult) -> Waterfall | None:
    """Return where the time of a trial's session went; `None` if its events do not tell."""
    trajectory = result.execution.trajectory
    bars = sorted(_bars(trajectory.events), key=lambda bar: bar.start_s) if trajectory else []
    end_s = max((bar.end_s for bar in bars), default=0.0)
    if not end_s:
        return None
    total_s = max(end_s, result.execution.duration_s or 0.0)
    answers = [(bar.start_s, bar.end_s) for bar in bars if not bar.name]
    tools = [(bar.start_s, bar.end_s) for bar in bars if bar.name]
    return Waterfall(tuple(bars[:LONGEST]), max(0, len(bars) - LONGEST), total_s, _covered(answers), _covered(tools))


def _bars(events: Sequence[TrajectoryEvent]) -> Iterator[Bar]:
    places = {id(event): place for place, event in enumerate(events, 1)}
    for answer in model_calls(events):
        is_error = any(event.is_error for event in answer.events)
        yield Bar(places[id(answer.events[0])], "Model", "", answer.start_s, answer.end_s, is_error)
    for step in tool_calls(events):
        name = step.call.name or "unnamed"
        is_error = step.call.is_error or step.result.is_error
        yield Bar(places[id(step.call)], "Tool", name, step.start_s, step.end_s, is_error)


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """Seconds that lie in at least one of some spans, which come in the order of their beginnings."""
    covered = reached = 0.0
    for start_s, end_s in spans:
        covered += max(0.0, end_s - max(start_s, reached))
        reached = max(reached, end_s)
    return covered
