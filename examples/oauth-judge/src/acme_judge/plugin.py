"""Announces the judge and the name of its secret; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Judge, Provider, Traits, hookimpl

from .options import SECRET, AcmeJudgeOptions


@hookimpl
def skillgauge_judges() -> Iterable[Provider[Judge]]:
    """Announce `acme-judge`."""
    yield Provider(
        name="acme-judge",
        options=AcmeJudgeOptions,
        factory="acme_judge.judge:AcmeJudge",
        summary="Ask the model behind our gateway, which lends tokens by OAuth.",
        traits=Traits(secrets=(SECRET,), paid=True),
    )
