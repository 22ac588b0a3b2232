"""The API of Google's Gemini models: the words of questions and answers, over real connections to a scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillgauge.api import JudgeReply, JudgeRequest
from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.contract import JUDGE_KEY, JUDGE_QUESTION, ask_judge, surroundings_of

from .conftest import PROVIDERS

PROVIDER = PROVIDERS["gemini"]


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    with surroundings_of(PROVIDER, "GEMINI_API_KEY"):
        yield


def ask(server: ModelServer, *replies: ModelReply, request: JudgeRequest = JUDGE_QUESTION) -> JudgeReply:
    """Ask the scripted server one question."""
    return ask_judge(PROVIDER, server, *replies, request=request, base_url=f"{server.url}/")


def test_question_and_answer(server: ModelServer) -> None:
    """System and user text, model, temperature, limit and key go out; text, model and usage come back."""
    reply = ask(server, ModelReply("8", 12, 3, model="m-1-2026"))
    assert (reply.text, reply.model, reply.error) == ("8", "m-1-2026", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    (request,) = server.requests
    assert (request.dialect, request.headers["x-goog-api-key"]) == ("gemini", JUDGE_KEY)
    assert request.path == "/v1beta/models/m-1:generateContent"  # without a key in it
    assert request.body == {
        "systemInstruction": {"parts": [{"text": "be strict"}]},
        "contents": [{"role": "user", "parts": [{"text": "how good?"}]}],
        "generationConfig": {"maxOutputTokens": 99, "temperature": 0},
    }


def test_order_of_the_variables(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first variable that is set wins; blanks around the key do not count."""
    monkeypatch.setenv("GOOGLE_API_KEY", " second-key\n")
    ask(server, ModelReply("8"))
    monkeypatch.delenv("GEMINI_API_KEY")
    ask(server, ModelReply("8"))
    assert [request.headers["x-goog-api-key"] for request in server.requests] == [JUDGE_KEY, "second-key"]


def test_names_of_models(server: ModelServer) -> None:
    """A name with its folder is one too, and none can lead elsewhere."""
    ask(server, ModelReply("8"), request=JUDGE_QUESTION.model_copy(update={"model": "models/m-2"}))
    ask(server, ModelReply("8"), request=JUDGE_QUESTION.model_copy(update={"model": "../m?x"}))
    sent = [request.path for request in server.requests]
    assert sent == [f"/v1beta/models/{name}:generateContent" for name in ("m-2", "..%2Fm%3Fx")]


def test_answer_in_parts_and_odd_usage(server: ModelServer) -> None:
    """Texts are joined, thinking is left out but counted, cached tokens are counted apart, no number is unknown."""
    parts = [{"text": "10", "thought": True}, {"text": "8\ud800"}, {"text": "/10"}, {"inlineData": {}}]
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": True,
    }
    document = {"candidates": [{"content": {"parts": parts}}], "modelVersion": 5, "usageMetadata": usage}
    reply = ask(server, ModelReply(document=document))
    assert (reply.text, reply.model) == ("8?/10", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {
        "input_tokens": 60,
        "cache_read_tokens": 40,
        "output_tokens": 12,
        "reasoning_tokens": 7,
    }
    assert ask(server, ModelReply("8", 0, 0)).usage is None
    blocked = ask(server, ModelReply(document={"candidates": [{"finishReason": "SAFETY"}]}))
    assert (blocked.error or "").startswith("refused: ")
