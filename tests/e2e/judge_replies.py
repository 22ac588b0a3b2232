"""What a scripted model says when it is asked as a judge."""

from __future__ import annotations

import json
import re

from skillgauge_testkit import ModelRequest


def said(request: ModelRequest) -> tuple[str, str, str]:
    """Marker, instructions and question of a request, whichever of the judges' APIs it is for."""
    body = request.body
    if "contents" in body:
        system, user = (part["parts"][0]["text"] for part in (body["systemInstruction"], body["contents"][-1]))
    else:
        system = body.get("system") or body["messages"][0]["content"]
        user = body["messages"][-1]["content"]
    found = re.search(r"END <name> ([0-9a-f]{32})\.", system)
    assert found
    return found[1], system, user


def claims_reply(request: ModelRequest, *verdicts: bool, quote: str | None = None, absent: str = "the greeting") -> str:
    """An answer to claims; what is true quotes the first word of what was judged, unless a quotation is given."""
    word = first_word(request)
    answers = [
        {"number": number, "holds": holds, "quote": quote or (word if holds else None)}
        for number, holds in enumerate(verdicts, 1)
    ]
    evidence = {"absent": absent, "reason": "so it is"}
    return json.dumps({"marker": said(request)[0], "answers": [answer | evidence for answer in answers]})


def first_word(request: ModelRequest) -> str | None:
    """The first word of what is judged; nothing if that is empty."""
    marker, _, user = said(request)
    word = re.search(rf"^BEGIN (?:OUTPUT|TRAJECTORY|FILES) {marker}\s+(\S+)", user, re.MULTILINE)
    return word and word[1]
