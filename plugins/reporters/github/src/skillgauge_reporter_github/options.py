"""The options of the reporter."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import Frozen


def _address(value: str) -> str:
    """Return an address that Markdown can link to.

    Raises:
        ValueError: it is none.
    """
    if value and not re.fullmatch(r"https?://[^\s()<>\[\]\\`]+", value):
        raise ValueError("must be an address that begins with https:// or http://, without blanks and brackets")
    return value


class GithubOptions(Frozen):
    """The options of the reporter."""

    page: Annotated[str, AfterValidator(_address)] = Field(
        default="", description="Address at which the page of the run can be read; the comment links to it."
    )
