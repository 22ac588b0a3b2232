"""Patterns, from JavaScript to scorers and back."""

from __future__ import annotations

import re

from skillgauge.api import JsonValue
from skillgauge_patterns import PatternError, compiled, folded, from_javascript, in_python, unfolded

from .reading import Reading

JAVASCRIPT = {"syntax": "javascript"}
"""The option of scorers for patterns as JavaScript reads them."""
_NOWHERE = r"^(?![\s\S]*(?:"
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_FLAGGED = re.compile(r"\(\?([ims]+):(.*)\)", re.DOTALL)
_PYTHON_ONLY = re.compile(r"\\[AZzhHGKRX]|\(\?[P#>|R&]|\(\?[a-zA-Z-]*[aLuxVbefpr][a-zA-Z-]*[:)]|[*+?}]\+|\[\[:")
"""Signs of what JavaScript does not have, or takes for something else."""


def pattern_of(written: str, reading: Reading, *pointer: str | int) -> str:
    """Return a pattern of JavaScript; one that cannot be used is a problem at its place.

    Flags at the beginning, which Vally takes off and JavaScript does not know there, become those of a group.
    """
    flags = _FLAGS.match(written)
    pattern = written if flags is None else f"(?{flags[1]}:{written[flags.end() :]})"
    try:
        compiled(from_javascript(pattern))
    except PatternError as error:
        reading.refuse(str(error), *pointer, hint="Write a pattern that is valid in JavaScript.")
    return pattern


def options_of(written: str, pattern: str) -> dict[str, JsonValue]:
    """Return the options of a check for a pattern: in the plain form, if it means the same in any syntax.

    Args:
        written: the pattern as Vally reads it.
        pattern: what `pattern_of` makes of it.
    """
    (plain,), heeds_case = unfolded((written,))
    try:
        python = in_python(plain)
    except PatternError:  # it has other flags, or is refused with its place
        python = None
    if python is None:
        return {**JAVASCRIPT, "patterns": (pattern,)}
    return {"patterns": (python,), **({} if heeds_case else {"case_sensitive": False})}


def written_of(pattern: str) -> str:
    """Return a pattern of `pattern_of` as Vally reads it."""
    flagged = _FLAGGED.fullmatch(pattern)
    if flagged is None or not _is_whole(flagged[2]):
        return pattern
    return f"(?{flagged[1]}){flagged[2]}"


def _is_whole(inner: str) -> bool:
    """Tell whether the brackets of a group belong together, and are not those of two groups."""
    try:
        from_javascript(inner)
    except PatternError:
        return False
    return True


def javascript_of(pattern: str, *, is_folded: bool = False) -> str | None:
    """Return a pattern of Python as Vally reads it; `None` if JavaScript has no such pattern.

    Args:
        pattern: the pattern.
        is_folded: whether upper and lower case are the same.
    """
    if _FLAGS.match(pattern) is None:
        pattern = re.sub(r"\A\\A", "^", re.sub(r"(?<!\\)\\Z\Z", "$", pattern))
    if _PYTHON_ONLY.search(pattern):
        return None
    return folded(pattern) if is_folded else pattern


def nowhere(pattern: str) -> str:
    """Return a pattern that is found in what has no place that fits another."""
    return f"{_NOWHERE}{pattern}))"


def forbidden(pattern: str) -> str | None:
    """Return the pattern that may not be found; `None` if it is another kind of pattern."""
    return pattern.removeprefix(_NOWHERE)[:-2] if pattern.startswith(_NOWHERE) else None
