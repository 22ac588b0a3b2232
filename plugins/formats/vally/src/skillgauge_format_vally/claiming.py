"""Recognise the files of Vally by what stands in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim
from skillgauge_skill_folders import object_in

FORMAT = "vally"
NAMES = ("eval.yaml", "eval.yml", "eval.vally.yaml")
"""Names of such a file in a folder, the preferred one first."""
_NAMED = re.compile(r"(?:.+[-._])?eval\.ya?ml|eval\.vally\.yaml")


def claim(path: Path) -> Claim | None:
    """Claim a path for this format: a list `stimuli` whose items have a prompt or turns; never raises."""
    if not _NAMED.fullmatch(path.name):
        return None
    stimuli = (object_in(path, (path.name,)) or {}).get("stimuli")
    if not isinstance(stimuli, tuple):
        return None
    if any(isinstance(item, Mapping) and ("prompt" in item or "turns" in item) for item in stimuli):
        return Claim(FORMAT, f"{path.name} has `stimuli` with a prompt or turns")
    return None
