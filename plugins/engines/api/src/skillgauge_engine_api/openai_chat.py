"""Chat Completions, as OpenAI and many others serve them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillgauge.api import FailureClass
from skillgauge_model_client.answers import dig, written
from skillgauge_model_client.chat import chat_headers, chat_path
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import openai_usage

from .dialect import Answer, Dialect, Document, Question, ToolCall, ToolResult, parsed_arguments


class OpenAIChat(Dialect):
    """OpenAI, or any server that speaks Chat Completions.

    Args:
        base_url: where it is served.
        api_version: of Azure's API; `None` anywhere else.
    """

    def __init__(self, base_url: str, api_version: str | None = None) -> None:
        self._base_url, self._api_version = base_url, api_version

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `Dialect.headers`."""
        return chat_headers(key, self._api_version)

    def request(self, question: Question, *, is_vendor: bool) -> tuple[str, Document]:
        """See `Dialect.request`."""
        body: Document = {
            "model": question.model,
            "messages": [{"role": "system", "content": question.system}, *question.messages],
            # OpenAI's newer models refuse the old name, and other servers do not know the new one.
            "max_completion_tokens" if is_vendor else "max_tokens": question.max_output_tokens,
        }
        if question.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
                }
                for tool in question.tools
            ]
        if question.temperature is not None:
            body["temperature"] = question.temperature
        return chat_path(self._base_url, question.model, self._api_version), body

    def prompt(self, text: str) -> Document:
        """See `Dialect.prompt`."""
        return {"role": "user", "content": text}

    def results(self, results: Sequence[ToolResult]) -> list[Document]:
        """See `Dialect.results`. The API has no place for whether a call failed; the text says it."""
        return [{"role": "tool", "tool_call_id": one.call.id, "content": one.text} for one in results]

    def read(self, document: Mapping[str, Any]) -> Answer:
        """See `Dialect.read`."""
        message, why = dig(document, "choices", 0, "message"), dig(document, "choices", 0, "finish_reason")
        if dig(message, "refusal") or why == "content_filter":
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        if not isinstance(message, dict):
            raise Unanswered(FailureClass.PROTOCOL, "the answer holds no message")
        text = _text_of(message.get("content"))
        calls = _named_calls(message.get("tool_calls"))
        # What else a message has, the reasoning of some servers for one, must not be sent back to them.
        again: Document = {"role": "assistant", "content": text or None}
        if calls:
            again["tool_calls"] = calls
        return Answer(
            message=again,
            text=text,
            thoughts=written(message.get("reasoning_content")) or "",
            calls=tuple(_call(call) for call in calls),
            usage=openai_usage(document.get("usage")),
            model=written(document.get("model")),
            is_cut=why == "length",
        )


def _text_of(content: object) -> str:
    """Return the text of an answer; some servers answer in parts."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(dig(part, "text"), str))
    return written(content) or ""


def _named_calls(calls: object) -> list[Any]:
    """Return the calls of an answer that name a function."""
    if not isinstance(calls, list):
        return []
    return [call for call in calls if dig(call, "function", "name")]


def _call(found: Document) -> ToolCall:
    name, arguments = dig(found, "function", "name"), dig(found, "function", "arguments")
    return ToolCall(written(found.get("id")) or "", written(name) or "", parsed_arguments(arguments))
