"""A field by which a value in a store shows who wrote it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field


def _is_empty(text: str) -> bool:
    return not text


Signature = Annotated[str, Field(exclude_if=_is_empty)]
"""A keyed digest, or the name of its key; left out of every document while it is empty."""
