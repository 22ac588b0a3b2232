"""Reads what a program says."""

from __future__ import annotations

import json
from collections.abc import Mapping


class NoAnswer(Exception):  # noqa: N818 - an outcome
    """There is no answer; the text says why."""


def answer_in(stdout: str, key: str | None) -> str:
    """The answer in what a program has written.

    Args:
        stdout: all of it.
        key: key of the answer in the last line that is a JSON object, with dots for deeper ones; `None`: all of it.

    Raises:
        NoAnswer: there is no such line, or nothing at that key.
    """
    if key is None:
        return stdout.strip()
    value: object = _last_object(stdout)
    for step in key.split("."):
        if not isinstance(value, Mapping) or value.get(step) is None:
            raise NoAnswer(f"the last JSON object of its output has no {key!r}")
        value = value[step]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _last_object(stdout: str) -> Mapping[str, object]:
    for line in reversed(stdout.splitlines()):
        if not line.lstrip().startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise NoAnswer("no line of its output is a JSON object")
