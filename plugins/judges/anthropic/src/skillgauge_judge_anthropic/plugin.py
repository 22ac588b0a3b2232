"""Announces the judge; what it does is in `judge`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Fact, Judge, Provider, Redirect, Traits, hookimpl
from skillgauge_model_client.options import told_by

from .options import ADDRESS_VARIABLE, HOST, VARIABLES, AnthropicOptions

_TRAITS = Traits(
    secrets=VARIABLES,
    model_hosts=(HOST,),
    redirects=(Redirect(variable=ADDRESS_VARIABLE),),
    model_patterns=("claude-*",),
    paid=True,
    tells=frozenset({Fact.USAGE}),
)


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `anthropic`."""
    yield Provider(
        name="anthropic",
        options=AnthropicOptions,
        factory="skillgauge_judge_anthropic.judge:AnthropicJudge",
        summary="Grade with Anthropic's models, by the Messages API.",
        traits=_TRAITS,
        traits_with=lambda options: told_by(options, _TRAITS),
    )
