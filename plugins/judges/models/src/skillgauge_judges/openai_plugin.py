"""Announces the judge `openai`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Judge, Provider, hookimpl

from .options import OpenAIOptions
from .provider import judge_provider
from .vendors import OPENAI


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `openai`, in a module of its own, so that it can be blocked alone."""
    yield judge_provider(
        OPENAI,
        OpenAIOptions,
        factory="skillgauge_judges.openai:OpenAIJudge",
        summary="Grade with OpenAI's models, or any server that speaks Chat Completions.",
    )
