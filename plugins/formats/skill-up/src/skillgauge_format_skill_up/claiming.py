"""Recognise the files of skill-up by what stands in them."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Claim
from skillgauge_skill_folders import object_in

FORMAT = "skill-up"
NAMES = ("eval.yaml", "eval.yml")
VERSION = "v1alpha1"


def claim(path: Path) -> Claim | None:
    """Claim a path for this format: its version of the schema, and cases or an engine; never raises."""
    value = object_in(path, NAMES)
    if value is None or value.get("schema_version") != VERSION or not {"cases", "engine"} & value.keys():
        return None
    return Claim(FORMAT, f"{path.name} has `schema_version: {VERSION}` and `cases` or `engine`")
