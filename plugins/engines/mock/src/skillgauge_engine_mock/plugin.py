"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import INSTALLS, SKILL_FOLDER, MockOptions


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `mock`."""
    yield Provider(
        name="mock",
        options=MockOptions,
        factory="skillgauge_engine_mock.engine:make",
        summary="An agent without a model that does as it is told: for dry runs and tests.",
        traits=Traits(
            only_by_name=True,
            skill_folder=SKILL_FOLDER,
            installs=INSTALLS,
            conversations=True,
            tells=frozenset(Fact),
            remote=True,
        ),
    )
