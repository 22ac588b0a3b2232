"""Demands that servers put into words, errors inside of answers, money that they name, and further headers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import FailureClass
from skillgauge_model_client.client import ModelClient
from skillgauge_model_client.keys import Key, find_headers
from skillgauge_model_client.options import ServiceOptions
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import openai_usage
from skillgauge_testkit import ModelFault, ModelReply, ModelServer

KEY = Key("SOME_KEY", "canary/key+0123456789")
CHAT = {
    "model": "m-1",
    "messages": [{"role": "system", "content": "be strict"}, {"role": "user", "content": "how good?"}],
    "max_tokens": 99,
    "temperature": 0,
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "be strict"}]},
    "contents": [{"role": "user", "parts": [{"text": "how good?"}]}],
}
NO_TEMPERATURE = "Unsupported value: 'temperature' does not support 0 with this model."
NO_MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
NO_SYSTEM = [
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "System role not supported",
    "Developer instruction is not enabled for models/gemma-3-27b-it",
]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server


def refused(message: str) -> ModelReply:
    """A bad request with these words."""
    return ModelReply(fault=ModelFault.BAD_REQUEST, message=message)


def asked(server: ModelServer, *replies: ModelReply, body: Mapping[str, Any] = CHAT, times: int = 1) -> list[Any]:
    """The bodies that a client sends for some questions, each of which it asks to its end."""
    server.enqueue(*replies)

    async def main() -> None:
        client = ModelClient(KEY, {}, 10)
        path = "/v1/chat/completions" if "messages" in body else "/v1beta/models/m-1:generateContent"
        for _ in range(times):
            await client.exchange(f"{server.url}{path}", body, dict, "m-1")

    asyncio.run(main())
    return [request.body for request in server.requests]


def test_a_server_that_wants_another_name_for_the_limit(server: ModelServer) -> None:
    """It is asked once more with that name, and with it at once from then on (R3-E8)."""
    first, second, third = asked(server, refused(NO_MAX_TOKENS), ModelReply("8"), ModelReply("7"), times=2)
    assert first == CHAT
    assert second == third == {**{k: v for k, v in CHAT.items() if k != "max_tokens"}, "max_completion_tokens": 99}


def test_several_wishes_of_one_model(server: ModelServer) -> None:
    """Each is met once, in the order in which the server tells them."""
    replies = [refused(NO_MAX_TOKENS), refused(NO_TEMPERATURE), refused(NO_SYSTEM[0]), ModelReply("8"), ModelReply("7")]
    bodies = asked(server, *replies, times=2)
    wanted = {
        "model": "m-1",
        "messages": [{"role": "user", "content": "be strict\n\nhow good?"}],
        "max_completion_tokens": 99,
    }
    assert bodies[3:] == [wanted, wanted]


@pytest.mark.parametrize("words", NO_SYSTEM)
def test_a_model_without_the_role_system(server: ModelServer, words: str) -> None:
    """What it would say stands before the first words of the user, in the language of either API."""
    _, chat = asked(server, refused(words), ModelReply("8"))
    assert chat["messages"] == [{"role": "user", "content": "be strict\n\nhow good?"}]
    _, gemini = asked(server, refused(words), ModelReply("8"), body=GEMINI)[2:]
    assert gemini == {"contents": [{"role": "user", "parts": [{"text": "be strict"}, {"text": "how good?"}]}]}


@pytest.mark.parametrize("words", [NO_MAX_TOKENS, NO_SYSTEM[0], "the role of this server is to support you"])
def test_a_server_that_says_the_same_again_is_not_asked_for_ever(server: ModelServer, words: str) -> None:
    """Nor is one whose words ask for something that the question has already."""
    with pytest.raises(Unanswered) as raised:
        asked(server, *[refused(words)] * 3)
    assert raised.value.kind is FailureClass.BAD_REQUEST
    assert len(server.requests) <= 2


def error(code: object, message: str = "Provider returned error", **more: Any) -> dict[str, Any]:
    """As OpenRouter has it."""
    return {"code": code, "message": message, **more}


METADATA = {"provider_name": "Acme", "raw": "the engine is on fire"}
WITHIN = [
    ({"error": error(429)}, FailureClass.RATE_LIMITED, True, "HTTP 200 with error 429 Too Many Requests in it"),
    ({"error": error(502, metadata=METADATA)}, FailureClass.SERVER, True, "(Acme): the engine is on fire"),
    ({"error": error("503")}, FailureClass.OVERLOADED, True, "Provider returned error"),
    ({"error": error(402, "no credits")}, FailureClass.BUDGET, False, "no credits"),
    ({"error": error(401, "bad key")}, FailureClass.AUTH, False, "bad key"),
    ({"error": error(403, "this model requires moderation")}, FailureClass.REFUSED, False, "requires moderation"),
    ({"error": error(400, "context length is 8")}, FailureClass.CONTEXT_TOO_LONG, False, "context length"),
    ({"error": error("rate_limit_exceeded")}, FailureClass.RATE_LIMITED, True, "429"),
    ({"error": {"type": "overloaded_error", "message": "busy"}}, FailureClass.OVERLOADED, True, "busy"),
    ({"error": {"message": "insufficient_quota", "code": "insufficient_quota"}}, FailureClass.BUDGET, False, "quota"),
    ({"error": "it broke"}, FailureClass.SERVER, True, "it broke"),
    ({"choices": [{"message": {"content": "ha"}, "error": error(429)}]}, FailureClass.RATE_LIMITED, True, "429"),
    ({"choices": [{"message": {"content": "ha"}, "finish_reason": "error"}]}, FailureClass.SERVER, True, "behind the"),
]


@pytest.mark.parametrize(("document", "kind", "retryable", "words"), WITHIN)
def test_errors_inside_of_answers(
    server: ModelServer, document: object, kind: FailureClass, retryable: bool, words: str
) -> None:
    """Each has the class of its code, the words of the service behind, and the pause that is asked for (R3-E9)."""
    with pytest.raises(Unanswered) as raised:
        asked(server, ModelReply(document=document, headers={"Retry-After": "7"}))
    unanswered = raised.value
    assert (unanswered.kind, unanswered.reply.retryable) == (kind, retryable)
    assert unanswered.reply.retry_after_s == (7 if retryable else None)
    assert words in unanswered.told


def test_a_pause_of_the_service_behind(server: ModelServer) -> None:
    """It is read where the gateway hands it on; the key of a message is taken out."""
    metadata = {"headers": {"Retry-After": 9}, "raw": KEY.value}
    with pytest.raises(Unanswered) as raised:
        asked(server, ModelReply(document={"error": error(429, metadata=metadata)}))
    assert raised.value.reply.retry_after_s == 9
    assert KEY.value not in raised.value.told


@pytest.mark.parametrize("document", [{"error": None, "choices": []}, {"error": {}}, {"choices": [{"error": None}]}])
def test_no_error_is_none(server: ModelServer, document: object) -> None:
    """Some servers always name the field."""
    asked(server, ModelReply(document=document))


@pytest.mark.parametrize(
    ("counts", "cost"),
    [
        ({"cost": 0.0125}, 0.0125),
        ({"cost": 0}, 0),
        ({"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, 0.021),
        ({"cost": 0.001, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.02}}, 0.001),
        ({}, None),
        ({"cost": "0.1"}, None),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({"cost": float("nan")}, None),
    ],
)
def test_the_cost_that_a_gateway_names(counts: dict[str, object], cost: float | None) -> None:
    """It is the cost of the answer; what is no sum of money is unknown (R3-E9)."""
    usage = openai_usage({"prompt_tokens": 3, "completion_tokens": 4, **counts})
    assert usage is not None
    assert usage.cost_usd == pytest.approx(cost)
    assert usage.cost_basis == (None if cost is None else "reported")


def test_headers_come_from_variables_and_are_in_nothing(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the same name takes the key's place, whatever its spelling; a server that repeats them tells nothing."""
    monkeypatch.setenv("FIRST", "canary value 0123456789")
    monkeypatch.setenv("TOKEN", "Bearer canary-token-0123456789")
    headers = find_headers({"X-Route": "FIRST", "authorization": "TOKEN"})
    assert headers.problems("engine 'x'") == ()
    said = "canary value 0123456789 and canary-token-0123456789"
    server.enqueue(ModelReply(document={"choices": [{"message": {"content": said}}]}))

    async def main() -> Mapping[str, Any]:
        sent = headers.beside({"Authorization": "Bearer other"})
        client = ModelClient(KEY, sent, 10, further=headers.values)
        return await client.exchange(f"{server.url}/v1/chat/completions", CHAT, lambda document: document, "m-1")

    assert "canary" not in str(asyncio.run(main()))
    (request,) = server.requests
    assert request.headers["x-route"] == "canary value 0123456789"
    assert request.headers["authorization"] == "Bearer canary-token-0123456789"


def test_headers_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that are missing are one message, which names each variable; a value that cannot be hidden is told, too."""
    monkeypatch.delenv("FIRST", raising=False)
    monkeypatch.setenv("SHORT", "x")
    problems = find_headers({"X-A": "FIRST", "X-B": "SECOND", "X-C": "SHORT"}).problems("engine 'x'")
    assert len(problems) == 2
    assert "SHORT has fewer than 6 characters" in problems[0].message
    assert "FIRST (header x-a), SECOND (header x-b) is not set" in problems[1].message


@pytest.mark.parametrize(
    "headers",
    [{"Host": "A"}, {"content-length": "A"}, {"X Y": "A"}, {"X": "canary value"}, {"X": 1}, {"a": "A", "A": "B"}],
)
def test_headers_that_cannot_be_set(headers: dict[str, Any]) -> None:
    """They are refused before anything runs, and what may be a value is not repeated."""
    with pytest.raises(ValidationError) as raised:
        ServiceOptions(headers=headers)
    assert "canary" not in raised.value.errors()[0]["msg"]
