"""The remedies for a slip in a JSON or YAML text: the few that people make, recognised by the text around the place."""

from __future__ import annotations

import json

_QUOTES = ("'", "\u2018", "\u2019", "\u201c", "\u201d")
"""What a text begins with where somebody took the wrong marks, or a word processor took others for him."""
_COMMENTS = ("//", "/*", "#")
_BY_MESSAGE = (
    ("Expecting ',' delimiter", "Write a comma between the values, or close the text or list before."),
    ("Expecting ':' delimiter", "Write a colon between a key and its value."),
    ("Expecting property name", "Write a key in double quotes."),
    ("Expecting value", "Write a value: a text in double quotes, a number, true, false, null, a list or an object."),
    ("Unterminated string", "Close the text with a double quote."),
    ("Invalid control character", "Write a line break inside of a text as \\n, a tab as \\t; or close the text."),
    ("Invalid \\", 'Write a backslash as two, or one of the escapes of JSON: \\n, \\t, \\", \\u1234.'),
    ("Extra data", "Remove what follows, or the bracket too many before it."),
)
_IN_YAML = (
    (
        "mapping values are not allowed",
        "Put a text with a colon and a space in quotes, or correct the indentation.",
    ),
    (
        "cannot start any token",
        "Indent with spaces, never tabs; put a text that begins with such a mark in quotes.",
    ),
    ("undefined alias", "Put a text that begins with * in quotes, or name an anchor that stands before."),
    ("unknown escape", "Write a backslash as two, or put the text in single quotes."),
    ("end of stream", "Close the text with the mark that opened it."),
    ("flow", "Write a comma between the values, or close the bracket."),
    ("block", "Indent what belongs together by the same number of spaces."),
)
"""Parts that the messages of both parsers have in common, the libyaml one and PyYAML's own."""


def next_step(text: str, error: json.JSONDecodeError) -> str | None:
    """Return the remedy for the place at which the `json` module stumbled; nothing where there is no likely one."""
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()[-1:]
    if not rest:
        return "Close what is still open: the text ends here." if before else "Write a value: nothing is there."
    if rest.startswith(_COMMENTS):
        return "Remove the comment; JSON has none."
    if rest.startswith(_QUOTES) and not error.msg.startswith("Invalid"):
        return "Put keys and texts in straight double quotes."
    if error.msg.startswith("Illegal trailing comma") or (before == "," and rest[0] in "]}"):
        return "Remove the comma before the bracket, or write what is missing."
    return next((step for start, step in _BY_MESSAGE if error.msg.startswith(start)), None)


def next_step_in_yaml(message: str) -> str | None:
    """The same for what PyYAML says."""
    return next((step for part, step in _IN_YAML if part in message), None)
