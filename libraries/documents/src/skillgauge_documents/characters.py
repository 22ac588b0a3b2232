"""Text from outside as it may be shown: no character of it acts, hides, or turns other text around.

The one filter of reports and of the terminal. It needs next to nothing, since every command line begins with it.
"""

from __future__ import annotations

import re

LINE = 200
"""Characters of an id, a name or a reason that are shown."""

_HIDDEN = (
    "\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff"
)
"""Controls, marks and overrides of direction, blanks and letters without a shape, tags, halves of surrogate pairs. What
joins letters (U+200C, U+200D) stays, since some scripts need it."""
_MARKER = r"(?<=#)#(?=\[|(?:vso|teamcity)\[)"
"""Inside `##[error]` and the like, which runners of CI obey wherever it stands in a line (GitHub's, Azure's,
TeamCity's)."""
_UNSEEN = f"[\x00-\x1f{_HIDDEN}]"
_UNSEEN_IN_LINES = f"[\x00-\x08\x0b-\x1f{_HIDDEN}]"
_UNSEEN_IN_JSON = f"[{_HIDDEN}]|{_MARKER}"
_COMMAND = rf"(?m)^\s*:(?=:)|#(?={_MARKER})"
_ACCENTS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_TOWER = f"([{_ACCENTS}]{{4}})[{_ACCENTS}]+"
"""More accents on one letter than any language has, which cover the lines above."""


def plain(value: object, limit: int = LINE) -> str:
    """Text from outside as one line that shows all of its characters, cut if it is long.

    Args:
        value: any text.
        limit: most characters of the answer, at least 1.
    """
    text = str(value)
    if text.isascii() and text.isprintable():
        return cut(text.strip(), limit)  # most are, and pages have hundreds of thousands
    line = re.sub(_UNSEEN, "\N{REPLACEMENT CHARACTER}", re.sub(r"[\t\n\r]+", " ", text)).strip()
    return cut(re.sub(_TOWER, r"\1", line), limit)


def plain_lines(value: str) -> str:
    """Text from outside with its line breaks and tabs, and all other characters shown."""
    shown = re.sub(_UNSEEN_IN_LINES, "\N{REPLACEMENT CHARACTER}", value.replace("\r\n", "\n"))
    return re.sub(_TOWER, r"\1", shown)


def printed(value: str) -> str:
    """Lines as a terminal or a log of CI may get them: `plain_lines`, and a blank inside of what a runner obeys."""
    if value.isascii() and value.replace("\n", "").isprintable() and "::" not in value and "##" not in value:
        return value  # most are, and a command that prints no others compiles no patterns
    return re.sub(_COMMAND, r"\g<0> ", plain_lines(value))


def json_text(document: str) -> str:
    """A JSON document, or a whole token of one, with what acts or hides as escapes of JSON: it means the same."""
    if document.isascii() and "\x7f" not in document and "##" not in document:
        return document
    return re.sub(_UNSEEN_IN_JSON, lambda found: escaped(found[0]), document)


def escaped(character: str) -> str:
    """A character as JSON escapes it."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def cut(text: str, limit: int) -> str:
    """At most that many characters, of which the last says that there are more."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
