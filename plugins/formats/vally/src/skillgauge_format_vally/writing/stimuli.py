"""From cases to stimuli."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Case, Check, thaw

from ..cases import GRADING, asserts_more
from ..checks.calls import EXPECTED, REJECTED
from ..tags import written_tags
from .judged import judged
from .losses import Writing, lay_below
from .weights import Weighted
from .words import Words, words_of

_JUDGE, _TRIGGER = "rubric", "trigger"
_CONSTRAINTS = (EXPECTED, REJECTED)
_UNWRITTEN = (
    *("input", "installs", "arm_prompts", "user", "image_files", "setup_files"),
    *("pass_env", "cluster", "network", "skip", "runs"),
)


@dataclass(frozen=True)
class Sayable:
    """A check, and the graders that say it."""

    check: Check
    words: tuple[Words, ...]


@dataclass(frozen=True)
class WrittenStimulus:
    """A case as it is written."""

    case: Case
    keys: dict[str, Any]
    sayable: tuple[Sayable, ...]

    @property
    def weighted(self) -> Weighted:
        """Type and weight of each of its graders that count."""
        return [
            ("" if words.kind in _CONSTRAINTS else words.kind, part.check.weight / len(part.words))
            for part in self.sayable
            for words in part.words
            if not part.check.beside
        ]


def written_stimulus(case: Case, number: int, writing: Writing) -> WrittenStimulus | None:
    """Return a case as it is written; `None` if it would assert nothing.

    Args:
        case: the case.
        number: its position, for the names of its files.
        writing: takes files and losses.
    """
    if not case.prompt or not case.prompt.strip():
        writing.lose(f"case {case.id!r} is left out: it has no prompt", case.origin)
        return None
    rubric, sayable = _sayable(case, writing)
    if all(one.check.beside for one in sayable):
        writing.lose(f"case {case.id!r} is left out: nothing of it can be checked in Vally", case.origin)
        return None
    for loss in (*_unsaid(case, writing), *_changed(sayable, writing)):
        writing.lose_of(case, loss)
    tags, lost_tags = written_tags(case.tags)
    for tag in lost_tags:
        writing.lose_of(case, f"tag {tag!r} cannot be written")
    keys: dict[str, Any] = {
        "name": case.id,
        "description": case.description,
        **_messages(case),
        "tags": thaw(tags),
        "environment": _environment(case, number, writing),
        GRADING: _files(writing.copies(case, case.grader_files, f"{number:05}-graders")),
        "rubric": rubric,
        "graders": [grader for one in sayable for grader in _graders(one)],
        "constraints": _constraints(sayable),
    }
    keys = {key: value for key, value in keys.items() if value}
    if writing.is_own:
        lay_below(keys, thaw(case.extras))
    return WrittenStimulus(case, keys, tuple(sayable))


def _messages(case: Case) -> dict[str, Any]:
    if not case.turns:
        return {"prompt": case.prompt}
    return {"turns": [case.prompt, *case.turns]}


def _sayable(case: Case, writing: Writing) -> tuple[list[str], list[Sayable]]:
    """Return the rubric of a case, and its checks with their graders; those for which there is no way are lost."""
    checks = [check for check in case.checks if not check.beside or check.scorer == _TRIGGER]
    of_judge = judged([check for check in checks if check.scorer == _JUDGE], averages=writing.averages)
    if of_judge.merged:
        count = len(of_judge.merged) + 1
        writing.lose_of(case, f"the claims of {count} checks become one grader, which passes if all of them hold")
    for identity in of_judge.changed:
        writing.lose_of(case, f"check {identity!r} becomes one criterion")
    sayable = []
    for check in case.checks:
        config = of_judge.configs.get(check.id)
        if check.scorer == _JUDGE:
            words = [] if config is None else [Words("prompt", config)]
        else:
            words = words_of(check, writing.candidate) if check in checks else []
        if words:
            sayable.append(Sayable(check, tuple(words)))
        elif check.id not in of_judge.merged:
            beside = ", which is a figure beside the verdict," if check.beside else ""
            writing.lose_of(case, f"check {check.id!r} of scorer {check.scorer!r}{beside} is left out")
    return of_judge.rubric, sayable


def _unsaid(case: Case, writing: Writing) -> Iterator[str]:
    """Yield the parts of a case that a stimulus has no key for."""
    for key in _UNWRITTEN:
        if getattr(case, key):
            yield f"{key.replace('_', ' ')} cannot be written"
    for check in case.checks:
        if check.required:
            yield f"check {check.id!r} ends no conversation: it is asked as any other"
    if case.name not in ("", case.id):
        yield f"its second name {case.name!r} cannot be written"
    if case.weight != 1:
        yield "its weight is left out"
    if case.limits.max_turns is not None or case.limits.timeout_s not in (None, writing.timeout_s):
        yield "its own limits are left out"
    if case.rule != writing.rule:
        yield f"its rule for a verdict becomes that of the file: {writing.rule.mode}"


def _changed(sayable: Sequence[Sayable], writing: Writing) -> Iterator[str]:
    """Yield the differences that the way of writing makes to checks."""
    tested = (writing.candidate,)
    is_beside = asserts_more([(one.check.scorer, one.check.options) for one in sayable], tested)
    for check, words in ((one.check, one.words) for one in sayable):
        if check.scorer == _TRIGGER and check.beside is not is_beside:
            yield f"check {check.id!r} would stand {'beside' if is_beside else 'in'} the verdict"
        if check.stage:
            yield f"check {check.id!r} would be asked whatever others say"
        if len(words) > 1:
            yield f"check {check.id!r} becomes {len(words)} graders"
        yield from (f"check {check.id!r}: {word.note}" for word in words if word.note)
        if check.weight != 1 and not writing.averages:
            yield f"the weight of check {check.id!r} is left out"


def _environment(case: Case, number: int, writing: Writing) -> dict[str, Any]:
    keys = {
        **_files(writing.copies(case, case.files, f"{number:05}")),
        "commands": list(case.setup),
        "env": thaw(case.env),
    }
    return {key: value for key, value in keys.items() if value}


def _files(entries: list[dict[str, str]]) -> dict[str, Any]:
    return {"files": entries} if entries else {}


def _graders(sayable: Sayable) -> Iterator[dict[str, Any]]:
    """Yield the graders of a check, named after it."""
    for number, words in enumerate(sayable.words, 1):
        if words.kind not in _CONSTRAINTS:
            name = sayable.check.id if len(sayable.words) == 1 else f"{sayable.check.id} {number}"
            turn = {} if sayable.check.turn is None else {"turn": sayable.check.turn}
            yield {"type": words.kind, "name": name, **turn} | ({"config": words.config} if words.config else {})


def _constraints(sayable: Sequence[Sayable]) -> dict[str, list[str]]:
    tools: dict[str, list[str]] = {}
    for words in (words for one in sayable for words in one.words if words.kind in _CONSTRAINTS):
        tools.setdefault(words.kind, []).append(str(words.config))
    return tools
