"""The options of the engine: the answers and actions of the agent."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from skillgauge.api import EMPTY, RUN_PLACE, Block, FailureClass, FileSpec, Frozen, JsonObject

SKILL_FOLDER = ".agents/skills"
"""Where the agent looks for skills, relative to its workspace."""


INSTALLS = frozenset({"rule", "documents", "command", "agent", "hooks", "servers", "system-prompt", "history"})
"""All that an arm can give beside skills is taken, and nothing of it is read: the script says what comes of it."""


class Reply(Frozen):
    """The reaction of the agent to a prompt that fits."""

    match: str | None = Field(
        default=None, description="Regular expression to be found in the prompt; without it any prompt fits."
    )
    skill: str | None = Field(default=None, description="Fits only where this skill is offered.")
    text: str | None = Field(default=None, description="The final answer; without it the prompt, marked as mocked.")
    files: JsonObject = Field(default=EMPTY, description="Files to write: path to text.")
    run: str | None = Field(default=None, description="Shell command to run in the workspace, after the files.")
    fires: tuple[str, ...] | None = Field(
        default=None, description="Skills to load, as far as they are offered; without it those the prompt names."
    )
    blocks: tuple[Block, ...] = Field(
        default=(), description="Tool calls to report as stopped: `tool`, `by`, and `event` of a hook."
    )
    duration_s: float | None = Field(default=None, ge=0, description="Seconds to report in place of those it took.")
    turns: int | None = Field(default=None, ge=0, description="Turns to report.")
    tokens: int | None = Field(default=None, ge=0, description="Tokens to report.")
    notices: JsonObject = Field(
        default=EMPTY, description="Notices to leave in the session's record: name to what it holds."
    )
    fail: FailureClass | None = Field(default=None, description="End with this failure instead of an answer.")

    @field_validator("match")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from error
        return pattern

    @field_validator("files")
    @classmethod
    def _are_files(cls, files: JsonObject) -> JsonObject:
        for path, text in files.items():
            if not isinstance(text, str):
                raise ValueError(f"the content of {path!r} must be text")
            FileSpec(path=path, text=text)
        return files

    def fits(self, prompt: str, offered: tuple[str, ...]) -> bool:
        """Tell whether this is the reaction to a prompt where these skills are offered."""
        return (self.skill is None or self.skill in offered) and re.search(self.match or "", prompt) is not None


class Script(Frozen):
    """A file of replies."""

    replies: tuple[Reply, ...]


class MockOptions(Frozen):
    """Options of `mock`."""

    replies: tuple[Reply, ...] = Field(default=(), description="The first that fits a prompt is what the agent does.")
    script: str | None = Field(
        default=None,
        min_length=1,
        description="YAML or JSON file with further `replies`, which come after these.",
        json_schema_extra=RUN_PLACE,
    )
    otherwise: tuple[Reply, ...] = Field(
        default=(), description="Come after all of those; a suite's format may say so what its made-up agent does."
    )
