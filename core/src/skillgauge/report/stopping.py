"""The reason why a comparison that runs until it is decided went no further, and the sessions that this has saved."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import counted

from ..types.arms import GroupKey
from ..types.comparison import CaseCounts, PairSummary
from ..types.results.runs import RunState, RunView
from ..types.results.summaries import GroupSummary
from .wording import span_text


@immutable
class PlannedSessions:
    """The sessions of each group of a run: how many there were, and how many there could have been at most."""

    of_group: Mapping[GroupKey, tuple[int, int]]
    """Empty for suites that run all of their sessions anyway, and for a run that came to no end."""

    @classmethod
    def of(cls, view: RunView) -> PlannedSessions:
        """Count those of a run."""
        if view.run.state is not RunState.FINISHED:
            return cls({})
        runs = {suite.id: suite.runs for suite in view.head.suites if suite.until_decided}
        groups = [group for group in view.summary.groups if group.suite_id in runs]
        return cls({group.key: (group.counts.total, runs[group.suite_id] * _case_count(group)) for group in groups})

    def stop_text(self, pair: PairSummary) -> str:
        """Say why a comparison stopped where it did; empty if it does not run until it is decided."""
        none = (0, 0)
        ours, theirs = self.of_group.get(pair.candidate, none), self.of_group.get(pair.baseline, none)
        run, most = ours[0] + theirs[0], ours[1] + theirs[1]
        if not most or pair.evidence is None:
            return ""
        if pair.evidence.chance <= pair.evidence.level:
            return f"decided after {run} of at most {counted(most, 'session')}"
        if run < most:
            return f"stopped after {run} of at most {counted(most, 'session')}, since the others would hardly decide it"
        return f"not decided after all of {counted(most, 'session')}"


def extent_text(view: RunView) -> str:
    """The trials and repeats of a run, and of how many at most if it runs until it is decided."""
    head = view.head
    if head.until_decided:
        trials = f"{view.summary.counts.total:,} of at most {counted(head.trial_count, 'trial')}"
        return f"{trials}, runs: at most {head.runs}"
    return f"{counted(head.trial_count, 'trial')}, runs: {span_text(head.fewest_runs, head.runs)}"


def _case_count(group: GroupSummary) -> int:
    cases = group.cases or CaseCounts()
    return cases.passed + cases.failed + cases.error + cases.skipped + cases.quarantined
