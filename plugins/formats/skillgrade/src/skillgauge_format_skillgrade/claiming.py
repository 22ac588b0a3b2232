"""Recognise the files of skillgrade by what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, read_document

FORMAT = "skillgrade"
NAMES = frozenset({"eval.yaml", "eval.yml"})


def claim(path: Path) -> Claim | None:
    """What a path is to this format: a list of tasks, each an object with an instruction; never raises."""
    try:
        if path.name not in NAMES or not path.is_file():
            return None
        value = read_document(path).value
    except (OSError, ValueError, RecursionError, SuiteError):
        return None
    tasks = value.get("tasks") if isinstance(value, Mapping) else None
    if isinstance(tasks, tuple) and any(isinstance(one, Mapping) and "instruction" in one for one in tasks):
        return Claim(FORMAT, f"{path.name} has `tasks` with an instruction")
    return None
