"""Recognise the files of waza by what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim
from skillgauge_skill_folders import object_in

FORMAT = "waza"
NAMES = ("eval.yaml", "eval.yml")


def claim(path: Path) -> Claim | None:
    """Claim a path for this format: `skill`, `config` and the places of tasks; never raises."""
    value = object_in(path, NAMES)
    if value is None or "skill" not in value or "config" not in value:
        return None
    tasks = value.get("tasks")
    has_instructions = isinstance(tasks, tuple) and any(
        isinstance(one, Mapping) and "instruction" in one for one in tasks
    )
    if ("tasks" in value or "tasks_from" in value) and not has_instructions:
        return Claim(FORMAT, f"{path.name} has `skill`, `config` and says where its tasks are")
    return None
