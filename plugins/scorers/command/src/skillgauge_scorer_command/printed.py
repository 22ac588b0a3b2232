"""The score that a command prints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

_REASONS = ("details", "message", "feedback", "reason")
SHOWN_CHARACTERS = 80


@dataclass(frozen=True)
class Printed:
    """A score, and what the command says about it."""

    value: float
    reason: str = ""


def printed_score(stdout: bytes) -> Printed:
    """The score on a command's stdout.

    Args:
        stdout: a number from 0 to 1, or a JSON object with one under `score`, with any text around the object.

    Raises:
        ValueError: it holds no score, and why.
    """
    text = stdout.decode(errors="replace").strip()
    if not text:
        raise ValueError("prints nothing, so there is no score")
    value = _parsed(text)
    if value is None and "{" in text:
        value = _parsed(text[text.index("{") : text.rfind("}") + 1])
    if isinstance(value, dict):
        if "score" not in value:
            raise ValueError("the printed object has no `score`")
        reasons = (value[name] for name in _REASONS if isinstance(value.get(name), str))
        return Printed(_number(value["score"]), next(reasons, ""))
    return Printed(_number(text if value is None else value))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"prints {_shown(value)}, which is no score: a number from 0 to 1 is needed")
    if not 0 <= value <= 1:
        raise ValueError(f"prints the score {_shown(value)}, which is not from 0 to 1")
    return float(value)


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)[: SHOWN_CHARACTERS + 1]
    return repr(text[:SHOWN_CHARACTERS]) if isinstance(value, str) else text[:SHOWN_CHARACTERS]
