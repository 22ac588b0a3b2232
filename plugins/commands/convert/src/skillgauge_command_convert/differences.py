"""The fate of a suite that was written in a format and read again, field by field.

A format says itself what it cannot hold. What it forgot to say is found here, so that nothing is lost in silence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from skillgauge.api import (
    Case,
    Check,
    FileSpec,
    JsonObject,
    JsonValue,
    Origin,
    Problem,
    Severity,
    SimulatedUser,
    SkillRole,
    Suite,
    VerdictMode,
    canonical_json,
    cut,
    freeze,
)
from skillgauge_skill_folders import SKILL_FILE, files_of

SHOWN_CHARACTERS, SHOWN_FILES = 80, 200
_APART = frozenset({"checks", "extras", "origin", "runs", "user"})
"""Fields of a case that are looked at apart, or that say nothing of it."""
_WORDS = {
    "id": "called",
    "tags": "tag",
    "arm_prompts": "prompt",
    "image_files": "image",
    "setup_files": "setup",
    "grader_files": "grader",
    "limits": "limit",
    "pass_env": "env",
}
"""By which word a format names a field of a case that it cannot hold, where that is not the field's own name."""
_FILES = frozenset({"files", "image_files", "setup_files", "grader_files"})
_CHECK_FIELDS = ("scorer", "options", "weight", "beside", "stage", "turn", "required", "answer")
"""All but the id: a check of another name asserts the same, and a format names checks as it can."""
_SUITE_FIELDS = ("name", "version", "description", "on_agent_limit", "gates", "completion")
_OF_THE_FORMAT = frozenset({"engine_options"})
"""Defaults that a format sets by itself, and that no suite says."""
_LEFT_OUT = "left out"
EVERY_CASE = "every case"
"""How a format begins what it says of all cases at once."""


Meaning: TypeAlias = Callable[[Check], JsonObject]
"""Makes the options of a check as they take effect, which are the same for two spellings of the same."""


def as_written(check: Check) -> JsonObject:
    """Return the options of a check as they stand, which tells every spelling from every other."""
    return check.options


def unnamed_losses(
    before: Suite, after: Suite, named: Sequence[Problem], meaning: Meaning = as_written
) -> Iterator[Problem]:
    """Every difference between a suite and what was read back that its format did not name.

    Args:
        before: the suite as it was loaded.
        after: the same suite, written in the other format and loaded from there.
        named: what that format said it cannot hold.
        meaning: the options of a check that take effect.
    """
    announced = _Told(named, meaning)
    yield from _of_suite(before, after)
    remaining = {case.id: case for case in after.cases}
    partners = [remaining.pop(case.id, None) for case in before.cases]
    for case, renamed in zip(before.cases, partners, strict=True):
        mine = renamed or _renamed(case, remaining)
        if mine is not None:
            yield from _of_case(case, mine, announced)
            yield from _of_runs(case, [case.runs or before.defaults.runs, mine.runs or after.defaults.runs], announced)
        elif not announced.says(case, _LEFT_OUT):
            yield _loss(f"case {case.id!r}: it is gone, or has another id", case.origin)
    for one in remaining.values():
        yield _loss(f"case {one.id!r}: it is new, or had another id", before.origin or Origin(before.root))
    if announced.renamed:
        names = ", ".join(
            f"{name!r} ({count})" if count > 1 else repr(name) for name, count in announced.renamed.items()
        )
        yield _loss(f"checks go by other names: {cut(names, SHOWN_FILES)}", before.origin or Origin(before.root))


def _renamed(case: Case, remaining: dict[str, Case]) -> Case | None:
    """The case that asks the same under another id; of several the first."""
    questions = (case.prompt, case.input)
    name = next((name for name, one in remaining.items() if (one.prompt, one.input) == questions), None)
    return None if name is None else remaining.pop(name)


class _Told:
    """The losses that a format announced of each case."""

    def __init__(self, named: Sequence[Problem], meaning: Meaning) -> None:
        self._messages = [problem.message for problem in named]
        self.meaning = meaning
        self.renamed: Counter[str] = Counter()
        """Names of checks of which nothing but the name was lost."""

    def says(self, case: Case, *words: str) -> bool:
        """Tell whether a loss was announced with all of some words in it, whole ones but for an ending."""
        return self._says(f"case {case.id!r}", words) or self._says(EVERY_CASE, words)

    def says_of_file(self, case: Case, word: str, path: str) -> bool:
        """Tell whether a file is named, or all of its kind in this case."""
        return self._says(f"case {case.id!r}", (word,)) or self._says(EVERY_CASE, (word, repr(path)))

    def _says(self, of: str, words: Sequence[str]) -> bool:
        said = (message.removeprefix(of) for message in self._messages if message.startswith(of))
        return any(all(_speaks_of(word, message) for word in words) for message in said)


def _speaks_of(word: str, message: str) -> bool:
    return word in message if word.startswith(("'", '"')) else re.search(rf"\b{word}", message) is not None


