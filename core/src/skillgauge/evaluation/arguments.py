"""The words of a command line as values: what the user typed, before anything is looked up or loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config.configuration import MOST_RUNS
from ..errors import Problem, UsageError

OWN_DOCUMENT = "json"
"""The word of `--format` for "the document of the suite's own format"."""


PAGE = "html"
"""The reporter whose page `--open` shows."""


@dataclass(frozen=True)
class Detect:
    """As many repeats as show a difference, a fraction."""

    difference: float


def runs_of(value: object) -> int | Detect:
    """Read a number of repeats, or `auto` with the points of lift that are to be shown or without.

    Raises:
        UsageError: it is neither.
    """
    word, _, points = str(value).partition(":")
    try:
        if word == "auto":
            wanted = float(points or 50)
            if 0 < wanted <= 100:
                return Detect(wanted / 100)
        elif 1 <= int(word) <= MOST_RUNS and not points:
            return int(word)
    except ValueError:
        pass
    hint = f"Give a number from 1 to {MOST_RUNS}, or auto:POINTS with points from 1 to 100."
    raise UsageError(Problem("usage.runs", f"runs {str(value)!r} is neither a number nor auto:POINTS", hint=hint))


def words(values: Sequence[str]) -> tuple[str, ...]:
    """Values of a repeated option, commas split."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def paths_and_cases(given: Sequence[str], cwd: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Words that exist or look like a path are paths; the others select cases of the suites here."""
    paths, cases = [], []
    for word in given:
        path = cwd / word
        is_there = os.path.exists(path)  # noqa: PTH110 - never raises
        like_one = "/" in word or "\\" in word or word.startswith(".") or path.suffix or not word.isprintable()
        if is_there or like_one:
            paths.append(path)
        else:
            cases.append(word)
    return tuple(paths), tuple(cases)


def seconds_of(text: str | None) -> float | None:
    """What `--timeout` says, in seconds; a bare number is milliseconds.

    Raises:
        UsageError: it is no time.
    """
    if text is None:
        return None
    units = {"ms": 0.001, "s": 1.0, "m": 60.0}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    try:
        seconds = float(text.removesuffix(unit)) * units.get(unit, 0.001)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        hint = "Write a number with a unit: 30s, 2m or 500ms; a bare number is milliseconds."
        raise UsageError(Problem("usage.timeout", f"--timeout {text!r} is no time", hint=hint))
    return seconds


_CONFIG_OPTIONS = {
    "runs": "runs",
    "concurrency": "concurrency",
    "retries": "retries",
    "seed": "seed",
    "sandbox": "sandbox",
    "output_dir": "outputDir",
    "store": "store",
}


def configured(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the parsed options that are configuration values, by their keys; unset ones are absent."""
    known = {key: values[name] for name, key in _CONFIG_OPTIONS.items() if values.get(name) is not None}
    return {key: value for key, value in known.items() if not isinstance(value, Detect)}
