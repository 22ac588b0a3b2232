"""The list of the files of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

HOME = "~"
"""Begins the places below the home of whoever began the run."""


class Entry(BaseModel):
    """A file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of its content, in hexadecimal."""
    size: int = Field(ge=0)
    """In bytes."""
    executable: bool = False


class Manifest(BaseModel):
    """The files of a run, and the folders that have to be there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["1.0"] = "1.0"
    files: Mapping[str, Entry] = Field(default_factory=dict)
    """By place: relative to the folder of the run, with `..` at the beginning where it lies beside or above that, or
    `~/...`. With forward slashes."""
    folders: tuple[str, ...] = ()
    """Places of folders that exist even if no file travels in them."""

    @property
    def depth(self) -> int:
        """The number of folders above that of the run where the highest place begins."""
        return max((_climb(place) for place in (*self.files, *self.folders)), default=0)

    @field_validator("files", "folders")
    @classmethod
    def _are_places(cls, places: Mapping[str, Entry] | tuple[str, ...]) -> Mapping[str, Entry] | tuple[str, ...]:
        for place in places:
            rest = PurePosixPath(place).parts[_climb(place) :]
            if place.startswith("/") or ".." in rest or "\0" in place or (place.startswith("~") and rest[0] != HOME):
                raise ValueError(f"{place!r} is no place of a file of a run")
        return places

    @model_validator(mode="after")
    def _differ(self) -> Self:
        """No file is a folder of another one."""
        for place in (*self.files, *self.folders):
            if any(str(folder) in self.files for folder in PurePosixPath(place).parents):
                raise ValueError(f"{place!r} lies below a file")
        return self


def _climb(place: str) -> int:
    """Count the `..` that a place begins with."""
    parts = PurePosixPath(place).parts
    return next((count for count, part in enumerate(parts) if part != ".."), len(parts))


class WrongContentError(ValueError):
    """A content is another one than its digest says."""
