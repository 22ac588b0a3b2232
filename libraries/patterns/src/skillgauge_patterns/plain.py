"""Patterns of JavaScript that mean the same here, or do with another sign for the ends of a text."""

from __future__ import annotations

import re

from .javascript import from_javascript

_SPELLED = re.compile(r"\\x(?P<hex>[0-9a-f]{2})|\\(?P<escaped>[^A-Za-z0-9])|(?P<itself>[ !\"#%&',/:;<=>@_`~-])")
_END = re.compile(r"(?<!\\)\$\Z")


def in_python(pattern: str) -> str | None:
    r"""Return a pattern of JavaScript as it would be written here; `None` if it needs the syntax of JavaScript.

    `^` and `$` around it become `\A` and `\Z`, which is what they mean there.

    Raises:
        PatternError: JavaScript refuses the pattern.
    """
    meant = _plainly(from_javascript(pattern))
    ends = _END.sub(r"\\Z", re.sub(r"\A\^", r"\\A", pattern))
    return next((one for one in (pattern, ends) if _plainly(one) == meant), None)


def _plainly(pattern: str) -> str:
    """Return a pattern with each sign that means itself written in one way."""
    return _SPELLED.sub(_escaped, pattern)


def _escaped(match: re.Match[str]) -> str:
    sign = chr(int(match["hex"], 16)) if match["hex"] else match["escaped"] or match["itself"]
    return sign if sign.isalnum() else f"\\{sign}"
