"""The other changes between two reports: a difference is the skill's only if nothing else changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgauge.api import DIRECT, Identity, plain
from skillgauge.api.report import RunView

from .document import Circumstance
from .tallying import SkillTally

_UNKNOWN = "unknown"
"""How readers of documents that do not name the adapter or engine call it; a second one gets a number."""


@dataclass(frozen=True)
class Changed:
    """Something beside the skill that is not as it was."""

    what: Circumstance
    told: str
    """From what to what."""


def also_changed(before: SkillTally, after: SkillTally, judges: str) -> Iterator[Changed]:
    """Model, engine and judge, where both reports tell them and they differ; what is unknown is no change.

    Args:
        before: a skill in the first report.
        after: the same in the second.
        judges: what `other_judges` says of the reports.
    """
    first, second = before.key, after.key
    if first.model and second.model and first.model != second.model:
        yield Changed(Circumstance.MODEL, _told("model", first.model, second.model))
    # An adapter is part of how a skill is made; an engine is who uses it.
    is_known = not any(key.runner.startswith(_UNKNOWN) for key in (first, second))
    if first.arm != DIRECT.name and is_known and first.runner != second.runner:
        yield Changed(Circumstance.ENGINE, _told("engine", first.runner, second.runner))
    if judges:
        yield Changed(Circumstance.JUDGE, judges)


def other_judges(before: RunView, after: RunView) -> str:
    """Report that other judges graded, if both reports name them; their versions do not matter, their settings do."""
    sides = [view.head.judges for view in (before, after)]
    known_judges = [{(judge.unversioned_digest, judge.model) for judge in judges} for judges in sides]
    if not all(known_judges) or known_judges[0] == known_judges[1]:
        return ""
    names = [", ".join(sorted(map(_name, judges))) for judges in sides]
    return "judge: other settings" if names[0] == names[1] else _told("judge", *names)


def _name(judge: Identity) -> str:
    return f"{judge.name} ({judge.model})" if judge.model else judge.name


def _told(what: str, before: str, after: str) -> str:
    return f"{what}: {plain(before, 60)} → {plain(after, 60)}"
