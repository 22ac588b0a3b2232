"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS
from skillgauge_model_client.options import Address, ModelOptions

HOST = "api.anthropic.com"
ADDRESS_VARIABLE = "ANTHROPIC_BASE_URL"
"""Says where the API is served, where the option does not."""
BASE_URL = f"https://{HOST}"
MODEL = "claude-sonnet-4-5"
"""Asked at the vendor's own address where nobody names a model."""
ALIASES = {"claude-sonnet": MODEL, "claude-opus": "claude-opus-4-1", "claude-haiku": "claude-haiku-4-5"}
"""Families that people name without a version, and the model that is asked then."""
VARIABLES = ("ANTHROPIC_API_KEY",)
"""Where the key is looked for."""


class AnthropicOptions(ModelOptions):
    """Options of `anthropic`."""

    base_url: Address = Field(default=BASE_URL, description="Where the API is served: `/v1/messages` is added.")
    model: str | None = Field(
        default=None,
        min_length=1,
        description=f"Model to ask; at the vendor's own address {MODEL} by default.",
        json_schema_extra=HARMLESS,
    )
    temperature: float | None = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Temperature where a check gives none; null sends none.",
        json_schema_extra=HARMLESS,
    )
