"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS
from skillgauge_model_client.options import Address, ModelOptions

HOST = "generativelanguage.googleapis.com"
ADDRESS_VARIABLE = "GOOGLE_GEMINI_BASE_URL"
"""Says where the API is served, where the option does not."""
BASE_URL = f"https://{HOST}"
MODEL = "gemini-2.5-flash"
"""Asked at the vendor's own address where nobody names a model."""
VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Where the key is looked for, in this order."""


class GeminiOptions(ModelOptions):
    """Options of `gemini`."""

    base_url: Address = Field(default=BASE_URL, description="Where the API is served: `/v1beta/models/...` is added.")
    model: str | None = Field(
        default=None,
        min_length=1,
        description=f"Model to ask; at the vendor's own address {MODEL} by default.",
        json_schema_extra=HARMLESS,
    )
    temperature: float | None = Field(
        default=0.0,
        ge=0,
        le=2,
        description="Temperature where a check gives none; null sends none.",
        json_schema_extra=HARMLESS,
    )
