"""Gates against an earlier run: whether a skill is better than it was, or not worse, and whether that is the skill's.

The same cases are compared with themselves. The arm without the skill is the control: where it moved the same way, the
model changed, and nothing is said of the skill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import points

from ..errors import Problem, UsageError
from ..report.wording import labels
from ..stats import Evidence, LiftTally
from ..types.comparison import CaseSummary, GroupKey
from ..types.gate import Gate
from ..types.result import Figure, RunState, RunView
from ..types.suite import DIRECT
from ..types.trial import Identity
from .case_by_case import case_by_case
from .gates import GateAnswer, GateResult, answer_of, gated
from .pair_gates import LiftGate, PairDemands, interval_bounds, span_text

_FIGURE = "change"
_SHOWN = 80
_POINTS = 100.0
_WORDS = {
    (LiftGate.NOT_WORSE, GateAnswer.MET): "is not worse than",
    (LiftGate.NOT_WORSE, GateAnswer.MISSED): "is worse than",
    (LiftGate.NOT_WORSE, GateAnswer.INCONCLUSIVE): "may or may not be worse than",
    (LiftGate.BETTER, GateAnswer.MET): "is better than",
    (LiftGate.BETTER, GateAnswer.MISSED): "is not better than",
    (LiftGate.BETTER, GateAnswer.INCONCLUSIVE): "may or may not be better than",
}

_Cases = Mapping[str, tuple[CaseSummary, str]]
"""By id: what became of a case, and the digest of its content."""


def why_unusable(view: RunView) -> str:
    """Say why nothing can be compared with a run; empty if it can."""
    if view.run.state is not RunState.FINISHED:
        return f"the run is {view.run.state}"
    if view.head.is_chosen:
        return "the run is of cases that were chosen for their results"
    invalid = [f"{plain(one.suite_id)}: {one.reason}" for one in view.summary.validity if not one.valid]
    return f"the run is invalid: {'; '.join(invalid)}" if invalid else ""


@dataclass(frozen=True)
class Earlier:
    """The run that a gate compares with."""

    view: RunView
    name: str

    def require_usable(self, demands: PairDemands) -> None:
        """Refuse what no gate could be answered by, before anything runs.

        Raises:
            UsageError: with the reason.
        """
        if not demands.gates:
            hint = "Add --gate not-worse or --gate better."
            raise UsageError(Problem("usage.against", "--against needs a --gate", hint=hint))
        if why := why_unusable(self.view):
            hint = "Name a finished and valid run."
            raise UsageError(
                Problem("usage.against", f"nothing can be compared with {plain(self.name)}: {why}", hint=hint)
            )


def against_answers(view: RunView, earlier: Earlier, demands: PairDemands) -> Iterator[GateResult]:
    """The answers for each candidate arm.

    Args:
        view: the run. Blocks, and so does the earlier one; call it from a worker thread.
        earlier: what it is compared with.
        demands: which gates, and their margin.
    """
    before, after = _by_group(earlier.view), _by_group(view)
    groups = [group.key for group in gated(view)]
    for key, name in zip(groups, labels(groups, _SHOWN), strict=True):
        for gate in demands.gates:
            yield _Asked(view, earlier, gate, demands.margin_pts / _POINTS, key, name).answer(before, after)


def _by_group(view: RunView) -> dict[GroupKey, dict[str, tuple[CaseSummary, str]]]:
    cases_by_group: dict[GroupKey, dict[str, tuple[CaseSummary, str]]] = {}
    for report in case_by_case(view):
        for key, summary in report.summaries.items():
            cases_by_group.setdefault(key, {})[report.case.id] = (summary, report.case.digest)
    return cases_by_group


@dataclass(frozen=True)
class _Change:
    """The differences between the cases of one group now and before."""

    evidence: Evidence | None
    errors: tuple[float, float] | None
    """The change if all errors had gone against the group, and if all had gone for it."""

    @classmethod
    def of(cls, before: _Cases, after: _Cases) -> _Change:
        """Over the cases that both have and that are the same."""
        tally = LiftTally()
        for case, (ours, content) in after.items():
            if case in before and _is_same(content, before[case][1]):
                tally.add(ours.counts, before[case][0].counts, ours.cluster)
        return cls(tally.evidence, tally.bounds)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Of the change of new cases, errors counted both ways; `None` below the fewest cases."""
        return interval_bounds(self.evidence, self.errors)


def _is_same(digest: str, other: str) -> bool:
    """Tell whether two digests may be of one content; an empty one is unknown."""
    return digest == other or not digest or not other


