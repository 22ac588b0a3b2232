"""Sandboxes that do not suit what is to run in them."""

from __future__ import annotations

import pytest

from skillgauge.contract.providers import Traits
from skillgauge.contract.sandboxes import Tier
from skillgauge.plan.checks.sandboxes import engines_out_of_reach, too_weak

HERE, ANYWHERE = Traits(), Traits(remote=True)


@pytest.mark.parametrize(
    ("tier", "is_named", "untrusted", "expected"),
    [
        (Tier.NONE, False, False, None),
        (Tier.STRICT, False, True, None),
        (Tier.STRICT, True, True, None),
        (Tier.PARTIAL, True, True, "the sandbox here, 'x', is of tier partial, not strict"),
        (Tier.PARTIAL, False, True, "the best sandbox here, 'x', is of tier partial, not strict"),
        (Tier.NONE, False, True, "the best sandbox here, 'x', is of tier none, not strict"),
    ],
)
def test_too_weak(tier: Tier, is_named: bool, untrusted: bool, expected: str | None) -> None:
    """What is not trusted runs only where it is confined strictly; what is trusted runs anywhere."""
    problems = list(too_weak("x", tier, is_named=is_named, untrusted=untrusted))
    assert [problem.message for problem in problems] == ([] if expected is None else [expected])
    assert {problem.code for problem in problems} <= {"sandbox.too-weak"}


@pytest.mark.parametrize(
    ("engines", "is_remote", "expected"),
    [
        ({}, True, []),
        ({"a": HERE, "b": ANYWHERE}, False, []),
        ({"b": ANYWHERE}, True, []),
        ({"a": HERE, "b": ANYWHERE, "c": HERE}, True, ["a", "c"]),
    ],
    ids=["no engine", "this machine", "remote engine", "mixed"],
)
def test_engines_out_of_reach(engines: dict[str, Traits], is_remote: bool, expected: list[str]) -> None:
    """Only an engine that announces it drives its agent on another machine."""
    problems = list(engines_out_of_reach(engines, "cloud", is_remote=is_remote))
    assert [problem.message for problem in problems] == [
        f"engine {name!r} prepares its agent on this machine, and sandbox 'cloud' runs it on another"
        for name in expected
    ]
    assert {problem.code for problem in problems} <= {"sandbox.remote"}
