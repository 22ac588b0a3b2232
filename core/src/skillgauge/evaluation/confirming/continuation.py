"""The choice of what is run again: which cases of a run, how often, and with which options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from skillgauge_documents.phrases import counted, listed

from ...errors import Problem, UsageError
from ...plan.options import PAIRED, EvalOptions, How, What, Who
from ...report.answer import compared
from ...stats import Evidence, Finding, repeats_for
from ...types.arms import DIRECT
from ...types.comparison import PairSummary
from ...types.plan import Selection
from ...types.results.runs import RunView
from ...types.results.trials import TrialResult
from ...types.suite import Case
from ...types.trial import CaseHead, SuiteHead
from .conditions import Place, run_name, unfit

RUNS = 5
"""Repeats of cases that the user names, if the command gives no number."""
_NAMED = 6


@dataclass(frozen=True)
class Continuation:
    """The cases of a run that get further repeats, and how many."""

    view: RunView
    cases: Mapping[Place, CaseHead]
    runs: int
    """Further repeats of each."""
    chosen: bool = False
    """Whether the user chose some cases only."""

    @cached_property
    def results(self) -> tuple[TrialResult, ...]:
        """All results of the run, in the order of its plan."""
        return tuple(self.view.results())

    @cached_property
    def suites(self) -> dict[str, SuiteHead]:
        """The suites that are continued, by id, as they are in the run."""
        ids = {suite for suite, _ in self.cases}
        return {suite.id: suite for suite in self.view.head.suites if suite.id in ids}

    @cached_property
    def present(self) -> dict[str, int]:
        """Repeats of each suite that the run has; fewer than its plan allows if it stopped when it was decided."""
        present = Counter[str]()
        for result in self.results:
            present[result.suite_id] = max(present[result.suite_id], result.repeat)
        return present

    def options(self, options: EvalOptions, *, here: bool) -> EvalOptions:
        """Say what to evaluate: the same as in the run, unless the user says otherwise.

        Args:
            options: what the user says.
            here: whether the command names nothing to evaluate.
        """
        return replace(
            options, what=self._what(options.what, here=here), who=self._who(options.who), how=self._how(options.how)
        )

    def _what(self, subject: What, *, here: bool) -> What:
        selection = subject.selection.model_copy(update={"targets": ()})  # they chose suites, which are continued whole
        subject = replace(subject, selection=selection)
        if not here:
            return subject
        return replace(subject, paths=tuple(dict.fromkeys(Path(suite.root) for suite in self.suites.values())))

    def _who(self, who: Who) -> Who:
        if not (who.engines or who.replay):
            who = self._with_engines(who)
        if not (who.judges or who.judge_models):
            who = self._with_judges(who)
        return who

    def _with_engines(self, who: Who) -> Who:
        """Take the engines of the run, and their models if all are known."""
        groups = [group for group in self.view.summary.groups if group.suite_id in self.suites]
        pairs = list(dict.fromkeys((group.runner, group.model) for group in groups if group.arm != DIRECT.name))
        if not pairs:
            return who
        if who.models:
            return replace(who, engines=tuple(dict.fromkeys(engine for engine, _ in pairs)))
        return replace(who, engines=tuple(PAIRED.join(filter(None, pair)) for pair in pairs))

    def _with_judges(self, who: Who) -> Who:
        """Take the judges of the run, and their models if all are known."""
        judges = self.view.head.judges
        if not judges:
            return who
        who = replace(who, judges=tuple(judge.name for judge in judges))
        models = [judge.model or judge.settings.get("model") for judge in judges]
        if not all(models):
            return who
        return replace(who, judge_models=tuple(map(str, models)))

    def _how(self, how: How) -> How:
        baseline = None
        if any(suite.comparisons for suite in self.suites.values()):
            baseline = any(suite.compared for suite in self.suites.values())
        most = max(self.present[suite] for suite in self.suites)
        return replace(how, runs=most + self.runs, detect=None, until_decided=self.until_decided, baseline=baseline)

    @property
    def until_decided(self) -> bool:
        """True if the further repeats end as soon as the comparisons are decided, as those of the run do."""
        return not self.chosen and any(suite.until_decided for suite in self.suites.values())

    @property
    def change(self) -> str:
        """The change to the run, as a sentence without its full stop."""
        times, more = f"{self.runs} times", f"{self.runs} more times"
        if self.runs == 1:
            times, more = "once", "once more"
        names = [case for _, case in self.cases]
        if self.chosen:
            noun = "case" if len(names) == 1 else "cases"
            return (
                f"only {noun} {listed(names)}, run again {times}; cases that were chosen for their results "
                "carry no interval, finding or gate"
            )
        shown = listed(names) if len(names) <= _NAMED else counted(len(names), "case")
        if self.until_decided:
            more = f"up to {more}, until decided"
        return f"{shown} run {more}; old and new results count together"


def continuation_of(view: RunView, selection: Selection, runs: int | None) -> Continuation:
    """Choose what to run again: the comparisons that a run leaves undecided, or the cases that the user selects.

    Args:
        view: the run.
        selection: what the user selects. Targets select the suites that have them, which are continued whole.
        runs: further repeats that the user asks for.

    Raises:
        UsageError: the run cannot be continued, or leaves nothing open.
    """
    UsageError.raise_for(list(unfit(view)))
    cases = {(case.suite_id, case.id): case for case in view.cases()}
    if selection.model_copy(update={"targets": ()}).is_given:
        return Continuation(view, _chosen(view, cases, selection), runs or RUNS, chosen=True)
    return _of_open_comparisons(view, cases, _suites_with(view, selection.targets), runs)


def _of_open_comparisons(
    view: RunView, cases: Mapping[Place, CaseHead], suites: set[str], runs: int | None
) -> Continuation:
    pairs = [pair for pair in compared(view) if pair.candidate.suite_id in suites]
    open_pairs = list(filter(_is_open, pairs))
    if open_pairs:
        suites = {pair.candidate.suite_id for pair in open_pairs}
    further = runs or _rounds_of(view, suites, open_pairs) or _enough(view, pairs, open_pairs)
    return Continuation(view, {place: case for place, case in cases.items() if place[0] in suites}, further)


def _rounds_of(view: RunView, suites: set[str], open_pairs: Sequence[PairSummary]) -> int | None:
    """The most rounds that a run which stops when it is decided goes on for: as many again as it was allowed."""
    if not open_pairs:
        return None
    return max((suite.runs for suite in view.head.suites if suite.id in suites and suite.until_decided), default=None)


def _is_open(pair: PairSummary) -> bool:
    return pair.evidence is not None and pair.evidence.finding is Finding.UNDECIDED


def _chosen(view: RunView, cases: Mapping[Place, CaseHead], selection: Selection) -> dict[Place, CaseHead]:
    """Return the cases that the user selects.

    Raises:
        UsageError: there is none.
    """
    chosen = {place: case for place, case in cases.items() if selection.admits(cast("Case", case))}
    if not chosen:
        hint = f"Its cases are: {listed(case.id for case in cases.values())}."
        message = f"{run_name(view)} has no case that is selected"
        raise UsageError(Problem("confirm.no-case", message, hint=hint))
    return chosen


def _suites_with(view: RunView, targets: tuple[str, ...]) -> set[str]:
    """The suites that have one of these targets; all, if none is named."""
    if not targets:
        return {suite.id for suite in view.head.suites}
    suites = {suite.id for suite in view.head.suites if any(target.id in targets for target in suite.targets)}
    if not suites:
        target_names = listed(dict.fromkeys(target.id for suite in view.head.suites for target in suite.targets))
        message = f"{run_name(view)} has no target {listed(targets)}"
        raise UsageError(Problem("confirm.no-target", message, hint=f"Its targets are: {target_names}."))
    return suites


def _enough(view: RunView, pairs: list[PairSummary], open_pairs: list[PairSummary]) -> int:
    """Further repeats that decide every open comparison, if it goes on as it began."""
    name = run_name(view)
    if not pairs:
        message = f"{name} compares no arms, so by itself it leaves nothing open"
        hint = "Give --runs N to add repeats; `report diff BEFORE RUN` prints how many a comparison with a run takes."
        raise UsageError(Problem("confirm.no-pairs", message, hint=hint))
    if not open_pairs:
        hint = "Give --runs N to add repeats anyway."
        raise UsageError(Problem("confirm.decided", f"{name} leaves nothing open", hint=hint))
    runs = {suite.id: suite.fewest_runs or suite.runs for suite in view.head.suites}
    numbers = [_further_repeats(pair.evidence, runs[pair.candidate.suite_id]) for pair in open_pairs if pair.evidence]
    known_numbers = list(filter(None, numbers))
    if not known_numbers:
        message = f"{name} shows too little for repeats to decide: more cases would"
        raise UsageError(Problem("confirm.too-little", message, hint="Give --runs N to add repeats anyway."))
    return max(known_numbers)


def _further_repeats(evidence: Evidence, present: int) -> int | None:
    if not evidence.estimate:
        return None
    level = evidence.next_level or evidence.level
    return repeats_for(evidence.n, abs(evidence.estimate), present=present, level=level)


def require_no_gate(demanded: Sequence[str]) -> None:
    """Refuse gates of cases that the user chose.

    Args:
        demanded: the options that ask for a gate.

    Raises:
        UsageError: there is one.
    """
    if demanded:
        message = f"{listed(demanded)}: cases that are chosen for their results answer no gate"
        hint = "Leave out --case, --tag and -k: then every case of the comparison is run again, and counts."
        raise UsageError(Problem("confirm.no-gate", message, hint=hint))


def notice(continuation: Continuation) -> str:
    """Say what is about to happen."""
    return f"{run_name(continuation.view)}: {continuation.change}"
