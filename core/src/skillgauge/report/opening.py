"""The opening of every report: the answers of the gates, the answer of the run, and what changed since an earlier one.

Made once, here; a reporter only lays it out.
"""

from __future__ import annotations

import shlex

from skillgauge_documents.characters import plain
from skillgauge_documents.immutables import immutable

from ..types.arms import DIRECT, GroupKey
from ..types.results.runs import RunView
from .answer import sentences
from .catalogue import Catalogue, catalogue
from .changes import change_lines, decision_of
from .rows import summary_lines


@immutable
class Opening:
    """The lines that a report begins with."""

    gates: tuple[str, ...]
    """The answers of the gates, the worst first; none if no gate was asked."""
    answers: tuple[str, ...]
    """The answers to the question of the run; of many skills all of them in one line, and those that hurt. None if it
    compares nothing."""
    changes: tuple[str, ...]
    """The changes since an earlier run; none if the run was compared with no other."""
    skills: Catalogue | None
    """The skills side by side, if there are several."""


def opening(view: RunView) -> Opening:
    """Return the lines that every report of a run begins with."""
    gates = tuple(plain(line, _LONG) for line in decision_of(view).lines)
    skills = catalogue(view)
    answers = summary_lines(skills) if skills else tuple(sentences(view))
    return Opening(gates, answers, change_lines(view), skills)


_LONG = 2_000
"""Characters of a sentence on gates that are shown."""


def show_command(view: RunView, group: GroupKey, case_id: str) -> str:
    """Return the command that shows what happened in a case; empty if nothing is kept of the run.

    Args:
        view: the run.
        group: the group in which the case is shown; its target is named if the run has others.
        case_id: the id of the case.
    """
    kept_as = decision_of(view).kept_as
    return shlex.join(show_words(view, kept_as, group, case_id)) if kept_as else ""


def show_words(view: RunView, kept_as: tuple[str, ...], group: GroupKey, case_id: str) -> list[str]:
    """Return the words of that command for a run that is kept under a name."""
    words = ["skillgauge", "report", "show", *kept_as]
    if group.target_id and len({other.target_id for other in view.summary.groups}) > 1:
        words += ["--target", plain(group.target_id)]
    words += ["--case", plain(case_id)]
    return words if group.arm == DIRECT.name else [*words, "--arm", plain(group.arm)]
