"""The name of this format and the options of loading."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillgauge.api import HARMLESS, RUN_PLACE, Frozen, LoadOption

FORMAT = "agent-skills"
"""The name of this format, which its suites bear."""


class AgentSkillsOptions(Frozen):
    """Options of the commands that load suites, and of the configuration."""

    skill_path: Annotated[str | None, LoadOption("--skill-path", metavar="DIR")] = Field(
        default=None,
        description="Folder of the skill, for a suite that lies elsewhere. Default: the one around it.",
        json_schema_extra=RUN_PLACE,
    )
    with_skills: Annotated[tuple[str, ...], LoadOption("--with-skills", metavar="DIR...", several_words=True)] = Field(
        default=(),
        description="Skills beside the one under test, in all arms; their own queries are asked, too.",
        json_schema_extra=RUN_PLACE,
    )
    with_plugin: Annotated[bool, LoadOption("--with-plugin")] = Field(
        default=False,
        description="Install the plugin around a skill in every arm: other skills, commands, agents, hooks, servers.",
    )
    keep: tuple[str, ...] = Field(
        default=(),
        description="Globs of paths of the skill that are installed although they would give answers away.",
        json_schema_extra=HARMLESS,
    )
    image: Annotated[str, Field(pattern="^(use|ignore)$")] = Field(
        default="use",
        description="use, or ignore: what becomes of evals/Dockerfile; a sandbox that runs no images refuses it.",
        json_schema_extra=HARMLESS,
    )
