"""Announces the judge; what it does is in `judge`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Judge, Provider, Traits, hookimpl

from .options import HOST, VARIABLES, GeminiOptions


def _make(options: BaseModel) -> Judge:
    from .judge import GeminiJudge  # noqa: PLC0415 - announcing stays cheap

    return GeminiJudge(GeminiOptions.model_validate(options))


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `gemini`."""
    yield Provider(
        name="gemini",
        options=GeminiOptions,
        factory=_make,
        summary="Grade with Google's Gemini models.",
        traits=Traits(
            secrets=VARIABLES,
            model_hosts=(HOST,),
            model_patterns=("gemini-*",),
            paid=True,
        ),
    )
