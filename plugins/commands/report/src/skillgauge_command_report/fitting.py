"""Everything that keeps several runs from being one: they may differ by engines, models and repeats only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from skillgauge.api import CaseHead, Problem, SuiteHead, plain
from skillgauge.api.report import GroupKey, RunState, RunView, counted, listed

_SAME = "Join runs of the same cases, skill and settings; evaluate again what changed."
_NAMED = 5
"""Cases that a message names."""


def misfits(runs: Sequence[RunView]) -> Iterator[Problem]:
    """Yield everything that keeps runs from being joined.

    Args:
        runs: the earliest first.
    """
    if len({view.run.run_id for view in runs}) < 2:
        yield Problem("join.one-run", "it takes at least two different runs", hint="List them: skillgauge history list")
        return
    unfit = [problem for view in runs for problem in _unfit(view)]
    yield from unfit
    if unfit:
        return
    yield from _strangers(runs)
    for suite_id in dict.fromkeys(suite.id for view in runs for suite in view.head.suites):
        of_suite = [view for view in runs if suite_id in view.head.suites_by_id]
        for first, second in pairwise(of_suite):
            yield from _differences(suite_id, first, second)
    yield from _other_judges(runs)
    yield from _changed_executions(runs)


def _strangers(runs: Sequence[RunView]) -> Iterator[Problem]:
    """Yield the runs that have no suite of the runs before them."""
    for place, view in enumerate(runs[1:], start=1):
        earlier = [former for former in runs[:place] if former.head.suites_by_id.keys() & view.head.suites_by_id.keys()]
        if not earlier:
            names = listed(suite.id for suite in view.head.suites)
            message = f"{_name(view)} has no suite in common with the runs before it: {names}"
            yield Problem("join.other-suites", message, hint="Join runs of the same suites.")


def _unfit(view: RunView) -> Iterator[Problem]:
    """Yield why a run cannot be joined with any other."""
    if view.run.state is not RunState.FINISHED:
        message = f"{_name(view)} is {view.run.state}"
        yield Problem("join.unfinished", message, hint="The command that began it resumes it.")
    if view.head.is_chosen:
        message = f"{_name(view)} is of cases or sessions that were chosen for their results, or may be"
        yield Problem("join.chosen", message, hint="Join the whole run that it was made from.")
    if not all(case.digest for case in view.cases()) or not view.head.suites:
        message = f"{_name(view)} does not say exactly what was executed"
        yield Problem("join.untold", message, hint="Name a run of the store, or its record.")


def _differences(suite_id: str, first: RunView, second: RunView) -> Iterator[Problem]:
    """Yield what differs in a suite that two runs have, aside from engines, models and repeats."""
    heads = (first.head.suites_by_id[suite_id], second.head.suites_by_id[suite_id])
    between = f"{plain(suite_id)} is not the same in {_name(first)} and {_name(second)}"
    for reason in (*_facts(*heads), *_cases(_cases_of(first, suite_id), _cases_of(second, suite_id))):
        yield Problem("join.changed", f"{between}: {reason}", hint=_SAME)


def _facts(first: SuiteHead, second: SuiteHead) -> Iterator[str]:
    if first.format != second.format or first.parameters != second.parameters:
        yield "another format reads it, or its parameters changed"
    if first.comparisons != second.comparisons or set(first.arms) != set(second.arms):
        yield f"its arms are {listed(first.arms)}, and {listed(second.arms)}"
    if first.until_decided != second.until_decided:
        yield "one of them ends as soon as its comparisons are decided"
    if first.timeout_s != second.timeout_s:
        yield f"the time limit is {first.timeout_s} s, and {second.timeout_s} s"
    yield from _contents(first, second)


def _contents(first: SuiteHead, second: SuiteHead) -> Iterator[str]:
    """Yield what changed of the targets, and of what arms install."""
    targets = [{target.id: target.digest for target in head.targets} for head in (first, second)]
    if targets[0].keys() != targets[1].keys():
        yield f"the targets are {listed(targets[0])}, and {listed(targets[1])}"
    arms = [dict(zip(head.arms, head.arm_digests, strict=False)) for head in (first, second)]
    changed = [name for name, value in arms[0].items() if arms[1].get(name, value) != value]
    if changed:
        yield f"what is installed changed, as the skill itself, in {listed(changed)}"
    changed = [name for name, value in targets[0].items() if targets[1].get(name, value) != value]
    if changed:
        yield f"the content of {listed(changed)} changed"


def _cases_of(view: RunView, suite_id: str) -> dict[str, CaseHead]:
    return {case.id: case for case in view.cases() if case.suite_id == suite_id}


def _cases(first: Mapping[str, CaseHead], second: Mapping[str, CaseHead]) -> Iterator[str]:
    """Yield which cases only one of two runs has, and which ask or check something else."""
    for here, there, which in ((first, second, "first"), (second, first, "second")):
        only = [name for name in here if name not in there]
        if only:
            yield f"only the {which} has {counted(len(only), 'case')}: {listed(only, _NAMED)}"
    changed = [name for name, case in first.items() if name in second and second[name].digest != case.digest]
    if changed:
        cases = counted(len(changed), "case")
        yield f"{cases} ask or check something else: {listed(changed, _NAMED)}"


def _other_judges(runs: Sequence[RunView]) -> Iterator[Problem]:
    for first, second in pairwise(runs):
        if {judge.digest for judge in first.head.judges} != {judge.digest for judge in second.head.judges}:
            message = f"{_name(first)} was graded by {_judges(first)}, and {_name(second)} by {_judges(second)}"
            hint = "Grade one of them again with the same judge: skillgauge rescore RUN --judge NAME."
            yield Problem("join.other-judge", message, hint=hint)


def _judges(view: RunView) -> str:
    return listed(f"{judge.name} {judge.model or ''}".strip() for judge in view.head.judges) or "no judge"


def _changed_executions(runs: Sequence[RunView]) -> Iterator[Problem]:
    """Yield the groups of several runs that did not execute the same: another skill, limit, setting or version."""
    seen: dict[GroupKey, tuple[RunView, dict[str, set[str]]]] = {}
    for view in runs:
        executed: dict[GroupKey, dict[str, set[str]]] = {}
        for result in view.results():
            executed.setdefault(result.group, {}).setdefault(result.case_id, set()).add(result.execution_id)
        for group, by_case in executed.items():
            earlier, before = seen.setdefault(group, (view, by_case))
            if earlier is view:
                continue
            if earlier.head.suites_by_id[group.suite_id].until_decided:
                message = f"{_title(group)}: {_name(earlier)} and {_name(view)} each ended when it was decided"
                hint = "Join runs of different engines or models; continue a run with: skillgauge eval --confirm RUN."
                yield Problem("join.decided", message, hint=hint)
            elif any(ids.isdisjoint(before.get(case, ids)) for case, ids in by_case.items()):
                message = (
                    f"{_title(group)}: the skill, its limits or settings, or a version are not the same in "
                    f"{_name(earlier)} and {_name(view)}"
                )
                yield Problem("join.changed", message, hint=_SAME)


def _title(group: GroupKey) -> str:
    engine = " ".join(plain(part) for part in (group.runner, group.model) if part)
    return f"{plain(group.subject)} by {engine}, arm {plain(group.arm)}"


def _name(view: RunView) -> str:
    return f"run {plain(view.run.run_id)}"
