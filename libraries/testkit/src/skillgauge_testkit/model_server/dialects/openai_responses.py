"""Responses of the OpenAI API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any

from ..replies import ModelReply
from ..requests import Conversation, Part, Role
from .openai_chat import openai_error
from .wire import (
    EVENTS,
    REFUSAL,
    Answer,
    Failure,
    IssuedCall,
    Json,
    frame,
    items,
    joined,
    known,
    pieces,
    total,
    whole_input,
)

_ROLES = {"assistant": Role.MODEL, "system": Role.SYSTEM, "developer": Role.SYSTEM}

_SERVER = "mcp__"
"""Begins the namespace of the tools of a server."""


class OpenAIResponses:
    """`/v1/responses`."""

    name = "openai-responses"
    path = re.compile("/v1/responses")
    counts: Mapping[str, str] = MappingProxyType({})
    stream_type = EVENTS

    def read(self, body: Json) -> Conversation:
        """Read a request."""
        parts = [Part(Role.SYSTEM, str(body["instructions"]))] if body.get("instructions") else []
        given = body.get("input")
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else items(given):
            parts += _parts(item)
        offered = list(_offered(body.get("tools")))
        for item in items(given):
            if item.get("type") == "additional_tools":
                offered += _offered(item.get("tools"))
        tools = {str(tool["name"]): tool.get("parameters") or {} for tool in offered}
        freeform = frozenset(str(tool["name"]) for tool in offered if tool["type"] == "custom")
        return Conversation(tuple(parts), tools, freeform)

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for."""
        return body.get("stream") is True

    def document(self, answer: Answer) -> Json:
        """The whole answer."""
        return {**_head(answer, _status(answer)), "output": list(_output(answer)), **_usage(answer.reply)}

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as a stream."""
        numbers = count()

        def event(kind: str, **fields: object) -> bytes:
            return frame({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        started = {**_head(answer, "in_progress"), "output": []}
        yield event("response.created", response=started)
        yield event("response.in_progress", response=started)
        for index, item in enumerate(_output(answer)):
            place = {"output_index": index, "item_id": item["id"]}
            yield event("response.output_item.added", output_index=index, item={**item, **_unfinished(item)})
            for kind, fields in _steps(item, answer):
                yield event(f"response.{kind}", **place, **fields)
            yield event("response.output_item.done", output_index=index, item=item)
        yield event(f"response.{_status(answer)}", response=self.document(answer))

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        return openai_error(failure)

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""
        kind = "response.failed"
        error = {"code": "server_error", "message": failure.message}
        return frame({"type": kind, "response": {"id": "resp_failed", "status": "failed", "error": error}}, kind)


def _offered(tools: object) -> Iterator[Json]:
    """Tools that are called by a plain name, and those of servers under the names that other programs give them."""
    for tool in items(tools):
        match tool:
            case {"type": "function" | "custom", "name": _}:
                yield tool
            case {"type": "namespace", "name": "functions"}:
                yield from _offered(tool.get("tools"))
            case {"type": "namespace", "name": str(name)} if name.startswith(_SERVER):
                yield from ({**one, "name": f"{name}__{one['name']}"} for one in _offered(tool.get("tools")))


def _parts(item: Json) -> Iterator[Part]:
    match item.get("type", "message"):
        case "message":
            yield Part(_ROLES.get(str(item.get("role")), Role.USER), joined(item.get("content")))
        case "function_call" | "custom_tool_call":
            yield Part(Role.MODEL, call_id=str(item.get("call_id", "")))
        case "function_call_output" | "custom_tool_call_output":
            yield Part(Role.TOOL, joined(item.get("output")), str(item.get("call_id", "")))


def _output(answer: Answer) -> Iterator[Json]:
    number = answer.number
    if answer.reply.thinking:
        summary = [{"type": "summary_text", "text": answer.reply.thinking}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "c2NyaXB0ZWQ="}
    if answer.is_refusal:
        yield _message(number, {"type": "refusal", "refusal": REFUSAL})
    elif answer.text or not answer.calls:
        yield _message(number, {"type": "output_text", "text": answer.text, "annotations": []})
    for index, call in enumerate(answer.calls):
        yield _call(f"fc_{number}_{index}", call)


def _message(number: int, content: Json) -> Json:
    head = {"type": "message", "id": f"msg_scripted_{number}", "role": "assistant", "status": "completed"}
    return {**head, "content": [content]}


def _call(name: str, call: IssuedCall) -> Json:
    head = {"id": name, "call_id": call.id, "name": call.name, "status": "completed"}
    if call.name.startswith(_SERVER):
        head["namespace"], _, head["name"] = call.name.rpartition("__")
    if call.is_freeform:
        return {"type": "custom_tool_call", **head, "input": "".join(map(str, call.arguments.values()))}
    return {"type": "function_call", **head, "arguments": call.encoded}


def _unfinished(item: Json) -> Json:
    """Return the part of an item that a stream begins with."""
    empty: dict[str, Json] = {
        "reasoning": {"summary": []},
        "message": {"content": [], "status": "in_progress"},
        "function_call": {"arguments": "", "status": "in_progress"},
        "custom_tool_call": {"input": "", "status": "in_progress"},
    }
    return empty[item["type"]]


def _steps(item: Json, answer: Answer) -> Iterator[tuple[str, Json]]:
    """The events between beginning and end of an item."""
    match item["type"]:
        case "reasoning":
            (part,) = item["summary"]
            place: Json = {"summary_index": 0}
            yield "reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
            for piece in pieces(part["text"]):
                yield "reasoning_summary_text.delta", {**place, "delta": piece}
            yield "reasoning_summary_text.done", {**place, "text": part["text"]}
            yield "reasoning_summary_part.done", {**place, "part": part}
        case "message":
            (part,) = item["content"]
            yield from _message_steps(part, answer)
        case "function_call":
            for piece in pieces(item["arguments"]):
                yield "function_call_arguments.delta", {"delta": piece}
            yield "function_call_arguments.done", {"arguments": item["arguments"]}
        case "custom_tool_call":
            for piece in pieces(item["input"]):
                yield "custom_tool_call_input.delta", {"delta": piece}
            yield "custom_tool_call_input.done", {"input": item["input"]}


def _message_steps(part: dict[str, Any], answer: Answer) -> Iterator[tuple[str, Json]]:
    kind, key = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
    place: Json = {"content_index": 0}
    yield "content_part.added", {**place, "part": {**part, key: ""}}
    for piece in pieces(part[key]) if answer.is_refusal else answer.deltas:
        yield f"{kind}.delta", {**place, "delta": piece}
    yield f"{kind}.done", {**place, key: part[key]}
    yield "content_part.done", {**place, "part": part}


def _status(answer: Answer) -> str:
    return "incomplete" if answer.reply.is_cut else "completed"


def _head(answer: Answer, status: str) -> Json:
    return {
        "id": f"resp_scripted_{answer.number}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
    }


def _usage(reply: ModelReply) -> Json:
    counts: Json = {
        **known(input_tokens=whole_input(reply), output_tokens=reply.output_tokens, total_tokens=total(reply))
    }
    if cached := known(cached_tokens=reply.cache_read_tokens, cache_write_tokens=reply.cache_write_tokens):
        counts["input_tokens_details"] = {"cached_tokens": 0, **cached}  # programs insist on this one
    if thought := known(reasoning_tokens=reply.thinking_tokens):
        counts["output_tokens_details"] = thought
    return {"usage": counts} if counts else {}
