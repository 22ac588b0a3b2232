"""Reads what a program says."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .records import at, chosen, records_in


class NoAnswer(Exception):  # noqa: N818 - an outcome
    """There is no answer; the text says why."""


def answer_in(stdout: str, key: str | None, where: Mapping[str, object] | None = None) -> str:
    """The answer in what a program has written.

    Args:
        stdout: all of it.
        key: key of the answer in a line that is a JSON object, with dots for deeper ones; `None`: all of the output.
        where: fields of that line, key to value, of which the last one counts; without any it is the last object.

    Raises:
        NoAnswer: there is no such line, or nothing at that key.
    """
    if key is None:
        return stdout.strip()
    records = records_in(stdout)
    if not records:
        raise NoAnswer("no line of its output is a JSON object")
    fitting = chosen(records, where or {})
    if not fitting:
        fields = ", ".join(f"{name}: {json.dumps(value)}" for name, value in (where or {}).items())
        raise NoAnswer(f"no JSON object of its output has {fields}")
    value = at(fitting[-1], key)
    if value is None:
        which = "last JSON object of its output" if not where else "JSON object with the answer"
        raise NoAnswer(f"the {which} has no {key!r}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
