"""The Messages API of Anthropic: the words of questions and answers, over real connections to a scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillgauge.api import JudgeReply, JudgeRequest
from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.contract import JUDGE_KEY, JUDGE_QUESTION, ask_judge, surroundings_of

from .conftest import PROVIDERS

PROVIDER = PROVIDERS["anthropic"]


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    with surroundings_of(PROVIDER, "ANTHROPIC_API_KEY"):
        yield


def ask(server: ModelServer, *replies: ModelReply, request: JudgeRequest = JUDGE_QUESTION) -> JudgeReply:
    """Ask the scripted server one question."""
    return ask_judge(PROVIDER, server, *replies, request=request, base_url=f"{server.url}/")


def test_question_and_answer(server: ModelServer) -> None:
    """System and user text, model, temperature, limit and key go out; text, model and usage come back."""
    reply = ask(server, ModelReply("8", 12, 3, model="m-1-2026"))
    assert (reply.text, reply.model, reply.error) == ("8", "m-1-2026", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 12, "output_tokens": 3}
    (request,) = server.requests
    assert (request.dialect, request.headers["x-api-key"]) == ("anthropic", JUDGE_KEY)
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "m-1",
        "system": "be strict",
        "messages": [{"role": "user", "content": "how good?"}],
        "max_tokens": 99,
        "temperature": 0,
    }


def test_answer_in_parts_and_odd_usage(server: ModelServer) -> None:
    """Texts are joined, thinking is left out, cached tokens are counted apart, and what is no number is unknown."""
    parts = [{"type": "thinking", "text": "10"}, {"type": "text", "text": "8\ud800"}, {"type": "text"}, 5]
    usage = {
        "input_tokens": 60,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": -1,
        "output_tokens": True,
    }
    reply = ask(server, ModelReply(document={"content": parts, "model": 5, "usage": usage}))
    assert (reply.text, reply.model) == ("8?", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 60, "cache_read_tokens": 40}
    assert ask(server, ModelReply("8", 0, 0)).usage is None
