"""Questions over real connections: what goes out, what comes back, and every way in which it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import JudgeReply, JudgeRequest, Severity
from skillgauge.testing import (
    JUDGES,
    Maker,
    ModelFault,
    ModelReply,
    ModelRequest,
    ModelServer,
    check_judge,
    check_light_import,
    check_plugin,
)
from skillgauge_judge_gemini.judge import GeminiJudge
from skillgauge_judge_gemini.options import VARIABLES, GeminiOptions
from skillgauge_judge_gemini.plugin import skillgauge_judges

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
    """They count where the question has none; a temperature that nobody names is not sent."""
    bare = JudgeRequest(system="s", user="u")
    ask(server, ModelReply("8"), request=bare, model="m-2", temperature=0.5)
    ask(server, ModelReply("8"), request=bare, model="m-2")
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
    ("reply", "error", "retryable", "retry_after_s"),
    [
        (ModelReply(fault=ModelFault.UNAUTHORIZED), "auth: HTTP 401 Unauthorized: the key is not valid", False, None),
        (ModelReply(fault=ModelFault.NOT_FOUND), "model_not_found: HTTP 404 Not Found: there is no such", False, None),
        (ModelReply(fault=ModelFault.RATE_LIMITED), "rate_limited: HTTP 429 Too Many", True, None),
        (
            ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "7"}),
            "rate_limited: HTTP 429 Too Many Requests: too many requests",
            True,
            7,
        ),
        (ModelReply(fault=ModelFault.SERVER_ERROR), "server: HTTP 500 Internal Server Error: the server", True, None),
        (ModelReply(fault=ModelFault.OVERLOADED), "overloaded: HTTP 529 Overloaded: the server has", True, None),
        (ModelReply(fault=ModelFault.BAD_REQUEST), "bad_request: HTTP 400 Bad Request: the request", False, None),
        (ModelReply(fault=ModelFault.REFUSED), "refused: the model refused", False, None),
        (ModelReply(fault=ModelFault.GARBAGE), "protocol: HTTP 200: the answer is not JSON: <!doctype", False, None),
        (ModelReply(document=[1]), "protocol: HTTP 200: the answer is no JSON object", False, None),
        (ModelReply("8", fault=ModelFault.CUT_BODY), "network: ", True, None),
        (ModelReply(fault=ModelFault.DROPPED), "network: ", True, None),
        (ModelReply(fault=ModelFault.ENDLESS), "protocol: the answer is larger than 4194304 bytes", False, None),
        (ModelReply("", is_cut=True), "protocol: the answer is empty: the answer reached its limit", False, None),
        (ModelReply(""), "protocol: the answer is empty: no text", False, None),
        (ModelReply(document={}), "protocol: the answer is empty: no text", False, None),
        (
            ModelReply(fault=ModelFault.RATE_LIMITED, message="You exceeded it: insufficient_quota"),
            "budget: HTTP 429",
            False,
            None,
        ),
    ],
)
def test_faults(
    server: ModelServer, reply: ModelReply, error: str, retryable: bool, retry_after_s: float | None
) -> None:
    """Each fault is an error that names its kind, and says whether and when asking again may help."""
    found = ask(server, reply)
    assert found.text is None
    assert (found.error or "").startswith(error)
    assert (found.retryable, found.retry_after_s) == (retryable, retry_after_s)
    assert len(server.requests) == 1


def test_deadline(server: ModelServer) -> None:
    """A late first byte, and a body that goes on, end with the time for the whole question."""
    late = ask(server, ModelReply("8", delay_s=20), timeout_s=0.2)
    assert (late.error, late.retryable) == ("timeout: no whole answer within 0.2 s", True)


def test_nobody_listens() -> None:
    """A refused connection is the network's fault, and names what the system said."""
    with ModelServer() as gone:
        pass
    found = ask(gone)
    assert (found.error, found.retryable) == ("network: Connection refused (ConnectError)", True)


@pytest.mark.parametrize(
    "reply",
    [
        ModelReply(fault=ModelFault.UNAUTHORIZED, message=f"Incorrect API key provided: {KEY}"),
        ModelReply(fault=ModelFault.UNAUTHORIZED, message="x" * 290 + KEY),
        ModelReply(fault=ModelFault.SERVER_ERROR, document={"trace": {"authorization": KEY}}),
        ModelReply(fault=ModelFault.GARBAGE, message=f"{KEY} canary%2Fkey%2B0123456789"),
    ],
)
def test_echoed_keys_in_errors(server: ModelServer, reply: ModelReply) -> None:
    """A server that repeats the key does not get it into a message, also not in part or in another spelling."""
    error = ask(server, reply).error or ""
    assert "canary" not in error
    assert "[redacted" in error


def test_echoed_keys_in_answers(server: ModelServer) -> None:
    """Nor into an answer."""
    reply = ask(server, ModelReply(f"{KEY} 8", model=f"m-{KEY}"))
    assert (reply.text, reply.model) == ("[redacted:GEMINI_API_KEY] 8", "m-[redacted:GEMINI_API_KEY]")


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


def test_one_pool_for_many_questions() -> None:
    """Questions at once and one after the other get their own answers, in several event loops, and nothing is left."""
    with ModelServer(lambda request: ModelReply(request.text.rpartition("\n")[2])) as server:
        one = judge(server)

        async def main() -> list[str | None]:
            asked = (one.ask(QUESTION.model_copy(update={"user": f"q{n}"})) for n in range(6))
            return [reply.text for reply in await asyncio.gather(*asked)]

        for _ in range(2):
            assert asyncio.run(main()) == [f"q{n}" for n in range(6)]


def test_check_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, a key that cannot be used, and no model are found before anything runs."""
    assert asyncio.run(GeminiJudge(GeminiOptions(model="m")).check()) == ()
    (no_model,) = asyncio.run(GeminiJudge(GeminiOptions()).check())
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


@pytest.mark.parametrize(
    "url",
    ["ftp://h/v1", "h/v1", "http://", "http://user:canary@h/v1", "http://h/v1?key=canary", "http://h:0/", "http://h /"],
)
def test_addresses_that_cannot_be_asked(url: str) -> None:
    """They are refused with a message that does not repeat a password."""
    with pytest.raises(ValidationError) as raised:
        GeminiOptions(base_url=url)
    assert "canary" not in raised.value.errors()[0]["msg"]


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
    check_light_import(MODULE)
    (provider,) = skillgauge_judges()
    assert provider.traits.secrets == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert provider.traits.model_hosts == ("generativelanguage.googleapis.com",)
    assert provider.traits.model_patterns == ("gemini-*",)
    assert provider.traits.paid
