"""The replies of the server: texts, tool calls, figures of usage, and every way of not answering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from .requests import ModelRequest

NONE: Mapping[str, str] = MappingProxyType({})


class ModelFault(StrEnum):
    """Ways in which a server does not answer. One with a status is never a stream."""

    BAD_REQUEST = "bad_request"
    """HTTP 400."""
    TOO_LONG = "too_long"
    """HTTP 400: the conversation does not fit into the model's context."""
    UNAUTHORIZED = "unauthorized"
    """HTTP 401."""
    FORBIDDEN = "forbidden"
    """HTTP 403."""
    NOT_FOUND = "not_found"
    """HTTP 404: no such model."""
    RATE_LIMITED = "rate_limited"
    """HTTP 429; `ModelReply.headers` may hold a Retry-After."""
    SERVER_ERROR = "server_error"
    """HTTP 500."""
    BAD_GATEWAY = "bad_gateway"
    """HTTP 502 with a page of HTML, as something between client and server sends it."""
    UNAVAILABLE = "unavailable"
    """HTTP 503."""
    OVERLOADED = "overloaded"
    """HTTP 529."""
    REFUSED = "refused"
    """HTTP 200, but the model refuses to answer."""
    GARBAGE = "garbage"
    """HTTP 200 with a page of HTML."""
    NOISE = "noise"
    """HTTP 200 of the right type, with bytes that are no text at all."""
    CUT_BODY = "cut_body"
    """The connection ends in the middle of the body or of the stream."""
    STREAM_ERROR = "stream_error"
    """An error in the middle of the stream; HTTP 500 where no stream was asked for."""
    ENDLESS = "endless"
    """A body without an end; a stream goes on for a minute."""
    DROPPED = "dropped"
    """The connection ends without a byte. For one that is not even accepted, use the URL of a server that ended."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    name: str
    arguments: Mapping[str, Any]


ToolChoice = Callable[[ModelRequest], ToolCall]
"""Picks a tool among those that a request offers."""


@dataclass(frozen=True)
class ModelReply:
    """A reply of the server."""

    text: str = ""
    input_tokens: int | None = 11
    """Of the input, what no cache had. `None` for both: nothing is said about usage."""
    output_tokens: int | None = 7
    """With the tokens of thinking."""
    model: str | None = None
    """Model that claims to have answered; `None`: the one that was asked for."""
    is_cut: bool = False
    """Whether the answer claims to have reached the limit of tokens."""
    fault: ModelFault | None = None
    """What goes wrong instead."""
    message: str = ""
    """What a fault says; empty: a sentence of its own."""
    headers: Mapping[str, str] = field(default_factory=lambda: NONE)
    delay_s: float = 0.0
    """Wait before the first byte; at most a minute, and no longer than client and server are there."""
    document: object = None
    """A body of your own in place of the usual one, for answers that no model gives; never a stream."""
    tools: Sequence[ToolCall | ToolChoice] = ()
    """Tools to call after the text, all at once; see `run_shell` and its like for those that fit any agent."""
    thinking: str = ""
    """Thoughts before the text, as far as the wire format shows them."""
    cache_read_tokens: int | None = None
    """Input that a cache had, beside `input_tokens`; `None`, here and below: nothing is said about it."""
    cache_write_tokens: int | None = None
    """Input that went into a cache, beside `input_tokens`."""
    thinking_tokens: int | None = None
    """The part of `output_tokens` that was thinking."""
    chunk_delay_s: float = 0.0
    """Wait between two events of a stream; otherwise as `delay_s`."""

    @property
    def is_answer(self) -> bool:
        """True if a model would have spoken, be it to refuse."""
        return self.document is None and self.fault in (None, ModelFault.REFUSED)


Script = Callable[[ModelRequest], ModelReply]
"""Says what to answer to a request; called from several threads."""


@dataclass(frozen=True)
class TokenCount:
    """Tokens that the server has told a client about. Replies without figures, and faults, count nothing."""

    input: int = 0
    """Without the two parts that have to do with a cache."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    thinking: int = 0
    """Part of `output`."""

    def plus(self, reply: ModelReply) -> TokenCount:
        """The count after one more answer."""
        return TokenCount(
            self.input + (reply.input_tokens or 0),
            self.cache_read + (reply.cache_read_tokens or 0),
            self.cache_write + (reply.cache_write_tokens or 0),
            self.output + (reply.output_tokens or 0),
            self.thinking + (reply.thinking_tokens or 0),
        )
