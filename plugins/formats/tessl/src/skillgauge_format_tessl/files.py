"""The keys of criteria.json and scenario.json.

Types are exact and unknown keys are errors: what is not read here would be lost.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import Json, JsonObject

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Points = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    """Something in one of the files."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ItemFile(Part):
    """One of `checklist`."""

    name: Text
    description: Text
    max_score: Points
    category: str | None = None
    source: Json = None


class CriteriaFile(Part):
    """The whole criteria.json."""

    context: str | None = None
    type: Literal["weighted_checklist"] = "weighted_checklist"
    checklist: Annotated[tuple[ItemFile, ...], Field(min_length=1)]
    metadata: Json = None


class ScenarioFile(Part):
    """The whole scenario.json."""

    type: Literal["generic"] | None = None
    description: str = ""
    include: tuple[Text, ...] = ()
    fixtures: dict[str, JsonObject] = {}
    setup: tuple[Text, ...] = ()


class DirectoryFixture(Part):
    """One of `fixtures`: a folder that is copied into the workspace."""

    type: Literal["directory"]
    path: Text
    install_path: str = Field(default=".", alias="installPath")
