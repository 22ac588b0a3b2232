"""Recognise the files of skillgrade by what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim
from skillgauge_skill_folders import object_in

FORMAT = "skillgrade"
NAMES = ("eval.yaml", "eval.yml")


def claim(path: Path) -> Claim | None:
    """Claim a path for this format: a list of tasks, each an object with an instruction; never raises."""
    tasks = (object_in(path, NAMES) or {}).get("tasks")
    if isinstance(tasks, tuple) and any(isinstance(one, Mapping) and "instruction" in one for one in tasks):
        return Claim(FORMAT, f"{path.name} has `tasks` with an instruction")
    return None
