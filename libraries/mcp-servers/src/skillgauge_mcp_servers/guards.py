"""Guards on the input of a call: as suites write them, and as a stand-in checks them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from skillgauge.api import JsonValue, text_of
from skillgauge_patterns import PatternError, compiled, from_javascript

TYPES = {
    "string": "string",
    "number": "number",
    "bool": "bool",
    "boolean": "bool",
    "object": "object",
    "array": "array",
}
_PATTERN = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)


class GuardError(ValueError):
    """A guard that cannot be checked; `pointer` leads to it."""

    def __init__(self, message: str, *pointer: str) -> None:
        super().__init__(message)
        self.pointer = pointer


def guards_of(written: Mapping[str, JsonValue], *pointer: str) -> tuple[Mapping[str, JsonValue], ...]:
    """Return the guards of a table of values that the input of a call must have.

    A text is the value itself, `/text/` a pattern of JavaScript, the name of a type a value of that type, a list one of
    several values, and a table the same of what is inside. Keys may have dots for what is inside.

    Raises:
        GuardError: one of them cannot be checked.
    """
    return tuple(_guards(written, pointer, ""))


def _guards(
    written: Mapping[str, JsonValue], pointer: tuple[str, ...], around: str
) -> Iterator[Mapping[str, JsonValue]]:
    for key, value in written.items():
        at = f"{around}.{key}" if around else key
        if isinstance(value, Mapping):
            yield from _guards(value, (*pointer, key), at)
        elif isinstance(value, tuple):
            if not value:
                raise GuardError("no value is allowed, so that every call breaks it", *pointer, key)
            texts = tuple(map(_text, value))
            yield {"at": at, "one_of": texts, "words": f"one of {', '.join(texts)}"}
        else:
            yield {"at": at, **_guard(_text(value), (*pointer, key))}


def _guard(text: str, pointer: tuple[str, ...]) -> Mapping[str, JsonValue]:
    if text in TYPES:
        return {"type": TYPES[text], "words": f"of type {TYPES[text]}"}
    pattern = _PATTERN.fullmatch(text)
    if pattern is None:
        return {"one_of": (text,), "words": repr(text)}
    try:
        translated = from_javascript(pattern[1], pattern[2])
        compiled(translated)
        re.compile(translated)
    except (PatternError, re.error) as error:
        raise GuardError(f"{text}: {error}", *pointer) from error
    return {"pattern": translated, "words": f"matched by {text}"}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else text_of(value)