def _of_suite(before: Suite, after: Suite) -> Iterator[Problem]:
    origin = before.origin or Origin(before.root)
    for field in _SUITE_FIELDS:
        if (was := getattr(before, field)) != (now := getattr(after, field)):
            yield _loss(f"suite: {_changed(field, was, now)}", origin)
    for name in (one for one in type(before.defaults).model_fields if one not in _OF_THE_FORMAT):
        was, now = getattr(before.defaults, name), getattr(after.defaults, name)
        if was not in (None, now):  # a default where there was none takes nothing away
            yield _loss(f"suite: {_changed(f'default {name}', was, now)}", origin)
    for label, of in (("arms", _arms), ("comparisons", _comparisons), ("targets", _targets)):
        if (was := of(before)) != (now := of(after)):
            yield _loss(f"suite: {_changed(label, was, now)}", origin)
    yield from _of_extras("suite", before.extras, after.extras, origin, lambda _name, _value: False)
    if missing := sorted(_skill_files(before) - _skill_files(after)):
        few = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        yield _loss(f"suite: files of the skill are not written: {few}", origin, "Convert into the skill's own folder.")


def _arms(suite: Suite) -> object:
    return [
        [
            *(arm.name, str(arm.kind), [[one.name, str(one.role)] for one in arm.skills]),
            *([sorted(f"{one.kind} {one.name}" for one in arm.installs)] if arm.installs else []),
        ]
        for arm in suite.arms
    ]


def _comparisons(suite: Suite) -> object:
    return [[one.candidate, one.baseline] for one in suite.comparisons]


def _targets(suite: Suite) -> object:
    return [[one.id, one.adapter, one.entrypoint, str(one.kind)] for one in suite.targets]


def _skill_files(suite: Suite) -> set[str]:
    skills = (skill for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE)
    return {
        path
        for skill in skills
        if Path(skill.root, SKILL_FILE).is_file()
        for path in files_of(Path(skill.root), skill.leaves_out)
    }


def _of_case(before: Case, after: Case, announced: _Told) -> Iterator[Problem]:
    for field in Case.model_fields:
        if field in _APART:
            continue
        word = _WORDS.get(field, field)
        was, now = getattr(before, field), getattr(after, field)
        if field in _FILES:
            yield from _of_files(before, (field, word), (was, now), announced)
        elif was != now and not announced.says(before, word):
            yield _loss(f"case {before.id!r}: {_changed(field.replace('_', ' '), was, now)}", before.origin)
    if not announced.says(before, "user") and _played(before, announced) != _played(after, announced):
        yield _loss(f"case {before.id!r}: {_changed('user', before.user, after.user)}", before.origin)
    where = before.origin or Origin("")

    def is_told(name: str, value: JsonValue) -> bool:
        if announced.says(before, repr(name)):
            return True
        if not _is_restated(name, value, (before, after), announced.meaning):
            return False
        if isinstance(value, Mapping) and name in value.values():  # else the format made it up
            announced.renamed[name] += 1
        return True

    yield from _of_extras(f"case {before.id!r}", before.extras, after.extras, where, is_told)
    yield from _of_checks(before, after, announced)


def _is_restated(name: str, value: JsonValue, cases: tuple[Case, Case], meaning: Meaning) -> bool:
    """Tell whether the words of a check in its file say nothing that the converted check does not say, but its name."""
    before, after = cases
    check = next((check for check in before.checks if check.id == name), None)
    if check is None or not isinstance(value, Mapping):
        return False
    asserted = [_asserts(_with_meaning(other, meaning)) for other in after.checks]
    if _asserts(_with_meaning(check, meaning)) not in asserted:
        return False
    options = check.options.values()
    stated = [name, *options, *(part for option in options if isinstance(option, tuple) for part in option)]
    return all(key == "type" or part in stated for key, part in value.items())


def _of_runs(case: Case, runs: Sequence[int | None], announced: _Told) -> Iterator[Problem]:
    """Yield the repeats of a case that are no longer as many, its suite's where it has no number of its own."""
    if case.runs is not None and len(set(runs)) > 1 and not announced.says(case, "runs"):
        yield _loss(f"case {case.id!r}: {_changed('runs', *runs)}", case.origin)


def _played(case: Case, announced: _Told) -> object:
    """Return the part that a simulated user plays, whatever the check is called that asks for it."""
    user = case.user
    if not isinstance(user, SimulatedUser):
        return user
    return user.check.scorer, announced.meaning(user.check), user.turns


def _of_extras(
    whose: str, before: JsonObject, after: JsonObject, origin: Origin, is_told: Callable[[str, JsonValue], bool]
) -> Iterator[Problem]:
    """Return the keys of a file beyond the model, each at its place; empty ones are left out."""
    was, now = _flat(before), _flat(after)
    for path, value in was.items():
        if now.get(path) == value or is_told(path[-1], value):
            continue
        extra = f"extra {'.'.join(path)!r}"
        loss = _changed(extra, value, now[path]) if path in now else f"{extra} is not kept: {_shown(value)}"
        yield _loss(f"{whose}: {loss}", replace(origin, pointer=(*origin.pointer, path[-1])))


