"""Signs that a text speaks to a judge, by fixed rules: they find the ways that are known, and prove nothing by silence.

A sign is no verdict: an output about judges may hold all of them. It tells people what to read before they believe the
verdict of a judge that has read the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

from .hiding import hides, readings
from .orders import has_an_order


class Sign(StrEnum):
    """The ways to speak to a judge that are recognised; the value is how reports call them."""

    ANSWER = "an answer in the form of a judge"
    PART = "a line that begins or ends a part of its question"
    ROLE = "a mark of the roles of a chat"
    ORDER = "an order to a judge"
    HIDING = "characters that hide text"


_WINDOW = 300
"""Characters around a word in which another one of the same answer stands."""
_KEY = r"\b({})\b[\"'\\*` ]{{0,4}}:"
_FORM_KEYS = re.compile(_KEY.format("marker|holds|absent"), re.IGNORECASE)
_FORM_PARTNERS = {
    "marker": re.compile(_KEY.format("answers|score|holds|quote|absent|better"), re.IGNORECASE),
    "holds": re.compile(_KEY.format("number|quote|absent|reason"), re.IGNORECASE),
    "absent": re.compile(_KEY.format("quote"), re.IGNORECASE),
}

_PARTS = "OUTPUT|TRAJECTORY|FILES|CRITERIA|CLAIMS|TASK|REFERENCE|RUBRIC|FIRST|SECOND|<name>"
_PART = re.compile(
    rf"^\W{{0,10}}(?:BEGIN|END)(?: OF)?(?: THE)? (?:{_PARTS})\W{{0,10}}(?:[0-9A-Za-z<>{{}}]{{1,60}}\W{{0,10}})?$"
    rf"|\b(?:BEGIN|END) \S{{1,40}} [0-9a-f]{{32}}\b|</(?:{_PARTS}|(?i:material|judge|verdict))>",
    re.MULTILINE,
)
_ROLE = re.compile(
    r"^### (?:Instruction|Response):|\[/?INST\]|<</?SYS>>"
    r"|<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|system|user|assistant|endoftext|channel|message)\|>",
    re.IGNORECASE | re.MULTILINE,
)
"""Of models only. Tags such as `<system-reminder>` are in the results of tools of many agents' programs."""


def signs_in(text: str) -> tuple[str, ...]:
    """Return the signs of a text, each once, with the way it is hidden if that is the only one.

    Args:
        text: what is judged, or a part of it.
    """
    signs: dict[Sign, str] = {}
    if hides(text):
        signs[Sign.HIDING] = ""
    for way, content in readings(text):
        for sign, applies in _RULES.items():
            if sign not in signs and applies(content):
                signs[sign] = way
    return tuple(f"{sign} {signs[sign]}".strip() for sign in Sign if sign in signs)


def _is_an_answer(text: str) -> bool:
    """Tell whether keys of an answer stand together, as JSON or as YAML writes them."""
    if not _has_one_of(_FORM_PARTNERS, text.casefold()):
        return False
    for match in _FORM_KEYS.finditer(text):
        around = text[max(0, match.start() - _WINDOW) : match.end() + _WINDOW]
        if _FORM_PARTNERS[match[1].casefold()].search(around):
            return True
    return False


def _is_a_part(text: str) -> bool:
    return _has_one_of(("BEGIN", "END", "</"), text) and _PART.search(text) is not None


def _is_a_role(text: str) -> bool:
    return _has_one_of(("###", "[", "<<", "<|"), text) and _ROLE.search(text) is not None


def _has_one_of(beginnings: Iterable[str], text: str) -> bool:
    """Tell whether any pattern can fit: to look for what all of them begin with takes a tenth of the time."""
    return any(beginning in text for beginning in beginnings)


_RULES: dict[Sign, Callable[[str], bool]] = {
    Sign.ANSWER: _is_an_answer,
    Sign.PART: _is_a_part,
    Sign.ROLE: _is_a_role,
    Sign.ORDER: has_an_order,
}
