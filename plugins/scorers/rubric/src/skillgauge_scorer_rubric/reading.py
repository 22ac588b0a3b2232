"""Reading the values of an answer: verdicts, numbers, and the evidence that each of them needs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillgauge_judge_answers import Exhibits, Unreadable, folded

NUMBER = re.compile(r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
_TRUTHS = {"true": True, "false": False}
_LONGEST = 1_000
_SHORT = 3
"""Characters below which a quotation has to stand apart: a letter out of a word shows nothing."""


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


def number_of(value: object, most: int) -> float:
    """A score from 0 to `most`, also as a text.

    Raises:
        Unreadable: it is none; true and false are no numbers.
    """
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable("its score was no number")
    if not 0 <= value <= most:
        raise Unreadable(f"its score was not from 0 to {most}")
    return float(value)


def place_of(value: object, most: int) -> int | None:
    """A number from 1 to `most` that counts something, also as a text; `None` if it is none."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 1 <= value <= most else None


def truth_of(value: object) -> bool | None:
    """True or false, also as a text; `None` if it is neither."""
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def reason_of(value: object) -> str:
    """A reason on one line; empty if there is none."""
    return _one_line(value) if isinstance(value, str) else ""


def evidence_of(
    answer: Mapping[str, object], exhibits: Exhibits, subject: str, *, needs_quote: bool = False
) -> Evidence:
    """Return the basis of an answer.

    Args:
        answer: an object with `quote`, `absent` and `reason`.
        exhibits: the texts under judgement.
        subject: how a message calls the answer.
        needs_quote: words on something absent are not enough.

    Raises:
        Unreadable: there is neither a quotation nor a word on what is absent, or the quotation is none.
    """
    quote, absent = answer.get("quote"), answer.get("absent")
    if not (quote is None or isinstance(quote, str)) or not (absent is None or isinstance(absent, str)):
        raise Unreadable(f"{subject} had a quote or an absent that was neither a text nor null")
    reason, absent = reason_of(answer.get("reason")), _one_line(absent or "")
    if quote is not None and quote.strip():
        if not occurs(quote, exhibits.passages):
            raise Unreadable(f"{subject} had a quote that is not in the material word for word")
        return Evidence(reason, _one_line(quote), absent)
    if not absent:
        raise Unreadable(f"{subject} had no evidence: neither a quote nor what is absent")
    if needs_quote:
        raise Unreadable(f"{subject} was in favour without a quote, though it is about something that has to be there")
    return Evidence(reason, None, absent)


def occurs(quote: str, passages: Iterable[str]) -> bool:
    """Tell whether a quotation is in folded texts; in JSON it may be escaped. A very short one has to stand apart."""
    forms = {folded(quote), folded(json.dumps(quote, ensure_ascii=False)[1:-1])}
    if len(folded(quote)) < _SHORT:
        return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) for text in passages for form in forms)
    return any(form in text for text in passages for form in forms)


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