def _flat(extras: JsonObject) -> dict[tuple[str, ...], JsonValue]:
    """Values by their keys, those of objects by two."""
    leaves: dict[tuple[str, ...], JsonValue] = {}
    for key, value in extras.items():
        parts = {(key, name): part for name, part in value.items()} if isinstance(value, Mapping) else {(key,): value}
        leaves |= {path: part for path, part in parts.items() if part not in (None, (), {}, "")}
    return leaves


def _of_files(
    case: Case, named: tuple[str, str], files: tuple[Sequence[FileSpec], Sequence[FileSpec]], announced: _Told
) -> Iterator[Problem]:
    """One loss for all files of a kind that are not what they were."""
    field, word = named
    was, now = ({file.path: (file.executable, _content(file)) for file in some} for some in files)
    paths = sorted(path for path in was.keys() | now.keys() if was.get(path) != now.get(path))
    changed = [path for path in paths if not announced.says_of_file(case, word, path)]
    if changed:
        ways = (("gone", now), ("new", was))
        shown = [
            f"{path!r} is {next((way for way, there in ways if path not in there), 'another')}" for path in changed
        ]
        yield _loss(f"case {case.id!r}: {field.replace('_', ' ')}: {cut(', '.join(shown), SHOWN_FILES)}", case.origin)


def _content(file: FileSpec) -> bytes:
    if file.source is None:
        return (file.text or "").encode()
    try:
        return Path(file.source).read_bytes()
    except OSError:  # it went while nobody looked, so it is not what it was
        return repr(file).encode()


def _of_checks(before: Case, after: Case, announced: _Told) -> Iterator[Problem]:
    """Yield the unnamed differences of a case's checks."""
    was, now = (tuple(_with_meaning(check, announced.meaning) for check in case.checks) for case in (before, after))
    partners, new = _paired(was, now)
    for check, partner in zip(was, partners, strict=True):
        if announced.says(before, "check", repr(check.id)):
            continue
        if partner is None:
            message = f"case {before.id!r}: check {check.id!r} of scorer {check.scorer!r} is gone"
            yield _loss(message, check.origin or before.origin)
        else:
            yield from _of_check(before, check, partner, announced)
    for check in new:
        if not announced.says(before, "check", repr(check.id)):
            message = f"case {before.id!r}: check {check.id!r} of scorer {check.scorer!r} is new"
            yield _loss(message, before.origin)


def _with_meaning(check: Check, meaning: Meaning) -> Check:
    return check.model_copy(update={"options": meaning(check)})


def _paired(before: Sequence[Check], after: Sequence[Check]) -> tuple[list[Check | None], list[Check]]:
    """Pair checks by their names and what they assert, then by one of both, so that few differences are found.

    Returns:
        The partner of each check, where it has one, and the checks that are left without one.
    """
    partners: list[Check | None] = [None] * len(before)
    left = list(after)
    for alike in (_all_of, _counts_as, _asserts, _id_of, _scorer_of):
        for place, check in enumerate(before):
            if partners[place] is not None:
                continue
            partner = next((other for other in left if alike(other) == alike(check)), None)
            if partner is not None:
                left.remove(partner)
                partners[place] = partner
    return partners, left


def _of_check(case: Case, before: Check, after: Check, told: _Told) -> Iterator[Problem]:
    """Yield the fields of a check that became something else."""
    for field in _CHECK_FIELDS:
        was, became = getattr(before, field), getattr(after, field)
        if was == became or (field == "weight" and _weigh_the_same(before, after)):
            continue
        if field == "required" and before.turn is None and case.rule.mode is not VerdictMode.MEAN:
            continue  # where all checks have to pass, each is required
        if field == "weight" and told.says(case, "weight"):
            continue
        message = f"case {case.id!r}: check {before.id!r}: {_changed(field, was, became)}"
        yield _loss(message, before.origin or case.origin)


def _weigh_the_same(before: Check, after: Check) -> bool:
    """Tell whether weights are the same but for the last digit, or count for nothing beside the verdict."""
    return math.isclose(before.weight, after.weight) or (before.beside and after.beside)


def _all_of(check: Check) -> object:
    return check.digest


def _counts_as(check: Check) -> object:
    return check.scorer, check.options, check.weight, check.beside, check.stage, check.turn, check.required


def _asserts(check: Check) -> object:
    return check.scorer, check.options


def _id_of(check: Check) -> object:
    return check.id


def _scorer_of(check: Check) -> object:
    return check.scorer


def _changed(what: str, was: object, now: object) -> str:
    return f"{what}: {_shown(was)} becomes {_shown(now)}"


def _shown(value: object) -> str:
    dump: Callable[..., object] | None = getattr(value, "model_dump", None)
    plain = dump(mode="json", exclude_defaults=True) if dump is not None else value
    if isinstance(plain, tuple | list):
        plain = [one.model_dump(mode="json") if hasattr(one, "model_dump") else one for one in plain]
    return cut(canonical_json(freeze(plain)), SHOWN_CHARACTERS)


def _loss(message: str, origin: Origin | None, hint: str | None = None) -> Problem:
    return Problem("suite.loss", message, origin=origin, hint=hint, severity=Severity.WARNING)
