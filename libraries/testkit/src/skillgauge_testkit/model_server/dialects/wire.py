"""The obligations of every wire format, and the parts that they write alike."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..replies import ModelFault, ModelReply
from ..requests import Conversation

Json = dict[str, Any]

EVENTS = "text/event-stream"
"""Media type of server-sent events."""
REFUSAL = "I cannot help with that."


@dataclass(frozen=True)
class IssuedCall:
    """A tool call with the id that its result will carry."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    is_freeform: bool = False
    """Whether the tool takes the one text among `arguments` as it is."""

    @property
    def encoded(self) -> str:
        """The arguments as JSON."""
        return json.dumps(self.arguments)


@dataclass(frozen=True)
class Answer:
    """A reply in the moment when it is written down."""

    number: int
    """Different for each answer of a server."""
    model: str | None
    reply: ModelReply
    calls: tuple[IssuedCall, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """True if the model refuses."""
        return self.reply.fault is ModelFault.REFUSED

    @property
    def text(self) -> str:
        """The text of the answer; empty in a refusal."""
        return "" if self.is_refusal else self.reply.text

    @property
    def deltas(self) -> Iterable[str]:
        """The text in pieces, as a stream brings it; without an end for a stream that has none."""
        if self.reply.fault is ModelFault.ENDLESS:
            return itertools.repeat("and so on ")
        return pieces(self.text)


@dataclass(frozen=True)
class Failure:
    """An error that a server tells."""

    status: int
    kind: str
    """As the Anthropic API calls it; the others translate."""
    message: str
    is_too_long: bool = False
    """Whether the conversation does not fit into the model's context."""


class Dialect(Protocol):
    """A wire format."""

    name: str
    path: re.Pattern[str]
    """With the groups `model` and `action` where the path tells them."""
    counts: Mapping[str, str]
    """Action that asks for a count of tokens -> name of the count in what is answered."""
    stream_type: str
    """Media type of streams."""

    def read(self, body: Json) -> Conversation:
        """Read a request; parts of another shape than expected are left out."""

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for."""

    def document(self, answer: Answer) -> Json:
        """The whole answer."""

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as a stream."""

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""


def frame(data: Json, event: str = "") -> bytes:
    """A server-sent event."""
    return f"{f'event: {event}' + chr(10) if event else ''}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def pieces(text: str) -> list[str]:
    """At most eight parts, none for an empty text."""
    size = max(8, -(-len(text) // 8))
    return [text[start : start + size] for start in range(0, len(text), size)]


def known(**counts: int | None) -> dict[str, int]:
    """The counts of which something is known."""
    return {name: count for name, count in counts.items() if count is not None}


def whole_input(reply: ModelReply) -> int | None:
    """All tokens of the input, what a cache read and wrote included, as all but one API count it."""
    if reply.input_tokens is None:
        return None
    return reply.input_tokens + (reply.cache_read_tokens or 0) + (reply.cache_write_tokens or 0)


def total(reply: ModelReply) -> int | None:
    """Tokens of input and output together, if both are known."""
    input_count, output_count = whole_input(reply), reply.output_tokens
    return None if input_count is None or output_count is None else input_count + output_count


def items(value: object) -> list[Json]:
    """The objects of a JSON list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def joined(content: object) -> str:
    """The text of a message that is either a text or a list of parts with texts."""
    if isinstance(content, str):
        return content
    return "\n".join(text for part in items(content) if isinstance(text := part.get("text"), str))
