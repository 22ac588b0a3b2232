"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import RegexOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `regex`."""
    yield Provider(
        name="regex",
        options=RegexOptions,
        factory="skillgauge_scorer_regex.scorer:RegexScorer",
        summary="Patterns are found in the output; credit for those that are.",
    )
