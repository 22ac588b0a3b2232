"""The outcome of a case: which repeats decide, how many of them, and what counts for nothing."""

from __future__ import annotations

import pytest

from skillgauge.report.outcomes import OutcomeTally, outcome_of
from skillgauge.report.pairs import counts_of
from skillgauge.report.wording import cases_text
from skillgauge.types.comparison import CaseCounts, CaseOutcome
from skillgauge.types.gate import Quarantined, RepeatRule
from skillgauge.types.results.trials import TrialResult
from skillgauge.types.trial import SuiteHead

from .test_pairs import trial

SUITE = SuiteHead(
    id="demo", format="f", root="/", content_digest="", case_count=1, targets=(), arms=("with",), quarantined=()
)


def repeats(letters: str, rule: RepeatRule | None = None) -> list[TrialResult]:
    """The trials of one case."""
    changes = {} if rule is None else {"repeat_rule": rule}
    return [trial(0, "with", repeat, letter, **changes) for repeat, letter in enumerate(letters, 1)]


def outcome(letters: str, rule: RepeatRule | None = None, suite: SuiteHead | None = SUITE) -> CaseOutcome:
    """What became of it."""
    results = repeats(letters, rule)
    return outcome_of(counts_of(results), results, suite)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("p", "passed"),
        ("f", "failed"),
        ("e", "error"),
        ("s", "skipped"),
        ("ppf", "passed"),
        ("pf", "failed"),
        ("pff", "failed"),
        ("ppe", "passed"),
        ("pee", "passed"),
        ("fe", "failed"),
        ("pfe", "failed"),
        ("ee", "error"),
        ("se", "error"),
    ],
)
def test_more_than_half_of_the_graded_repeats_decide(letters: str, expected: str) -> None:
    """An error is no repeat, and only a case that has nothing else could not be graded."""
    assert outcome(letters) == expected
    assert outcome(letters, suite=None) == expected


@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_threshold_of_the_suite_is_met_exactly(tenths: int) -> None:
    """At least that share, or less than that share may do the opposite: no rounding turns either."""
    share = tenths / 10
    at_least, below = RepeatRule(share=share, above=False), RepeatRule(share=1 - share, above=True)
    for passed in range(11):
        letters = "p" * passed + "f" * (10 - passed)
        assert (outcome(letters, at_least) == "passed") is (passed >= tenths), (passed, tenths)
        assert (outcome(letters, below) == "passed") is (10 - passed < tenths), (passed, tenths)


def test_a_case_in_quarantine_is_nothing_else() -> None:
    """Whatever its repeats gave; the next case is none of it."""
    apart = SUITE.model_copy(update={"quarantined": (Quarantined(case="case 0", until="9999-12-31"),)})
    assert {outcome(letters, suite=apart) for letters in ("p", "f", "e", "s")} == {CaseOutcome.QUARANTINED}
    other = SUITE.model_copy(update={"quarantined": (Quarantined(case="case 1", until="9999-12-31"),)})
    assert outcome("p", suite=other) is CaseOutcome.PASSED


def test_every_outcome_is_counted_and_told() -> None:
    """One sentence for all surfaces, over the graded cases."""
    tally = OutcomeTally()
    for one in CaseOutcome:
        tally.add(one)
    tally.add(CaseOutcome.PASSED)
    assert tally.counts == CaseCounts(passed=2, failed=1, error=1, skipped=1, quarantined=1)
    assert cases_text(tally.counts) == (
        "2 of 3 cases passed, 1 failed, 1 could not be graded, 1 skipped, 1 in quarantine"
    )
    assert cases_text(CaseCounts(passed=1)) == "1 of 1 case passed"
