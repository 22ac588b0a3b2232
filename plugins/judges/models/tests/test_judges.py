"""The three judges, each held to the contract of judges that ask a vendor's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from skillgauge.api import JudgeReply, JudgeRequest, Problem
from skillgauge_judges.openai import OpenAIJudge
from skillgauge_model_client.keys import Key
from skillgauge_testkit import check_light_import, check_model_judge, check_plugin

from .conftest import PLUGINS, PROVIDERS


@pytest.mark.parametrize(
    ("name", "key_variable", "path"),
    [("anthropic", "ANTHROPIC_API_KEY", ""), ("gemini", "GEMINI_API_KEY", ""), ("openai", "OPENAI_API_KEY", "/v1")],
)
def test_contract(name: str, key_variable: str, path: str) -> None:
    """Key, model, temperature, failures and problems are as they are for every vendor."""
    check_model_judge(PROVIDERS[name], key_variable=key_variable, path=path)


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.__name__)
def test_announcement(plugin: ModuleType) -> None:
    """Hook, provider and entry point fit together, and announcing loads no network library."""
    check_plugin(plugin.__name__, "judges")
    check_light_import(plugin.__name__, allowed=("skillgauge_model_client",))


@pytest.mark.parametrize(
    ("name", "keys", "address", "patterns", "model"),
    [
        ("anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com", ("claude-*",), "claude-sonnet-4-5"),
        (
            "gemini",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "https://generativelanguage.googleapis.com",
            ("gemini-*",),
            "gemini-2.5-flash",
        ),
        (
            "openai",
            ("EVAL_SKILLS_LLM_KEY", "OPENAI_API_KEY", "OPENAI_KEY"),
            "https://api.openai.com/v1",
            ("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*"),
            "gpt-4o",
        ),
    ],
)
def test_what_each_vendor_needs(
    name: str, keys: tuple[str, ...], address: str, patterns: tuple[str, ...], model: str
) -> None:
    """Keys, host and models are declared; without options the vendor itself is asked for its default model."""
    provider = PROVIDERS[name]
    traits = provider.traits
    assert (traits.secrets, traits.model_patterns, traits.paid) == (keys, patterns, True)
    assert [f"https://{host}" for host in traits.model_hosts] == [address.removesuffix("/v1")]
    identity = provider.make(provider.options()).identity(None)
    assert (identity.name, identity.version, identity.service) == (name, "0.1.0", address)
    assert identity.settings == {"base_url": address, "model": model, "temperature": 0.0}


def test_families_without_a_version() -> None:
    """A model family stands for one of its models, and results name that model."""
    provider = PROVIDERS["anthropic"]
    judge = provider.make(provider.options())
    assert judge.identity("claude-opus").settings["model"] == "claude-opus-4-1"
    assert judge.identity("claude-haiku").settings["model"] == "claude-haiku-4-5"


class _SendsNoKey(OpenAIJudge):
    def headers(self, key: Key | None) -> Mapping[str, str]:
        return {}


class _IgnoresTemperature(OpenAIJudge):
    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        return super().question(model, request, None)


class _TakesRefusalsForText(OpenAIJudge):
    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        return JudgeReply(text="8")


class _NeedsNoKey(OpenAIJudge):
    async def check(self) -> tuple[Problem, ...]:
        return ()


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (_SendsNoKey, "it must send its key as a header"),
        (_IgnoresTemperature, "model and temperature must be the question's"),
        (_TakesRefusalsForText, "the error must begin with 'refused: the model refused'"),
        (_NeedsNoKey, "it must say that no model is known"),
    ],
)
def test_the_contract_names_the_broken_clause(broken: type[OpenAIJudge], sentence: str) -> None:
    """A judge that breaks a clause fails with the sentence about it."""
    provider = replace(PROVIDERS["openai"], factory=broken)
    with pytest.raises(AssertionError, match=sentence):
        check_model_judge(provider, key_variable="OPENAI_API_KEY", path="/v1")
