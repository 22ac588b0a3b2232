"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import ExitCodeOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `exit-code`."""
    yield Provider(
        name="exit-code",
        options=ExitCodeOptions,
        factory="skillgauge_scorer_exit_code.scorer:ExitCodeScorer",
        summary="The process under test ended with an exit code that was expected.",
    )
