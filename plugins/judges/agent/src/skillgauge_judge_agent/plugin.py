"""Announces the judge; what it does is in `judge`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Judge, Peers, Provider, Traits, hookimpl

from .options import AgentOptions

_TRAITS = Traits(paid=True)


def _traits(options: AgentOptions, engines: Peers) -> Traits:
    from .choice import traits_of  # noqa: PLC0415 - loads engines, which only a run with this judge needs

    return traits_of(options, engines) or _TRAITS


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `agent`."""
    yield Provider(
        name="agent",
        options=AgentOptions,
        factory="skillgauge_judge_agent.judge:AgentJudge",
        summary="Grade with the program of an installed agent engine, so that its login is enough.",
        traits=_TRAITS,
        traits_with=_traits,
        uses="engines",
    )
