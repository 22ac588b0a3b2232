"""What a user can set."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen

TOKEN = "ACME_CLOUD_TOKEN"
"""The environment variable, or the name under which an extension knows it."""


class CloudOptions(Frozen):
    """Options of `acme-cloud`."""

    url: str = Field(default="https://cloud.acme.example/v1", description="Where the API is.")
    lease_s: int = Field(
        default=60,
        ge=1,
        description="Seconds without a word from here after which the cloud removes a workspace.",
        json_schema_extra=HARMLESS,
    )
