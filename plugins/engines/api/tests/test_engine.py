"""Which service is asked, with which key, and what is known to be missing before anything runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import FailureClass, Limits, Problem, RunRequest
from skillgauge_engine_api.engine import ApiEngine
from skillgauge_engine_api.options import SERVICES, ApiOptions, Service
from skillgauge_testkit import FakeWorkspace, ModelReply, ModelServer

from .conftest import KEY, Hold


def checked(*models: str | None, **options: Any) -> tuple[Problem, ...]:
    """What keeps an engine from working with some models."""
    engine = ApiEngine(ApiOptions.model_validate(options))
    for model in models:
        engine.identity(model)
    return asyncio.run(engine.check())


@pytest.mark.parametrize(
    ("model", "options", "service"),
    [
        ("claude-sonnet-4-5", {}, Service.ANTHROPIC),
        ("gpt-4o", {}, Service.OPENAI),
        ("o3-mini", {}, Service.OPENAI),
        ("gemini-2.5-pro", {}, Service.GEMINI),
        ("llama3", {"base_url": "http://127.0.0.1:1/v1"}, Service.OPENAI),
        ("gpt-4o", {"provider": "anthropic"}, Service.ANTHROPIC),
        ("llama3", {}, None),
        (None, {}, None),
    ],
)
def test_the_models_id_picks_the_service(model: str | None, options: Any, service: Service | None) -> None:
    """Unless the user names one; at another address it is the language that most servers speak."""
    given = ApiOptions.model_validate(options)
    assert given.service(model) is service
    identity = ApiEngine(given).identity(model)
    assert identity.settings["provider"] == service
    assert identity.model == model
    assert identity.service == (given.address(service) if service else None)
    assert identity.complete == (service is not None)


@pytest.mark.requirement("BF-CRED-006")
def test_what_is_missing_is_known_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model, no service, no key, a key that cannot be used; each names what to do, and all models are looked at."""
    assert checked("claude-1", "gpt-1", "gemini-1") == ()
    assert [one.code for one in checked(None)] == ["engine.no-model"]
    assert checked() == ()
    assert checked(None, model="gpt-1") == ()
    (unknown,) = checked("llama3")
    assert unknown.code == "engine.no-provider"
    assert "engines.api.base_url" in str(unknown)
    for facts in SERVICES.values():
        for name in facts.variables:
            monkeypatch.delenv(name, raising=False)
    problems = checked("claude-1", "gpt-1", "gemini-1")
    assert [one.code for one in problems] == ["engine.no-key"] * 3
    assert {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY, GOOGLE_API_KEY"} == {
        one.message.partition("none of ")[2].partition(" is set")[0] for one in problems
    }
    assert checked("llama3", base_url="http://127.0.0.1:1/v1") == ()
    monkeypatch.setenv("MY_KEY", "short")
    (bad,) = checked("gpt-1", key_variable="MY_KEY")
    assert bad.code == "engine.key"
    assert "MY_KEY" in bad.message


def test_nothing_is_sent_where_something_is_missing() -> None:
    """A session that could not be checked before is an error of its own."""

    async def run(**options: Any) -> FailureClass | None:
        engine = ApiEngine(ApiOptions.model_validate(options))
        request = RunRequest(trial_id="t", case_id="c", prompt="p", model=None, limits=Limits())
        failure = (await engine.run(request, FakeWorkspace(), lambda _event: None)).failure
        return failure.failure_class if failure else None

    assert asyncio.run(run()) is FailureClass.AUTH
    assert asyncio.run(run(model="gpt-1", key_variable="NOT_SET_ANYWHERE")) is FailureClass.AUTH


def test_a_local_server_needs_no_key(hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked in the words that such servers know."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with ModelServer([ModelReply("hi")]) as server:
        held = hold(server, provider=Service.OPENAI)
        (request,) = server.requests
    assert held.execution.text == "hi"
    assert held.problem_free
    assert request.key is None
    assert "max_tokens" in request.body
    assert "stream" not in request.body


def test_another_variable_may_hold_the_key(hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual one is then not looked at."""
    monkeypatch.setenv("MY_KEY", "my-own-key-0123")
    with ModelServer([ModelReply("hi")]) as server:
        hold(server, key_variable="MY_KEY")
        (request,) = server.requests
    assert request.key == "my-own-key-0123"
    assert KEY not in str(request.headers)


def test_identity_covers_what_decides() -> None:
    """Address, tools and temperature make another engine; prices and the name of the key's variable do not."""
    one = ApiEngine(ApiOptions()).identity("gpt-1").digest
    same = ApiOptions.model_validate({"prices": {"input": 1, "output": 2}, "key_variable": "K"})
    assert ApiEngine(same).identity("gpt-1").digest == one
    for options in ({"tools": False}, {"temperature": 0}, {"base_url": "http://127.0.0.1:1"}, {"max_turns": 3}):
        assert ApiEngine(ApiOptions.model_validate(options)).identity("gpt-1").digest != one


@pytest.mark.parametrize(
    "options", [{"base_url": "ftp://x"}, {"provider": "azure"}, {"max_turns": 0}, {"prices": {"input": 1}}, {"tool": 1}]
)
def test_wrong_options_are_refused(options: Any) -> None:
    """Unknown and impossible ones."""
    with pytest.raises(ValidationError):
        ApiOptions.model_validate(options)
