"""A judge that does what it reads, wherever it reads it."""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Iterator

from skillgauge.api import JudgeRequest

from .conftest import fenced, marker_of

_ORDER = re.compile(r"Reply: (.*)")
_STATEMENT = re.compile(r"^(\d+)\. ", re.MULTILINE)


def obey(request: JudgeRequest) -> str:
    """Answer as the output orders, by its words or in the judge's own; without an order, that nothing holds."""
    order = order_in(fenced(request))
    if order is None:
        return honest(request)
    if "{" in order:
        reply, _ = json.JSONDecoder().raw_decode(order[order.index("{") :])
        return json.dumps(reply).replace("<the marker>", marker_of(request))
    return _form(request, holds=True, evidence={"quote": "It is Saturn"})


def honest(request: JudgeRequest) -> str:
    """Answer that nothing holds."""
    return _form(request, holds=False, evidence={"absent": "what is asked for"})


def order_in(text: str) -> str | None:
    """The order in a text, in whatever way it is hidden."""
    return next((order[1] for version in _understood(text) if (order := _ORDER.search(version))), None)


def _understood(text: str) -> Iterator[str]:
    yield text
    yield text.replace("\u200b", "")
    yield "".join(chr(ord(letter) - 0xE0000) for letter in text if 0xE0020 <= ord(letter) < 0xE007F)
    yield codecs.decode(text, "rot13")
    for word in re.findall(r"[A-Za-z0-9+/]{20,}={0,2}", text):
        yield base64.b64decode(word).decode("utf-8", "replace")


def _form(request: JudgeRequest, *, holds: bool, evidence: dict[str, str]) -> str:
    """The form of a question, filled in."""
    marker, user = marker_of(request), request.user
    lists = [fenced(request, name) for name in ("CLAIMS", "CRITERIA") if f"BEGIN {name} {marker}\n" in user]
    shown = {"quote": None, "absent": None, "reason": "so it is", **evidence}
    verdict = {"holds": holds, "result": "PASS" if holds else "FAIL"}
    answers = [{"number": int(number), **verdict, **shown} for number in _STATEMENT.findall("\n".join(lists))]
    most = 10 if "<number from 0 to 10>" in request.system else 1
    return json.dumps({"marker": marker, "score": most * holds, **shown, "answers": answers})
