"""Chat Completions of the OpenAI API, which many others offer too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..replies import ModelReply
from ..requests import Conversation, Part, Role
from .wire import EVENTS, REFUSAL, Answer, Failure, Json, frame, items, joined, known, pieces, total, whole_input

_ROLES = {"assistant": Role.MODEL, "system": Role.SYSTEM, "developer": Role.SYSTEM, "tool": Role.TOOL}


class OpenAIChat:
    """`/v1/chat/completions`, also below `/api` or `/openai`, and Azure's deployments."""

    name = "openai-chat"
    path = re.compile("(?:/api|/openai)?/v1/chat/completions|/openai/deployments/(?P<model>[^/]+)/chat/completions")
    counts: Mapping[str, str] = MappingProxyType({})
    stream_type = EVENTS

    def read(self, body: Json) -> Conversation:
        """Read a request."""
        parts: list[Part] = []
        for message in items(body.get("messages")):
            role = _ROLES.get(str(message.get("role")), Role.USER)
            parts.append(Part(role, joined(message.get("content")), str(message.get("tool_call_id") or "")))
            parts += [Part(role, call_id=str(call.get("id", ""))) for call in items(message.get("tool_calls"))]
        functions = [
            function for tool in items(body.get("tools")) if isinstance(function := tool.get("function"), dict)
        ]
        tools = {str(function.get("name")): function.get("parameters") or {} for function in functions}
        return Conversation(tuple(parts), tools)

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for."""
        return body.get("stream") is True

    def document(self, answer: Answer) -> Json:
        """The whole answer."""
        message: Json = {"role": "assistant", "content": answer.text or None if answer.calls else answer.text}
        if answer.is_refusal:
            message |= {"content": None, "refusal": REFUSAL}
        if answer.reply.thinking:
            message["reasoning_content"] = answer.reply.thinking
        if answer.calls:
            message["tool_calls"] = [_call(answer, index) for index in range(len(answer.calls))]
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
        return {**_head(answer, "chat.completion"), "choices": [choice], **_usage(answer.reply)}

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as a stream."""
        head = _head(answer, "chat.completion.chunk")
        for delta in _deltas(answer):
            yield frame({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield frame({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish_reason(answer)}]})
        options = body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage") and (usage := _usage(answer.reply)):
            yield frame({**head, "choices": [], **usage})
        yield b"data: [DONE]\n\n"

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        return openai_error(failure)

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""
        return frame(self.error(failure))


def openai_error(failure: Failure) -> Json:
    """An error as OpenAI's APIs have it."""
    code = "context_length_exceeded" if failure.is_too_long else failure.kind
    return {"error": {"message": failure.message, "type": failure.kind, "param": None, "code": code}}


def _head(answer: Answer, kind: str) -> Json:
    return {"id": f"chatcmpl-scripted-{answer.number}", "object": kind, "created": 0, "model": answer.model}


def _call(answer: Answer, index: int) -> Json:
    call = answer.calls[index]
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.encoded}}


def _deltas(answer: Answer) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(answer.reply.thinking):
        yield {"reasoning_content": piece}
    if answer.is_refusal:
        yield {"refusal": REFUSAL}
    for piece in answer.deltas:
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        whole = _call(answer, index)
        yield {"tool_calls": [{"index": index, **whole, "function": {"name": call.name, "arguments": ""}}]}
        for piece in pieces(call.encoded):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _finish_reason(answer: Answer) -> str:
    if answer.reply.is_cut:
        return "length"
    return "tool_calls" if answer.calls else "stop"


def _usage(reply: ModelReply) -> Json:
    counts: Json = {
        **known(prompt_tokens=whole_input(reply), completion_tokens=reply.output_tokens, total_tokens=total(reply))
    }
    if cached := known(cached_tokens=reply.cache_read_tokens):
        counts["prompt_tokens_details"] = cached
    if thought := known(reasoning_tokens=reply.thinking_tokens):
        counts["completion_tokens_details"] = thought
    return {"usage": counts} if counts else {}
