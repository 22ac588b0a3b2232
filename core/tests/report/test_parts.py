"""Parts of a run, of sources that give them and of those that give all or nothing."""

from __future__ import annotations

import pytest

from skillgauge.decide.case_by_case import case_by_case, case_report
from skillgauge.report.progress import Parted, abridged, abridged_results, result_of_trial, results_of_case
from skillgauge.types.results.runs import ResultOrder, RunView, case_order
from skillgauge.types.results.trials import TrialResult
from skillgauge_testkit import contract_views

VIEWS = [pytest.param(view, id=what) for what, view in contract_views()]


class PartsOnly:
    """A source that must not be read as a whole."""

    def __init__(self, view: RunView) -> None:
        self._results = list(view.results())
        self.cases = view.cases

    def results(self, *_words: object) -> None:
        """Not to be called."""
        raise AssertionError("all of the run is read")

    def abridged(self, order: ResultOrder, group: object = None) -> list[TrialResult]:
        """See `Parted.abridged`."""
        chosen = [abridged(one) for one in self._results if group in (None, one.group)]
        return sorted(chosen, key=case_order) if order is ResultOrder.CASE else chosen

    def of_case(self, suite_id: str, case_index: int) -> list[TrialResult]:
        """See `Parted.of_case`."""
        return sorted(
            (one for one in self._results if (one.suite_id, one.case_index) == (suite_id, case_index)), key=case_order
        )

    def of_trial(self, ordinal: int) -> TrialResult | None:
        """See `Parted.of_trial`."""
        return next((one for one in self._results if one.ordinal == ordinal), None)


@pytest.mark.parametrize("view", VIEWS)
def test_any_source_gives_the_same_parts(view: RunView) -> None:
    """Whether it can choose them by itself or not."""
    whole, parted = view.source, PartsOnly(view)
    assert isinstance(parted, Parted)
    assert not isinstance(whole, Parted)
    results = list(view.results())
    for order in ResultOrder:
        for group in (None, *{result.group: None for result in results}):
            assert list(abridged_results(whole, order, group)) == list(abridged_results(parted, order, group))
    for result in results:
        place = result.suite_id, result.case_index
        assert list(results_of_case(whole, *place)) == list(results_of_case(parted, *place))
        assert result_of_trial(whole, result.ordinal) == result_of_trial(parted, result.ordinal) == result
    assert result_of_trial(whole, -1) is result_of_trial(parted, -1) is None


@pytest.mark.parametrize("view", VIEWS)
def test_a_case_alone_is_the_case_among_all(view: RunView) -> None:
    """And all cases without their sessions are made of results without them."""
    parted = RunView(view.run, view.head, view.summary, PartsOnly(view))
    reports = list(case_by_case(view))
    for report in reports:
        place = report.case.suite_id, report.case.index
        assert case_report(view, *place) == case_report(parted, *place) == report
    assert case_report(parted, "no such suite", 0) is None
    shown = list(case_by_case(parted, is_abridged=True))
    assert [report.summaries for report in shown] == [report.summaries for report in reports]
    for report, short in zip(reports, shown, strict=True):
        for group, repeats in report.results.items():
            assert short.results[group] == [abridged(result) for result in repeats]
