"""Announces the judge `gemini`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Judge, Provider, hookimpl

from .options import GeminiOptions
from .provider import judge_provider
from .vendors import GEMINI


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `gemini`, in a module of its own, so that it can be blocked alone."""
    yield judge_provider(
        GEMINI,
        GeminiOptions,
        factory="skillgauge_judges.gemini:GeminiJudge",
        summary="Grade with Google's Gemini models.",
    )
