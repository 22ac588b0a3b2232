"""Recognise scenarios of Tessl by their two files and by what stands in the checklist."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, read_document

FORMAT = "tessl"
EVALS = "evals"
"""Name of the folder that scenarios lie in."""
TASK, CRITERIA = "task.md", "criteria.json"
"""The files that make a folder a scenario."""
CAPABILITY, SCENARIO = "capability.txt", "scenario.json"
"""The files that a scenario may have, too."""
WEIGHTED_CHECKLIST = "weighted_checklist"
_DEPTH = 3
"""Folders between a scenario and `evals`, that one included: scenarios may lie in groups."""


def claim(path: Path) -> Claim | None:
    """Claim a scenario below `evals`: its folder, or one of the two files that make it one; never raises."""
    try:
        folder = path.parent if path.name in (TASK, CRITERIA) and path.is_file() else path
        if evals_around(folder) is None or not is_scenario(folder) or not _has_checklist(folder / CRITERIA):
            return None
    except (OSError, ValueError):
        return None
    return Claim(FORMAT, f"{TASK} beside {CRITERIA} with a checklist")


def evals_around(folder: Path) -> Path | None:
    """The nearest folder called `evals` around a folder, at most three up."""
    return next((outer for outer in folder.parents[:_DEPTH] if outer.name == EVALS), None)


def is_scenario(folder: Path) -> bool:
    """Tell whether both files of a scenario lie in a folder."""
    return (folder / TASK).is_file() and (folder / CRITERIA).is_file()


def _has_checklist(file: Path) -> bool:
    """Tell whether a file holds a checklist, or is so damaged that nobody else would tell its user."""
    try:
        value = read_document(file, kind="json").value
    except SuiteError:
        return True
    return isinstance(value, Mapping) and ("checklist" in value or value.get("type") == WEIGHTED_CHECKLIST)
