"""Announces the reporter of the format's own document; what it does is in `reporter`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `eval-skills`."""
    yield Provider(
        name="eval-skills",
        factory="skillgauge_format_eval_skills.reporter:EvalSkillsReporter",
        summary="The result document of eval-skills: one SkillCompletionReport per skill.",
    )
