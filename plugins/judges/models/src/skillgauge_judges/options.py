"""Options of the judges."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from skillgauge.api import HARMLESS
from skillgauge_model_client.options import API_VERSION, Address, ModelOptions

from .vendors import ANTHROPIC, GEMINI, OPENAI


def _model(default: str, *, owner: str = "the vendor") -> Any:
    description = f"Model to ask; at {owner}'s own address {default} by default."
    return Field(default=None, min_length=1, description=description, json_schema_extra=HARMLESS)


def _temperature(highest: int) -> Any:
    description = "Temperature where a check gives none; null sends none."
    return Field(default=0.0, ge=0, le=highest, description=description, json_schema_extra=HARMLESS)


class AnthropicOptions(ModelOptions):
    """Options of `anthropic`."""

    base_url: Address = Field(
        default=ANTHROPIC.base_url, description="Where the API is served: `/v1/messages` is added."
    )
    model: str | None = _model(ANTHROPIC.default_model)
    temperature: float | None = _temperature(1)


class GeminiOptions(ModelOptions):
    """Options of `gemini`."""

    base_url: Address = Field(
        default=GEMINI.base_url, description="Where the API is served: `/v1beta/models/...` is added."
    )
    model: str | None = _model(GEMINI.default_model)
    temperature: float | None = _temperature(2)


class OpenAIOptions(ModelOptions):
    """Options of `openai`."""

    base_url: Address = Field(
        default=OPENAI.base_url, description="Where Chat Completions are served: `/chat/completions` is added."
    )
    api_version: str | None = API_VERSION
    model: str | None = _model(OPENAI.default_model, owner="OpenAI")
    temperature: float | None = _temperature(2)
