"""Questions over real connections: what goes out, what comes back, and every way in which it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from skillgauge.api import JudgeReply, JudgeRequest, Severity
from skillgauge_judge_openai.judge import OpenAIJudge
from skillgauge_judge_openai.options import VARIABLES, OpenAIOptions
from skillgauge_judge_openai.plugin import skillgauge_judges
from skillgauge_testkit import (
    JUDGES,
    Maker,
    ModelFault,
    ModelReply,
    ModelRequest,
    ModelServer,
    check_judge,
    check_light_import,
    check_plugin,
    check_redirects,
)

MODULE = "skillgauge_judge_openai.plugin"
KEY = "canary/key+0123456789"
QUESTION = JudgeRequest(system="be strict", user="how good?", model="m-1", temperature=0, max_output_tokens=99)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # must not be used
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server


def judge(server: ModelServer, **options: Any) -> OpenAIJudge:
    """A judge that asks the scripted server."""
    return OpenAIJudge(OpenAIOptions(base_url=f"{server.url}/v1/", **{"timeout_s": 10, **options}))


def ask(server: ModelServer, *replies: ModelReply, request: JudgeRequest = QUESTION, **options: Any) -> JudgeReply:
    """One question; the key is in nothing that comes back."""
    server.enqueue(*replies)
    reply = asyncio.run(judge(server, **options).ask(request))
    assert KEY not in reply.model_dump_json()
    return reply


def test_question_and_answer(server: ModelServer) -> None:
    """System and user text, model, temperature, limit and key go out; text, model and usage come back."""
    reply = ask(server, ModelReply("8", 12, 3, model="m-1-2026"))
    assert (reply.text, reply.model, reply.error) == ("8", "m-1-2026", None)
    assert reply.usage is not None
    assert reply.usage.model_dump(exclude_none=True) == {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    (request,) = server.requests
    assert (request.dialect, request.headers["authorization"]) == ("openai-chat", f"Bearer {KEY}")
    assert request.body == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "be strict"}, {"role": "user", "content": "how good?"}],
        "max_tokens": 99,
        "temperature": 0,
    }


def test_model_and_temperature_of_the_options(server: ModelServer) -> None:
    """They count where the question has none; with null none is sent."""
    bare = JudgeRequest(system="s", user="u")
    ask(server, ModelReply("8"), request=bare, model="m-2", temperature=0.5)
    ask(server, ModelReply("8"), request=bare, model="m-2", temperature=None)
    assert ask(server, request=bare).error == "bad_request: no model is named: use --judge-model"
    first, second = server.requests
    assert (first.model, first.body["temperature"]) == ("m-2", 0.5)
    assert "temperature" not in second.body


def test_key_is_optional_at_other_addresses(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server is asked without a key."""
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask(server, ModelReply("8")).text == "8"
    assert "authorization" not in server.requests[0].headers
    assert asyncio.run(judge(server, model="m").check()) == ()


def test_order_of_the_variables(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first variable that is set wins, as eval-skills has it; blanks around the key do not count."""
    monkeypatch.setenv("OPENAI_KEY", "third-key")
    ask(server, ModelReply("8"))
    monkeypatch.setenv("EVAL_SKILLS_LLM_KEY", " first-key\n")
    ask(server, ModelReply("8"))
    monkeypatch.delenv("EVAL_SKILLS_LLM_KEY")
    monkeypatch.delenv("OPENAI_API_KEY")
    ask(server, ModelReply("8"))
    told = [request.headers["authorization"] for request in server.requests]
    assert told == [f"Bearer {KEY}", "Bearer first-key", "Bearer third-key"]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ModelReply(fault=ModelFault.UNAUTHORIZED), "auth: HTTP 401 Unauthorized: the key is not valid"),
        (ModelReply(fault=ModelFault.REFUSED), "refused: the model refused"),
        (ModelReply("", is_cut=True), "protocol: the answer is empty: the answer reached its limit"),
        (ModelReply(""), "protocol: the answer is empty: no text"),
        (ModelReply(document={}), "protocol: the answer is empty: no text"),
    ],
)
def test_answers_without_a_text(server: ModelServer, reply: ModelReply, error: str) -> None:
    """A refusal, a cut answer and an empty one are told apart in this API's own words."""
    found = ask(server, reply)
    assert found.text is None
    assert (found.error or "").startswith(error)


def test_check_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, a key that cannot be used, and no model are found before anything runs."""
    assert asyncio.run(OpenAIJudge(OpenAIOptions()).check()) == ()
    assert OpenAIJudge(OpenAIOptions()).identity(None).settings["model"] == "gpt-4o"
    assert OpenAIJudge(OpenAIOptions()).identity(None).service == "https://api.openai.com/v1"
    (no_model,) = asyncio.run(OpenAIJudge(OpenAIOptions(base_url="http://127.0.0.1:1/v1")).check())
    assert (no_model.code, no_model.severity) == ("judge.no-model", Severity.ERROR)
    assert "--judge-model" in str(no_model)
    monkeypatch.delenv("OPENAI_API_KEY")
    (no_key,) = asyncio.run(OpenAIJudge(OpenAIOptions()).check())
    assert no_key.code == "judge.no-key"
    assert "EVAL_SKILLS_LLM_KEY, OPENAI_API_KEY, OPENAI_KEY" in no_key.message
    for wrong in ("short", "canary key with blanks", "canary-kéy"):
        monkeypatch.setenv("OPENAI_KEY", wrong)
        (problem,) = asyncio.run(OpenAIJudge(OpenAIOptions()).check())
        assert problem.code == "judge.key"
        assert "OPENAI_KEY" in problem.message
        assert wrong not in str(problem)
        reply = asyncio.run(OpenAIJudge(OpenAIOptions()).ask(QUESTION))  # and nothing is sent
        assert (reply.error or "").startswith("auth: ")


def test_answer_in_parts_and_odd_usage(server: ModelServer) -> None:
    """Parts are joined, cached tokens are told apart, and numbers that are none are unknown."""
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


def test_contract() -> None:
    """The judge keeps the contract of judges, also with a server that says nothing about usage."""

    def answer(request: ModelRequest) -> ModelReply:
        word = request.text.rpartition("\n")[2]
        silent = ModelReply("8", None, None)
        wrong = ModelReply(fault=ModelFault.UNAUTHORIZED, message=f"not {KEY}")
        return {"silent": silent, "fail": wrong, "wait": ModelReply("8", delay_s=5)}.get(word, ModelReply("8"))

    good, silent, fail, wait = (
        QUESTION.model_copy(update={"user": word}) for word in ("good", "silent", "fail", "wait")
    )
    with ModelServer(answer) as server:
        options = {"base_url": f"{server.url}/v1", "model": "m-1"}
        make = Maker(JUDGES, MODULE)
        check_judge(lambda: make(options), good=good, silent=silent, failing=fail, slow=wait, secret=KEY)


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing loads no network library."""
    check_plugin(MODULE, "judges")
    check_light_import(MODULE, allowed=("skillgauge_model_client",))
    (provider,) = skillgauge_judges()
    assert provider.traits.secrets == ("EVAL_SKILLS_LLM_KEY", "OPENAI_API_KEY", "OPENAI_KEY")
    assert provider.traits.model_hosts == ("api.openai.com",)
    assert provider.traits.model_patterns == ("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*")
    assert provider.traits.paid


def test_redirects() -> None:
    """The variable that the plugin declares decides which address is asked."""
    (provider,) = skillgauge_judges()
    check_redirects(provider)
