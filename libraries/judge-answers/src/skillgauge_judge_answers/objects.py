"""The one JSON object with which a judge answers, whatever stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from .exhibits import Exhibits

_MOST_TRIES = 200
"""Braces at which an object is looked for in an answer with text around it."""
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):  # noqa: N818 - an outcome
    """An answer is not what was asked for. The message quotes nothing of it."""


def without_thoughts(text: str) -> str:
    """An answer without the block in which a model thinks aloud before it answers, and without blanks around it."""
    return _THOUGHTS.sub("", text).strip()


def unwrapped(text: str) -> str:
    """An answer without blanks around it and without the fence that many models put around JSON.

    Raises:
        Unreadable: nothing is left.
    """
    text = text.strip()
    block = _BLOCK.fullmatch(text)
    text = block[1].strip() if block else text
    if not text:
        raise Unreadable("it was empty")
    return text


def marked_object_of(text: str, marker: str, exhibits: Exhibits) -> Mapping[str, object]:
    """The one JSON object of an answer that has the marker of the question, whatever a model wrote around it.

    The marker proves whose object it is: whoever wrote what is judged does not know it. An object without it is never
    read. The model's thoughts before its answer do not count, nor does an object that stands in what is judged, with
    the marker put in. The same object again, as after a draft, means nothing else than the first.

    Args:
        text: the answer.
        marker: the marker of the question.
        exhibits: the texts under judgement.

    Raises:
        Unreadable: there is no such object, or there are several that differ.
    """
    text = without_thoughts(text)
    try:
        answer = _only_object_of(text)
    except Unreadable:
        values = list(_objects_in(text))
        if not values:
            raise
        marked = {_canonical(value): value for value in values if value.get("marker") == marker}
        if len(marked) > 1:
            raise Unreadable("several JSON objects in it had the marker of the question") from None
        answer = next(iter(marked.values()), {})
    if answer.get("marker") != marker:
        raise Unreadable("its JSON object did not have the marker of the question")
    if exhibits.dictate(answer, marker):
        raise Unreadable("its JSON object was that of the output")
    return answer


def _only_object_of(text: str) -> Mapping[str, object]:
    """The object that an answer consists of.

    Raises:
        Unreadable: it is anything else, or holds the same key twice or a number that JSON does not know.
    """
    try:
        value = json.loads(unwrapped(text), object_pairs_hook=_unique, parse_constant=_refuse)
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        raise Unreadable("it was not one JSON object alone") from None
    if not isinstance(value, dict):
        raise Unreadable("it was not one JSON object alone")
    return value


def _objects_in(text: str) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects in a text that are in no other one; broken ones are passed over."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
    start = text.find("{")
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _canonical(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("its JSON object had the same key twice")
    return dict(pairs)


def _refuse(_constant: str) -> float:
    raise Unreadable("its score was no number")
