"""JSON that stands within a text."""

from __future__ import annotations

import json
import re
import time
from typing import Any, NoReturn

_BEGIN = re.compile(r"[{\[]")


def values_in(text: str, until: float) -> list[Any]:
    """The objects and lists of a text that are in no other, in their order.

    Raises:
        TimeoutError: it takes longer than until that moment of `time.monotonic`; each brace may begin a long search.
    """
    decoder = json.JSONDecoder(parse_constant=_refuse)
    values: list[Any] = []
    at = 0
    while begin := _BEGIN.search(text, at):
        if time.monotonic() > until:
            raise TimeoutError
        try:
            value, at = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            at = begin.end()
        else:
            values.append(value)
    return values


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
