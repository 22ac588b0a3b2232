"""What a judge answered: a number that is beyond doubt, or why there is none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_REASON = 1_000
_BLOCK = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
_OF_TEN = re.compile(r"\s*(?:/|out of)\s*10(?:\.0+)?(?![0-9.,]*[0-9])")


class Unreadable(ValueError):  # noqa: N818 - an outcome
    """There is no number, or more than one could be meant. The message quotes nothing of the answer."""


@dataclass(frozen=True)
class Answer:
    """A judge's verdict."""

    score: float
    """From 0 to 10."""
    reason: str


def answer_of(text: str) -> Answer:
    """Read an answer.

    Only the whole answer counts: a judge may quote what the output demands, and that must not become the verdict.

    Raises:
        Unreadable: it is not what was asked for.
    """
    text = text.strip()
    block = _BLOCK.fullmatch(text)
    if block:
        text = block[1].strip()
    if not text:
        raise Unreadable("it was empty")
    return _object(text) if text.startswith("{") else _prefix(text)


def _object(text: str) -> Answer:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        raise Unreadable("it was not one JSON object alone") from None
    if "score" not in value:
        raise Unreadable("its JSON object had no score")
    score, reason = value["score"], value.get("reason")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unreadable("its score was no number")
    return Answer(_in_range(score), _one_line(reason) if isinstance(reason, str) else "")


def _prefix(text: str) -> Answer:
    """A number at the beginning, as `8` or `8/10 good`, if it is the only one."""
    number = _NUMBER.match(text)
    if number is None:
        raise Unreadable("it was neither a JSON object nor a number")
    rest = text[number.end() :]
    if of_ten := _OF_TEN.match(rest):
        rest = rest[of_ten.end() :]
    if re.search(r"[\d{]", rest) or re.match(r"[\w%/]", rest):
        raise Unreadable("it held more than one number")
    return Answer(_in_range(float(number[0])), _one_line(rest.strip(" \t\n.,:;-–—")))


def _in_range(score: float) -> float:
    if not 0 <= score <= 10:
        raise Unreadable("its score was not from 0 to 10")
    return float(score)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("its JSON object had the same key twice")
    return dict(pairs)


def _refuse(_constant: str) -> float:
    raise Unreadable("its score was no number")


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    return text if len(text) <= _REASON else f"{text[: _REASON - 1]}…"
