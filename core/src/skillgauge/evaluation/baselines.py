"""Runs that are kept under names, in files that are made to be committed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from skillgauge_documents.characters import plain

from ..errors import Problem, UsageError
from .invocation import Invocation

BASELINES = "baselines"
"""Folder, below the current one, in which runs are kept under names."""
_SUFFIX = ".record.json"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


def baseline_file(call: Invocation, name: str) -> Path:
    """Where a run is kept under a name.

    Raises:
        UsageError: this cannot be the name of a file everywhere.
    """
    if not _NAME.fullmatch(name):
        message = f"{plain(name)!r} cannot be the name of a baseline"
        raise UsageError(Problem("usage.baseline", message, hint="Use letters, digits, '.', '_' and '-'."))
    return call.cwd / BASELINES / f"{name}{_SUFFIX}"


def baseline_files(call: Invocation) -> Mapping[str, Path]:
    """The runs that are kept under names, by name."""
    found = sorted((call.cwd / BASELINES).glob(f"*{_SUFFIX}"))
    return {path.name.removesuffix(_SUFFIX): path for path in found}


def baseline_source(call: Invocation, word: str) -> str:
    """The file of the run that is kept under this name; the word itself if there is none."""
    kept = baseline_files(call).get(word)
    return word if kept is None else str(kept)
