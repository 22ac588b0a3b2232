"""Announces the judge; what it does is in `judge`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Fact, Judge, Provider, Traits, hookimpl


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `mock`."""
    yield Provider(
        name="mock",
        factory="skillgauge_judge_mock.judge:MockJudge",
        summary="A judge without a model, for dry runs and tests: a claim is true if its text is in the output.",
        traits=Traits(only_by_name=True, tells=frozenset({Fact.USAGE, Fact.COST})),
    )
