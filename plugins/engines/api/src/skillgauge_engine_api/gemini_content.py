"""The API of Google's Gemini models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from skillgauge.api import FailureClass
from skillgauge_model_client.answers import dig, written
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import gemini_usage

from .dialect import Answer, Dialect, Document, Question, ToolCall, ToolResult, parsed_arguments

_REFUSALS = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")


class GeminiContent(Dialect):
    """Google, or a server that speaks its API."""

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `Dialect.headers`."""
        return {"x-goog-api-key": key.value} if key else {}

    def request(self, question: Question, *, is_vendor: bool) -> tuple[str, Document]:
        """See `Dialect.request`."""
        generation: Document = {"maxOutputTokens": question.max_output_tokens}
        if question.temperature is not None:
            generation["temperature"] = question.temperature
        body: Document = {
            "systemInstruction": {"parts": [{"text": question.system}]},
            "contents": list(question.messages),
            "generationConfig": generation,
        }
        if question.tools:
            functions = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in question.tools
            ]
            body["tools"] = [{"functionDeclarations": functions}]
        return f"/v1beta/models/{quote(question.model.removeprefix('models/'), safe='')}:generateContent", body

    def prompt(self, text: str) -> Document:
        """See `Dialect.prompt`."""
        return {"role": "user", "parts": [{"text": text}]}

    def results(self, results: Sequence[ToolResult]) -> list[Document]:
        """See `Dialect.results`. Calls are told apart by name and order; only newer models also give ids."""
        parts = []
        for result in results:
            response = {"name": result.call.name, "response": {"error" if result.is_error else "output": result.text}}
            parts.append({"functionResponse": response | ({"id": result.call.id} if result.call.id else {})})
        return [{"role": "user", "parts": parts}]

    def read(self, document: Mapping[str, Any]) -> Answer:
        """See `Dialect.read`."""
        why = dig(document, "candidates", 0, "finishReason")
        if dig(document, "promptFeedback", "blockReason") or why in _REFUSALS:
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        content = dig(document, "candidates", 0, "content")
        if not isinstance(content, dict):
            raise Unanswered(FailureClass.PROTOCOL, "the answer holds no content")
        if why == "MALFORMED_FUNCTION_CALL":
            raise Unanswered(FailureClass.PROTOCOL, "the model called a tool in a form that its API cannot read")
        found = content.get("parts")
        parts = [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []
        calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
        return Answer(
            message={"role": "model", "parts": parts},  # with its thoughts, whose signatures are checked
            text=_joined(parts, thought=False),
            thoughts=_joined(parts, thought=True),
            calls=tuple(_call(call) for call in calls),
            usage=gemini_usage(document.get("usageMetadata")),
            model=written(document.get("modelVersion")),
            is_cut=why == "MAX_TOKENS",
        )


def _joined(parts: Sequence[Document], *, thought: bool) -> str:
    texts = [part.get("text") for part in parts if bool(part.get("thought")) is thought]
    return written("".join(text for text in texts if isinstance(text, str))) or ""


def _call(found: Document) -> ToolCall:
    arguments = parsed_arguments(found.get("args") or {})
    return ToolCall(written(found.get("id")) or "", written(found.get("name")) or "", arguments)
