"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Engine, Provider, Traits, hookimpl

from .options import CommandOptions


def _make(options: BaseModel) -> Engine:
    from .engine import CommandEngine  # noqa: PLC0415 - announcing stays cheap

    return CommandEngine(CommandOptions.model_validate(options))


def _traits(options: BaseModel) -> Traits:
    given = CommandOptions.model_validate(options)
    return Traits(
        only_by_name=True,
        skill_folder=given.skill_folder,
        secrets=given.pass_env,
        model_hosts=given.hosts,
        paid=given.paid,
    )


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `command`."""
    yield Provider(
        name="command",
        options=CommandOptions,
        factory=_make,
        summary="Any agent program, started by a template.",
        traits=Traits(only_by_name=True, paid=True),
        traits_with=_traits,
    )
