"""JSON Schemas of the files, for `skillgauge schema` and for editors."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from skillgauge.api import JsonObject

from .case_files import HookCase, HooksFile, RunnerConfig, SkillCase
from .manifest_file import Manifest

_FILES: dict[str, tuple[type[BaseModel], str]] = {
    "uaaps-package": (Manifest, "package.agent.json"),
    "uaaps-hooks": (HooksFile, "hooks/hooks.json"),
    "uaaps-test-config": (RunnerConfig, "tests/test-config.json"),
    "uaaps-skill-test": (SkillCase, "skills/*/tests/cases/*.yaml"),
    "uaaps-hook-test": (HookCase, "hooks/tests/cases/*.yaml"),
}


def schemas() -> Mapping[str, JsonObject]:
    """One for each kind of file, by the name that `skillgauge schema` takes."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {
        name: {"$schema": dialect, **model.model_json_schema(by_alias=True), "title": title}
        for name, (model, title) in _FILES.items()
    }
