"""The groups and cases that two runs have in common, and what else changed between them.

The same cases are compared with themselves. The arm without the skill is the control: a skill has changed only as far
as the pass rate of its arm and its lift both did. The rule is that of `report diff`; see `skillgauge.stats.change_of`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from pathlib import PurePath

from skillgauge_documents.characters import plain
from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import chance_text, points

from ...errors import Problem, UsageError
from ...report.wording import prefixed
from ...stats import RARE, Repeats, TwiceRun, chance_of_difference
from ...types.arms import DIRECT, GroupKey
from ...types.comparison import CaseSummary
from ...types.results.runs import RunState, RunView
from ...types.trial import CaseHead, Identity
from ..case_by_case import case_by_case


def why_unusable(view: RunView) -> str:
    """Say why nothing can be compared with a run; empty if it can."""
    if view.run.state is not RunState.FINISHED:
        return f"the run is {view.run.state}"
    if view.head.is_chosen:
        return "the run is of cases or sessions that were chosen for their results, or may be"
    invalid = [f"{plain(one.suite_id)}: {one.reason}" for one in view.summary.validity if not one.valid]
    return prefixed("the run is invalid: ", "; ".join(invalid))


@immutable
class Earlier:
    """The run that another one is compared with."""

    view: RunView
    name: str
    """As reports call it."""

    @classmethod
    def of(cls, view: RunView, source: str) -> Earlier:
        """Return a run under the name of its source; of a file, its name without folder and ending."""
        name = PurePath(source).name
        return cls(view, name.partition(".")[0] if name != source or name.endswith(".json") else source)

    def require_usable(self) -> None:
        """Refuse a run that nothing could be compared with, before anything runs.

        Raises:
            UsageError: with the reason.
        """
        if why := why_unusable(self.view):
            message = f"nothing can be compared with {plain(self.name)}: {why}"
            raise UsageError(Problem("usage.against", message, hint="Name a finished and valid run."))


@dataclass(frozen=True)
class CaseOfGroup:
    """A case as it ended in one group."""

    head: CaseHead
    summary: CaseSummary


Group = Mapping[str, CaseOfGroup]
"""The cases of a group by their id."""


def _by_group(view: RunView) -> dict[GroupKey, dict[str, CaseOfGroup]]:
    cases_by_group: dict[GroupKey, dict[str, CaseOfGroup]] = {}
    for report in case_by_case(view, is_abridged=True):
        for key, summary in report.summaries.items():
            cases_by_group.setdefault(key, {})[report.case.id] = CaseOfGroup(report.case, summary)
    return cases_by_group


@immutable
class SharedCases:
    """The cases of one group that both runs have and that are the same, as they ended."""

    graded: tuple[TwiceRun, ...]
    worst: tuple[TwiceRun, ...]
    """As if every error had gone against the skill now and for it before."""
    best: tuple[TwiceRun, ...]

    @property
    def ways(self) -> tuple[tuple[TwiceRun, ...], ...]:
        """The ways in which the errors might have ended; one without any."""
        return tuple(dict.fromkeys((self.worst, self.best)))

    @property
    def control_text(self) -> str:
        """The change of the arm without the skill, which shows whether the skill or the model changed."""
        controls = [case.control for case in self.graded if case.control]
        if not controls:
            return "the skill or the model changed: there is no arm without the skill in both runs"
        moved = sum(after.share - before.share for before, after in controls) / len(controls)
        chance = chance_of_difference(Counter((after, before) for before, after in controls))
        if chance <= RARE:
            return f"the model changed: without the skill {points(moved)}, {chance_text(chance)}"
        return f"without the skill {points(moved)}"


def _is_same(before: CaseHead, now: CaseHead) -> bool:
    """Tell whether two cases may have one content; an empty digest is unknown."""
    digests = {before.digest, now.digest}
    return len(digests) == 1 or "" in digests


class _Errors(Enum):
    """A way in which trials that ended in an error count."""

    LEFT_OUT = auto()
    AGAINST = auto()
    """Against the skill: failed now, passed before, and the other way round in the arm without it."""
    FOR = auto()


@immutable
class Matching:
    """A run and an earlier one, group by group. Reads the results of both; use it in a worker thread."""

    view: RunView
    earlier: Earlier

    @cached_property
    def before(self) -> Mapping[GroupKey, Group]:
        """The groups of the earlier run."""
        return _by_group(self.earlier.view)

    @cached_property
    def after(self) -> Mapping[GroupKey, Group]:
        """Those of the run."""
        return _by_group(self.view)

    def partner(self, key: GroupKey) -> GroupKey | None:
        """Return the same group of the earlier run; with another engine or model only if it is the only one."""
        if key in self.before:
            return key
        alike = self._partners.get((key.suite_id, key.target_id, key.arm), [])
        return alike[0] if len(alike) == 1 else None

    @cached_property
    def _partners(self) -> Mapping[tuple[str, str | None, str], list[GroupKey]]:
        partners: dict[tuple[str, str | None, str], list[GroupKey]] = {}
        for key in self.before:
            partners.setdefault((key.suite_id, key.target_id, key.arm), []).append(key)
        return partners

    def differing(self, key: GroupKey, partner: GroupKey) -> list[str]:
        """Return what differs beside the skill, so that a change would not be owed to it."""
        return [*_changed_runner(key, partner), *self._changed_judges()]

    def _changed_judges(self) -> Iterator[str]:
        """Yield other judges than before, if both runs have any."""
        before, after = self.earlier.view.head.judges, self.view.head.judges
        if before and after and _judge_models(before) != _judge_models(after):
            yield f"judge: {_judge_names(before)} → {_judge_names(after)}"

    def same_cases(self, key: GroupKey, partner: GroupKey) -> list[str]:
        """Return the ids of the cases that both runs have, with the same content."""
        before, after = self.before[partner], self.after.get(key, {})
        return [case for case, now in after.items() if case in before and _is_same(before[case].head, now.head)]

    def cases(self, key: GroupKey, partner: GroupKey) -> SharedCases:
        """Return the cases that both runs have, with those of the arm without the skill where both runs have it."""
        control = self._control(key, partner)
        arm = (self.before[partner], self.after.get(key, {}))
        shared = self.same_cases(key, partner)
        ways = [[_twice_run(case, arm, control, errors) for case in shared] for errors in _Errors]
        return SharedCases(*(tuple(case for case in way if case is not None) for way in ways))

    def _control(self, key: GroupKey, partner: GroupKey) -> tuple[Group, Group]:
        """The arm without the skill in both runs; without any case unless both have it."""
        suite = self.view.head.suites_by_id.get(key.suite_id)
        arms = [pair.baseline for pair in suite.compared if pair.candidate == key.arm] if suite else []
        for arm in arms:
            theirs, ours = partner.in_arm(arm), key.in_arm(arm)
            if theirs in self.before and ours in self.after:
                return self.before[theirs], self.after[ours]
        return {}, {}


def _changed_runner(key: GroupKey, partner: GroupKey) -> Iterator[str]:
    """Yield another model or engine than before: a difference would be none of the skill."""
    if partner.model and key.model and partner.model != key.model:
        yield f"model: {plain(partner.model)} → {plain(key.model)}"
    if key.arm != DIRECT.name and partner.runner != key.runner:
        yield f"engine: {plain(partner.runner)} → {plain(key.runner)}"


def _twice_run(case: str, arm: tuple[Group, Group], control: tuple[Group, Group], errors: _Errors) -> TwiceRun | None:
    """The case in both runs, before and after; `None` unless both have a repeat that counts."""
    before = _repeats(arm[0], case, errors, passes_if=_Errors.AGAINST)
    after = _repeats(arm[1], case, errors, passes_if=_Errors.FOR)
    if before is None or after is None:
        return None
    control_before = _repeats(control[0], case, errors, passes_if=_Errors.FOR)
    control_after = _repeats(control[1], case, errors, passes_if=_Errors.AGAINST)
    return TwiceRun(before, after, control_before, control_after)


def _repeats(group: Group, case: str, errors: _Errors, *, passes_if: _Errors) -> Repeats | None:
    """The repeats of a case that count; `None` if there are none."""
    if case not in group:
        return None
    counts = group[case].summary.counts
    passed, graded = counts.passed, counts.passed + counts.failed
    if errors is not _Errors.LEFT_OUT:
        graded += counts.errors
    if errors is passes_if:
        passed += counts.errors
    return Repeats(passed, graded) if graded else None


def _judge_models(judges: Sequence[Identity]) -> set[tuple[str, str | None]]:
    return {(judge.name, judge.model) for judge in judges}


def _judge_names(judges: Sequence[Identity]) -> str:
    return ", ".join(sorted(plain(model or name) for name, model in _judge_models(judges)))
