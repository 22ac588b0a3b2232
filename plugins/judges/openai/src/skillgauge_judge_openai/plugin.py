"""Announces the judge; what it does is in `judge`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Fact, Judge, Provider, Redirect, Traits, hookimpl
from skillgauge_model_client.options import told_by

from .options import ADDRESS_VARIABLE, HOST, VARIABLES, OpenAIOptions

_TRAITS = Traits(
    secrets=VARIABLES,
    model_hosts=(HOST,),
    redirects=(Redirect(variable=ADDRESS_VARIABLE),),
    model_patterns=("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*"),
    paid=True,
    tells=frozenset({Fact.USAGE}),
)


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `openai`."""
    yield Provider(
        name="openai",
        options=OpenAIOptions,
        factory="skillgauge_judge_openai.judge:OpenAIJudge",
        summary="Grade with OpenAI's models, or any server that speaks Chat Completions.",
        traits=_TRAITS,
        traits_with=lambda options: told_by(options, _TRAITS),
    )
