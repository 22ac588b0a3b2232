"""Judges at gateways and clouds: keys, headers and Azure's deployments."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skillgauge.api import Judge, JudgeReply
from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.contract import JUDGE_QUESTION

from .conftest import PROVIDERS

KEY = "made-up-key-of-azure-0123456789"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in provider.traits.secrets:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_KEY", KEY)
    monkeypatch.setenv("ROUTE", "canary-of-a-header-0123")


def judge_of(name: str, **options: Any) -> Judge:
    """A judge with these options."""
    provider = PROVIDERS[name]
    return provider.make(provider.options.model_validate(options))


def ask(judge: Judge) -> JudgeReply:
    """Ask one question; no secret comes back."""
    reply = asyncio.run(judge.ask(JUDGE_QUESTION))
    assert KEY not in reply.model_dump_json()
    return reply


@pytest.mark.parametrize(
    ("path", "expected"),
    [("", "/openai/deployments/m-1"), ("/openai/deployments/my-gpt/", "/openai/deployments/my-gpt")],
)
def test_a_deployment_of_azure(server: ModelServer, path: str, expected: str) -> None:
    """The version is in the query, the key in a header of its own, and the model names the deployment by default."""
    server.enqueue(ModelReply("8"))
    judge = judge_of("openai", base_url=f"{server.url}{path}", api_version="2024-10-21", key_variable="AZURE_KEY")
    assert ask(judge).text == "8"
    (request,) = server.requests
    assert request.path == f"{expected}/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers
    assert judge.identity(None).settings["api_version"] == "2024-10-21"


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_key_and_headers_of_its_own(server: ModelServer, name: str) -> None:
    """Two judges of a panel at two services have two keys; values are in no identity."""
    server.enqueue(ModelReply("8"))
    path = "/v1" if name == "openai" else ""
    options = {"base_url": f"{server.url}{path}", "key_variable": "AZURE_KEY"}
    judge = judge_of(name, **options, headers={"X-Route": "ROUTE"})
    assert ask(judge).text == "8"
    (request,) = server.requests
    assert (request.key, request.headers["x-route"]) == (KEY, "canary-of-a-header-0123")
    identity = judge.identity("m-1")
    assert "canary" not in identity.model_dump_json()
    assert identity.settings["headers"] == ("x-route",)
    assert "headers" not in judge_of(name, **options).identity("m-1").settings
    provider = PROVIDERS[name]
    assert provider.traits_with is not None
    traits = provider.traits_with(provider.options.model_validate({**options, "headers": {"X-Route": "ROUTE"}}))
    assert (traits.secrets, traits.passes) == (("AZURE_KEY",), ("ROUTE",))


def test_what_is_missing(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is named has to be set, wherever the judge asks; nothing is sent without it."""
    monkeypatch.delenv("AZURE_KEY")
    monkeypatch.delenv("ROUTE")
    options = {"base_url": f"{server.url}/v1", "model": "m-1"}
    (no_key,) = asyncio.run(judge_of("openai", **options, key_variable="AZURE_KEY").check())
    assert (no_key.code, "AZURE_KEY" in no_key.message) == ("judge.no-key", True)
    judge = judge_of("openai", **options, headers={"X-Route": "ROUTE"})
    (no_header,) = asyncio.run(judge.check())
    assert (no_header.code, "ROUTE (header x-route)" in no_header.message) == ("judge.no-header", True)
    assert (ask(judge).error or "").startswith("auth: ")
    assert server.requests == []
