"""The Messages API of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgauge.api import FailureClass
from skillgauge_model_client.answers import dig, written
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import anthropic_usage

from .dialect import Answer, Dialect, Document, Question, ToolCall, ToolResult, parsed_arguments

_API_VERSION = "2023-06-01"


class AnthropicMessages(Dialect):
    """Anthropic, or a server that speaks its Messages API."""

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `Dialect.headers`."""
        return {"anthropic-version": _API_VERSION} | ({"x-api-key": key.value} if key else {})

    def request(self, question: Question, *, is_vendor: bool) -> tuple[str, Document]:
        """See `Dialect.request`."""
        body: Document = {
            "model": question.model,
            "max_tokens": question.max_output_tokens,
            "system": question.system,
            "messages": list(question.messages),
        }
        if question.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in question.tools
            ]
        if question.temperature is not None:
            body["temperature"] = question.temperature
        return "/v1/messages", body

    def prompt(self, text: str) -> Document:
        """See `Dialect.prompt`."""
        return {"role": "user", "content": text}

    def results(self, results: Sequence[ToolResult]) -> list[Document]:
        """See `Dialect.results`. All results of one answer belong into one message."""
        blocks = [
            {"type": "tool_result", "tool_use_id": result.call.id, "content": result.text, "is_error": result.is_error}
            for result in results
        ]
        return [{"role": "user", "content": blocks}]

    def read(self, document: Mapping[str, Any]) -> Answer:
        """See `Dialect.read`."""
        why, content = document.get("stop_reason"), document.get("content")
        if why == "refusal":
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        if why == "model_context_window_exceeded":
            raise Unanswered(FailureClass.CONTEXT_TOO_LONG, "the conversation does not fit into the model's context")
        if not isinstance(content, list):
            raise Unanswered(FailureClass.PROTOCOL, "the answer holds no content")
        blocks = [block for block in content if isinstance(block, dict)]
        return Answer(
            message={"role": "assistant", "content": blocks},  # with its thoughts, whose signatures are checked
            text=_joined(blocks, "text"),
            thoughts=_joined(blocks, "thinking"),
            calls=tuple(_call(block) for block in blocks if block.get("type") == "tool_use"),
            usage=anthropic_usage(document.get("usage")),
            model=written(document.get("model")),
            is_cut=why == "max_tokens",
        )


def _joined(blocks: Sequence[Document], kind: str) -> str:
    texts = [dig(block, kind) for block in blocks if block.get("type") == kind]
    return written("".join(text for text in texts if isinstance(text, str))) or ""


def _call(block: Document) -> ToolCall:
    arguments = parsed_arguments(block.get("input"))
    return ToolCall(written(block.get("id")) or "", written(block.get("name")) or "", arguments)
