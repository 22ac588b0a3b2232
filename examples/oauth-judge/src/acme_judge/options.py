"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen
from skillgauge_model_client.options import Address

SECRET = "ACME_CLIENT_SECRET"
"""The environment variable, or the name under which an extension knows it."""


class AcmeJudgeOptions(Frozen):
    """Options of `acme-judge`."""

    token_url: Address = Field(
        default="https://login.acme.example/oauth/token", description="Where tokens are lent for client credentials."
    )
    base_url: Address = Field(
        default="https://models.acme.example/v1", description="Where Chat Completions are served for a token."
    )
    client_id: str = Field(default="skillgauge", description="Who we are there.")
    scope: str = Field(default="models.ask", description="What the token is to be good for.")
    model: str = Field(default="acme-large", description="Model to ask.", json_schema_extra=HARMLESS)
    timeout_s: float = Field(
        default=60.0, gt=0, le=600, description="Seconds for one question.", json_schema_extra=HARMLESS
    )
