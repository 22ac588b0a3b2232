"""The options of loading."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import HARMLESS, RUN_PLACE, Frozen


class Stage(StrEnum):
    """The two kinds of checks of a package."""

    TESTS = "tests"
    """Deterministic: commands and what they write."""
    EVALS = "evals"
    """Sessions of an agent, judged."""


class UaapsOptions(Frozen):
    """Options of `uaaps`; `skillgauge test` sets those that select."""

    stage: Stage = Field(default=Stage.EVALS, description="Deterministic `tests`, or `evals` by an agent and a judge.")
    test_skills: tuple[str, ...] = Field(default=(), description="Test these skills only.")
    test_hooks: bool = Field(default=False, description="Test the hooks only.")
    test_event: str | None = Field(default=None, min_length=1, description="Test hooks of this event only.")
    packages: str | None = Field(
        default=None,
        min_length=1,
        description="Folder of packages on which others depend; their skills are installed in evals, too.",
        json_schema_extra=RUN_PLACE,
    )
    strict: bool | None = Field(
        default=None,
        description="Whether a SKILL.md that breaks a rule is an error; by default for evals, and not for tests.",
        json_schema_extra=HARMLESS,
    )
