"""What a check can say."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import HARMLESS, Frozen

PASSWORD = "ACME_DB_PASSWORD"
"""The environment variable, or the name under which an extension knows it."""


class TermsOptions(Frozen):
    """Options of `acme-terms`."""

    port: int = Field(description="Where the database listens on this machine.")
    product: str = Field(description="Whose terms hold.", json_schema_extra=HARMLESS)
