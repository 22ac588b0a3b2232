"""Recognise the files of eval-skills by what stands in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skillgauge.api import Claim

SKILL_FILE = "skill.json"

_PACKAGE_FILE = "package.agent.json"
_MARKS = (b'"adapterType"', b'"tasks"')
_MAX_BYTES = 8 * 1024 * 1024
SKILL, BENCHMARK = "skill", "benchmark"
"""The dialects."""


def claim(path: Path) -> Claim | None:
    """Claim a path for eval-skills; never raises."""
    try:
        if not path.is_dir():
            return _claim_file(path)
        held = path / SKILL_FILE
        if held.is_file() and not (path / _PACKAGE_FILE).exists():
            return _claim_file(held)
    except (OSError, ValueError, RecursionError):
        pass
    return None


def _claim_file(path: Path) -> Claim | None:
    if path.suffix != ".json" or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return None
    is_named = path.name == SKILL_FILE
    data = path.read_bytes()
    if not is_named and not any(mark in data for mark in _MARKS):
        return None  # most JSON files below a folder are somebody else's; parsing them all would take long
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        # Nobody else would say what is wrong with it.
        return Claim(SKILL, f"named {SKILL_FILE}, but not valid JSON") if is_named else None
    if not isinstance(value, dict):
        return None
    marks = [key for key in ("id", "entrypoint", "adapterType") if key in value]
    if len(marks) >= (2 if is_named else 3):
        return Claim(SKILL, f"an object with {', '.join(marks)}")
    return Claim(BENCHMARK, "an object with a list of tasks") if _has_tasks(value) else None


def _has_tasks(value: dict[str, Any]) -> bool:
    tasks = value.get("tasks")
    if not isinstance(tasks, list):
        return False
    return all(isinstance(task, dict) and "id" in task for task in tasks[:1]) if tasks else "scoringMethod" in value
