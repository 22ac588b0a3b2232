"""Questions over real connections: every way in which there is no answer, and what never comes back."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import Fact, FailureClass, JudgeReply, JudgeRequest, Traits, Usage
from skillgauge_model_client.answers import count, dig, known
from skillgauge_model_client.judge import ModelJudge, reply_of
from skillgauge_model_client.keys import Key
from skillgauge_model_client.options import ModelOptions, Prices, told_by
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import priced
from skillgauge_testkit import ModelFault, ModelReply, ModelServer, check_light_import

KEY = "canary/key+0123456789"
QUESTION = JudgeRequest(system="be strict", user="how good?", model="m-1", temperature=0, max_output_tokens=99)


class PlainJudge(ModelJudge):
    """Speaks Chat Completions, with nothing that a vendor adds."""

    name = "plain"
    variables = ("OPENAI_API_KEY",)
    usual_variable = "OPENAI_API_KEY"
    own_address = "http://127.0.0.1:1/own"
    default_model = "m-default"

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """The key as a bearer."""
        return {"Authorization": f"Bearer {key.value}"} if key else {}

    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        """One message of the user."""
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": request.user}]}
        return "/chat/completions", body | ({"nested": {"temperature": temperature}} if temperature is not None else {})

    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        """The text of the first choice."""
        if dig(document, "choices", 0, "message", "refusal"):
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        given, made = (count(dig(document, "usage", key)) for key in ("prompt_tokens", "completion_tokens"))
        usage = known(Usage(input_tokens=given, output_tokens=made))
        text, why = dig(document, "choices", 0, "message", "content"), dig(document, "choices", 0, "finish_reason")
        return reply_of(text, model=document.get("model"), usage=usage, is_cut=why == "length")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # must not be used
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server


def judge(server: ModelServer, **options: Any) -> PlainJudge:
    """A judge that asks the scripted server."""
    return PlainJudge(ModelOptions(base_url=f"{server.url}/v1/", **{"timeout_s": 10, **options}))


def ask(server: ModelServer, *replies: ModelReply, request: JudgeRequest = QUESTION, **options: Any) -> JudgeReply:
    """One question; the key is in nothing that comes back."""
    server.enqueue(*replies)
    reply = asyncio.run(judge(server, **options).ask(request))
    assert KEY not in reply.model_dump_json()
    return reply


def test_prices(server: ModelServer) -> None:
    """With prices an answer has its cost, what caches hold at their own; without, or without usage, it is unknown."""
    told = ask(server, ModelReply("8", 1000, 10), prices={"input": 3, "output": 15}).usage
    assert told
    assert (told.cost_usd, told.cost_basis) == (pytest.approx(0.00315), "price-list")
    unpriced = ask(server, ModelReply("8", 1000, 10)).usage
    assert unpriced
    assert unpriced.cost_usd is None
    cached = Usage(input_tokens=100, cache_read_tokens=1000, cache_write_tokens=10, output_tokens=0)
    known = Prices(input=1, output=1, cache_read=0.1)
    assert priced(cached, known).cost_usd == pytest.approx((100 + 100 + 10) / 1_000_000)
    assert priced(Usage(total_tokens=5), known).cost_usd is None
    options = ModelOptions(base_url="http://x", prices=known)
    assert told_by(options, Traits()).tells == {Fact.COST}
    assert told_by(ModelOptions(base_url="http://x"), Traits()) == Traits()


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
    assert (reply.text, reply.model) == ("[redacted:OPENAI_API_KEY] 8", "m-[redacted:OPENAI_API_KEY]")


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


def test_connections_end_with_the_event_loop_also_when_nobody_holds_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that is dropped just before the end leaves no connection behind, which would show as a warning here."""

    async def ask_as_often_at_once(server: ModelServer) -> list[JudgeReply]:
        one = judge(server)
        return await asyncio.gather(*(one.ask(QUESTION) for _ in range(3)))

    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with ModelServer(lambda _request: ModelReply("8")) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(asyncio.run(ask_as_often_at_once(server))) == 3
        gc.collect()
    assert unraisable == []


@pytest.mark.parametrize(
    "url",
    ["ftp://h/v1", "h/v1", "http://", "http://user:canary@h/v1", "http://h/v1?key=canary", "http://h:0/", "http://h /"],
)
def test_addresses_that_cannot_be_asked(url: str) -> None:
    """They are refused with a message that does not repeat a password."""
    with pytest.raises(ValidationError) as raised:
        ModelOptions(base_url=url)
    assert "canary" not in raised.value.errors()[0]["msg"]


def test_blanks_around_the_key_do_not_count(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key from a file often ends with a line break."""
    monkeypatch.setenv("OPENAI_API_KEY", " first-key\n")
    ask(server, ModelReply("8"))
    assert server.requests[0].headers["authorization"] == "Bearer first-key"


def test_what_is_missing_is_known_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key at the own address, no model elsewhere, and a key that cannot be used."""
    own, other = ModelOptions(base_url=PlainJudge.own_address), ModelOptions(base_url="http://127.0.0.1:1/other")
    assert asyncio.run(PlainJudge(own).check()) == ()
    (no_model,) = asyncio.run(PlainJudge(other).check())
    assert no_model.code == "judge.no-model"
    monkeypatch.delenv("OPENAI_API_KEY")
    (no_key,) = asyncio.run(PlainJudge(own).check())
    assert no_key.code == "judge.no-key"
    assert "--set judges.plain.base_url=URL" in (no_key.hint or "")
    for wrong in ("short", "canary key with blanks", "canary-k\u00e9y"):
        monkeypatch.setenv("OPENAI_API_KEY", wrong)
        (problem,) = asyncio.run(PlainJudge(own).check())
        assert problem.code == "judge.key"
        assert wrong not in str(problem)
        reply = asyncio.run(PlainJudge(own).ask(QUESTION))  # and nothing is sent
        assert (reply.error or "").startswith("auth: ")


def test_the_library_announces_nothing_and_imports_lightly() -> None:
    """A plugin's options come from it, so its light part must not load a network library."""
    check_light_import("skillgauge_model_client.options")
