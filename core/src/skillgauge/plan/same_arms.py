"""The same arm twice (A/A): what two arms differ by although nothing differs, which is the noise of a suite."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import Problem, UsageError
from ..types.arms import Comparison
from ..types.suite import Suite

AGAIN = "-again"
"""End of the name of the second arm."""


def with_same_arms(suites: Iterable[Suite]) -> tuple[Suite, ...]:
    """Return the suites with each candidate arm compared with itself, and no other arm.

    Args:
        suites: the suites to run; those that compare no arms are left out.

    Raises:
        UsageError: none of them compares arms.
    """
    compared = tuple(_with_same_arms(suite) for suite in suites if suite.comparisons)
    if not compared:
        message = "--same compares an arm with itself, and no suite here compares arms"
        raise UsageError(Problem("usage.same", message, hint="Leave out --same, or name a suite of agent evals."))
    return compared


def _with_same_arms(suite: Suite) -> Suite:
    candidates = dict.fromkeys(comparison.candidate for comparison in suite.comparisons)
    arms = [arm for arm in suite.arms if arm.name in candidates]
    again = [arm.model_copy(update={"name": f"{arm.name}{AGAIN}"}) for arm in arms]
    return suite.model_copy(
        update={
            "arms": (*arms, *again),
            "defaults": suite.defaults.model_copy(update={"cache_baseline": False}),  # a known session shows no noise
            "comparisons": tuple(
                Comparison(candidate=arm.name, baseline=other.name, is_same=True)
                for arm, other in zip(arms, again, strict=True)
            ),
        }
    )
