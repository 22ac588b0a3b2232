"""Chat Completions: the words of questions and answers, over real connections to a scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillgauge.api import JudgeReply, JudgeRequest
from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.contract import JUDGE_KEY, JUDGE_QUESTION, ask_judge, surroundings_of

from .conftest import PROVIDERS

PROVIDER = PROVIDERS["openai"]


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    with surroundings_of(PROVIDER, "OPENAI_API_KEY"):
        yield


def ask(server: ModelServer, *replies: ModelReply, request: JudgeRequest = JUDGE_QUESTION) -> JudgeReply:
    """Ask the scripted server one question."""
    return ask_judge(PROVIDER, server, *replies, request=request, base_url=f"{server.url}/v1/")


def test_question_and_answer(server: ModelServer) -> None:
    """System and user text, model, temperature, limit and key go out; text, model and usage come back."""
    reply = ask(server, ModelReply("8", 12, 3, model="m-1-2026"))
    assert (reply.text, reply.model, reply.error) == ("8", "m-1-2026", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    (request,) = server.requests
    assert (request.dialect, request.headers["authorization"]) == ("openai-chat", f"Bearer {JUDGE_KEY}")
    assert request.body == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "be strict"}, {"role": "user", "content": "how good?"}],
        "max_tokens": 99,
        "temperature": 0,
    }


def test_order_of_the_variables(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first variable that is set wins, as eval-skills has it; blanks around the key do not count."""
    monkeypatch.setenv("OPENAI_KEY", "third-key")
    ask(server, ModelReply("8"))
    monkeypatch.setenv("EVAL_SKILLS_LLM_KEY", " first-key\n")
    ask(server, ModelReply("8"))
    monkeypatch.delenv("EVAL_SKILLS_LLM_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    ask(server, ModelReply("8"))
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {JUDGE_KEY}", "Bearer first-key", "Bearer third-key"]


def test_answer_in_parts_and_odd_usage(server: ModelServer) -> None:
    """Parts are joined, cached tokens are counted apart, and numbers that are none are unknown."""
    parts = [{"type": "text", "text": "8\ud800"}, {"type": "image"}, {"text": "/10"}]
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": True,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": -1},
    }
    document = {"choices": [{"message": {"content": parts}}], "model": 5, "usage": usage}
    reply = ask(server, ModelReply(document=document))
    assert (reply.text, reply.model) == ("8?/10", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 60, "cache_read_tokens": 40}
    assert ask(server, ModelReply("8", 0, 0)).usage is None
