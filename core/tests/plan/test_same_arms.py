"""The same arm twice: what is compared with what, and that no session is taken from an earlier run."""

from __future__ import annotations

import pytest

from skillgauge.errors import UsageError
from skillgauge.plan.same_arms import with_same_arms
from skillgauge.types.arms import Arm, ArmKind, Comparison
from skillgauge.types.suite import Suite, SuiteDefaults

ARMS = tuple(Arm(name=name, kind=ArmKind.AGENT) for name in ("new", "old", "none"))


def suite(*comparisons: tuple[str, str]) -> Suite:
    """A suite that compares some of three arms."""
    return Suite(
        id="s",
        format="f",
        root="/s",
        arms=ARMS,
        comparisons=tuple(Comparison(candidate=ours, baseline=theirs) for ours, theirs in comparisons),
        defaults=SuiteDefaults(cache_baseline=True),
    )


def test_each_candidate_is_compared_with_itself() -> None:
    """Once, however many arms it was compared with; other arms do not run, and a suite without comparisons does not."""
    (twice,) = with_same_arms([suite(("new", "none"), ("new", "old"), ("old", "none")), suite()])
    assert [arm.name for arm in twice.arms] == ["new", "old", "new-again", "old-again"]
    assert [(one.candidate, one.baseline) for one in twice.comparisons] == [("new", "new-again"), ("old", "old-again")]
    assert [arm.digest for arm in twice.arms[:2]] == [arm.digest for arm in twice.arms[2:]]
    assert not twice.defaults.cache_baseline


def test_nothing_to_compare_is_refused() -> None:
    """It says what to do."""
    with pytest.raises(UsageError) as raised:
        with_same_arms([suite()])
    assert raised.value.problems[0].code == "usage.same"
