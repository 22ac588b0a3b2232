"""The contract of engines, on a scripted model server."""

from __future__ import annotations

import pytest

from skillgauge.api import Fact
from skillgauge_engine_api.options import SERVICES, ApiOptions
from skillgauge_engine_api.plugin import skillgauge_engines
from skillgauge_testkit import (
    ENGINES,
    EnginePrompts,
    Maker,
    ModelFault,
    ModelReply,
    ModelServer,
    by_prompt,
    check_engine,
    check_light_import,
    check_plugin,
    check_redirects,
    in_turns,
    run_shell,
)

MODULE = "skillgauge_engine_api.plugin"
KEY = "canary/key+0123456789"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_engine(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions end, fail and are cancelled as the contract says; the key is shown nowhere, whoever repeats it."""
    for facts in SERVICES.values():
        for name in facts.variables:
            monkeypatch.setenv(name, KEY)
    (announced,) = skillgauge_engines()
    make = Maker(ENGINES, MODULE)
    script = by_prompt(
        {
            "hello": in_turns(*[ModelReply("let me see", tools=[run_shell("env")]), ModelReply(f"done, {KEY}")] * 9),
            "silent": ModelReply("done", None, None),
            "wait": ModelReply(tools=[run_shell("sleep 60")]),
            "crash": ModelReply(fault=ModelFault.UNAUTHORIZED, message=f"not {KEY}"),
        }
    )
    with ModelServer(script) as server:
        base_url = f"{server.url}/v1" if provider == "openai" else server.url
        options = {"base_url": base_url, "provider": provider, "model": "m-1"}
        check_engine(
            lambda: make(options),
            announced.traits,
            EnginePrompts(answered="hello", silent="silent", slow="wait", failing="crash"),
            secret=KEY,
        )
        assert {request.key for request in server.requests} == {KEY}


def test_announcement() -> None:
    """Hook, provider and entry point fit together; of blocks it knows nothing, and its keys are kept out of results."""
    check_plugin(MODULE, "engines")
    check_light_import(MODULE, allowed=("skillgauge_model_client",))
    (announced,) = skillgauge_engines()
    assert announced.traits.tells == {Fact.OFFERED, Fact.FIRED, Fact.USAGE}
    assert announced.traits.paid
    assert not announced.traits.only_by_name
    assert "ANTHROPIC_API_KEY" in announced.traits.secrets
    assert announced.traits_with
    assert announced.traits_with(ApiOptions()) == announced.traits
    assert announced.traits_with(ApiOptions(key_variable="MY_KEY")).secrets == ("MY_KEY",)
    priced = announced.traits_with(ApiOptions.model_validate({"prices": {"input": 1, "output": 2}}))
    assert priced.tells - announced.traits.tells == {Fact.COST}


def test_redirects() -> None:
    """The variable of each provider decides which address its models are asked at."""
    (announced,) = skillgauge_engines()
    models = {"OPENAI_BASE_URL": "gpt-x", "ANTHROPIC_BASE_URL": "claude-x", "GOOGLE_GEMINI_BASE_URL": "gemini-x"}
    check_redirects(announced, models)
