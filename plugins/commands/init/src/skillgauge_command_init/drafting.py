"""Evals that a skill could have, one for each of its headings: drafts, which nothing takes for evals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillgauge.api import Problem, UsageError, cut
from skillgauge_skill_folders import DRAFTS_FILE, SKILL_FILE, Skill, read_skill

from .scaffold import Part, State

MOST = 8
"""Headings that become drafts; who finishes these has a suite."""
_ABOUT_CHARACTERS, _ID_CHARACTERS = 200, 60
_SUITES = ("evals", "eval.yaml", "eval.yml")
"""Where a skill has suites, whatever tool they are of."""
_FENCE, _HEADING = re.compile(r"\s*(```|~~~)"), re.compile(r"(#{1,4})\s+(.*?)\s*#*\s*\Z")
_GENERAL = re.compile(
    r"(overview|introduction|about|background|summary|contents|table of contents|requirements|prerequisites"
    r"|install(ation)?|set-?up|dependencies|licen[cs]e|references?|resources|see also|further reading|change ?log"
    r"|credits|notes?|files|evals?|when to use.*|quick ?start|getting started)",
    re.IGNORECASE,
)
"""Headings that say nothing of what the skill does."""
_NOTE = (
    "Drafts: no run counts them. Fill in what is blank, and move what is finished to the list 'evals' of evals.json."
)


@dataclass(frozen=True)
class _Section:
    """A heading of SKILL.md, and the first thing below it."""

    heading: str
    about: str
    line: int


def is_without_evals(folder: Path) -> bool:
    """Tell whether a folder holds a skill and nothing that could be a suite."""
    suites = [folder / name for name in _SUITES]
    has_one = any(path.is_file() or (path.is_dir() and any(map(_counts, path.iterdir()))) for path in suites)
    return (folder / SKILL_FILE).is_file() and not has_one


def propose(folder: Path) -> tuple[Part, ...]:
    """Write drafts of evals into a skill's folder, if there are none.

    Raises:
        SuiteError: its SKILL.md cannot be read.
        UsageError: the file cannot be written, or would lie outside of the skill's folder.
    """
    skill = read_skill(folder.resolve())
    path = folder / DRAFTS_FILE
    require_own(path.parent)
    document = {"skill_name": skill.name, "note": _NOTE, "drafts": [*_drafts(skill)]}
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    except FileExistsError:
        return (Part(path=DRAFTS_FILE, state=State.EXISTS, note="`skillgauge validate` tells what of it is blank"),)
    except OSError as error:
        raise UsageError(Problem("usage.unwritable", f"cannot write {str(path)!r}: {error.strerror}")) from None
    number = len(document["drafts"])
    note = f"{number} draft{'' if number == 1 else 's'} to be filled in; `skillgauge validate` tells what is blank"
    return (Part(path=DRAFTS_FILE, state=State.CREATED, note=note),)


def require_own(evals: Path) -> None:
    """Refuse a folder of evals that leads elsewhere: whoever sends a skill does not choose where files are made.

    Raises:
        UsageError: it is a link.
    """
    if evals.is_symlink():
        message = f"{str(evals)!r} is a link, and drafts are written into the skill's own folder only"
        raise UsageError(Problem("usage.unwritable", message, hint="Make it a folder."))


def _counts(path: Path) -> bool:
    return path.is_file() and path.name != Path(DRAFTS_FILE).name and not path.name.startswith(".")


def _drafts(skill: Skill) -> Iterator[dict[str, Any]]:
    """One for each heading, else one for the skill as a whole."""
    text = (skill.root / SKILL_FILE).read_text("utf-8-sig")
    first = len(text.splitlines()) - len(skill.body.splitlines()) + 1
    sections = [*_sections(skill.body, first)]
    # The title is the skill itself, unless there is nothing else.
    chosen = [section for section in sections if not _GENERAL.fullmatch(section.heading)][:MOST]
    ids: set[str] = set()
    for section in chosen or [_Section(skill.name, skill.description, 1)]:
        name = _id(section.heading)
        free = next(each for each in (name, *(f"{name}-{at}" for at in range(2, MOST + 2))) if each not in ids)
        ids.add(free)
        of = f"{SKILL_FILE}:{section.line}: {section.heading}"
        about = cut(section.about, _ABOUT_CHARACTERS)
        yield {"id": free, "of": of, "about": about, "prompt": "", "expected_output": "", "assertions": []}


def _sections(body: str, first: int) -> Iterator[_Section]:
    """Headings below the title that are no part of an example, with the line of each in the file."""
    lines = body.splitlines()
    fence = ""
    titles = 0
    for at, line in enumerate(lines):
        if (mark := _FENCE.match(line)) is not None:
            fence = mark[1] if not fence else "" if fence == mark[1] else fence
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            continue
        titles += len(heading[1]) == 1
        if len(heading[1]) > 1 or titles > 1:
            yield _Section(heading[2].strip("*_` "), _first_words(lines[at + 1 :]), first + at)


def _first_words(lines: list[str]) -> str:
    """The first paragraph, or nothing if a heading or an example comes first."""
    words: list[str] = []
    for line in lines:
        if _HEADING.match(line) or _FENCE.match(line) or (words and not line.strip()):
            break
        if line.strip():
            words.append(line.strip())
    return " ".join(words)


def _id(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")[:_ID_CHARACTERS].strip("-") or "draft"
