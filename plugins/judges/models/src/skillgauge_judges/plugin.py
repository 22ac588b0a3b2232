"""Announces the judges; each is imported when it is made."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Fact, Judge, Provider, Redirect, Traits, hookimpl
from skillgauge_model_client.options import ModelOptions, told_by

from .options import AnthropicOptions, GeminiOptions, OpenAIOptions
from .vendors import ANTHROPIC, GEMINI, OPENAI, Vendor


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `anthropic`, `gemini` and `openai`."""
    yield _provider(
        ANTHROPIC,
        AnthropicOptions,
        factory="skillgauge_judges.anthropic:AnthropicJudge",
        summary="Grade with Anthropic's models, by the Messages API.",
    )
    yield _provider(
        GEMINI,
        GeminiOptions,
        factory="skillgauge_judges.gemini:GeminiJudge",
        summary="Grade with Google's Gemini models.",
    )
    yield _provider(
        OPENAI,
        OpenAIOptions,
        factory="skillgauge_judges.openai:OpenAIJudge",
        summary="Grade with OpenAI's models, or any server that speaks Chat Completions.",
    )


def _provider(vendor: Vendor, options: type[ModelOptions], *, factory: str, summary: str) -> Provider[Judge]:
    traits = Traits(
        secrets=vendor.key_variables,
        model_hosts=(vendor.host,),
        redirects=(Redirect(variable=vendor.address_variable),),
        model_patterns=vendor.model_patterns,
        paid=True,
        tells=frozenset({Fact.USAGE}),
    )
    return Provider(
        name=vendor.name,
        options=options,
        factory=factory,
        summary=summary,
        traits=traits,
        traits_with=lambda chosen: told_by(chosen, traits),
    )