@dataclass(frozen=True)
class _Asked:
    """A gate on one group."""

    view: RunView
    earlier: Earlier
    wanted: LiftGate
    margin: float
    key: GroupKey
    name: str

    @property
    def threshold(self) -> float:
        """The least change that meets it."""
        return self.wanted.threshold(self.margin)

    def answer(self, before: Mapping[GroupKey, _Cases], after: Mapping[GroupKey, _Cases]) -> GateResult:
        """Met or missed if the whole interval says so and nothing but the skill explains it; else open."""
        partner = self._partner(before)
        if partner is None:
            return self._open(f"{self.name}: {plain(self.earlier.name)} has nothing to compare it with")
        if changed := [*self._changed_runner(partner), *self._changed_judges()]:
            changes = ", ".join(changed)
            return self._open(f"{self.name} is not compared with {plain(self.earlier.name)}: this changed: {changes}")
        change = _Change.of(before[partner], after.get(self.key, {}))
        if change.evidence is None:
            return self._open(f"{self.name}: no case of {plain(self.earlier.name)} is still the same")
        if change.bounds is None:
            too_few = f"{change.evidence.n} cases are too few to compare it with {plain(self.earlier.name)}"
            return self._open(f"{self.name}: {too_few}")
        return self._decided(change.evidence.estimate, change.bounds, self._control(partner, before, after))

    def _decided(self, estimate: float, bounds: tuple[float, float], control: _Change | None) -> GateResult:
        figure = Figure(name=_FIGURE, label="Change", value=estimate, unit="ratio", bounds=bounds)
        answer = answer_of(self.threshold, figure)
        beyond = f" by more than {self.margin * _POINTS:g} points" if self.margin else ""
        outcome = f"{_WORDS[self.wanted, answer]} {plain(self.earlier.name)}{beyond} ({span_text(bounds)})"
        is_models = self._moved_alike(control, answer)
        message = f"{self.name} {outcome}{self._owed_to(control, is_models=is_models)}"
        return self._result(figure, GateAnswer.INCONCLUSIVE if is_models else answer, message)

    def _partner(self, before: Mapping[GroupKey, _Cases]) -> GroupKey | None:
        """The same group of the earlier run; with another engine or model only if it is the only one."""
        if self.key in before:
            return self.key
        mine = (self.key.suite_id, self.key.target_id, self.key.arm)
        alike = [key for key in before if (key.suite_id, key.target_id, key.arm) == mine]
        return alike[0] if len(alike) == 1 else None

    def _changed_runner(self, partner: GroupKey) -> Iterator[str]:
        """Yield another model or engine than before: a difference would be none of the skill."""
        if partner.model and self.key.model and partner.model != self.key.model:
            yield f"model: {plain(partner.model)} → {plain(self.key.model)}"
        if self.key.arm != DIRECT.name and partner.runner != self.key.runner:
            yield f"engine: {plain(partner.runner)} → {plain(self.key.runner)}"

    def _changed_judges(self) -> Iterator[str]:
        """Yield other judges than before, if both runs have any."""
        before, after = self.earlier.view.head.judges, self.view.head.judges
        is_same = {(judge.name, judge.model) for judge in before} == {(judge.name, judge.model) for judge in after}
        if before and after and not is_same:
            yield f"judge: {_judge_names(before)} → {_judge_names(after)}"

    def _control(
        self, partner: GroupKey, before: Mapping[GroupKey, _Cases], after: Mapping[GroupKey, _Cases]
    ) -> _Change | None:
        """The same of the arm without the skill, where both runs have it."""
        for arm in self._baselines():
            theirs, ours = partner.in_arm(arm), self.key.in_arm(arm)
            if theirs in before and ours in after:
                change = _Change.of(before[theirs], after[ours])
                if change.evidence:
                    return change
        return None

    def _baselines(self) -> list[str]:
        """Return the arms that this group's arm is compared with in its suite."""
        for suite in self.view.head.suites:
            if suite.id == self.key.suite_id:
                return [pair.baseline for pair in suite.compared if pair.candidate == self.key.arm]
        return []

    def _moved_alike(self, control: _Change | None, answer: GateAnswer) -> bool:
        """Tell whether the arm without the skill alone went as far, beyond doubt."""
        if control is None or control.bounds is None:
            return False
        match self.wanted, answer:
            case LiftGate.NOT_WORSE, GateAnswer.MISSED:
                return control.bounds[1] < -self.margin
            case LiftGate.BETTER, GateAnswer.MET:
                return control.bounds[0] > self.margin
            case _:
                return False

    def _owed_to(self, control: _Change | None, *, is_models: bool) -> str:
        """Tell whether the skill or the model changed, as far as the arm without the skill shows it."""
        if self.key.arm == DIRECT.name:
            return ""
        if control is None or control.evidence is None:
            return "; the skill or the model changed: there is no arm without the skill in both runs"
        moved = f"without the skill {points(control.evidence.estimate)}"
        return f"; the model changed, not the skill: {moved}" if is_models else f"; {moved}"

    def _open(self, message: str) -> GateResult:
        return self._result(Figure(name=_FIGURE, label="Change", value=None), GateAnswer.INCONCLUSIVE, message)

    def _result(self, figure: Figure, answer: GateAnswer, message: str) -> GateResult:
        return GateResult(Gate(figure=_FIGURE, threshold=self.threshold), self.key, figure, answer, message)


def _judge_names(judges: Sequence[Identity]) -> str:
    names = {(judge.name, judge.model) for judge in judges}
    return ", ".join(sorted(plain(model or name) for name, model in names))
