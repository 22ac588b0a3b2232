"""JSON-RPC 2.0 as a skill speaks it: one request in, one answer somewhere in its output."""

from __future__ import annotations

import json
from dataclasses import dataclass

from skillgauge.api import JsonValue, freeze, thaw

REQUEST_ID = 1
_INTERNAL_ERROR = -32603
_SERVER_ERRORS = range(-32099, -31999)


@dataclass(frozen=True)
class Answer:
    """A skill's valid answer."""

    result: JsonValue = None
    error: str | None = None
    """The error it reported, or `None` if `result` holds."""
    retryable: bool = False
    """Whether the error is one that may pass."""


class NoAnswer(Exception):  # noqa: N818 - it names what was found
    """The output holds no valid answer; the text says why."""


def request(params: JsonValue) -> bytes:
    """The request line for one call."""
    message = {"jsonrpc": "2.0", "method": "invoke", "params": thaw(params), "id": REQUEST_ID}
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def find_answer(output: bytes) -> Answer:
    """The last line of the output that is a valid answer.

    Raises:
        NoAnswer: no line is one.
    """
    text = output.decode("utf-8", "replace")
    if not text.strip():
        raise NoAnswer("the process wrote nothing to stdout")
    reason = "no line of stdout is a JSON-RPC answer"
    for line in reversed(text.splitlines()):
        stripped = line.strip()
        if stripped.startswith("{") and stripped.endswith("}"):
            try:
                return _read(stripped)
            except NoAnswer as why:
                reason = str(why)
    try:
        return _read(text.strip())  # a single answer that was pretty-printed over several lines
    except NoAnswer:
        raise NoAnswer(reason) from None


def _read(text: str) -> Answer:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise NoAnswer("no line of stdout is a JSON-RPC answer") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise NoAnswer('the answer is no object with "jsonrpc": "2.0"')
    got = message.get("id", "absent")
    if got is not None and (got != REQUEST_ID or isinstance(got, bool)):
        raise NoAnswer(f"the answer has id {json.dumps(got)[:80]} instead of {REQUEST_ID}")
    if "error" in message:
        return _error(message["error"])
    if "result" not in message:
        raise NoAnswer("the answer has neither result nor error")
    try:
        return Answer(result=freeze(message["result"]))
    except ValueError as error:
        raise NoAnswer(f"the result is no JSON value: {error}") from None


def _error(error: object) -> Answer:
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    passing = isinstance(code, int) and (code == _INTERNAL_ERROR or code in _SERVER_ERRORS)
    return Answer(error=f"JSON-RPC error {code}: {message}"[:2000], retryable=passing)
