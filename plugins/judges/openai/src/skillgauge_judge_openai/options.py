"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS
from skillgauge_model_client.options import Address, ModelOptions

HOST = "api.openai.com"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
"""Says where the API is served, where the option does not."""
BASE_URL = f"https://{HOST}/v1"
MODEL = "gpt-4o"
"""Asked at OpenAI's own address where nobody names a model, as eval-skills does."""
VARIABLES = ("EVAL_SKILLS_LLM_KEY", "OPENAI_API_KEY", "OPENAI_KEY")
"""Where the key is looked for, in this order, as eval-skills does."""


class OpenAIOptions(ModelOptions):
    """Options of `openai`."""

    base_url: Address = Field(
        default=BASE_URL, description="Where Chat Completions are served: `/chat/completions` is added."
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description=f"Model to ask; at OpenAI's own address {MODEL} by default.",
        json_schema_extra=HARMLESS,
    )
    temperature: float | None = Field(
        default=0.0,
        ge=0,
        le=2,
        description="Temperature where a check gives none; null sends none.",
        json_schema_extra=HARMLESS,
    )
