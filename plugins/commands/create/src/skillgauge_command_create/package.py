"""The parts of a new package for agents, and of a new skill for them. Pure: names and texts in, files out."""

from __future__ import annotations

import json
import re
import unicodedata
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template as Text

from .skeleton import skill_id

PACKAGE = "uaaps_package"
"""Name of the template of a package."""
AGENT_SKILL = "agent_skill"
"""Name of the template of a skill with evals."""
_STATUS_NOTES = "Writes status notes of projects in the house style. Use when somebody wants a project's status note."
_SKILL = "skill"
_MAX_NAME = 64


def package_name(name: str) -> str:
    """The name of a package, and of its skill: lower-case letters, digits and hyphens."""
    plain = re.sub(r"-+", "-", skill_id(name).replace("_", "-")).strip("-")
    return plain[:_MAX_NAME].strip("-") or "package"


def agent_skill_name(name: str) -> str:
    """The name of a skill for agents, and of its folder: lower-case letters of any script, digits and hyphens."""
    letters = [letter if letter.isalnum() else "-" for letter in unicodedata.normalize("NFKC", name).lower()]
    return re.sub(r"-+", "-", "".join(letters).strip("-"))[:_MAX_NAME].strip("-") or _SKILL


def package_skeleton(*, name: str, description: str | None) -> dict[str, bytes]:
    """The files of a new package.

    Args:
        name: any that the name of a skill may be.
        description: what its skill does.

    Returns:
        Their contents by path inside the package's folder, with `/` between the parts.
    """
    own = package_name(name)
    description_text = (
        description if description is not None else "Greets people by name. Use when somebody is to be greeted."
    )
    manifest = {"name": own, "version": "0.1.0", "description": description_text, "license": "Apache-2.0"}
    values = {"skill": own, "name": name, "description": json.dumps(description_text, ensure_ascii=False)}
    found = {"package.agent.json": f"{json.dumps(manifest, indent=2, ensure_ascii=False)}\n".encode()}
    for path, source in _files(files(__package__).joinpath("templates", PACKAGE), ""):
        place = f"skills/{own}/{path.removeprefix(f'{_SKILL}/')}" if path.startswith(f"{_SKILL}/") else path
        text = source.read_text(encoding="utf-8")
        filled = Text(text).substitute(values) if path.endswith((".md", "evals/cases/01-greets.yaml")) else text
        found[place] = filled.encode()
    return found


def agent_skill_skeleton(*, name: str, description: str | None) -> dict[str, bytes]:
    """The files of a new skill for agents.

    Args:
        name: any that the name of a skill may be; the skill's own is as near to it as the specification allows.
        description: what the skill does and when to use it.

    Returns:
        Their contents by path inside the skill's folder, with `/` between the parts.
    """
    description_text = description if description is not None else _STATUS_NOTES
    values = {
        "skill": agent_skill_name(name),
        "name": name,
        "description": json.dumps(description_text, ensure_ascii=False),
    }
    sources = _files(files(__package__).joinpath("templates", AGENT_SKILL), "")
    return {path: Text(one.read_text(encoding="utf-8")).substitute(values).encode() for path, one in sources}


def _files(folder: Traversable, above: str) -> list[tuple[str, Traversable]]:
    files = []
    for one in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if one.is_dir() and one.name != "__pycache__":
            files += _files(one, f"{above}{one.name}/")
        elif one.is_file():
            files.append((f"{above}{one.name}", one))
    return files
