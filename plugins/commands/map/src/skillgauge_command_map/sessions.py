"""The sessions of a map: which skills fired in each, and what it used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skillgauge.api import TrialResult, Usage, Verdict
from skillgauge.api.report import RunView


@dataclass(frozen=True)
class Fired:
    """A session of which it is known which skills fired."""

    owner: str
    """The skill that the query belongs to."""
    query: str
    """Id of the query among those of its owner."""
    arm: str
    skills: frozenset[str]
    """Those that fired."""
    hit: bool
    """True if the owner fired, or a skill that is as right."""
    input_per_call: float | None = None
    """Tokens that each call of the model read on average; `None` if the engine does not tell."""


@dataclass(frozen=True)
class Answers:
    """The sessions of one part of a map."""

    sessions: tuple[Fired, ...]
    unknown: int = 0
    """Sessions that ended in an error, or of which nobody knows which skills fired."""
    tokens: int = 0
    cost_usd: float = 0.0

    @classmethod
    def of(cls, view: RunView) -> Answers:
        """Read the results of a run."""
        sessions: list[Fired] = []
        unknown = 0
        for result in view.results():
            session = _fired(result)
            if session is None:
                unknown += result.verdict is not Verdict.SKIPPED
            else:
                sessions.append(session)
        spending = view.summary.spending
        if spending is None:
            return cls(tuple(sessions), unknown)
        return cls(tuple(sessions), unknown, spending.tokens, spending.cost_usd)

    def in_arm(self, arm: str) -> Iterator[Fired]:
        """Yield the sessions of an arm."""
        return (session for session in self.sessions if session.arm == arm)


def _fired(result: TrialResult) -> Fired | None:
    trajectory = result.execution.trajectory
    if result.verdict not in (Verdict.PASS, Verdict.FAIL) or trajectory is None or trajectory.skills_fired is None:
        return None
    return Fired(
        owner=result.suite_id,
        query=result.case_id,
        arm=result.arm,
        skills=frozenset(skill.name for skill in trajectory.skills_fired),
        hit=result.verdict is Verdict.PASS,
        input_per_call=_input_per_call(result.execution.usage, trajectory.model_calls),
    )


def _input_per_call(usage: Usage | None, calls: int | None) -> float | None:
    if usage is None or usage.input_tokens is None or not calls:
        return None
    return (usage.input_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)) / calls


def by_query(sessions: Iterable[Fired]) -> dict[str, list[Fired]]:
    """Return sessions by their query."""
    groups: dict[str, list[Fired]] = {}
    for session in sessions:
        groups.setdefault(session.query, []).append(session)
    return groups
