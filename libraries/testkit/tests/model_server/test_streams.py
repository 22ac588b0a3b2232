"""A stream says what the document says, piece by piece."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgauge_testkit import ModelFault, ModelReply, ModelServer, ToolCall

from .conftest import PATHS, ask, streaming

TEXTS = st.text(max_size=60)
ARGUMENTS = st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=30), st.none()), max_size=3)
REPLIES = st.builds(
    ModelReply,
    text=TEXTS,
    thinking=TEXTS,
    tools=st.lists(st.builds(ToolCall, st.sampled_from(["look", "go"]), ARGUMENTS), max_size=3),
    input_tokens=st.none() | st.integers(0, 99),
    output_tokens=st.none() | st.integers(0, 99),
    cache_read_tokens=st.none() | st.integers(0, 99),
    is_cut=st.booleans(),
    fault=st.sampled_from([None, None, ModelFault.REFUSED]),
)


def anthropic(events: list[Any]) -> Any:
    """The message that a stream of Anthropic makes."""
    message = events[0]["message"]
    for event in events[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(event["content_block"])
                encoded = ""
            case "content_block_delta":
                block, delta = message["content"][-1], event["delta"]
                for key in ("text", "thinking", "signature"):
                    if key in delta:
                        assert delta["type"] == f"{key}_delta"
                        block[key] += delta[key]
                encoded += delta.get("partial_json", "")
            case "content_block_stop":
                if message["content"][-1]["type"] == "tool_use":
                    message["content"][-1]["input"] = json.loads(encoded)
            case "message_delta":
                message |= event["delta"] | ({"usage": event["usage"]} if "usage" in event else {})
    assert events[-1]["type"] == "message_stop"
    return {**message, "usage": message.get("usage")}


def responses(events: list[Any]) -> Any:
    """The response that a stream of OpenAI ends with, once its pieces are found to make its items."""
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    pieces: dict[str, str] = {}
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    for event in events:
        if event["type"].endswith(".delta"):
            pieces[event["item_id"]] = pieces.get(event["item_id"], "") + event["delta"]
    for item in done:
        contents = item.get("summary") or item.get("content") or [{"text": item.get("arguments")}]
        (whole,) = (part.get("text", part.get("refusal")) for part in contents)
        assert pieces.get(item["id"], "") == whole
    last = events[-1]["response"]
    assert (last["output"], events[-1]["type"]) == (done, f"response.{last['status']}")
    return last


def chat(events: list[Any]) -> Any:
    """The completion that the chunks make."""
    message: dict[str, Any] = {}
    finish, usage = None, None
    for event in events:
        usage = event.get("usage", usage)
        for choice in event["choices"]:
            finish = choice["finish_reason"]
            for call in choice["delta"].pop("tool_calls", ()):
                calls = message.setdefault("tool_calls", [])
                if call["index"] == len(calls):
                    calls.append({key: value for key, value in call.items() if key != "index"})
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
            for key, value in choice["delta"].items():
                message[key] = message.get(key, "") + value
    message["content"] = message["content"] or None
    return {"message": message, "finish": finish, "usage": usage, "id": events[0]["id"]}


def gemini(events: list[Any]) -> Any:
    """The parts that the chunks have, texts next to each other joined, and what the last one says of the whole."""
    parts: list[Any] = []
    for event in events:
        for candidate in event.get("candidates", ()):
            for part in candidate["content"]["parts"]:
                if parts and "text" in part and set(part) == set(parts[-1]):
                    parts[-1]["text"] += part["text"]
                elif part != {"text": ""}:
                    parts.append(dict(part))
    last = {key: value for key, value in events[-1].items() if key != "candidates"}
    return {"parts": parts, "finish": [one.get("finishReason") for one in events[-1].get("candidates", ())], **last}


def of_document(dialect: str, document: Any) -> Any:
    """A whole answer in the same shape as its stream."""
    match dialect:
        case "anthropic":
            return {**document, "usage": document.get("usage")}
        case "openai-chat":
            (choice,) = document["choices"]
            said = {**choice["message"], "content": choice["message"]["content"] or None}
            finish = choice["finish_reason"]
            return {"message": said, "finish": finish, "usage": document.get("usage"), "id": document["id"]}
        case "gemini":
            return gemini([document])
        case _:
            return document


JOIN: dict[str, Callable[[list[Any]], Any]] = {
    "anthropic": anthropic,
    "openai-responses": responses,
    "openai-chat": chat,
    "gemini": gemini,
}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PATHS)
def test_stream_makes_the_document(dialect: str) -> None:
    """Whatever is said, thought, called, counted, cut or refused: the pieces make the answer that is not a stream."""
    path, body = streaming(dialect)
    with ModelServer() as server:

        @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(reply=REPLIES)
        def holds(reply: ModelReply) -> None:
            server.enqueue(reply, reply)
            streamed = ask(server, path, body)
            document = ask(server, dialect).document
            assert anonymous(JOIN[dialect](streamed.events)) == anonymous(of_document(dialect, document))

        holds()
    assert [request.is_stream for request in server.requests[:2]] == [True, False]


def anonymous(value: Any) -> Any:
    """The same without ids, since every answer has its own."""
    if isinstance(value, dict):
        return {key: "" if key in ("id", "call_id", "responseId") else anonymous(one) for key, one in value.items()}
    return [anonymous(one) for one in value] if isinstance(value, list) else value


def test_usage_in_chats_only_where_it_is_asked_for() -> None:
    """As the API has it: a stream tells its usage to those who include it."""
    path, body = streaming("openai-chat")
    with ModelServer([ModelReply("x")] * 2) as server:
        told = ask(server, path, body).events
        silent = ask(server, path, {**body, "stream_options": {"include_usage": False}}).events
    assert [event["usage"]["total_tokens"] for event in told if "usage" in event] == [18]
    assert [event for event in silent if "usage" in event] == []


def test_freeform_calls_as_a_stream() -> None:
    """The text of a call that takes nothing but a text comes in pieces too."""
    path, body = streaming("openai-responses")
    text = "first line\nand the second of them"
    with ModelServer([ModelReply(tools=[ToolCall("apply", {"input": text})])]) as server:
        answer = ask(server, path, {**body, "tools": [{"type": "custom", "name": "apply"}]})
    pieces = [event["delta"] for event in answer.events if event["type"] == "response.custom_tool_call_input.delta"]
    assert (len(pieces) > 1, "".join(pieces)) == (True, text)
    (item,) = answer.events[-1]["response"]["output"]
    assert (item["type"], item["input"]) == ("custom_tool_call", text)


def test_document_of_ones_own_is_no_stream() -> None:
    """A body that a test writes is sent as it is."""
    path, body = streaming("anthropic")
    with ModelServer([ModelReply(document=[])]) as server:
        answer = ask(server, path, body)
    assert (answer.document, answer.headers["Content-Type"]) == ([], "application/json")
