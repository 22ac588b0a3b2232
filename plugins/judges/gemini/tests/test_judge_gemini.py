"""Questions over real connections: what goes out, what comes back, and every way in which it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from skillgauge.api import JudgeReply, JudgeRequest, Severity
from skillgauge_judge_gemini.judge import GeminiJudge
from skillgauge_judge_gemini.options import MODEL, VARIABLES, GeminiOptions
from skillgauge_judge_gemini.plugin import skillgauge_judges
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

MODULE = "skillgauge_judge_gemini.plugin"
KEY = "canary/key+0123456789"
QUESTION = JudgeRequest(system="be strict", user="how good?", model="m-1", temperature=0, max_output_tokens=99)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # must not be used
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server


def judge(server: ModelServer, **options: Any) -> GeminiJudge:
    """A judge that asks the scripted server."""
    return GeminiJudge(GeminiOptions(base_url=f"{server.url}/", **{"timeout_s": 10, **options}))


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
    assert (request.dialect, request.headers["x-goog-api-key"]) == ("gemini", KEY)
    assert request.path == "/v1beta/models/m-1:generateContent"  # without a key in it
    assert request.body == {
        "systemInstruction": {"parts": [{"text": "be strict"}]},
        "contents": [{"role": "user", "parts": [{"text": "how good?"}]}],
        "generationConfig": {"maxOutputTokens": 99, "temperature": 0},
    }


def test_model_and_temperature_of_the_options(server: ModelServer) -> None:
    """They count where the question has none; with null none is sent."""
    bare = JudgeRequest(system="s", user="u")
    ask(server, ModelReply("8"), request=bare, model="m-2", temperature=0.5)
    ask(server, ModelReply("8"), request=bare, model="m-2", temperature=None)
    assert ask(server, request=bare).error == "bad_request: no model is named: use --judge-model"
    first, second = server.requests
    assert (first.model, first.body["generationConfig"]["temperature"]) == ("m-2", 0.5)
    assert "temperature" not in str(second.body)


def test_key_is_optional_at_other_addresses(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server is asked without a key."""
    monkeypatch.delenv("GEMINI_API_KEY")
    assert ask(server, ModelReply("8")).text == "8"
    assert "x-goog-api-key" not in server.requests[0].headers
    assert asyncio.run(judge(server, model="m").check()) == ()


def test_order_of_the_variables(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first variable that is set wins; blanks around the key do not count."""
    monkeypatch.setenv("GOOGLE_API_KEY", " second-key\n")
    ask(server, ModelReply("8"))
    monkeypatch.delenv("GEMINI_API_KEY")
    ask(server, ModelReply("8"))
    assert [request.headers["x-goog-api-key"] for request in server.requests] == [KEY, "second-key"]


def test_names_of_models(server: ModelServer) -> None:
    """A name with its folder is one too, and none can lead elsewhere."""
    ask(server, ModelReply("8"), request=QUESTION.model_copy(update={"model": "models/m-2"}))
    ask(server, ModelReply("8"), request=QUESTION.model_copy(update={"model": "../m?x"}))
    told = [request.path for request in server.requests]
    assert told == [f"/v1beta/models/{name}:generateContent" for name in ("m-2", "..%2Fm%3Fx")]


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


def test_temperature_that_a_model_does_not_take(server: ModelServer) -> None:
    """It is left out after the model said so, from then on at once; any other bad request stays one."""
    unsupported = ModelReply(fault=ModelFault.BAD_REQUEST, message="Unsupported value: 'temperature'")
    server.enqueue(unsupported, ModelReply("8"), ModelReply("7"))

    async def main() -> list[str | None]:
        one = judge(server)
        return [(await one.ask(QUESTION)).text, (await one.ask(QUESTION)).text]

    assert asyncio.run(main()) == ["8", "7"]
    assert ["temperature" in str(request.body) for request in server.requests] == [True, False, False]
    assert (ask(server, unsupported, unsupported).error or "").startswith("bad_request")
    out_of_range = ModelReply(fault=ModelFault.BAD_REQUEST, message="temperature: must be at most 1")
    assert (ask(server, out_of_range).error or "").endswith("must be at most 1")


def test_check_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, a key that cannot be used, and no model are found before anything runs."""
    assert asyncio.run(GeminiJudge(GeminiOptions(model="m")).check()) == ()
    assert asyncio.run(GeminiJudge(GeminiOptions()).check()) == ()
    assert GeminiJudge(GeminiOptions()).identity(None).settings["model"] == MODEL
    (no_model,) = asyncio.run(GeminiJudge(GeminiOptions(base_url="http://127.0.0.1:1")).check())
    assert (no_model.code, no_model.severity) == ("judge.no-model", Severity.ERROR)
    assert "--judge-model" in str(no_model)
    monkeypatch.delenv("GEMINI_API_KEY")
    (no_key,) = asyncio.run(GeminiJudge(GeminiOptions(model="m")).check())
    assert no_key.code == "judge.no-key"
    assert ", ".join(VARIABLES) in no_key.message
    for wrong in ("short", "canary key with blanks", "canary-kéy"):
        monkeypatch.setenv(VARIABLES[-1], wrong)
        (problem,) = asyncio.run(GeminiJudge(GeminiOptions(model="m")).check())
        assert problem.code == "judge.key"
        assert VARIABLES[-1] in problem.message
        assert wrong not in str(problem)
        reply = asyncio.run(GeminiJudge(GeminiOptions()).ask(QUESTION))  # and nothing is sent
        assert (reply.error or "").startswith("auth: ")


def test_answer_in_parts_and_odd_usage(server: ModelServer) -> None:
    """Texts are joined, thinking is left out but counted, cached tokens are told apart, no number is unknown."""
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
        options = {"base_url": server.url, "model": "m-1"}
        make = Maker(JUDGES, MODULE)
        check_judge(lambda: make(options), good=good, silent=silent, failing=fail, slow=wait, secret=KEY)


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing loads no network library."""
    check_plugin(MODULE, "judges")
    check_light_import(MODULE, allowed=("skillgauge_model_client",))
    (provider,) = skillgauge_judges()
    assert provider.traits.secrets == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert provider.traits.model_hosts == ("generativelanguage.googleapis.com",)
    assert provider.traits.model_patterns == ("gemini-*",)
    assert provider.traits.paid


def test_redirects() -> None:
    """The variable that the plugin declares decides which address is asked."""
    (provider,) = skillgauge_judges()
    check_redirects(provider)
