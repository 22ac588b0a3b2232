"""The reason why a session of Codex failed, and its usage."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillgauge.api import Failure, FailureClass, JsonValue, Usage
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.json_lines import count_at, parse_line, text_at

_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_URL = re.compile(r",? url: \S+")
_FILTERED = "reason: content_filter"
_OWN_WORDS = (
    (_FILTERED, FailureClass.REFUSED),
    ("quota exceeded", FailureClass.BUDGET),
    ("ran out of room in the model's context window", FailureClass.CONTEXT_TOO_LONG),
    ("high demand", FailureClass.SERVER),  # of a status 500 it says nothing else
    ("stream disconnected before completion", FailureClass.NETWORK),
)


def failure_of(message: str) -> Failure:
    """Return the meaning of a failed turn's message."""
    text = without_address(message)
    lower = text.lower()
    status = _STATUS.search(text)
    if status:
        return failed(class_of_status(int(status[1]), text), text)
    if answer := parse_line(text.encode("utf-8", "replace")):  # of a status 400 it hands on the body
        said = text_at(answer, "error", "message") or text_at(answer, "message") or text
        return failed(class_of_status(400, said), said)
    kind = next((kind for words, kind in _OWN_WORDS if words in lower), None)
    return failed(kind or class_of_text(text) or FailureClass.CRASH, text)


def without_address(message: str) -> str:
    """A message without the address that was asked, which may be one inside of a workspace."""
    return _URL.sub("", message)


def is_waiting(message: str) -> bool:
    """Tell whether a notice says that the program waits for a network, which it does without an end."""
    return "waiting for network" in message


def is_filtered(message: str) -> bool:
    """Tell whether a filter stopped the answer; the program would ask again, and pay again."""
    return _FILTERED in message


def summed(usages: Iterable[Usage | None]) -> Usage | None:
    """Tokens of several conversations; a kind that one of them does not tell is unknown."""
    reported = [usage for usage in usages if usage is not None]
    if len(reported) < 2:
        return reported[0] if reported else None
    kinds = [kind for kind in Usage.model_fields if kind.endswith("_tokens")]
    counts = {kind: [getattr(usage, kind) for usage in reported] for kind in kinds}
    return Usage.model_validate({kind: None if None in found else sum(found) for kind, found in counts.items()})


def usage_of(record: JsonValue) -> Usage | None:
    """Tokens; what a cache held or took is part of the input there and is not here. What it cost is never told."""
    whole, output = count_at(record, "input_tokens"), count_at(record, "output_tokens")
    if not whole and not output:
        return None
    read, written = count_at(record, "cached_input_tokens"), count_at(record, "cache_write_input_tokens")
    return Usage(
        input_tokens=None if whole is None else max(0, whole - (read or 0) - (written or 0)),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=count_at(record, "reasoning_output_tokens"),
        total_tokens=whole + output if whole is not None and output is not None else None,
    )
