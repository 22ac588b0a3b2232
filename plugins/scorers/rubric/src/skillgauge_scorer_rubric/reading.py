"""Reading answers strictly: one JSON object, nothing that could mean two things."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_LONGEST = 1_000
_MOST_TRIES = 200
"""Braces at which an object is looked for in an answer with text around it."""
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):  # noqa: N818 - an outcome
    """An answer is not what was asked for. The message quotes nothing of it."""


@dataclass(frozen=True)
class Evidence:
    """The basis of an answer."""

    reason: str = ""
    quote: str | None = None
    """A passage of what was judged, word for word."""
    absent: str = ""
    """What was looked for and is not there."""

    def passages(self) -> dict[str, str]:
        """The known passages, without the reason."""
        passages_found = {"quote": self.quote or "", "absent": self.absent}
        return {name: text for name, text in passages_found.items() if text}

    def document(self) -> dict[str, str]:
        """The known facts, for the evidence of a score."""
        return self.passages() | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Finding:
    """The answer to one claim or criterion."""

    holds: bool
    evidence: Evidence


@dataclass(frozen=True)
class Answer:
    """A judge's verdict: a number, or a finding for each claim or criterion."""

    value: float
    """From 0 to 1."""
    evidence: Evidence = Evidence()
    findings: tuple[Finding, ...] = ()


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


def object_of(text: str) -> Mapping[str, object]:
    """The one JSON object that an answer consists of.

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


def marked_object_of(text: str, marker: str, material: Sequence[str]) -> Mapping[str, object]:
    """The one JSON object of an answer that has the marker of the question, whatever a model wrote around it.

    The marker proves whose object it is: whoever wrote what is judged does not know it. What the model thought aloud
    before its answer does not count, nor does an object that it quotes from what is judged, with the marker put in.

    Args:
        text: the answer.
        marker: the marker of the question.
        material: what the judge was shown of what is judged, folded.

    Raises:
        Unreadable: there is none, or several.
    """
    text = _THOUGHT.sub("", text)
    try:
        answer = object_of(text)
    except Unreadable:
        marked = [(found, raw) for found, raw in _objects_in(text) if found.get("marker") == marker]
        if len(marked) > 1:
            raise Unreadable("several JSON objects in it had the marker of the question") from None
        if not marked:
            raise
        answer, raw = marked[0]
        if _is_quoted(raw, marker, material):
            raise Unreadable("its JSON object was that of the output") from None
        return answer
    if answer.get("marker") != marker:
        raise Unreadable("its JSON object did not have the marker of the question")
    return answer


def _is_quoted(raw: str, marker: str, material: Sequence[str]) -> bool:
    """Tell whether an object stands in the material, whatever is there in place of its marker."""
    before, _, after = folded(raw).partition(marker)
    quoted = re.compile(f"{re.escape(before)}.{{0,{_LONGEST}}}?{re.escape(after)}")
    return any(quoted.search(text) for text in material)


def _objects_in(text: str) -> Iterator[tuple[Mapping[str, object], str]]:
    """Yield the JSON objects in a text that are in no other one, as values and as they stand there.

    What is broken is passed over.
    """
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
            yield value, text[start:end]
        start = text.find("{", end)


def number_of(value: object, most: int) -> float:
    """A score from 0 to `most`.

    Raises:
        Unreadable: it is none; true and false are no numbers.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable("its score was no number")
    if not 0 <= value <= most:
        raise Unreadable(f"its score was not from 0 to {most}")
    return float(value)


def reason_of(value: object) -> str:
    """A reason on one line; empty if there is none."""
    return _one_line(value) if isinstance(value, str) else ""


def evidence_of(answer: Mapping[str, object], material: Iterable[str], subject: str) -> Evidence:
    """Return the basis of an answer.

    Args:
        answer: an object with `quote`, `absent` and `reason`.
        material: what the judge was shown of what is judged, folded.
        subject: how a message calls the answer.

    Raises:
        Unreadable: there is neither a quotation nor a word on what is absent, or the quotation is none.
    """
    quote, absent = answer.get("quote"), answer.get("absent")
    if not (quote is None or isinstance(quote, str)) or not (absent is None or isinstance(absent, str)):
        raise Unreadable(f"{subject} had a quote or an absent that was neither a text nor null")
    reason, absent = reason_of(answer.get("reason")), _one_line(absent or "")
    if quote is not None and quote.strip():
        if not occurs(quote, material):
            raise Unreadable(f"{subject} had a quote that is not in the material word for word")
        return Evidence(reason, _one_line(quote), absent)
    if not absent:
        raise Unreadable(f"{subject} had no evidence: neither a quote nor what is absent")
    return Evidence(reason, None, absent)


def occurs(quote: str, material: Iterable[str]) -> bool:
    """Tell whether a passage is in a folded text; in JSON it may be escaped."""
    forms = {folded(quote), folded(json.dumps(quote, ensure_ascii=False)[1:-1])}
    return any(form in text for text in material for form in forms)


def folded(text: str) -> str:
    """A text whose blanks and line breaks are all alike, as models copy them."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("its JSON object had the same key twice")
    return dict(pairs)


def _refuse(_constant: str) -> float:
    raise Unreadable("its score was no number")
