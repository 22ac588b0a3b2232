"""Gates against an earlier run: is a skill better than it was, or not worse, and is it the skill that changed?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skillgauge_documents.characters import plain
from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import chance_text, counted

from ...report.answer import span_text
from ...report.wording import labels, moved_text, noted, of_number
from ...stats import Change, ChangeFinding, Repeats, TwiceRun, change_of, least_skill_change, new_change_bounds
from ...types.arms import DIRECT, GroupKey
from ...types.decided import Direction, GateAnswer, GroupChange
from ...types.gate import CaseScope, Gate
from ...types.results.runs import RunView
from ...types.results.summaries import Figure
from ..gates import GateResult, agreed, answer_of, gated
from ..pair_gates import WORDS, LiftGate, PairDemands, beyond_text
from .changes import changes_of
from .matching import Earlier, Matching, SharedCases

_FIGURE = "change"
_SHOWN = 80
_POINTS = 100.0


def against_answers(matching: Matching, demands: PairDemands) -> Iterator[GateResult]:
    """The answers for each candidate arm.

    Args:
        matching: the run and what it is compared with. Blocks; call it from a worker thread.
        demands: which gates, and their margin.
    """
    groups = [group.key for group in gated(matching.view)]
    names = dict(zip(groups, labels(groups, _SHOWN), strict=True))
    margin = demands.margin_pts / _POINTS
    for key, name in names.items():
        for gate in demands.gates:
            if gate is not LiftGate.NO_REGRESSION:
                yield _Asked(matching, gate, margin, demands.scope, key, name).answer()
    if LiftGate.NO_REGRESSION in demands.gates:
        changes = changes_of(matching, margin)
        yield from (_unless_worse(change, names[change.group], changes.since, margin) for change in changes.groups)


def _unless_worse(change: GroupChange, name: str, since: str, margin: float) -> GateResult:
    """Missed if a group is worse beyond chance, all groups of the run allowed for; open if it was not compared."""
    figure = Figure(name=_FIGURE, label="Change", value=change.own, unit="ratio")
    gate = Gate(figure=_FIGURE, threshold=LiftGate.NO_REGRESSION.threshold(margin))
    answer = _ANSWERS_OF_DIRECTIONS.get(change.direction, GateAnswer.MET)
    message = f"{name} {_PREDICATES[answer]} {plain(since)}{_shown(change)}"
    return GateResult(gate, change.group, figure, answer, message)


_ANSWERS_OF_DIRECTIONS = {Direction.WORSE: GateAnswer.MISSED, Direction.APART: GateAnswer.INCONCLUSIVE}
_PREDICATES = {
    GateAnswer.MISSED: "is worse than",
    GateAnswer.INCONCLUSIVE: "is not compared with",
    GateAnswer.MET: "is not shown to be worse than",
}


def _shown(change: GroupChange) -> str:
    """The figures of a change, or why there are none."""
    if change.own is None:
        return noted(": ", change.note)
    chance = "" if change.chance is None else f"; {chance_text(change.chance)}"
    return f" on these cases ({moved_text(change.own, change.lift)}, n = {counted(change.n, 'case')}{chance})"


_MARGINS = (10.0, 15.0, 20.0, 30.0, 50.0)


def least_margin(view: RunView) -> float | None:
    """Return the margin, in points, that `--gate not-worse` needs to be met by the same results again.

    Args:
        view: the run that would be compared with. Its results are read; blocks.

    Returns:
        10 or the least of some larger margins; `None` if none is enough.
    """
    matching = Matching(view, Earlier(view, ""))
    for margin in _MARGINS:
        demands = PairDemands(gates=(LiftGate.NOT_WORSE,), margin_pts=margin)
        answers = {result.answer for result in against_answers(matching, demands)}
        if answers == {GateAnswer.MET}:
            return margin
    return None


def can_show_loss(view: RunView) -> bool:
    """Tell whether each group has enough runs for `--gate no-regression` to be missed, were every case to fail.

    Args:
        view: the run that would be compared with. Its results are read; blocks.
    """
    matching = Matching(view, Earlier(view, ""))
    groups = [matching.cases(group.key, group.key).graded for group in gated(view)]
    changes = [
        change_of([_lost(case) for case in cases]) for cases in groups if any(case.before.passed for case in cases)
    ]
    return all(change is not None and change.finding(0.0) is ChangeFinding.WORSE for change in changes)


def _lost(case: TwiceRun) -> TwiceRun:
    """The case as if every repeat with the skill had failed the second time."""
    return replace(case, after=Repeats(0, case.after.graded))


def unanswerable_again(earlier: Earlier, demands: PairDemands) -> Iterator[str]:
    """Yield a sentence on each gate that the same results again would leave open, before anything is paid for.

    Args:
        earlier: the run that is compared with. Its results are read; blocks.
        demands: which gates, and their margin.
    """
    asked = demands.model_copy(update={"gates": tuple(gate for gate in demands.gates if gate is LiftGate.NOT_WORSE)})
    for result in against_answers(Matching(earlier.view, earlier), asked):
        if result.answer is not GateAnswer.MET:
            yield f"the same results again would not meet the gate: {result.told}"


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
    """The change with its number of cases."""
    return f"{moved_text(change.own, change.lift)}, n = {counted(change.n, 'case')}"


@immutable
class _Asked:
    """A gate on one group."""

    matching: Matching
    wanted: LiftGate
    margin: float
    scope: CaseScope
    key: GroupKey
    name: str

    @property
    def threshold(self) -> float:
        """The least change that meets it."""
        return self.wanted.threshold(self.margin)

    @property
    def since(self) -> str:
        """The name of the earlier run."""
        return plain(self.matching.earlier.name)

    def answer(self) -> GateResult:
        """Met or missed if the whole interval says so and nothing but the skill explains it; else open."""
        partner = self.matching.partner(self.key)
        if partner is None:
            return self._open(f"{self.name}: {self.since} has nothing to compare it with")
        if differing := self.matching.differing(self.key, partner):
            return self._open(f"{self.name} is not compared with {self.since}: this changed: {', '.join(differing)}")
        cases = self.matching.cases(self.key, partner)
        change = change_of(cases.graded)
        if change is None:
            return self._open(f"{self.name}: no case of {self.since} is still the same")
        if self.scope is CaseScope.THESE:
            return self._of_these(cases, change)
        return self._of_new(cases, change)

    def _of_these(self, cases: SharedCases, change: Change) -> GateResult:
        """Met or missed if these cases show it, however the errors might have ended."""
        answer = agreed(self._answer_of(way) for way in cases.ways)
        bounds = (change.least, -least_skill_change([case.reversed for case in cases.graded]))
        figure = Figure(name=_FIGURE, label="Change", value=change.own, unit="ratio", bounds=bounds)
        shown = f"{_changes_text(change)}; a change from {span_text(bounds)} is possible"
        return self._result(figure, answer, self._message(answer, shown, cases))

    def _answer_of(self, cases: Sequence[TwiceRun]) -> GateAnswer:
        """The answer of one way in which the errors might have ended."""
        if self.wanted is LiftGate.NOT_WORSE:
            change, answers = change_of(cases), _ANSWERS_ON_LOSS
        else:
            change, answers = change_of([case.reversed for case in cases]), _ANSWERS_ON_GAIN
        if change is None:
            return GateAnswer.INCONCLUSIVE
        return answers[change.finding(self.margin)]

    def _of_new(self, cases: SharedCases, change: Change) -> GateResult:
        """Met or missed if the whole interval for new cases says so, however the errors might have ended."""
        bounds = [new_change_bounds(way, is_gain=self.wanted is LiftGate.BETTER) for way in cases.ways]
        spans = [span for span in bounds if span is not None]
        if len(spans) < len(bounds):
            number = len(cases.graded)
            subject = f"{counted(number, 'case')} {of_number(number, 'is', 'are')}"
            return self._open(f"{self.name}: {subject} too few to compare new ones with {self.since}")
        span = min(lower for lower, _ in spans), max(upper for _, upper in spans)
        figure = Figure(name=_FIGURE, label="Change", value=change.own, unit="ratio", bounds=span)
        answer = answer_of(self.threshold, figure)
        return self._result(figure, answer, self._message(answer, f"{_changes_text(change)}; {span_text(span)}", cases))

    def _message(self, answer: GateAnswer, shown: str, cases: SharedCases) -> str:
        beyond = beyond_text(self.margin * _POINTS)
        message = f"{self.name} {WORDS[self.wanted, answer]} than {self.since}{beyond} {self.scope.text} ({shown})"
        if self.key.arm == DIRECT.name:
            return message
        return f"{message}; {cases.control_text}"

    def _open(self, message: str) -> GateResult:
        return self._result(Figure(name=_FIGURE, label="Change", value=None), GateAnswer.INCONCLUSIVE, message)

    def _result(self, figure: Figure, answer: GateAnswer, message: str) -> GateResult:
        return GateResult(Gate(figure=_FIGURE, threshold=self.threshold), self.key, figure, answer, message)
