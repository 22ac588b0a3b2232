"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Engine, Fact, Provider, Traits, hookimpl

from .options import SKILL_FOLDER, MockOptions


def _make(options: BaseModel) -> Engine:
    from .engine import make  # noqa: PLC0415 - announcing stays cheap

    return make(MockOptions.model_validate(options))


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `mock`."""
    yield Provider(
        name="mock",
        options=MockOptions,
        factory=_make,
        summary="An agent without a model that does as it is told: for dry runs and tests.",
        traits=Traits(only_by_name=True, skill_folder=SKILL_FOLDER, tells=frozenset(Fact)),
    )
