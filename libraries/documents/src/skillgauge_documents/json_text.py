"""JSON text: its value from the `json` module, its places from a scan of our own.

The scan runs only over text that is shown to be faulty or about which a problem is shown. It neither recurses nor
raises, whatever the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .faults import (
    MAX_DEPTH,
    DocumentError,
    Fault,
    Lines,
    Step,
    duplicate_key,
    half_pair,
    has_half_pair,
    no_number,
    place_at,
    too_deep,
)
from .slips import next_step
from .values import JsonValue, freeze

_TOKEN = re.compile(r'[{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)
_MAX_DIGITS = 4000
"""Python refuses to read integers of more digits than a little above this."""


def json_value(text: str) -> JsonValue:
    """The value of a JSON text. Raises `DocumentError` with the place of every fault."""
    repeated = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        members = dict(pairs)
        repeated = repeated or len(members) != len(pairs)
        return members

    try:
        value = freeze(json.loads(text, object_pairs_hook=members, parse_constant=_refuse))
    except json.JSONDecodeError as error:
        code, message = "syntax", f"{error.msg[:1].lower()}{error.msg[1:]}"
        if error.msg == "Extra data":
            is_value = text[error.pos] not in ",:]}"
            code = "multiple" if is_value else "syntax"
            message = "a second value follows the first; one file holds one" if is_value else "nothing may follow here"
        raise DocumentError(Fault(code, message, *place_at(text, error.pos), next_step(text, error))) from error
    except (ValueError, RecursionError) as error:  # a number, character or depth that no value may have
        raise DocumentError(_faults(text)) from error
    if repeated:
        raise DocumentError(_faults(text))
    return value


def json_nodes(text: str) -> Iterator[tuple[int, Step | None, int, str]]:
    """Every value as depth, last step of its pointer, offset and first token, in the order of the text.

    The offset is that of the key, if there is one.
    """
    inside: list[Step | None] = []  # per open bracket: index of the item, or key of the member once it is read
    key_at = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        first = token[0]
        if first in "]}":
            del inside[-1:]
        elif first == ",":
            inside[-1:] = map(_next_step, inside[-1:])
        elif first == '"' and inside and inside[-1] is None:
            inside[-1], key_at = _unquoted(token), match.start()
        elif first != ":":
            step = inside[-1] if inside else None
            yield len(inside), step, key_at if isinstance(step, str) else match.start(), token
            if first in "{[":
                inside.append(0 if first == "[" else None)


def _next_step(step: Step | None) -> Step | None:
    """Return the step after a comma: the next item, or a member whose key is not read yet."""
    return step + 1 if isinstance(step, int) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def _faults(text: str) -> list[Fault]:
    """Return the faults that make an otherwise valid text unfit: repeated keys, depth, numbers, characters."""
    faults: list[Fault] = []
    lines = Lines(text)
    keys: list[set[str]] = []
    for depth, step, offset, token in json_nodes(text):
        if depth > MAX_DEPTH and token in "{[":
            return [*faults, too_deep(*lines.place(offset))]
        del keys[depth:]
        keys.append(set())
        if isinstance(step, str):
            if step in keys[depth - 1]:
                faults.append(duplicate_key(step, *lines.place(offset)))
            keys[depth - 1].add(step)
        if has_half_pair(str(step)) or _is_broken_text(token):
            faults.append(half_pair(*lines.place(offset)))
        if token[0] in "-0123456789NI" and not _is_finite(token):
            faults.append(no_number(token, *lines.place(offset)))
    # Without a fault here, the caller's own recursion had used up the stack.
    return faults or [too_deep()]


def _is_broken_text(token: str) -> bool:
    return token[0] == '"' and has_half_pair(_unquoted(token))


def _is_finite(token: str) -> bool:
    try:
        return len(token) <= _MAX_DIGITS and math.isfinite(float(token))
    except ValueError:  # malformed; what stopped the `json` module may be the constant that it begins with
        return not token.lstrip("-").startswith(("NaN", "Infinity"))
