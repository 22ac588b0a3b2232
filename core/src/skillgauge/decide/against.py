"""Gates against an earlier run: whether a skill is better than it was, or not worse, and whether that is the skill's.

The same cases are compared with themselves. The arm without the skill is the control: a skill has changed only as far
as the pass rate of its arm and its lift both did. The rule is that of `report diff`; see `skillgauge.stats.change_of`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import chance_text, counted, points

from ..errors import Problem, UsageError
from ..report.answer import span_text
from ..report.wording import labels
from ..stats import (
    RARE,
    Change,
    ChangeFinding,
    Repeats,
    TwiceRun,
    chance_of_difference,
    change_of,
    new_change_bounds,
)
from ..types.arms import DIRECT
from ..types.comparison import CaseSummary, GroupKey
from ..types.gate import CaseScope, Gate
from ..types.result import Figure, RunState, RunView
from ..types.trial import Identity
from .case_by_case import case_by_case
from .gates import GateAnswer, GateResult, answer_of, gated
from .pair_gates import WORDS, LiftGate, PairDemands

_FIGURE = "change"
_SHOWN = 80
_POINTS = 100.0

_Group = Mapping[str, tuple[CaseSummary, str]]
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
            yield _Asked(view, earlier, gate, demands.margin_pts / _POINTS, demands.scope, key, name).answer(
                before, after
            )


_MARGINS = (10.0, 15.0, 20.0, 30.0, 50.0)


def least_margin(view: RunView) -> float | None:
    """Return the margin, in points, that `--gate not-worse` needs to be met by the same results again.

    Args:
        view: the run that would be compared with. Its results are read; blocks.

    Returns:
        10 or the least of some larger margins; `None` if none is enough.
    """
    earlier = Earlier(view, "")
    for margin in _MARGINS:
        demands = PairDemands(gates=(LiftGate.NOT_WORSE,), margin_pts=margin)
        answers = {result.answer for result in against_answers(view, earlier, demands)}
        if answers == {GateAnswer.MET}:
            return margin
    return None


def unanswerable_again(earlier: Earlier, demands: PairDemands) -> Iterator[str]:
    """Yield a sentence on each gate that the same results again would leave open, before anything is paid for.

    Args:
        earlier: the run that is compared with. Its results are read; blocks.
        demands: which gates, and their margin.
    """
    asked = demands.model_copy(update={"gates": tuple(gate for gate in demands.gates if gate is LiftGate.NOT_WORSE)})
    for result in against_answers(earlier.view, earlier, asked):
        if result.answer is not GateAnswer.MET:
            yield f"the same results again would not meet the gate: {result.told}"


def _by_group(view: RunView) -> dict[GroupKey, dict[str, tuple[CaseSummary, str]]]:
    cases_by_group: dict[GroupKey, dict[str, tuple[CaseSummary, str]]] = {}
    for report in case_by_case(view):
        for key, summary in report.summaries.items():
            cases_by_group.setdefault(key, {})[report.case.id] = (summary, report.case.digest)
    return cases_by_group


@dataclass(frozen=True)
class _Cases:
    """The cases of one group that both runs have and that are the same, as they ended."""

    graded: tuple[TwiceRun, ...]
    worst: tuple[TwiceRun, ...]
    """As if every error had gone against the skill now and for it before."""
    best: tuple[TwiceRun, ...]

    @property
    def ways(self) -> tuple[tuple[TwiceRun, ...], ...]:
        """The ways in which the errors might have ended; one without any."""
        return tuple(dict.fromkeys((self.worst, self.best)))


def _is_same(digest: str, other: str) -> bool:
    """Tell whether two digests may be of one content; an empty one is unknown."""
    return digest == other or not digest or not other


def _is_in(case: str, content: str, group: _Group) -> bool:
    """Tell whether a group has a case of the same content."""
    return case in group and _is_same(content, group[case][1])


class _Errors(Enum):
    """A way in which trials that ended in an error count."""

    LEFT_OUT = auto()
    AGAINST = auto()
    """Against the skill: failed now, passed before, and the other way round in the arm without it."""
    FOR = auto()


def _twice_run(
    case: str, arm: tuple[_Group, _Group], control: tuple[_Group, _Group], errors: _Errors
) -> TwiceRun | None:
    """The case in both runs, before and after; `None` unless both have a repeat that counts."""
    before = _repeats(arm[0], case, errors, passes_if=_Errors.AGAINST)
    after = _repeats(arm[1], case, errors, passes_if=_Errors.FOR)
    if before is None or after is None:
        return None
    control_before = _repeats(control[0], case, errors, passes_if=_Errors.FOR)
    control_after = _repeats(control[1], case, errors, passes_if=_Errors.AGAINST)
    return TwiceRun(before, after, control_before, control_after)


def _repeats(group: _Group, case: str, errors: _Errors, *, passes_if: _Errors) -> Repeats | None:
    """The repeats of a case that count; `None` if there are none."""
    if case not in group:
        return None
    counts = group[case][0].counts
    passed, graded = counts.passed, counts.passed + counts.failed
    if errors is not _Errors.LEFT_OUT:
        graded += counts.errors
    if errors is passes_if:
        passed += counts.errors
    return Repeats(passed, graded) if graded else None


_ANSWERS_ON_LOSS = {
    ChangeFinding.WORSE: GateAnswer.MISSED,
    ChangeFinding.NOT_WORSE: GateAnswer.MET,
    ChangeFinding.UNDECIDED: GateAnswer.INCONCLUSIVE,
}
_ANSWERS_ON_GAIN = {
    ChangeFinding.WORSE: GateAnswer.MET,
    ChangeFinding.NOT_WORSE: GateAnswer.MISSED,
    ChangeFinding.UNDECIDED: GateAnswer.INCONCLUSIVE,
}
"""Of the change as if the second run had been the first: what it lost has been gained."""


def _changes_text(change: Change) -> str:
    """The change of the pass rate, and of the lift where it is known."""
    lift = "" if change.lift is None else f", lift {points(change.lift)}"
    return f"pass rate {points(change.own)}{lift}, n = {counted(change.n, 'case')}"


@dataclass(frozen=True)
class _Asked:
    """A gate on one group."""

    view: RunView
    earlier: Earlier
    wanted: LiftGate
    margin: float
    scope: CaseScope
    key: GroupKey
    name: str

    @property
    def threshold(self) -> float:
        """The least change that meets it."""
        return self.wanted.threshold(self.margin)

    def answer(self, before: Mapping[GroupKey, _Group], after: Mapping[GroupKey, _Group]) -> GateResult:
        """Met or missed if the whole interval says so and nothing but the skill explains it; else open."""
        partner = self._partner(before)
        if partner is None:
            return self._open(f"{self.name}: {plain(self.earlier.name)} has nothing to compare it with")
        if changed := [*self._changed_runner(partner), *self._changed_judges()]:
            changes = ", ".join(changed)
            return self._open(f"{self.name} is not compared with {plain(self.earlier.name)}: this changed: {changes}")
        cases = self._cases(partner, before, after)
        if not cases.graded:
            return self._open(f"{self.name}: no case of {plain(self.earlier.name)} is still the same")
        if self.scope is CaseScope.THESE:
            return self._of_these(cases)
        return self._of_new(cases)

    def _of_these(self, cases: _Cases) -> GateResult:
        """Met or missed if these cases show it, however the errors might have ended."""
        answers = {self._answer_of(way) for way in cases.ways}
        answer = answers.pop() if len(answers) == 1 else GateAnswer.INCONCLUSIVE
        change, gain = change_of(cases.graded), change_of([case.reversed for case in cases.graded])
        if change is None or gain is None:
            raise AssertionError("there are cases")
        figure = Figure(
            name=_FIGURE, label="Change", value=change.own, unit="ratio", bounds=(change.least, -gain.least)
        )
        bounds = f"a change from {span_text((change.least, -gain.least))} is possible"
        return self._result(figure, answer, self._message(answer, f"{_changes_text(change)}; {bounds}", cases))

    def _answer_of(self, cases: Sequence[TwiceRun]) -> GateAnswer:
        """The answer of one way in which the errors might have ended."""
        if self.wanted is LiftGate.NOT_WORSE:
            change, answers = change_of(cases), _ANSWERS_ON_LOSS
        else:
            change, answers = change_of([case.reversed for case in cases]), _ANSWERS_ON_GAIN
        if change is None:
            return GateAnswer.INCONCLUSIVE
        return answers[change.finding(self.margin)]

    def _of_new(self, cases: _Cases) -> GateResult:
        """Met or missed if the whole interval for new cases says so, however the errors might have ended."""
        bounds = [new_change_bounds(way, is_gain=self.wanted is LiftGate.BETTER) for way in cases.ways]
        change = change_of(cases.graded)
        spans = [span for span in bounds if span is not None]
        if change is None or len(spans) < len(bounds):
            number = counted(len(cases.graded), "case")
            verb = "is" if len(cases.graded) == 1 else "are"
            too_few = f"{number} {verb} too few to compare new ones with {plain(self.earlier.name)}"
            return self._open(f"{self.name}: {too_few}")
        span = min(lower for lower, _ in spans), max(upper for _, upper in spans)
        figure = Figure(name=_FIGURE, label="Change", value=change.own, unit="ratio", bounds=span)
        answer = answer_of(self.threshold, figure)
        return self._result(figure, answer, self._message(answer, f"{_changes_text(change)}; {span_text(span)}", cases))

    def _message(self, answer: GateAnswer, shown: str, cases: _Cases) -> str:
        beyond = f" by more than {self.margin * _POINTS:g} points" if self.margin else ""
        predicate = f"{WORDS[self.wanted, answer]} than {plain(self.earlier.name)}{beyond} {self.scope.text}"
        return f"{self.name} {predicate} ({shown}){self._owed_to(cases)}"

    def _partner(self, before: Mapping[GroupKey, _Group]) -> GroupKey | None:
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
        if before and after and _judge_models(before) != _judge_models(after):
            yield f"judge: {_judge_names(before)} → {_judge_names(after)}"

    def _cases(self, partner: GroupKey, before: Mapping[GroupKey, _Group], after: Mapping[GroupKey, _Group]) -> _Cases:
        """The cases that both runs have, with those of the arm without the skill where both runs have it."""
        control = self._control(partner, before, after)
        now = after.get(self.key, {})
        shared = [case for case, (_, content) in now.items() if _is_in(case, content, before[partner])]
        ways = [
            [_twice_run(case, (before[partner], now), control, errors) for case in shared]
            for errors in (_Errors.LEFT_OUT, _Errors.AGAINST, _Errors.FOR)
        ]
        return _Cases(*(tuple(case for case in way if case is not None) for way in ways))

    def _control(
        self, partner: GroupKey, before: Mapping[GroupKey, _Group], after: Mapping[GroupKey, _Group]
    ) -> tuple[_Group, _Group]:
        """The arm without the skill in both runs; without any case unless both have it."""
        for arm in self._baselines():
            theirs, ours = partner.in_arm(arm), self.key.in_arm(arm)
            if theirs in before and ours in after:
                return before[theirs], after[ours]
        return {}, {}

    def _baselines(self) -> list[str]:
        """Return the arms that this group's arm is compared with in its suite."""
        for suite in self.view.head.suites:
            if suite.id == self.key.suite_id:
                return [pair.baseline for pair in suite.compared if pair.candidate == self.key.arm]
        return []

    def _owed_to(self, cases: _Cases) -> str:
        """Tell what the arm without the skill did, which shows whether the skill or the model changed."""
        if self.key.arm == DIRECT.name:
            return ""
        controls = [case.control for case in cases.graded if case.control]
        if not controls:
            return "; the skill or the model changed: there is no arm without the skill in both runs"
        moved = sum(after.share - before.share for before, after in controls) / len(controls)
        chance = chance_of_difference(Counter((after, before) for before, after in controls))
        if chance <= RARE:
            return f"; the model changed: without the skill {points(moved)}, {chance_text(chance)}"
        return f"; without the skill {points(moved)}"

    def _open(self, message: str) -> GateResult:
        return self._result(Figure(name=_FIGURE, label="Change", value=None), GateAnswer.INCONCLUSIVE, message)

    def _result(self, figure: Figure, answer: GateAnswer, message: str) -> GateResult:
        return GateResult(Gate(figure=_FIGURE, threshold=self.threshold), self.key, figure, answer, message)


def _judge_models(judges: Sequence[Identity]) -> set[tuple[str, str | None]]:
    return {(judge.name, judge.model) for judge in judges}


def _judge_names(judges: Sequence[Identity]) -> str:
    return ", ".join(sorted(plain(model or name) for name, model in _judge_models(judges)))
