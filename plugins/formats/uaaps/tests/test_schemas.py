"""The JSON Schemas in the documentation are those of the models, and hold for every file of a package."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from skillgauge.api import read_document, thaw
from skillgauge_format_uaaps.schemas import schemas

from .conftest import DATA

FOLDER = Path(__file__).parents[4] / "docs/schemas"
PACKAGE = DATA / "word-tools"
FILES = {
    "uaaps-package": "package.agent.json",
    "uaaps-hooks": "hooks/hooks.json",
    "uaaps-test-config": "**/test-config.json",
    "uaaps-skill-test": "skills/*/tests/cases/*.yaml",
    "uaaps-hook-test": "hooks/tests/cases/*.yaml",
    "uaaps-eval-config": "evals/eval-config.json",
    "uaaps-eval": "evals/cases/*.yaml",
    "uaaps-agent": "agents/*/agent.yaml",
    "uaaps-servers": "mcp/servers.json",
}


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schemas_of_the_documentation_are_those_of_the_models(name: str) -> None:
    """To write them anew: python -m skillgauge_format_uaaps.schemas docs/schemas."""
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads((FOLDER / f"{name}.schema.json").read_text()) == schema


@pytest.mark.parametrize("name", FILES)
def test_files_of_a_package_are_valid(name: str) -> None:
    """Also as an editor sees them."""
    files = sorted(PACKAGE.glob(FILES[name]))
    assert files
    for file in files:
        jsonschema.validate(thaw(read_document(file).value), schemas()[name])


def test_a_misspelt_key_is_invalid() -> None:
    """The schema is as strict as the reader."""
    case = {"name": "a", "input": {"command": "true"}, "expected": {"not_contains": ["x"]}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(case, schemas()["uaaps-skill-test"])
