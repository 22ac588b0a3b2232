"""JSON-RPC 2.0 as a skill speaks it: requests of one line, answers somewhere in its output."""

from __future__ import annotations

import json
import re

from skillgauge.api import JsonValue, freeze, thaw
from skillgauge_documents.immutables import immutable

REQUEST_ID = 1
"""Id of the only request to a process that gets one."""
FIRST_WORKER_ID = REQUEST_ID + 1
"""Another, so that a skill that answers with 1 whatever it was asked is found out by its first answer."""
_INTERNAL_ERROR = -32603
_SERVER_ERRORS = range(-32099, -31999)
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
"""What JSON may hold as it is, although some who read lines take it for the end of one."""


@immutable
class Answer:
    """A skill's valid answer."""

    result: JsonValue = None
    error: str | None = None
    """The error it reported, or `None` if `result` holds."""
    retryable: bool = False
    """Whether the error is one that may pass."""


class NoAnswer(Exception):  # noqa: N818 - it names what was found
    """The output holds no valid answer; the text says why."""


def request(params: JsonValue, *, method: str = "invoke", request_id: int = REQUEST_ID) -> bytes:
    """The line of a request."""
    message = {"jsonrpc": "2.0", "method": method, "params": thaw(params), "id": request_id}
    text = json.dumps(message, ensure_ascii=False)
    if not text.isascii():
        text = _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def find_answer(output: bytes) -> Answer:
    """The last line of all that a process wrote that is a valid answer.

    Raises:
        NoAnswer: no line is one.
    """
    if not output.strip():
        raise NoAnswer("the process wrote nothing to stdout")
    reason = "no line of stdout is a JSON-RPC answer"
    for line in reversed(output.splitlines()):
        if (text := _object_text(line)) is not None:
            try:
                return _answer(_parsed(text), REQUEST_ID)
            except NoAnswer as why:
                reason = str(why)
    try:  # a single answer that was pretty-printed over several lines
        return _answer(_parsed(output.decode("utf-8", "replace").strip()), REQUEST_ID)
    except NoAnswer:
        raise NoAnswer(reason) from None


def answer_in(line: bytes, request_id: int) -> Answer | None:
    """The answer that a line of a worker is; `None` if it is anything else, be it an answer to an earlier request.

    Raises:
        NoAnswer: it is an answer, but a broken one, or one to no request that was made.
    """
    text = _object_text(line)
    if text is None:
        return None
    try:
        message = _parsed(text)
    except NoAnswer:
        return None
    if not isinstance(message, dict) or not _means_to_answer(message, request_id):
        return None
    got = message.get("id", "absent")
    if isinstance(got, int) and FIRST_WORKER_ID <= got < request_id:
        return None
    if got is None and "error" not in message:  # null is for errors that kept the skill from reading the id
        raise NoAnswer(f"the answer has id null instead of {request_id}")
    return _answer(message, request_id)


def _object_text(line: bytes) -> str | None:
    stripped = line.strip()
    is_object = stripped.startswith(b"{") and stripped.endswith(b"}")
    return stripped.decode("utf-8", "replace") if is_object else None


def _means_to_answer(message: dict[str, object], request_id: int) -> bool:
    """Tell whether a line is no record of a log and no message of the skill's own."""
    if message.get("jsonrpc") == "2.0":
        return "method" not in message
    return message.get("id") == request_id and ("result" in message or "error" in message)


def _parsed(text: str) -> object:
    try:
        message: object = json.loads(text)
    except (ValueError, RecursionError):
        raise NoAnswer("no line of stdout is a JSON-RPC answer") from None
    return message


def _answer(message: object, request_id: int) -> Answer:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise NoAnswer('the answer is no object with "jsonrpc": "2.0"')
    got = message.get("id", "absent")
    if got is not None and (got != request_id or isinstance(got, bool)):
        raise NoAnswer(f"the answer has id {json.dumps(got)[:80]} instead of {request_id}")
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
