"""The lints for a suite that says less, or something else, than its author may think."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgauge.api import Document, Origin, Problem, Severity
from skillgauge_skill_folders import Skill

from .files import CaseFile, EvalsFile

FEWEST_CASES = 2
FEWEST_ITEMS, MOST_ITEMS = 3, 5
PROSE_WORDS = 8
"""An expected answer of more words is rarely given word for word."""


def lints(document: Document, file: EvalsFile, skill: Skill) -> Iterator[Problem]:
    """Warnings about a suite, each at its place."""
    if len(file.cases) < FEWEST_CASES:
        message = "one case cannot tell a skill that helps from chance"
        yield _warning("few-cases", message, document.origin("cases"), "Write at least four.")
    for index, case in enumerate(file.cases):
        if case.expected_behavior:
            yield from _of_rubric(document, case, skill, index)
        else:
            yield from _of_answer(document, case, index)


def _of_answer(document: Document, case: CaseFile, index: int) -> Iterator[Problem]:
    at = document.origin("cases", index, "ground_truth")
    words = case.ground_truth.split()
    if not words:
        message = "there is neither expected_behavior nor ground_truth, so its reward is 0 whatever the agent does"
        yield _warning("no-answer", message, document.origin("cases", index))
    elif len(words) > PROSE_WORDS:
        message = f"ground_truth has {len(words)} words, and has to stand in the answer word for word"
        yield _warning("prose", message, at, "Say what matters in expected_behavior, which a judge decides.")
    elif case.ground_truth.strip() in case.question:
        message = "ground_truth stands in the question, so an agent that repeats the question passes"
        yield _warning("answer-in-question", message, at)


def _of_rubric(document: Document, case: CaseFile, skill: Skill, index: int) -> Iterator[Problem]:
    count = len(case.expected_behavior)
    if not FEWEST_ITEMS <= count <= MOST_ITEMS:
        message = f"the rubric has {count} item{'' if count == 1 else 's'}; {FEWEST_ITEMS} to {MOST_ITEMS} tell most"
        yield _warning("rubric-size", message, document.origin("cases", index, "expected_behavior"))
    for number, item in enumerate(case.expected_behavior):
        at = document.origin("cases", index, "expected_behavior", number)
        if _names_skill(item, skill):
            message = "only an agent that has the skill can meet this, so it raises the lift without helping anybody"
            yield _warning("skill-only", message, at, "Say what has to be true of the result.")
        if len(re.findall(r"\band\b", item)) > 1 or ";" in item:
            message = "this says several things, of which a judge has to find all true"
            yield _warning("several-claims", message, at, "Make an item of each.")


def _names_skill(item: str, skill: Skill) -> bool:
    scripts = skill.root / "scripts"
    names = [path.name for path in scripts.iterdir() if path.is_file()] if scripts.is_dir() else []
    return any(word in item for word in ("SKILL.md", skill.name, *names))


def _warning(code: str, message: str, origin: Origin, hint: str | None = None) -> Problem:
    return Problem(f"suite.{code}", message, origin=origin, hint=hint, severity=Severity.WARNING)
