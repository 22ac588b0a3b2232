"""Limits of the budget that cannot be enforced."""

from __future__ import annotations

import pytest

from skillgauge.contract.providers import Fact, Traits
from skillgauge.errors import Severity
from skillgauge.plan.checks.budget import uncountable_limits
from skillgauge.run.budget import BudgetLimits

NOTHING = Traits(paid=True)
TOKENS = Traits(paid=True, tells=frozenset({Fact.USAGE}))
BOTH = Traits(paid=True, tells=frozenset({Fact.USAGE, Fact.COST}))
FREE = Traits()
FREE_TOKENS = Traits(tells=frozenset({Fact.USAGE}))
COST = "does not report what it costs, so --max-cost cannot be enforced"
USAGE = "does not report what it uses, so --max-tokens cannot be enforced"


@pytest.mark.parametrize(
    ("limits", "traits", "expected"),
    [
        (BudgetLimits(), NOTHING, []),
        (BudgetLimits(cost_usd=1), BOTH, []),
        (BudgetLimits(cost_usd=1), FREE, []),
        (BudgetLimits(cost_usd=1), TOKENS, [(COST, "Use --max-tokens, or set its prices")]),
        (BudgetLimits(cost_usd=1), NOTHING, [(COST, "Leave it out, or set its prices")]),
        (BudgetLimits(tokens=1), TOKENS, []),
        (BudgetLimits(tokens=1), NOTHING, [(USAGE, "Leave it out.")]),
        (BudgetLimits(1, 1), NOTHING, [(COST, "Leave it out, or"), (USAGE, "Leave it out.")]),
    ],
)
def test_uncountable_limits(limits: BudgetLimits, traits: Traits, expected: list[tuple[str, str]]) -> None:
    """An engine that costs money must report it in the unit of the limit."""
    problems = list(uncountable_limits(limits, {"engine 'good'": BOTH, "engine 'x'": traits}))
    assert [problem.message for problem in problems] == [f"engine 'x' {message}" for message, _ in expected]
    for problem, (_, hint) in zip(problems, expected, strict=True):
        assert problem.hint is not None
        assert problem.hint.startswith(hint)
        assert (problem.code, problem.severity) == ("usage.budget", Severity.ERROR)


def test_a_limit_of_tokens_that_cost_nothing_is_a_warning() -> None:
    """An agent without a model runs on, however few tokens are allowed."""
    (problem,) = uncountable_limits(BudgetLimits(tokens=10), {"engine 'mock'": FREE_TOKENS})
    assert problem.message == "engine 'mock' costs nothing, so --max-tokens cannot be enforced"
    assert problem.severity is Severity.WARNING
    assert not list(uncountable_limits(BudgetLimits(cost_usd=1), {"engine 'mock'": FREE_TOKENS}))
