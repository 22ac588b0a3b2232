"""The order of what an agent did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from skillgauge.api import EventKind, Score, ScoreContext, Trajectory

from .options import Order, SequenceOptions

_SHOWN = 20


class SequenceScorer:
    """Passes an agent that called these tools, or loaded these skills, in such an order.

    The value of a failed check is the harmonic mean of precision and recall (F1) of the names, each counted as often as
    it occurs. What an engine does not tell leaves the check ungraded.
    """

    version = "1"

    def __init__(self, options: SequenceOptions) -> None:
        self._options = options
        self._expected = options.tools or options.skills

    async def score(self, context: ScoreContext) -> Score:
        """Compare the names."""
        trajectory = context.execution.trajectory
        done = _called(trajectory) if self._options.tools else _loaded(trajectory)
        kind = "tools" if self._options.tools else "skills"
        if done is None:
            return Score.ungraded(f"There is no record of the {kind} that the agent used")
        text = f"{kind} that were used: {_listed(done)}"
        if _is_found(self._expected, done, self._options.order):
            return Score.passed(text[0].upper() + text[1:])
        expected = f"Expected {_listed(self._expected)} ({self._options.order})"
        return Score.failed(
            f"{expected}; {text}", value=min(f1(self._expected, done), 0.99), evidence={kind: tuple(done)}
        )


def _called(trajectory: Trajectory | None) -> list[str] | None:
    if trajectory is None:
        return None
    return [event.name or "" for event in trajectory.events if event.kind is EventKind.TOOL_CALL]


def _loaded(trajectory: Trajectory | None) -> list[str] | None:
    if trajectory is None or trajectory.skills_fired is None:
        return None
    return [one.name for one in trajectory.skills_fired]


def _is_found(expected: Sequence[str], done: Sequence[str], order: Order) -> bool:
    match order:
        case Order.EXACT:
            return list(expected) == list(done)
        case Order.IN_ORDER:
            rest = iter(done)
            return all(name in rest for name in expected)  # `in` consumes what it passes
        case Order.ANY:
            return not Counter(expected) - Counter(done)
        case _:
            assert_never(order)


def f1(expected: Sequence[str], done: Sequence[str]) -> float:
    """Harmonic mean of precision and recall, from 0 to 1: twice the names in common over all names of both."""
    common = (Counter(expected) & Counter(done)).total()
    return 2 * common / (len(expected) + len(done))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) or "none"
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
