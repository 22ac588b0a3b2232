"""Patterns, from JavaScript to scorers and back."""

from __future__ import annotations

import re

from skillgauge_patterns import PatternError, compiled

from .reading import Reading

FOLDED = "(?i)"
_NOWHERE = r"\A(?!(?s:.*)(?:"
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_PYTHON_ONLY = re.compile(r"\\[AZzhHGKRX]|\(\?[P#>|R&]|\(\?[a-zA-Z-]*[aLuxVbefpr][a-zA-Z-]*[:)]|[*+?}]\+|\[\[:")
"""Signs of what JavaScript does not have, or takes for something else."""


def pattern_of(written: str, reading: Reading, *pointer: str | int) -> str:
    """Return a pattern in the syntax of scorers; one that cannot be used is a problem at its place."""
    try:
        compiled(written)
    except PatternError as error:
        reading.refuse(str(error), *pointer, hint="Write a pattern that is valid in Python as well.")
    return written


def javascript_of(pattern: str, *, folded: bool = False) -> str | None:
    """Return a pattern of a scorer as Vally reads it; `None` if JavaScript has no such pattern.

    Args:
        pattern: the pattern.
        folded: whether upper and lower case are the same.
    """
    if _PYTHON_ONLY.search(pattern):
        return None
    if not folded:
        return pattern
    flags = _FLAGS.match(pattern)
    if flags is None:
        return f"{FOLDED}{pattern}"
    return pattern if "i" in flags[1] else f"(?i{flags[1]}){pattern[flags.end() :]}"


def nowhere(pattern: str) -> str:
    """Return a pattern that is found in what has no place that fits another."""
    return rf"{_NOWHERE}{pattern}))"


def forbidden(pattern: str) -> str | None:
    """Return the pattern that may not be found; `None` if it is another kind of pattern."""
    return pattern.removeprefix(_NOWHERE)[:-2] if pattern.startswith(_NOWHERE) else None
