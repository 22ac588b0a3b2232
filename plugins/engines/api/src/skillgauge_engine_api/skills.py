"""The skills that lie in a workspace: what the model is told of them, and what it gets when it loads one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import SuiteError, Workspace, parse_document

from .options import SKILL_FOLDER

_BYTES = 1024 * 1024
_FILE = re.compile(rf"{re.escape(SKILL_FOLDER)}/([^/]+)/(.+)")
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Skill:
    """A skill that the model is offered."""

    name: str
    """Of its folder, which is what it was installed as."""
    description: str
    body: str
    """SKILL.md without its front matter."""
    files: tuple[str, ...] = ()
    """What else lies in its folder, relative to it."""

    @property
    def folder(self) -> str:
        """Relative to the workspace."""
        return f"{SKILL_FOLDER}/{self.name}"

    @property
    def instructions(self) -> str:
        """The text that loading it gives."""
        if not self.files:
            return self.body
        return f"{self.body.rstrip()}\n\nFiles of this skill, in {self.folder}/: {', '.join(self.files)}\n"


async def find_skills(workspace: Workspace) -> tuple[Skill, ...]:
    """Every folder with a SKILL.md where skills are looked for, sorted by name."""
    files: dict[str, list[str]] = {}
    for path in await workspace.snapshot():
        if match := _FILE.fullmatch(path):
            files.setdefault(match[1], []).append(match[2])
    skills = []
    for name, inside in sorted(files.items()):
        if "SKILL.md" in inside:
            text = (await workspace.collect(f"{SKILL_FOLDER}/{name}/SKILL.md", _BYTES)).decode("utf-8", "replace")
            description, body = read_skill(text)
            others = tuple(sorted(path for path in inside if path != "SKILL.md"))
            skills.append(Skill(name, description, body, others))
    return tuple(skills)


def read_skill(text: str) -> tuple[str, str]:
    """Description and body of a SKILL.md; what has no front matter, or one that cannot be read, has no description."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return "", text
    try:
        value = parse_document(match[1], file="SKILL.md", kind="yaml").value
    except SuiteError:
        value = None
    description = value.get("description") if isinstance(value, Mapping) else None
    return " ".join(str(description or "").split()), text[match.end() :].lstrip("\r\n")


def system_prompt(skills: Sequence[Skill], *, with_tools: bool) -> str:
    """Return the text before the user's prompt; the same in every arm but for the skills."""
    if not with_tools:
        return "\n\n".join(["Answer the user.", *(f"# Skill {one.name}\n\n{one.body}" for one in skills)])
    lines = [
        "You are an agent that works in a folder of its own. Do what the user asks with the tools that you have; paths "
        "are relative to that folder. Nobody can answer questions. When you are done, answer without calling a tool.",
    ]
    if skills:
        lines += [
            "",
            "# Available skills",
            "",
            "A skill holds instructions for some kind of task. Before you begin a task that one is for, load it "
            "with the tool load_skill.",
            "",
            *(f"- {one.name}: {one.description}" for one in skills),
        ]
    return "\n".join(lines)
