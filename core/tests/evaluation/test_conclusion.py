"""What is told when a run has ended."""

from __future__ import annotations

import pytest

from skillgauge.config.arguments import OPTIONS
from skillgauge.config.configuration import Config
from skillgauge.config.option import Kind, Option
from skillgauge.evaluation.conclusion import gate_options, spending_text
from skillgauge.types.results.summaries import Spending


@pytest.mark.parametrize(
    ("spending", "told"),
    [
        (None, ""),
        (
            Spending(cost_usd=1.234, tokens=56_789),
            "spent: 1.23 USD and 56,789 tokens, judges included",
        ),
        (
            Spending(cost_usd=0.5, tokens=100, unknown=2),
            "spent: 0.50 USD and 100 tokens, judges included; what 2 trials cost is unknown",
        ),
        (Spending(tokens=1_000), "spent: 1,000 tokens, judges included"),
        (
            Spending(cost_usd=0.75, tokens=140, user_usd=0.25, user_tokens=40),
            "spent: 0.75 USD and 140 tokens, judges included; 0.25 USD and 40 tokens of it by simulated users",
        ),
        (Spending(cost_usd=0.5), "spent: 0.50 USD, judges included"),
        (
            Spending(cost_usd=0.03, tokens=27_731, unknown=1, cut_off=3),
            "spent: 0.03 USD and 27,731 tokens, judges and 3 attempts cut off included; what 1 trial cost is unknown",
        ),
        (Spending(unknown=1, cut_off=1), "spent: what 1 trial cost is unknown"),
        (Spending(replayed=24), "spent: nothing for 24 replayed trials"),
    ],
)
def test_what_a_run_cost(spending: Spending | None, told: str) -> None:
    """All who are paid are counted, and what is unknown is told instead of counted as nothing."""
    assert spending_text(spending) == told


@pytest.mark.parametrize(
    "option",
    [option for option in OPTIONS["Gates"] if option.kind is Kind.NUMBER],
    ids=lambda option: option.value_name,
)
def test_zero_is_a_number(option: Option) -> None:
    """`--min-delta-pts 0` is a demand, and `--min-completion 0` a threshold; 0 equals False, which is not given."""
    gates = gate_options({option.value_name: 0.0}, Config([]))
    owner, _, field = option.field.partition(".")
    demands = {"gates": gates, "pairs": gates.pairs}[owner]
    assert getattr(demands, field) == 0.0
    assert field in demands.model_fields_set
    assert gates.are_given is option.asks_gate
