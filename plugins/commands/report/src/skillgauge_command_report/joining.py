"""Several runs of the same suites as one run: every session counts once, and every figure is computed anew.

Runs fit together if they differ by engines, models and repeats only. Whatever else differs would stand beside each
other as if it were the same, so it is refused with its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skillgauge.api import CaseHead, Kept, PlanHead, RunOrigin, SuiteHead, TrialResult, UsageError, digest, plain
from skillgauge.api.report import (
    Figure,
    GroupKey,
    RunInfo,
    RunState,
    RunView,
    Spending,
    SuiteSummary,
    case_order,
    counted,
    listed,
    summarize,
)

from .fitting import misfits

FigureSource = Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]]


@dataclass
class _Pool:
    """The repeats of one group, in the order of the runs that they come from."""

    repeats: int = 0
    """The repeats that there are so far."""
    looks: set[int] = field(default_factory=set)
    """The repeats that there were when somebody looked at them."""

    def numbers(self, results: Iterable[TrialResult], looks: Sequence[int]) -> dict[int, int]:
        """Return the number that each repeat of a further run gets, and count them."""
        further = sorted({result.repeat for result in results})
        before = self.repeats
        ends = [before, *(before + sum(repeat <= look for repeat in further) for look in looks)]
        self.repeats += len(further)
        self.looks |= {end for end in ends if 0 < end < self.repeats}
        return {repeat: before + place for place, repeat in enumerate(further, start=1)}


@dataclass(frozen=True)
class Joined:
    """The run that was made of several."""

    view: RunView
    notices: tuple[str, ...]
    """Remarks on it, in sentences."""


def join(views: Sequence[RunView], figures: FigureSource) -> Joined:
    """Make one run of several.

    Args:
        views: the runs, each readable until the joined run has been read.
        figures: the formats' own numbers.

    Raises:
        UsageError: they do not fit together; with everything that differs.
    """
    runs = sorted(views, key=lambda view: view.run.started_at)
    UsageError.raise_for(list(misfits(runs)))
    sessions = _Sessions(runs)
    cases = _cases(runs)
    results = sessions.results(cases)
    head = _head(runs, sessions, results)
    source = Kept(lambda: results, cases.values())
    summary = summarize(head, sorted(results, key=case_order), figures=figures)
    spending = _spending(runs, summary.spending)
    attempts = sum(view.summary.interrupted_attempts for view in runs)
    summary = summary.model_copy(update={"spending": spending, "interrupted_attempts": attempts})
    return Joined(RunView(_info(runs), head, summary, source), tuple(_notices(runs, sessions)))


class _Sessions:
    """The sessions of several runs, each once, under the repeats that they have together.

    A session that ran is known by its start; one that was played back, by what it holds.

    Args:
        runs: the earliest first.
    """

    def __init__(self, runs: Sequence[RunView]) -> None:
        self.repeated: int = 0
        """Results that are left out since another run has the same session."""
        self.by_run: dict[str, int] = {}
        """Sessions that each run adds."""
        self.pools: dict[GroupKey, _Pool] = defaultdict(_Pool)
        self._results: list[TrialResult] = []
        kept = self._kept(runs)
        for view, results in zip(runs, kept, strict=True):
            self._add(view, results)

    def _kept(self, runs: Sequence[RunView]) -> list[list[TrialResult]]:
        """Return the results of each run without those of sessions that count elsewhere; live ones go before copies."""
        by_run = [list(view.results()) for view in runs]
        counted_keys: set[str] = set()
        kept: list[set[int]] = [set() for _ in runs]
        for replayed in (False, True):
            for place, results in enumerate(by_run):
                for index, result in enumerate(results):
                    if result.execution.replayed is not replayed:
                        continue
                    content = _content_key(result)
                    key = content if replayed else _start_key(result)
                    if key in counted_keys:
                        self.repeated += 1
                        continue
                    counted_keys |= {key, content}
                    kept[place].add(index)
        return [
            [result for index, result in enumerate(results) if index in indexes]
            for results, indexes in zip(by_run, kept, strict=True)
        ]

    def _add(self, view: RunView, results: Sequence[TrialResult]) -> None:
        self.by_run[view.run.run_id] = len(results)
        by_group: dict[GroupKey, list[TrialResult]] = defaultdict(list)
        for result in results:
            by_group[result.group].append(result)
        for group, of_group in by_group.items():
            numbers = self.pools[group].numbers(of_group, view.head.suites_by_id[group.suite_id].looks)
            self._results += [_numbered(result, numbers[result.repeat]) for result in of_group]

    def results(self, cases: Mapping[tuple[str, str], CaseHead]) -> list[TrialResult]:
        """Return all results in the order of a plan, each at the place of its case."""
        suites = list(dict.fromkeys(suite for suite, _ in cases))
        placed = [
            result.model_copy(update={"case_index": cases[result.suite_id, result.case_id].index})
            for result in self._results
        ]
        placed.sort(key=lambda result: (suites.index(result.suite_id), result.repeat, *case_order(result)))
        return [result.model_copy(update={"ordinal": ordinal}) for ordinal, result in enumerate(placed)]

    def repeats_of(self, suite_id: str) -> list[int]:
        """Return how many repeats the groups of a suite have."""
        return [pool.repeats for group, pool in self.pools.items() if group.suite_id == suite_id]

    def looks_of(self, suite_id: str) -> tuple[int, ...]:
        """Return the repeats that there were at each earlier look at a group of a suite: each run that was added."""
        return tuple(
            sorted({look for group, pool in self.pools.items() if group.suite_id == suite_id for look in pool.looks})
        )


def _numbered(result: TrialResult, repeat: int) -> TrialResult:
    if repeat == result.repeat:
        return result
    trial_id = digest(result.trial_id, result.started_at)
    return result.model_copy(update={"repeat": repeat, "trial_id": trial_id})


def _start_key(result: TrialResult) -> str:
    return digest("start", *_place(result), result.started_at)


def _content_key(result: TrialResult) -> str:
    held = result.execution.model_dump_json(include={"output", "text", "answers", "exit_code", "trajectory"})
    return digest("content", *_place(result), held)


def _place(result: TrialResult) -> tuple[str | None, ...]:
    group = result.group
    parts = (group.suite_id, group.target_id, group.arm, group.runner, group.model)
    return (*parts, result.case_id, result.execution_id)


def _cases(runs: Sequence[RunView]) -> dict[tuple[str, str], CaseHead]:
    """Return the cases of all runs, each as the earliest run with it has it."""
    cases: dict[tuple[str, str], CaseHead] = {}
    for view in runs:
        for case in view.cases():
            cases.setdefault((case.suite_id, case.id), case)
    return cases


def _head(runs: Sequence[RunView], sessions: _Sessions, results: Sequence[TrialResult]) -> PlanHead:
    """Return the head of the joined run; its origin names the runs."""
    suites = _suites(runs, sessions, results)
    ids = [view.run.run_id for view in runs]
    parts = [name for view in runs for name in (view.head.origin and view.head.origin.joined) or [view.run.run_id]]
    origin = RunOrigin(run_id=ids[0], change=_change(ids, sessions), joined=tuple(dict.fromkeys(parts)))
    return runs[0].head.model_copy(
        update={
            "plan_id": digest("join", sorted(view.head.plan_id for view in runs)),
            "suites": suites,
            "trial_count": len(results),
            "runs": max(suite.runs for suite in suites),
            "runners": tuple(dict.fromkeys(runner for view in runs for runner in view.head.runners)),
            "models": tuple(dict.fromkeys(model for view in runs for model in view.head.models)),
            "judges": tuple(dict.fromkeys(judge for view in runs for judge in view.head.judges)),
            "provenance": {name: ", ".join(versions) for name, versions in _versions(runs).items()},
            "origin": origin,
        }
    )


def _suites(runs: Sequence[RunView], sessions: _Sessions, results: Sequence[TrialResult]) -> tuple[SuiteHead, ...]:
    """Return the suites of all runs, in the order in which the runs have them."""
    heads: dict[str, SuiteHead] = {}
    contents: dict[str, set[str]] = defaultdict(set)
    for view in runs:
        heads |= view.head.suites_by_id  # the latest, whose quarantine holds now
        for suite in view.head.suites:
            contents[suite.id].add(suite.content_digest)
    order = list(dict.fromkeys(suite.id for view in runs for suite in view.head.suites))
    return tuple(_suite(heads[name], contents[name], sessions, results) for name in order)


def _suite(head: SuiteHead, contents: Iterable[str], sessions: _Sessions, results: Sequence[TrialResult]) -> SuiteHead:
    repeats = sessions.repeats_of(head.id) or [head.runs]
    fewest = min(repeats) if head.fewest_runs is None else head.fewest_runs
    return head.model_copy(
        update={
            "content_digest": digest("join", sorted(contents)),
            "trial_count": sum(result.suite_id == head.id for result in results),
            "runs": max(repeats),
            "fewest_runs": fewest if fewest < max(repeats) else None,
            "looks": () if head.until_decided else sessions.looks_of(head.id),
        }
    )


def _change(ids: Sequence[str], sessions: _Sessions) -> str:
    """Say which runs were joined, and what each adds."""
    parts = [f"{plain(name)} ({counted(sessions.by_run[name], 'session')})" for name in ids]
    text = f"joined from {', '.join(parts)}"
    if sessions.repeated:
        text += f"; {counted(sessions.repeated, 'session')} that several of them hold count once"
    return text


def _versions(runs: Sequence[RunView]) -> dict[str, list[str]]:
    """Return the versions of each distribution that took part."""
    versions: dict[str, dict[str, None]] = defaultdict(dict)
    for view in runs:
        for name, version in view.head.provenance.items():
            versions[name][str(version)] = None
    return {name: list(of_name) for name, of_name in versions.items()}


def _info(runs: Sequence[RunView]) -> RunInfo:
    ends = [view.run.finished_at for view in runs if view.run.finished_at is not None]
    return RunInfo(
        run_id=f"joined-{digest(sorted(view.run.run_id for view in runs))[:12]}",
        state=RunState.FINISHED,
        started_at=runs[0].run.started_at,
        finished_at=max(ends, default=None),
    )


def _spending(runs: Sequence[RunView], counted_once: Spending | None) -> Spending | None:
    """Add to what the sessions used what each run used beside its results, as for attempts that a stop cut off."""
    total = counted_once
    for view in runs:
        alone = summarize(view.head, sorted(view.results(), key=case_order), figures=_no_figures).spending
        if view.summary.spending and alone:
            total = _added(total or Spending(), view.summary.spending, alone)
        elif view.summary.spending:
            total = _added(total or Spending(), view.summary.spending, Spending())
    return total


def _added(total: Spending, whole: Spending, part: Spending) -> Spending:
    """Return a total with what the whole has beyond a part of it."""
    names = ("cost_usd", "tokens", "unknown", "cut_off")
    more = {name: max(0, getattr(whole, name) - getattr(part, name)) for name in names}
    return total.model_copy(update={name: getattr(total, name) + value for name, value in more.items()})


def _no_figures(_suite: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    return {}


def _notices(runs: Sequence[RunView], sessions: _Sessions) -> Iterable[str]:
    """Yield the remarks on the joined run."""
    changed = [name for name, versions in _versions(runs).items() if len(versions) > 1]
    if changed:
        yield f"the runs were made with different versions of {listed(changed)}; each result stands as it was graded"
    untold = [view.run.run_id for view in runs if any(not suite.arm_digests for suite in view.head.suites)]
    if untold:
        yield f"the content of the skills is not told by {listed(untold)}, so it is not known to be the same"
    empty = [name for name, count in sessions.by_run.items() if not count]
    if empty:
        yield f"nothing is added by {listed(empty)}: the other runs hold all of its sessions"
