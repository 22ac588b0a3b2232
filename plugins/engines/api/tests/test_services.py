"""The engine at gateways and clouds: deployments, headers, costs, models without tools or a system role."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import FailureClass
from skillgauge_engine_api.engine import ApiEngine
from skillgauge_engine_api.options import ApiOptions, Service
from skillgauge_engine_api.plugin import skillgauge_engines
from skillgauge_testkit import ModelFault, ModelReply, ModelServer, in_turns, write_file

from .conftest import KEY, Hold


def refused(message: str) -> ModelReply:
    """A bad request with these words."""
    return ModelReply(fault=ModelFault.BAD_REQUEST, message=message)


def test_a_deployment_of_azure(hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question of a session goes to the deployment that the model names, with the key in Azure's header."""
    monkeypatch.setenv("AZURE_KEY", "made-up-key-of-azure-0123")
    with ModelServer(in_turns(ModelReply(tools=[write_file("a", "1")]), ModelReply("Done."))) as server:
        held = hold(server, base_url=server.url, api_version="2024-10-21", key_variable="AZURE_KEY")
        paths = {request.path for request in server.requests}
        keys = {request.headers["api-key"] for request in server.requests}
    assert (held.execution.text, held.files) == ("Done.", {"a": b"1"})
    assert paths == {"/openai/deployments/m-1/chat/completions?api-version=2024-10-21"}
    assert keys == {"made-up-key-of-azure-0123"}


def test_a_version_belongs_to_one_api() -> None:
    """It picks Chat Completions, whatever the model is called, and nothing else has it."""
    options = ApiOptions.model_validate({"base_url": "https://r.openai.azure.com", "api_version": "2024-10-21"})
    assert options.service("claude-x") is Service.OPENAI
    with pytest.raises(ValidationError, match="api_version is for the provider openai"):
        ApiOptions.model_validate({"provider": "gemini", "api_version": "2024-10-21"})
    query = "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    with pytest.raises(ValidationError, match="the option api_version"):
        ApiOptions.model_validate({"base_url": query})


def test_headers_of_ones_own(hold: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go with each question; their names are part of what the engine is, their values and variables are not."""
    monkeypatch.setenv("ROUTE", "canary-of-a-header-0123")
    with ModelServer([ModelReply("It is canary-of-a-header-0123")]) as server:
        held = hold(server, headers={"X-Route": "ROUTE"})
        (request,) = server.requests
    assert (request.key, request.headers["x-route"]) == (KEY, "canary-of-a-header-0123")
    assert held.execution.text == "It is [redacted:ROUTE]"

    def digest(**options: Any) -> str:
        return ApiEngine(ApiOptions.model_validate({"model": "gpt-1", **options})).identity(None).digest

    assert digest(headers={"X-Route": "ROUTE"}) == digest(headers={"x-route": "OTHER"}) != digest()
    (provider,) = skillgauge_engines()
    assert provider.traits_with is not None
    assert provider.traits_with(ApiOptions.model_validate({"headers": {"X-Route": "ROUTE"}})).passes == ("ROUTE",)
    monkeypatch.delenv("ROUTE")
    engine = ApiEngine(ApiOptions.model_validate({"model": "gpt-1", "headers": {"X-Route": "ROUTE"}}))
    engine.identity(None)
    (problem,) = asyncio.run(engine.check())
    assert (problem.code, "ROUTE (header x-route)" in problem.message) == ("engine.header", True)


def test_a_gateway_to_a_reasoning_model(hold: Hold) -> None:
    """It is asked once more with the name that it wants, and with that at once from then on (R3-E8)."""
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    replies = [refused(words), ModelReply(tools=[write_file("a", "1")]), ModelReply("Done.")]
    with ModelServer(replies) as server:
        held = hold(server)
        names = [[name for name in request.body if "max" in name] for request in server.requests]
    assert held.execution.text == "Done."
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_a_model_without_a_system_role(hold: Hold) -> None:
    """What the agent is stands before the task then, in every question."""
    replies = [refused("System role not supported"), ModelReply(tools=[write_file("a", "1")]), ModelReply("Done.")]
    with ModelServer(replies) as server:
        held = hold(server, "do it")
        roles = [[message["role"] for message in request.body["messages"]] for request in server.requests]
        first = server.requests[-1].body["messages"][0]["content"]
    assert held.execution.text == "Done."
    assert roles == [["system", "user"], ["user"], ["user", "assistant", "tool"]]
    assert first.endswith("\n\ndo it")


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma3:latest does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "No endpoints found that support tool use.",
    ],
)
def test_a_model_without_tools(hold: Hold, words: str) -> None:
    """The message says how it is asked; nothing is asked again, since that would be another agent (R3-E9)."""
    with ModelServer([refused(words)]) as server:
        failure = hold(server).execution.failure
        assert len(server.requests) == 1
    assert failure is not None
    assert failure.failure_class is FailureClass.BAD_REQUEST
    assert words in failure.message
    assert "--set engines.api.tools=false" in failure.message
    with ModelServer([refused(words)]) as server:
        other = hold(server, tools=False).execution.failure
    assert other is not None
    assert "engines.api.tools" not in other.message


def test_the_cost_of_a_session_that_a_gateway_names(hold: Hold) -> None:
    """It is the sum over the answers, and unknown if one of them does not tell (R3-E9)."""

    def answer(cost: float | None, *calls: Any) -> ModelReply:
        usage = {"prompt_tokens": 3, "completion_tokens": 4, **({} if cost is None else {"cost": cost})}
        message = {"role": "assistant", "content": "Done.", "tool_calls": list(calls)}
        return ModelReply(document={"model": "m-1", "choices": [{"message": message}], "usage": usage})

    call = {"id": "1", "function": {"name": "write", "arguments": '{"path": "a", "content": "1"}'}}
    with ModelServer([answer(0.25, call), answer(0.5)]) as server:
        usage = hold(server).execution.usage
    assert usage is not None
    assert (usage.cost_usd, usage.cost_basis) == (0.75, "reported")
    with ModelServer([answer(0.25, call), answer(None)]) as server:
        usage = hold(server).execution.usage
    assert usage is not None
    assert (usage.cost_usd, usage.cost_basis) == (None, None)
    with ModelServer([answer(0.25)]) as server:
        usage = hold(server, prices={"input": 1, "output": 1}).execution.usage
    assert usage is not None
    assert (usage.cost_usd, usage.cost_basis) == (pytest.approx(7e-6), "price-list")
