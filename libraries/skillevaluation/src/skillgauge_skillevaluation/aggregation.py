"""The aggregate of a run: rates, averages, and what was left out of them, as skillevaluation publishes them.

A unit is one run of one case in both arms. Every rate is a mean over units, whatever the number of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from skillgauge.api.report import Outcome

from .outcomes import RunVerdict, verdict_of

ERROR_FLOOR = 0.25
"""A larger share of errors proves nothing."""
DIMENSIONS = {
    "duration_ms": "duration_ms",
    "turns": "turns",
    "tokens": "total_tokens",
    "tool_calls": "tool_call_count",
}
"""What is averaged, and which measure of an arm it is."""
_NULL_IF_NOTHING = ("duration_ms", "turns", "tokens")
"""Of a run without any unit these are null; tool calls and what is gated by correctness are zeros, say the goldens."""


@dataclass(frozen=True)
class ArmMetrics:
    """The figures of one arm of a unit; a measure that was not taken is 0."""

    passed: bool = False
    task_attempted: bool = True
    errored: bool = False
    duration_ms: int = 0
    turns: int = 0
    total_tokens: int = 0
    tool_call_count: int = 0


@dataclass(frozen=True)
class Unit:
    """One run of one case."""

    outcome: Outcome
    with_skill: ArmMetrics = ArmMetrics()
    without_skill: ArmMetrics = ArmMetrics()

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Unit:
        """The unit that a case result describes; an arm that is not there has done nothing."""
        return cls(Outcome(str(record["outcome"])), _arm(record.get("with_skill")), _arm(record.get("without_skill")))


def _arm(given: object) -> ArmMetrics:
    fields = ArmMetrics.__dataclass_fields__
    values = given if isinstance(given, Mapping) else {}
    return ArmMetrics(**{name: value for name, value in values.items() if name in fields and value is not None})


def rounded(value: float, places: int) -> float:
    """A number as it is published: half away from zero on its decimal text."""
    return float(Decimal(str(value)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP))


def change(ours: float, theirs: float) -> dict[str, float | None]:
    """Two averages and the difference in percent of the one without the skill, which is unknown if that is 0."""
    percent = rounded((ours - theirs) / theirs * 100, 1) if theirs else None
    return {"with_skill_avg": rounded(ours, 2), "without_skill_avg": rounded(theirs, 2), "delta_pct": percent}


@dataclass
class _Sums:
    """Sums of the measures of both arms."""

    n: int = 0
    ours: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 0))
    theirs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 0))

    def add(self, unit: Unit) -> None:
        self.n += 1
        for name, measure in DIMENSIONS.items():
            self.ours[name] += getattr(unit.with_skill, measure)
            self.theirs[name] += getattr(unit.without_skill, measure)

    def change(self, name: str) -> dict[str, float | None]:
        return change(self.ours[name] / self.n, self.theirs[name] / self.n) if self.n else change(0.0, 0.0)


@dataclass
class Aggregate:
    """Adds units up; its size does not depend on their number."""

    total: int = 0
    errors: int = 0
    not_attempted: int = 0
    passed: tuple[int, int] = (0, 0)
    """Units passed with the skill and without it, of those that are aggregated."""
    outcomes: set[Outcome] = field(default_factory=set)
    _all: _Sums = field(default_factory=_Sums)
    _both_passed: _Sums = field(default_factory=_Sums)

    def add(self, unit: Unit) -> None:
        """Count one unit."""
        self.total += 1
        self.outcomes.add(unit.outcome)
        if unit.outcome is Outcome.ERROR:
            self.errors += 1
        elif not (unit.with_skill.task_attempted and unit.without_skill.task_attempted):
            self.not_attempted += 1
        else:
            ours, theirs = unit.with_skill.passed, unit.without_skill.passed
            self.passed = (self.passed[0] + ours, self.passed[1] + theirs)
            self._all.add(unit)
            if ours and theirs:
                self._both_passed.add(unit)

    @property
    def error_dominated(self) -> bool:
        """True if so many units are errors that the rest proves nothing."""
        return self.total > 0 and self.errors / self.total > ERROR_FLOOR

    @property
    def verdict(self) -> RunVerdict:
        """The verdict of the run, errors that dominate it included."""
        return RunVerdict.ERROR if self.error_dominated else verdict_of(self.outcomes)

    @property
    def with_rate(self) -> float | None:
        """Share of the aggregated units that passed with the skill, not rounded."""
        return self.passed[0] / self._all.n if self._all.n else None

    def document(self) -> dict[str, object]:
        """The aggregate as results.json has it, without the verdict."""
        return {
            "pass_rate": self._pass_rate(),
            **{name: self._change(name) for name in DIMENSIONS},
            **{f"{name}_correctness_gated": self._both_passed.change(name) for name in DIMENSIONS},
            "errors": self.errors,
            "error_dominated": self.error_dominated,
            "cases_aggregated": self._all.n,
            "cases_correctness_gated": self._both_passed.n,
            "cases_skipped_apples_oranges": self.not_attempted,
            "total_cases": self.total,
        }

    def _pass_rate(self) -> dict[str, float | None]:
        n = self._all.n
        if not n:
            return dict.fromkeys(("with_skill", "without_skill", "delta_pts"))
        ours, theirs = (passed / n for passed in self.passed)
        points = None if self.error_dominated else rounded((ours - theirs) * 100, 2)
        return {"with_skill": rounded(ours, 4), "without_skill": rounded(theirs, 4), "delta_pts": points}

    def _change(self, name: str) -> dict[str, float | None] | None:
        return None if not self._all.n and name in _NULL_IF_NOTHING else self._all.change(name)


def aggregate(units: Iterable[Unit]) -> Aggregate:
    """All units added up."""
    result = Aggregate()
    for unit in units:
        result.add(unit)
    return result
