"""The changes of a run since an earlier one in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import chance_text, counted, listed

from ..types.decided import ChangedCase, Changes, Decided, Direction, GroupChange
from ..types.results.runs import RunView
from .wording import labels, moved_text, noted, of_number, passed_text, rest_text

NAMED = 5
"""Groups, and cases of each kind, that are named."""
_NAME = 80

_WORDS = {
    Direction.WORSE: "worse",
    Direction.BETTER: "better",
    Direction.UNDECIDED: "different, perhaps by chance",
    Direction.APART: "not compared",
    Direction.NEW: "new",
}
_ORDER = tuple(_WORDS)
"""Directions as they are listed; groups that are the same are counted."""


def decision_of(view: RunView) -> Decided:
    """Return the decision on a run; an empty one if the run was read without any."""
    return view.decided or Decided()


def group_changes(view: RunView) -> tuple[GroupChange, ...]:
    """Return the change of each group since the run that this one was compared with; none without such a run."""
    changes = decision_of(view).changes
    return changes.groups if changes else ()


def change_lines(view: RunView) -> tuple[str, ...]:
    """Return what changed since the run that this one was compared with: what got worse first, the same at the end."""
    changes = decision_of(view).changes
    return tuple(_lines(changes)) if changes else ()


def _lines(changes: Changes) -> Iterator[str]:
    since = plain(changes.since, _NAME)
    moved = sorted(
        (change for change in changes.groups if change.direction is not Direction.SAME),
        key=lambda change: (_ORDER.index(change.direction), change.own or 0.0),
    )
    same = len(changes.groups) - len(moved)
    if not moved:
        yield f"since {since}: no case came out differently"
        return
    for change, name in zip(moved[:NAMED], _names(moved[:NAMED], changes), strict=True):
        yield f"since {since}: {name} is {_WORDS[change.direction]}{_detail(change)}"
    if len(moved) > NAMED:
        yield f"since {since}: {_counts(moved[NAMED:])} more"
    if same:
        yield f"since {since}: in {same} {of_number(same, 'other', 'others')} no case came out differently"
    yield from _lines_of_cases(moved, changes)


def _lines_of_cases(moved: Sequence[GroupChange], changes: Changes) -> Iterator[str]:
    failing = [(change, case) for change in moved for case in change.newly_failing]
    passing = [(change, case) for change in moved for case in change.newly_passing]
    yield from _case_lines("newly failing", failing, changes)
    yield from _case_lines("newly passing", passing, changes)


def _names(groups: Sequence[GroupChange], changes: Changes) -> tuple[str, ...]:
    """The names of some groups as all of them are told apart."""
    every = [change.group for change in changes.groups]
    names = dict(zip(every, labels(every, _NAME), strict=True))
    return tuple(names[change.group] for change in groups)


def _detail(change: GroupChange) -> str:
    """The figures of a change, as far as there are any, and what must be said of it."""
    if change.own is None:
        return noted(": ", change.note)
    chance = "" if change.chance is None else f", {chance_text(change.chance)}"
    moved = moved_text(change.own, change.lift)
    return f": {moved} (n = {counted(change.n, 'case')}{chance}{noted('; ', change.note)})"


def _counts(changes: Sequence[GroupChange]) -> str:
    """Count groups by their direction."""
    numbers = {direction: sum(change.direction is direction for change in changes) for direction in _ORDER}
    return listed([f"{number} {_WORDS[direction]}" for direction, number in numbers.items() if number])


def _case_lines(title: str, cases: Sequence[tuple[GroupChange, ChangedCase]], changes: Changes) -> Iterator[str]:
    """Yield one line for the cases that changed sides, at most as many as are named."""
    if not cases:
        return
    named = cases[:NAMED]
    titles = [plain(case.title, _NAME) for _, case in named]
    if len(changes.groups) > 1:
        names = _names([change for change, _ in named], changes)
        titles = [f"{text} of {name}" for text, name in zip(titles, names, strict=True)]
    texts = [
        f"{text} ({passed_text(case.before)} before, {passed_text(case.after)} now)"
        for (_, case), text in zip(named, titles, strict=True)
    ]
    yield f"{title}: {', '.join(texts)}{rest_text(', ', cases, NAMED)}"
