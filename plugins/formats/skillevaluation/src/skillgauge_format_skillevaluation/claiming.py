"""Recognise eval.yaml of skillevaluation among the other files of that name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, read_document
from skillgauge_skill_folders import SKILL_FILE

NAMES = ("eval.yaml", "eval.yml")
OTHERS_FOLDER = "evals"
"""Where suites of other formats lie in a skill's folder."""
_OF_OTHERS = frozenset(
    {
        "evals",
        "tasks",
        "tasks_from",
        "tests",
        "stimuli",
        "should_trigger",
        "should_not_trigger",
        "should_trigger_prompts",
        "should_not_trigger_prompts",
        "execution",
    }
)
"""Keys by which other tools' files of the same name are known."""
_CASE_OF_OTHERS = frozenset({"id", "assertions", "question", "ground_truth", "expected_behavior", "expected_output"})
_NAMELESS_CASE_OF_OTHERS = frozenset({"query", "input", "should_trigger", "expectations"}) | _CASE_OF_OTHERS
"""Without a name and validators, a case that says what should come of it can be run by formats that need no names."""


def claim(path: Path) -> Claim | None:
    """Claim a path for this format; never raises."""
    try:
        if path.is_dir():
            return _claim_folder(path)
        return _claim_file(path) if path.suffix in (".yaml", ".yml") and path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None


def _claim_folder(path: Path) -> Claim | None:
    """A skill whose only suite is this format's: with others beside it, each file is somebody's by itself."""
    if not (path / SKILL_FILE).is_file() or (path / OTHERS_FOLDER).is_dir():
        return None
    file = next((path / name for name in NAMES if (path / name).is_file()), None)
    return _claim_file(file) if file else None


def _claim_file(path: Path) -> Claim | None:
    is_beside_skill = path.name in NAMES and (path.parent / SKILL_FILE).is_file()
    try:
        value = read_document(path).value
    except SuiteError:
        return Claim("rev 2", f"{path.name} beside {SKILL_FILE}, which cannot be read") if is_beside_skill else None
    if _is_suite(value):
        return Claim("rev 2", f"{path.name} is an object with `cases` that have a prompt")
    if is_beside_skill and not _is_of_others(value):
        return Claim("rev 2", f"named {path.name}, beside {SKILL_FILE}")
    return None


def _is_suite(value: object) -> bool:
    cases = value.get("cases") if isinstance(value, Mapping) else None
    first = cases[0] if isinstance(cases, tuple) and cases else None
    return isinstance(first, Mapping) and {"name", "prompt"} <= first.keys() and not _is_of_others(value)


def _is_of_others(value: object) -> bool:
    if isinstance(value, tuple):
        return any(isinstance(item, Mapping) for item in value)
    if not isinstance(value, Mapping):
        return False
    cases = value.get("cases")
    first = next((item for item in cases if isinstance(item, Mapping)), {}) if isinstance(cases, tuple) else {}
    is_named = not {"name", "validators"}.isdisjoint(first)
    return bool(_OF_OTHERS & value.keys() or (_CASE_OF_OTHERS if is_named else _NAMELESS_CASE_OF_OTHERS) & first.keys())
