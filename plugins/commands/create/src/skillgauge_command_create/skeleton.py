"""The parts of a new skill. Pure: names and texts in, files out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from importlib.resources import files
from string import Template as Text
from typing import Any, assert_never

from skillgauge.api import Problem, did_you_mean

ENTRYPOINT = "entrypoint"
MAX_NAME_BYTES = 255
"""What file systems allow."""
BENCHMARK = "tests/basic.eval.json"
"""Path of the starter benchmark inside a skill's folder."""


class Template(StrEnum):
    """The templates of a skill."""

    HTTP_REQUEST = "http_request"
    PYTHON_SCRIPT = "python_script"
    MCP_TOOL = "mcp_tool"

    @property
    def program(self) -> str:
        """Name of the file that holds the skill's own code."""
        match self:
            case Template.HTTP_REQUEST:
                return "service.py"
            case Template.PYTHON_SCRIPT:
                return "skill.py"
            case Template.MCP_TOOL:
                return "server.py"
            case _:
                assert_never(self)


def skill_id(name: str) -> str:
    """The id of a skill of some name: lower case, with `_` for everything that an id cannot hold."""
    return re.sub(r"[^a-z0-9_-]", "_", name.lower())


def name_problem(name: str) -> Problem | None:
    """Return the reason why a name cannot be that of a skill and its folder, if it cannot."""
    if not name.strip():
        why = "it is empty"
    elif re.search(r"[/\\:]", name):
        why = "it is a path"
    elif not name.isprintable():
        why = "it holds a character that cannot be printed"
    elif not (name[0].isalnum() or name[0] == "_"):
        why = "it does not begin with a letter, a digit or '_'"
    elif name[-1] in " .":
        why = f"it ends with {name[-1]!r}"
    elif len(name.encode()) > MAX_NAME_BYTES:
        why = f"it is longer than {MAX_NAME_BYTES} bytes"
    else:
        return None
    hint = "Give the name of one folder, as in --name my_skill; --output-dir says where it goes."
    return Problem("create.name", f"{name!r} cannot be the name of a skill: {why}", hint=hint)


def template_problem(name: str) -> Problem | None:
    """Return the reason why a word names no template, if it does not."""
    if name in set(Template):
        return None
    names = (*Template, "agent_skill", "uaaps_package")
    hint = f"Use one of {', '.join(names)}."
    return Problem("create.template", f"there is no template {name!r}{did_you_mean(name, names)}", hint=hint)


def skeleton(template: Template, *, name: str, description: str | None, port: int) -> dict[str, bytes]:
    """The files of a new skill.

    Args:
        template: what it is made from.
        name: any that `name_problem` has nothing against.
        description: what it does; by default a sentence that says where it comes from.
        port: where it listens, if it is a service.

    Returns:
        Their contents by path inside the skill's folder, with `/` between the parts.
    """
    described = f"{name}, made from the template {template}." if description is None else description
    values = {"id": skill_id(name), "name": name, "description": described, "port": str(port)}
    skill = _filled(json.loads(_source(template, "skill.json")), values)
    values[ENTRYPOINT] = skill[ENTRYPOINT]
    return {
        "skill.json": _json(skill),
        "adapter.config.json": _source(template, "adapter.config.json"),
        "README.md": _filled(_source(template, "README.md").decode(), values).encode(),
        template.program: _source(template, template.program),
        BENCHMARK: _json(_filled(json.loads(_source("shared", BENCHMARK)), values)),
    }


def _source(template: str, path: str) -> bytes:
    return files(__package__).joinpath("templates", template, path).read_bytes()


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    """A JSON value with the placeholders of its texts replaced; no value can add syntax, whatever it is."""
    if isinstance(value, dict):
        return {key: _filled(inner, values) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    return Text(value).substitute(values) if isinstance(value, str) else value


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
