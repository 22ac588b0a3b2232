"""What a check can say."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen, Json


class ExactOptions(Frozen):
    """Options of `exact`."""

    value: Json = Field(description="What the output has to be. Anything but text is compared as JavaScript writes it.")
    case_sensitive: bool = Field(default=True, description="Whether upper and lower case differ.")
