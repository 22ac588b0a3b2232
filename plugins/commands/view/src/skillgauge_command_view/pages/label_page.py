"""The pages on which a person labels what judges have decided, and sees how far a judge agrees with that.

A label goes to the file that `judge label` writes, and is the only thing that these pages write. The page that asks
does not show what the judge said: that would lead the answer.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from skillgauge.api import UsageError
from skillgauge.api.report import RunState, RunView
from skillgauge_judge_labels import (
    Judged,
    Question,
    append,
    by_key,
    judge_name,
    judged_of,
    label_of,
    labels_so_far,
    mismatches,
    questions,
    without_label,
)
from skillgauge_run_pages.trials import Side
from skillgauge_run_views.transcripts import Excerpt, as_text, excerpt

from ..rows import RunRow
from .case_page import SIDE_ROOM

_KEPT = 4
"""Runs whose judged checks stay in memory."""


@dataclass(frozen=True)
class Labelled:
    """A judged check and what a person says of it."""

    judged: Judged
    holds: bool

    @property
    def is_agreed(self) -> bool:
        """True if the judge and the person say the same."""
        return self.judged.passes is self.holds


@dataclass(frozen=True)
class Agreement:
    """How often a judge and a person agree, in one arm of a skill."""

    name: str
    agreed: int
    too_kind: int
    """Checks that the judge passed and the person did not."""
    too_strict: int
    """Checks that the person passed and the judge did not."""

    @property
    def labels(self) -> int:
        """All checks with a label."""
        return self.agreed + self.too_kind + self.too_strict


@dataclass(frozen=True)
class LabelPage:
    """The next check to label, and the number of those that are left."""

    question: Question | None
    """`None` if every check has its label."""
    asked: Excerpt | None
    """The task or input of the case."""
    side: Side | None
    done: int
    total: int
    skipped: int


@dataclass(frozen=True)
class JudgesPage:
    """The labelled checks of a run beside what its judges said."""

    judges: tuple[str, ...]
    file: str
    agreements: tuple[Agreement, ...]
    labelled: tuple[Labelled, ...]
    """Those on which the two differ first."""
    total: int
    untold: int
    """Checks that a judge decided and that cannot be labelled, since the run does not tell how the judge was asked."""


class Labels:
    """The file of labels, and what judges decided in the last few runs; safe to be asked from several threads.

    Args:
        file: the file as the user wrote it.
        can_add: whether labels may be added.
    """

    def __init__(self, file: Path, *, can_add: bool) -> None:
        self.can_add = can_add
        self._file = file
        self._runs: OrderedDict[object, tuple[tuple[Judged, ...], int]] = OrderedDict()
        self._lock = Lock()

    def page(self, row: RunRow, view: RunView, skipped: int) -> LabelPage:
        """Return the page that asks about the next check.

        Args:
            row: the run in a list.
            view: the run.
            skipped: how many open checks are passed over.

        Raises:
            UsageError: the file of labels cannot be read, or is about other answers.
        """
        judged, _ = self._judged(row, view)
        left = without_label(judged, self._of(judged), view.head.seed)
        total = len({one.key for one in judged})
        skipped = min(skipped, len(left))
        asked = left[skipped : skipped + 1]
        question = next(iter(questions(view, asked).values()), None)
        side = Side.of(question.result, SIDE_ROOM, has_times=False) if question else None
        return LabelPage(question, _task(question) if question else None, side, total - len(left), total, skipped)

    def add(self, row: RunRow, view: RunView, words: Mapping[str, str]) -> bool:
        """Add a label, unless the check has one or is none of this run; tell whether it is a check of the run.

        Args:
            row: the run in a list.
            view: the run.
            words: `execution`, `check` and `answer` of the check, and `holds`: `yes` or `no`.

        Raises:
            UsageError: the file of labels cannot be read or written, or is about other answers.
        """
        judged, _ = self._judged(row, view)
        key = words.get("execution", ""), words.get("check", ""), words.get("answer", "")
        check = next((one for one in judged if one.key == key), None)
        if check is None or words.get("holds") not in ("yes", "no"):
            return False
        with self._lock:
            if key not in self._of(judged):
                append(self._file, label_of(view.run.run_id, check, passes=words["holds"] == "yes"))
        return True

    def judges(self, row: RunRow, view: RunView) -> JudgesPage:
        """Return the page of the judges of a run.

        Raises:
            UsageError: the file of labels cannot be read, or is about other answers.
        """
        judged, untold = self._judged(row, view)
        unique = {one.key: one for one in reversed(judged)}
        labels = self._of(judged)
        labelled = [Labelled(one, labels[key]) for key, one in unique.items() if key in labels]
        labelled.sort(key=lambda one: (one.is_agreed, one.judged.case_id, one.judged.check_id))
        judges = tuple(judge_name(one) for one in view.head.judges)
        return JudgesPage(judges, str(self._file), tuple(_agreements(labelled)), tuple(labelled), len(unique), untold)

    def _of(self, judged: tuple[Judged, ...]) -> Mapping[tuple[str, str, str], bool]:
        """Return the labels of these checks, as the file has them now; labels of other runs are passed over."""
        lines, problems = labels_so_far(self._file)
        executions = {one.execution_id for one in judged}
        own = [line for line in lines if line.label.execution in executions]
        UsageError.raise_for((*problems, *mismatches(own, judged)))
        return by_key(own)

    def _judged(self, row: RunRow, view: RunView) -> tuple[tuple[Judged, ...], int]:
        """Return the judged checks of a run in plan order, and the number of those that cannot be labelled."""
        place = (row.key, view.run, view.summary.counts)
        with self._lock:
            if place in self._runs:
                self._runs.move_to_end(place)
                return self._runs[place]
        run = judged_of(view)
        judged = run.judged, len(run.untold)
        if view.run.state is not RunState.RUNNING:
            with self._lock:
                self._runs[place] = judged
                while len(self._runs) > _KEPT:
                    self._runs.popitem(last=False)
        return judged


def _task(question: Question) -> Excerpt | None:
    case = question.case
    if case is not None and case.prompt is not None:
        return excerpt("Task", case.prompt, characters=SIDE_ROOM.characters)
    if case is not None and case.input is not None:
        return excerpt("Input", as_text(case.input), characters=SIDE_ROOM.characters)
    return None


def _agreements(labelled: list[Labelled]) -> Iterator[Agreement]:
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for one in sorted(labelled, key=lambda one: (one.judged.group.subject, one.judged.group.arm)):
        name = f"{one.judged.group.subject}, {one.judged.group.arm}"
        counts.setdefault(name, Counter())[one.judged.passes, one.holds] += 1
    for name, count in counts.items():
        yield Agreement(name, count[True, True] + count[False, False], count[True, False], count[False, True])
