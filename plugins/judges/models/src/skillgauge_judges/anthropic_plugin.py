"""Announces the judge `anthropic`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Judge, Provider, hookimpl

from .options import AnthropicOptions
from .provider import judge_provider
from .vendors import ANTHROPIC


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `anthropic`, in a module of its own, so that it can be blocked alone."""
    yield judge_provider(
        ANTHROPIC,
        AnthropicOptions,
        factory="skillgauge_judges.anthropic:AnthropicJudge",
        summary="Grade with Anthropic's models, by the Messages API.",
    )
