"""The appearance of each fault on the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .dialects import Answer, Dialect, Failure
from .replies import ModelFault

_STATUSES: Mapping[ModelFault, tuple[int, str, str]] = {
    ModelFault.BAD_REQUEST: (400, "invalid_request_error", "the request is not valid"),
    ModelFault.TOO_LONG: (400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
    ModelFault.UNAUTHORIZED: (401, "authentication_error", "the key is not valid"),
    ModelFault.FORBIDDEN: (403, "permission_error", "the key does not allow this"),
    ModelFault.NOT_FOUND: (404, "not_found_error", "there is no such model"),
    ModelFault.RATE_LIMITED: (429, "rate_limit_error", "too many requests"),
    ModelFault.SERVER_ERROR: (500, "api_error", "the server failed"),
    ModelFault.UNAVAILABLE: (503, "api_error", "the server is not there for a while"),
    ModelFault.OVERLOADED: (529, "overloaded_error", "the server has too much to do"),
    ModelFault.STREAM_ERROR: (500, "api_error", "the server failed in the middle"),
}


def failure(fault: ModelFault | None, message: str, *, is_stream: bool) -> Failure | None:
    """Return the answer that stands for a fault, if it is of that kind.

    Args:
        fault: what goes wrong.
        message: what to say; empty: a sentence of its own.
        is_stream: whether a stream was asked for, since then an error in its middle comes later.
    """
    if fault is None or fault not in _STATUSES or (fault is ModelFault.STREAM_ERROR and is_stream):
        return None
    status, kind, sentence = _STATUSES[fault]
    return Failure(status, kind, message or sentence, is_too_long=fault is ModelFault.TOO_LONG)


def frames(dialect: Dialect, answer: Answer, body: dict[str, object]) -> Iterator[bytes]:
    """A stream with what goes wrong in it: one that breaks off ends after its first half."""
    whole = dialect.frames(answer, body)
    fault, message = answer.reply.fault, answer.reply.message
    if fault not in (ModelFault.CUT_BODY, ModelFault.STREAM_ERROR):
        yield from whole
        return
    sent = list(whole)
    yield from sent[: (len(sent) + 1) // 2]
    if fault is ModelFault.STREAM_ERROR and (error_body := failure(fault, message, is_stream=False)):
        yield dialect.error_frame(error_body)


def page(message: str) -> bytes:
    """A page of HTML, as something between client and server would send it."""
    return f"<!doctype html><html><body>{message or 'Welcome to the hotel network'}</body></html>".encode()


NOISE = bytes(range(128, 256)) * 32
"""No text in any encoding that a client would try, and no line of a stream."""
