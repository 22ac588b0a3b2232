"""Drafts: those with blanks, which are never taken for evals, and evals that an agent wrote and nobody accepted yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skillgauge.api import JsonValue, Loaded, Origin, Problem, Severity, Suite, SuiteError, read_document
from skillgauge.api.report import listed
from skillgauge_skill_folders import DRAFTS_FILE

from .sources import EVALS_FOLDER, is_skill_folder, suite_files

NAME = Path(DRAFTS_FILE).name
_LIST = "drafts"
_MOST_NAMED = 5
_NEEDED = ("prompt", "assertions")
DRAFT = "draft"
"""Key, and tag, of an eval that nobody accepted yet."""
DROPPED = "dropped"
"""Key of a draft that was tried and found useless; the value is the reason."""


def has_drafts(skill: Path) -> bool:
    """Tell whether a skill has a file of drafts."""
    return (skill / DRAFTS_FILE).is_file()


def only_drafts(skill: Path, *, searched: bool) -> tuple[Problem, ...]:
    """Report that there is nothing to run yet, with every draft; a note unless the user asked for this skill."""
    message, hint = "this skill has drafts of evals, and no eval", "Finish one, and move it to the list 'evals' of "
    severity = Severity.WARNING if searched else Severity.ERROR
    origin = Origin(str(skill / DRAFTS_FILE))
    return (
        Problem("suite.no-evals", message, origin=origin, hint=f"{hint}{EVALS_FOLDER}/evals.json.", severity=severity),
        *draft_notices(skill),
    )


def draft_notices(skill: Path) -> tuple[Problem, ...]:
    """One line for each draft of a skill: what of it is blank, or that it is finished."""
    path = skill / DRAFTS_FILE
    if not path.is_file():
        return ()
    try:
        value = read_document(path).value
    except SuiteError as error:
        return tuple(replace(one, severity=Severity.WARNING) for one in error.problems)
    drafts = value.get(_LIST) if isinstance(value, Mapping) else None
    if not isinstance(drafts, tuple):
        return (_notice(f"drafts are an object with a list {_LIST!r}", Origin(str(path))),)
    return tuple(
        _of_draft(one, Origin(str(path), (_LIST, at)))
        for at, one in enumerate(drafts)
        if not (isinstance(one, Mapping) and one.get(DROPPED))
    )


def unaccepted(evals: Sequence[JsonValue], origin: Origin) -> Iterator[Problem]:
    """Yield a notice on the evals of a file that nobody accepted yet, if there are any."""
    number = sum(isinstance(one, Mapping) and one.get(DRAFT) is True for one in evals)
    if not number:
        return
    message = f"{number} of {len(evals)} evals {'is a draft' if number == 1 else 'are drafts'} that nobody has accepted"
    hint = "Read what they ask and check, then run `skillgauge init --accept`."
    yield Problem("suite.draft", message, origin=origin, hint=hint, severity=Severity.WARNING)


def bare_skills(searched: Sequence[str]) -> tuple[Problem, ...]:
    """Count the skills without evals beside those that a search found; no note if there are none."""
    shelves = dict.fromkeys(Path(path).parent for path in searched if is_skill_folder(Path(path)))
    beside = [path for shelf in shelves for path in sorted(shelf.iterdir()) if is_skill_folder(path)]
    bare = [path for path in beside if not _has_suite(path)]
    if not bare:
        return ()
    names = [path.name for path in bare[:_MOST_NAMED]]
    if len(bare) > len(names):
        names.append(f"{len(bare) - len(names)} more")
    message = f"{len(bare)} of {len(beside)} skills beside each other {'has' if len(bare) == 1 else 'have'} no evals"
    hint = "`skillgauge init` has an agent draft some."
    origin = Origin(str(bare[0]))
    return (Problem("suite.no-evals", f"{message}: {listed(names)}", origin, hint=hint, severity=Severity.WARNING),)


def _has_suite(skill: Path) -> bool:
    """Tell whether a skill has a file that could be a suite, of whatever format, or the folder of some other kind."""
    return has_drafts(skill) or any(suite_files(skill)) or (skill / EVALS_FOLDER).is_dir()


def loaded_with(drafts: Sequence[Problem], suites: Sequence[Suite], passed_over: Sequence[Problem]) -> Loaded:
    """Return the suites with drafts of other skills: they make no search a bad one, unless it found nothing else."""
    if not suites:
        return Loaded((), (*passed_over, *drafts))
    first, *others = suites
    loaded = first.model_copy(update={"warnings": (*first.warnings, *drafts)}) if drafts else first
    return Loaded((loaded, *others), tuple(passed_over))


def _of_draft(draft: JsonValue, origin: Origin) -> Problem:
    if not isinstance(draft, Mapping):
        return _notice("a draft must be an object", origin)
    blank = list(_blank(draft))
    name = f"draft {draft.get('id', origin.pointer[-1])!r}"
    if not blank:
        return _notice(f"{name} is finished, and no run counts it: move it to {EVALS_FOLDER}/evals.json", origin)
    return _notice(f"{name}: blank {'is' if len(blank) == 1 else 'are'} {' and '.join(blank)}", origin)


def _blank(draft: Mapping[str, JsonValue]) -> Iterator[str]:
    """Return the keys that an eval needs and a draft does not have."""
    for key in _NEEDED:
        value = draft.get(key)
        filled = value if isinstance(value, tuple) else (value,)
        if not any(one.strip() if isinstance(one, str) else one for one in filled):
            yield key


def _notice(message: str, origin: Origin) -> Problem:
    return Problem("suite.draft", message, origin=origin, severity=Severity.WARNING)
