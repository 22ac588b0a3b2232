"""Announces the engine: its key, where it looks for skills, and what it can tell."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import KEY_VARIABLE, SKILL_FOLDER, AcmeOptions


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `acme-agent`."""
    yield Provider(
        name="acme-agent",
        options=AcmeOptions,
        factory="acme_engine.engine:AcmeEngine",
        summary="Drive acme-agent.",
        traits=Traits(
            secrets=(KEY_VARIABLE,),
            skill_folder=SKILL_FOLDER,
            model_patterns=("acme-*",),
            tells=frozenset({Fact.OFFERED, Fact.FIRED, Fact.USAGE}),
            paid=True,
        ),
    )
