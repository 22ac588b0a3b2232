"""One wording: numbers as people read them, and no character from outside that acts, hides or turns text around."""

from __future__ import annotations

import pytest

from skillgauge.report.wording import figure_text, group_notes, labels, rate_notes, reason_of
from skillgauge.stats import Reliability
from skillgauge.types.comparison import CaseCounts
from skillgauge.types.results.summaries import Counts, Figure, GroupSummary, RateInterval
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score, ScoreStatus
from skillgauge.types.trial import Execution


@pytest.mark.parametrize(
    ("given_figure", "shown"),
    [
        (None, "–"),
        (Figure(name="f", label="F", value=None), "–"),
        (Figure(name="f", label="F", value=0.5, unit="ratio"), "50.0%"),
        (Figure(name="f", label="F", value=1234.0, unit="ms"), "1.2 s"),
        (Figure(name="f", label="F", value=0.9972, unit="score"), "0.997"),
        (Figure(name="f", label="F", value=3.0), "3"),
        (Figure(name="f", label="F", value=3.0, unit="a\x1bb"), "3 a\N{REPLACEMENT CHARACTER}b"),
    ],
)
def test_figures_by_their_unit(given_figure: Figure | None, shown: str) -> None:
    """Shares as percent, times as times, anything else with its unit, which comes from outside."""
    assert figure_text(given_figure) == shown


def test_labels_tell_groups_apart() -> None:
    """Target, arm and model always, suite and engine where they differ; a direct call needs no word for its arm."""

    def group(**changes: str | None) -> GroupSummary:
        known = {"suite_id": "evals", "target_id": "pdf", "arm": "with_skill", "runner": "claude", "model": None}
        return GroupSummary.model_validate(known | changes | {"counts": Counts(), "pass_rate": {"rate": None, "n": 0}})

    assert labels([group(), group(arm="without_skill")]) == ("pdf · with_skill", "pdf · without_skill")
    assert labels([group(model="m"), group(runner="codex")]) == (
        "pdf · with_skill · claude · m",
        "pdf · with_skill · codex",
    )
    assert labels([group(), group(suite_id="triggers")]) == ("pdf · evals · with_skill", "pdf · triggers · with_skill")
    assert labels([group(arm="direct")]) == ("pdf",)
    assert labels([group(arm="direct", target_id=None)]) == ("evals",)
    assert labels([group(target_id="x\x1b")]) == ("x\N{REPLACEMENT CHARACTER} · with_skill",)


def test_notes_beside_a_rate() -> None:
    """A perfect rate of few cases, and errors, leave something open."""
    perfect = GroupSummary(
        suite_id="s",
        target_id=None,
        arm="direct",
        runner="r",
        model=None,
        counts=Counts(total=6, passed=5, errors=1),
        pass_rate=RateInterval(rate=1.0, n=5, lower=0.566, upper=1.0),
        pass_bounds=(5 / 6, 1.0),
    )
    assert rate_notes(perfect) == (
        "5 of 5 cases passed; that proves no more than 56.6%",
        "with 1 error the rate lies between 83.3% (all failed) and 100.0% (all passed)",
    )
    counted = perfect.model_copy(update={"cases": CaseCounts(passed=5)})
    assert tuple(group_notes(counted)) == rate_notes(perfect), "the outcomes of cases are said once"
    counted = perfect.model_copy(update={"cases": CaseCounts(passed=5, error=1)})
    assert tuple(group_notes(counted)) == ("5 of 5 cases passed, 1 could not be graded", *rate_notes(perfect))
    many = perfect.model_copy(
        update={"pass_rate": RateInterval(rate=1.0, n=20, lower=0.8, upper=1.0), "pass_bounds": None}
    )
    assert rate_notes(many) == ()
    flaky = many.model_copy(update={"reliability": Reliability(cases=4, flaky=1, flip_rate=0.15, k=3, pass_hat_k=0.75)})
    disagree = "1 of 4 cases is flaky: two runs disagree in 15.0%"
    assert rate_notes(flaky) == (f"{disagree}, all of 3 pass in 75.0% (n = 4 cases)",)
    mixed = many.model_copy(update={"reliability": Reliability(cases=4, flaky=1, flip_rate=0.15, k=3, pass_hat_k=None)})
    assert rate_notes(mixed) == (disagree,)
    steady = many.model_copy(update={"reliability": Reliability(cases=4, flaky=0, flip_rate=0, k=3, pass_hat_k=1)})
    assert rate_notes(steady) == ()


def test_passes_after_further_attempts_are_told() -> None:
    """A skill that is tried until it passes is not steady."""
    counts = Counts(total=12, passed=10, failed=2, retried=4)
    known = {"suite_id": "s", "target_id": None, "arm": "direct", "runner": "r", "model": None}
    group = GroupSummary(**known, counts=counts, pass_rate=RateInterval(rate=0.8, n=6))
    assert rate_notes(group) == ("4 of 10 passed only after further attempts",)


@pytest.mark.parametrize(
    ("check", "reason", "expected"),
    [
        ("house form", 'Patterns not found: "^docs"', 'house form: Patterns not found: "^docs"'),
        ("regex 2", 'Patterns not found: "^docs"', 'Patterns not found: "^docs"'),
        ("house form", "house form: exit code 1", "house form: exit code 1"),
        ("house form", "", "check house form failed"),
    ],
)
def test_a_reason_names_the_check_that_its_author_named(check: str, reason: str, expected: str) -> None:
    """A name that was made of the scorer says nothing, and one that the reason has already is not said twice."""
    score = Score(check_id=check, scorer="regex", status=ScoreStatus.FAILED, value=0.0, reason=reason)
    failed = TrialResult(
        trial_id="t",
        execution_id="e",
        score_id="s",
        ordinal=0,
        suite_id="demo",
        case_id="one",
        case_index=0,
        target_id=None,
        arm="direct",
        runner="agent",
        model=None,
        repeat=1,
        verdict=Verdict.FAIL,
        execution=Execution(),
        scores=(score,),
        started_at=0.0,
    )
    assert reason_of(failed) == expected
