"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Redirect, Traits, hookimpl

from .options import SERVICES, SKILL_FOLDER, ApiOptions, gateway_option

_TRAITS = Traits(
    secrets=tuple(name for facts in SERVICES.values() for name in facts.variables),
    redirects=tuple(
        Redirect(variable=facts.address_variable, option=gateway_option(service)) for service, facts in SERVICES.items()
    ),
    skill_folder=SKILL_FOLDER,
    conversations=True,
    model_patterns=tuple(pattern for facts in SERVICES.values() for pattern in facts.models),
    # It runs no hooks and asks for no permission, so it cannot say that nothing was blocked.
    tells=frozenset({Fact.OFFERED, Fact.FIRED, Fact.USAGE}),
    paid=True,
    remote=True,
)


def _traits(options: ApiOptions) -> Traits:
    return _TRAITS.model_copy(
        update={
            "secrets": (options.key_variable,) if options.key_variable else _TRAITS.secrets,
            "passes": options.header_variables,
            "tells": _TRAITS.tells | {Fact.COST} if options.prices else _TRAITS.tells,
        }
    )


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `api`."""
    yield Provider(
        name="api",
        options=ApiOptions,
        factory="skillgauge_engine_api.engine:ApiEngine",
        summary="An agent of its own on a model API: OpenAI or any compatible server, Anthropic, Gemini.",
        traits=_TRAITS,
        traits_with=_traits,
    )
