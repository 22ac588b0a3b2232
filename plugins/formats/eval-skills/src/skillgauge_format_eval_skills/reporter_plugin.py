"""Announces the reporter of the format's own document; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Reporter, hookimpl


def _make(_options: BaseModel) -> Reporter:
    from .reporter import EvalSkillsReporter  # noqa: PLC0415 - announcing stays cheap

    return EvalSkillsReporter()


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `eval-skills`."""
    yield Provider(
        name="eval-skills",
        factory=_make,
        summary="The result document of eval-skills: one SkillCompletionReport per skill.",
    )
