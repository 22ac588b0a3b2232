"""Messages of the Anthropic API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..requests import Conversation, Part, Role
from .wire import EVENTS, Answer, Failure, Json, frame, items, joined, known, pieces

_SIGNATURE = "c2lnbmF0dXJl"


class Anthropic:
    """`/v1/messages`, also with `?beta=true`, and its count of tokens; Microsoft Foundry has it below `/anthropic`."""

    name = "anthropic"
    path = re.compile("(?:/anthropic)?/v1/messages(?P<action>/count_tokens)?")
    counts: Mapping[str, str] = MappingProxyType({"/count_tokens": "input_tokens"})
    stream_type = EVENTS

    def read(self, body: Json) -> Conversation:
        """Read a request."""
        parts = [Part(Role.SYSTEM, joined(body["system"]))] if body.get("system") else []
        for message in items(body.get("messages")):
            parts += _parts(message)
        tools = {str(tool.get("name")): tool.get("input_schema") or {} for tool in items(body.get("tools"))}
        return Conversation(tuple(parts), tools)

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for."""
        return body.get("stream") is True

    def document(self, answer: Answer) -> Json:
        """The whole answer."""
        blocks = [block for block, _ in _blocks(answer)]
        return {**_head(answer), "content": blocks, "stop_reason": _stop_reason(answer), **_usage(answer)}

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as a stream."""
        for event in self.events(answer):
            yield frame(event, event["type"])

    def events(self, answer: Answer) -> Iterator[Json]:
        """The events of a stream."""
        usage = _usage(answer)
        started = {"usage": {**usage["usage"], "output_tokens": 1}} if usage else {}
        yield _event("message_start", message={**_head(answer), "content": [], "stop_reason": None, **started})
        yield _event("ping")
        for index, (block, deltas) in enumerate(_blocks(answer)):
            yield _event("content_block_start", index=index, content_block={**block, **_EMPTY[block["type"]]})
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        end = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        yield _event("message_delta", delta=end, **({"usage": usage["usage"]} if usage else {}))
        yield _event("message_stop")

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        return {"type": "error", "error": {"type": failure.kind, "message": failure.message}}

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""
        return frame(self.error(failure), "error")


_EMPTY: dict[str, Json] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}
"""What a block lacks when a stream begins it."""


def _parts(message: Json) -> Iterator[Part]:
    role = Role.MODEL if message.get("role") == "assistant" else Role.USER
    content = message.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
        match block.get("type"):
            case "text":
                yield Part(role, str(block.get("text", "")))
            case "tool_use":
                yield Part(role, call_id=str(block.get("id", "")))
            case "tool_result":
                yield Part(Role.TOOL, joined(block.get("content")), str(block.get("tool_use_id", "")))


def _blocks(answer: Answer) -> Iterator[tuple[Json, Iterator[Json]]]:
    """Each block and the deltas that make it."""
    thinking = answer.reply.thinking
    if thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(thinking)]
        deltas.append({"type": "signature_delta", "signature": _SIGNATURE})
        yield {"type": "thinking", "thinking": thinking, "signature": _SIGNATURE}, iter(deltas)
    if answer.text or not (answer.calls or answer.is_refusal):
        said = ({"type": "text_delta", "text": piece} for piece in answer.deltas)
        yield {"type": "text", "text": answer.text}, said
    for call in answer.calls:
        encoded = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.encoded)]
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}, iter(encoded)


def _head(answer: Answer) -> Json:
    head = {"type": "message", "role": "assistant", "model": answer.model, "stop_sequence": None}
    return {"id": f"msg_scripted_{answer.number}", **head}


def _stop_reason(answer: Answer) -> str:
    if answer.is_refusal:
        return "refusal"
    if answer.reply.is_cut:
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer) -> Json:
    reply = answer.reply
    counts: Json = {
        **known(
            input_tokens=reply.input_tokens,
            cache_creation_input_tokens=reply.cache_write_tokens,
            cache_read_input_tokens=reply.cache_read_tokens,
            output_tokens=reply.output_tokens,
        )
    }
    if thought := known(thinking_tokens=reply.thinking_tokens):
        counts["output_tokens_details"] = thought
    return {"usage": counts} if counts else {}


def _event(kind: str, **fields: object) -> Json:
    return {"type": kind, **fields}
