"""Content generation of the Gemini API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ..replies import ModelReply
from ..requests import Conversation, Part, Role
from .wire import EVENTS, Answer, Failure, Json, frame, items, joined, known, total, whole_input

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    529: "UNAVAILABLE",
}


class Gemini:
    """`generateContent`, `streamGenerateContent` (with `alt=sse`) and `countTokens` of `/v1beta/models`."""

    name = "gemini"
    path = re.compile(
        "/v1(?:beta)?/models/(?P<model>[^/:]+):(?P<action>generateContent|streamGenerateContent|countTokens)"
    )
    counts: Mapping[str, str] = MappingProxyType({"countTokens": "totalTokens"})
    stream_type = EVENTS

    def read(self, body: Json) -> Conversation:
        """Read a request."""
        parts: list[Part] = []
        for name in ("systemInstruction", "system_instruction"):
            if isinstance(system := body.get(name), dict):
                parts.append(Part(Role.SYSTEM, joined(system.get("parts"))))
        for content in items(body.get("contents")):
            role = Role.MODEL if content.get("role") == "model" else Role.USER
            parts += (part for item in items(content.get("parts")) if (part := _part(role, item)))
        schemas = {}
        for function in _functions(body):
            schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
            schemas[str(function.get("name"))] = schema
        return Conversation(tuple(parts), schemas)

    def is_stream(self, body: Json, action: str) -> bool:
        """Tell whether a stream is asked for."""
        return action == "streamGenerateContent"

    def document(self, answer: Answer) -> Json:
        """The whole answer."""
        usage = _usage(answer.reply)
        if answer.is_refusal:
            return {"promptFeedback": {"blockReason": "SAFETY"}, **_head(answer), **usage}
        finish = "MAX_TOKENS" if answer.reply.is_cut else "STOP"
        return {**_chunk(answer, list(_parts(answer, [answer.text])), finish), **usage}

    def frames(self, answer: Answer, body: Json) -> Iterator[bytes]:
        """The answer as a stream: one part after the other, the last with what the whole answer has."""
        if not answer.is_refusal:
            for part in _parts(answer, answer.deltas):
                yield frame(_chunk(answer, [part]))
        last = self.document(answer)
        for candidate in last.get("candidates", ()):
            candidate["content"]["parts"] = [{"text": ""}]
        yield frame(last)

    def error(self, failure: Failure) -> Json:
        """The body of an answer with an error status."""
        status = _STATUSES.get(failure.status, "UNKNOWN")
        return {"error": {"code": failure.status, "message": failure.message, "status": status}}

    def error_frame(self, failure: Failure) -> bytes:
        """An error in a stream."""
        return frame(self.error(failure))


def _functions(body: Json) -> Iterator[Json]:
    """Yield the functions that a request declares, in either spelling."""
    for tool in items(body.get("tools")):
        for name in ("functionDeclarations", "function_declarations"):
            yield from items(tool.get(name))


def _part(role: Role, part: Json) -> Part | None:
    if isinstance(call := part.get("functionCall"), dict):
        return Part(role, call_id=str(call.get("id") or ""))
    if isinstance(result := part.get("functionResponse"), dict):
        response = result.get("response")
        output = response.get("output") if isinstance(response, dict) else None
        text = output if isinstance(output, str) else json.dumps(response)
        return Part(Role.TOOL, text, str(result.get("id") or ""))
    said = part.get("text")
    return Part(role, said) if isinstance(said, str) and not part.get("thought") else None


def _parts(answer: Answer, texts: Iterable[str]) -> Iterator[Json]:
    """Parts of the content."""
    if answer.reply.thinking:
        yield {"text": answer.reply.thinking, "thought": True}
    if answer.text or not answer.calls:
        yield from ({"text": text} for text in texts)
    for call in answer.calls:
        yield {"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}}


def _head(answer: Answer) -> Json:
    return {"modelVersion": answer.model, "responseId": f"scripted-{answer.number}"}


def _chunk(answer: Answer, parts: list[Json], finish: str = "") -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
    return {"candidates": [{**candidate, **({"finishReason": finish} if finish else {})}], **_head(answer)}


def _usage(reply: ModelReply) -> Json:
    thoughts = reply.thinking_tokens
    counts = known(
        promptTokenCount=whole_input(reply),
        cachedContentTokenCount=reply.cache_read_tokens,
        candidatesTokenCount=None if reply.output_tokens is None else reply.output_tokens - (thoughts or 0),
        thoughtsTokenCount=thoughts,
        totalTokenCount=total(reply),
    )
    return {"usageMetadata": counts} if counts else {}
