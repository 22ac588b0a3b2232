"""The parts that the models of all files share: exact types, names as the specification writes them, safe paths."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

CASE_NAME = r"^[a-z0-9-]{1,64}$"
ARTIFACT_NAME = r"^[a-z0-9][a-z0-9-]{0,63}$"


def kebab(name: str) -> str:
    """A field's key in the files of cases and of configuration."""
    return name.replace("_", "-")


class Part(BaseModel):
    """Part of a case or of a configuration: types are exact, and a misspelt key never passes silently."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=kebab)


class OpenPart(Part):
    """A part whose unknown keys are kept, and told by whoever reads it."""

    model_config = ConfigDict(extra="allow")


class ManifestPart(BaseModel):
    """Part of a manifest, where unknown keys are no mistake."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", alias_generator=to_camel)


def _safe(path: str) -> str:
    if re.match(r"[/\\]|[A-Za-z]:", path):
        raise ValueError("must be a relative path")
    if "\\" in path:
        raise ValueError("must be written with forward slashes")
    if ".." in path.split("/"):
        raise ValueError("must not lead out of its folder by '..'")
    return path


_ESCAPES = [r"^[/\\]", r"^[A-Za-z]:", r"(^|/)\.\.(/|$)", r"\\"]
SafePath = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(_safe),
    WithJsonSchema({"type": "string", "minLength": 1, "not": {"anyOf": [{"pattern": one} for one in _ESCAPES]}}),
]
"""A relative path that does not leave its folder by itself; links are looked at where the folder is known."""
CaseName = Annotated[str, Field(pattern=CASE_NAME)]
ArtifactName = Annotated[str, Field(pattern=ARTIFACT_NAME)]
Text = Annotated[str, Field(min_length=1)]
