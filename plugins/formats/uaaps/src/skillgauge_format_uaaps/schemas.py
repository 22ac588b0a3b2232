"""JSON Schemas of the files, for `skillgauge schema` and for editors."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from skillgauge.api import JsonObject

from .files.artifacts import AgentFile, ServersFile
from .files.cases import HookCase, HooksFile, RunnerConfig, SkillCase
from .files.evals import EvalCase, EvalConfig
from .files.manifest import Manifest
from .reports.files import Report

_FILES: dict[str, tuple[type[BaseModel], str]] = {
    "uaaps-package": (Manifest, "package.agent.json"),
    "uaaps-hooks": (HooksFile, "hooks/hooks.json"),
    "uaaps-test-config": (RunnerConfig, "tests/test-config.json"),
    "uaaps-skill-test": (SkillCase, "skills/*/tests/cases/*.yaml"),
    "uaaps-hook-test": (HookCase, "hooks/tests/cases/*.yaml"),
    "uaaps-eval-config": (EvalConfig, "evals/eval-config.json"),
    "uaaps-eval": (EvalCase, "evals/cases/*.yaml"),
    "uaaps-agent": (AgentFile, "agents/*/agent.yaml"),
    "uaaps-servers": (ServersFile, "mcp/servers.json"),
    "uaaps-report": (Report, "evals/reports/*.json"),
}


def schemas() -> Mapping[str, JsonObject]:
    """One for each kind of file, by the name that `skillgauge schema` takes."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {
        name: {"$schema": dialect, **model.model_json_schema(by_alias=True), "title": title}
        for name, (model, title) in _FILES.items()
    }


def write(folder: Path) -> None:
    """Write each into a file of its own."""
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
