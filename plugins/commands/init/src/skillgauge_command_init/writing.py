"""Write the drafts of a skill, and accept them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import ExitCode, Frozen, Problem, UsageError, cut, plain, read_document, thaw
from skillgauge.api.run import Invocation
from skillgauge_skill_folders import DRAFTS_FILE, SKILL_FILE, Skill, read_skill, skills_of

from .asking import ask, cost, drafter
from .drafting import is_without_evals, require_own
from .trying import EVALS_FILE, Tried, as_document, try_drafts

_DRAFT = "draft"
_SHOWN = 100
_NOTE = "Tried, and of no use as they are: no run counts them. What you mend goes to the list 'evals' of evals.json."


class DroppedDraft(Frozen):
    """A draft that is of no use."""

    prompt: str
    reason: str


class DraftedSkill(Frozen):
    """The evals that were drafted for a skill."""

    skill: str
    path: str
    """Their file, as users reach it from the current folder."""
    kept: tuple[str, ...]
    """Their prompts."""
    dropped: tuple[DroppedDraft, ...] = ()
    cost_usd: float | None = None
    """The cost of asking and trying, as far as it is known."""


def skills_in(folder: Path) -> tuple[Path, ...]:
    """The skill that a folder is, or the skills where agents look for them in it."""
    if (folder / SKILL_FILE).is_file():
        return (folder,)
    return skills_of(folder, inner=True)


def without_evals(folder: Path) -> tuple[Path, ...]:
    """The skills in a folder that have no evals."""
    return tuple(skill for skill in skills_in(folder) if is_without_evals(skill))


def draft_evals(
    call: Invocation, folder: Path, judge: str | None, asked: Mapping[str, Any]
) -> tuple[DraftedSkill, ExitCode]:
    """Have evals drafted for a skill, try each, and write those that are of use to its `evals/evals.json`.

    Args:
        call: the command line.
        folder: the skill's.
        judge: who is asked, if it is not the engine's own program.
        asked: options of `eval`: the engine in a tuple, its model, the most the sessions may cost.

    Returns:
        What was drafted, and the exit code: that of an interrupt or a budget, if one ended the trying before its end.

    Raises:
        SkillgaugeError: there are no drafts, none could be tried, or none can be written; nothing was written.
    """
    require_own((folder / EVALS_FILE).parent)
    skill = read_skill(folder.resolve())
    model = next(iter(asked["model"]), None)
    answer = asyncio.run(ask(drafter(call, judge, asked["engine"][0], model), skill))
    trials = asyncio.run(try_drafts(call, skill, answer.drafts.as_evals(), asked))
    dropped = [one for one in trials.tried if one.dropped]
    if trials.kept:
        _create(folder / EVALS_FILE, as_document(skill, [one.draft for one in trials.kept]))
    if dropped and not (folder / DRAFTS_FILE).exists():
        _create(folder / DRAFTS_FILE, _as_drafts(skill, dropped))
    costs = [each for each in (cost(answer.usages), trials.cost_usd) if each is not None]
    drafted = DraftedSkill(
        skill=skill.name,
        path=str(folder / EVALS_FILE),
        kept=tuple(map(_prompt, trials.kept)),
        dropped=tuple(DroppedDraft(prompt=_prompt(one), reason=one.dropped) for one in dropped),
        cost_usd=sum(costs) if costs else None,
    )
    return drafted, trials.exit_code


def accept(folders: Iterable[Path]) -> dict[str, int]:
    """Take the mark of a draft off all evals of some skills.

    Returns:
        How many became evals, by file.

    Raises:
        SkillgaugeError: a file cannot be read or written; those before it are accepted.
    """
    accepted: dict[str, int] = {}
    for path in (folder / EVALS_FILE for folder in folders):
        if not path.is_file():
            continue
        document = thaw(read_document(path).value)
        evals = document.get("evals") if isinstance(document, dict) else None
        drafts = [one for one in evals or () if isinstance(one, dict) and one.pop(_DRAFT, None) is True]
        if drafts:
            _replace(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            accepted[str(path)] = len(drafts)
    return accepted


def _as_drafts(skill: Skill, dropped: Sequence[Tried]) -> str:
    drafts = [
        {key: value for key, value in one.draft.items() if key != _DRAFT} | {"dropped": one.dropped} for one in dropped
    ]
    return json.dumps({"skill_name": skill.name, "note": _NOTE, "drafts": drafts}, indent=2, ensure_ascii=False) + "\n"


def _prompt(one: Tried) -> str:
    return cut(plain(str(one.draft["prompt"])), _SHOWN)


def _create(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(Problem("usage.unwritable", f"cannot write {str(path)!r}: {error.strerror}")) from None


def _replace(path: Path, text: str) -> None:
    """Write a file that is there, so that it is never half written."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, "utf-8")
        partial.chmod(path.stat().st_mode)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(Problem("usage.unwritable", f"cannot write {str(path)!r}: {error.strerror}")) from None
