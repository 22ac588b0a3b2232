"""A run that was carried out, read case by case, as documents and the terminal tell it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from skillgauge_documents.frozen import once
from skillgauge_documents.immutables import immutable

from ..report.pairs import case_summary, pairs_of
from ..report.progress import abridged_results, results_of_case
from ..types.arms import GroupKey
from ..types.comparison import CasePair, CaseSummary
from ..types.results.runs import ResultOrder, RunView
from ..types.results.trials import TrialResult
from ..types.trial import CaseHead, SuiteHead


@immutable
class CaseReport:
    """All that is known of one case in a run."""

    case: CaseHead
    """Of a run that does not tell its cases: id and tags."""
    results: Mapping[GroupKey, Sequence[TrialResult]]
    """Its repeats, group by group: by target, runner, model and arm."""
    suite: SuiteHead | None
    """`None` if the run does not tell it."""

    @once
    def summaries(self) -> Mapping[GroupKey, CaseSummary]:
        """Of the same groups."""
        return {group: case_summary(group, repeats, self.suite) for group, repeats in self.results.items()}

    @once
    def pairs(self) -> tuple[CasePair, ...]:
        """Every comparison of its suite, once for each target, runner and model."""
        return tuple(pairs_of(self.suite, self.summaries)) if self.suite else ()


def case_by_case(view: RunView, *, is_abridged: bool = False) -> Iterator[CaseReport]:
    """The cases of a run that have a result, each with all its arms; the results are read once, and one case is held.

    Args:
        view: the run. Blocks; call it from a worker thread.
        is_abridged: whether the results may come without what agents did step by step, which is read faster.
    """
    suites = view.head.suites_by_id
    heads = view.cases()
    head = next(heads, None)
    order = ResultOrder.CASE
    results_of_run = abridged_results(view.source, order) if is_abridged else view.source.results(order)
    for place, results in groupby(results_of_run, key=_place):
        groups = _by_group(results)
        while head is not None and (head.suite_id, head.index) < place:
            head = next(heads, None)
        case = head
        if case is None or (case.suite_id, case.index) != place:
            case = _bare_head(groups)
        yield CaseReport(case, groups, suites.get(place[0]))


def case_report(view: RunView, suite_id: str, index: int) -> CaseReport | None:
    """Return one case of a run with all its arms; `None` if it has no result.

    Args:
        view: the run. Blocks; call it from a worker thread.
        suite_id: the suite of the case.
        index: its place in the suite.
    """
    groups = _by_group(results_of_case(view.source, suite_id, index))
    if not groups:
        return None
    heads = (case for case in view.cases() if (case.suite_id, case.index) == (suite_id, index))
    return CaseReport(next(heads, None) or _bare_head(groups), groups, view.head.suites_by_id.get(suite_id))


def _by_group(results: Iterable[TrialResult]) -> dict[GroupKey, list[TrialResult]]:
    return {group: list(repeats) for group, repeats in groupby(results, key=attrgetter("group"))}


def _place(result: TrialResult) -> tuple[str, int]:
    return result.suite_id, result.case_index


def _bare_head(groups: Mapping[GroupKey, Sequence[TrialResult]]) -> CaseHead:
    result = next(iter(groups.values()))[0]
    return CaseHead(suite_id=result.suite_id, index=result.case_index, id=result.case_id, tags=result.tags)
