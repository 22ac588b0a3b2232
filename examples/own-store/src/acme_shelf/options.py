"""What the store is told."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen

TOKEN = "ACME_SHELF_TOKEN"
"""The environment variable, or the name under which an extension knows it."""


class ShelfOptions(Frozen):
    """Options of `acme-shelf`."""

    location: str = Field(description="The folder: acme-shelf://HOST[:PORT]/PATH; what --store names.")
