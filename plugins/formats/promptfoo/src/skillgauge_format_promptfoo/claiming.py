"""Recognise a configuration of promptfoo: by its name, or by keys that only promptfoo has together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, read_document
from skillgauge_skill_folders import bytes_of

NAMES = tuple(f"promptfooconfig.{ending}" for ending in ("yaml", "yml", "json"))
_KEYS = frozenset({"prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "redteam"})
_SUFFIXES = (".yaml", ".yml", ".json")
_MAX_BYTES = 64 * 1024 * 1024
"""What is larger is not read."""
_MARKS = (b"prompts", b"providers", b"targets")


def claim(path: Path) -> Claim | None:
    """Claim a path for this format; never raises."""
    try:
        if path.suffix not in _SUFFIXES or path.stem == "evals" or not path.is_file():
            return None
        if path.name in NAMES:
            return Claim("config", f"named {path.name}")
        data = bytes_of(path, _MAX_BYTES) or b""
        if b"tests" not in data or not any(mark in data for mark in _MARKS):
            return None
        value = read_document(path).value
    except (OSError, ValueError, RecursionError, SuiteError):
        return None
    return Claim("config", f"{path.name} has `tests` beside prompts or providers") if is_config(value) else None


def is_config(value: object) -> bool:
    """Tell whether a document has tests, and prompts with the variables that they fill or providers to ask."""
    if not isinstance(value, Mapping) or "tests" not in value:
        return False
    tests = value["tests"]
    if isinstance(tests, tuple) and any(isinstance(one, Mapping) and "id" in one for one in tests):
        return False  # a test of promptfoo has none
    providers = value.get("providers", value.get("targets"))
    return isinstance(value.get("prompts"), tuple | str) and (providers is None or isinstance(providers, tuple | str))
