"""The options of loading."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillgauge.api import RUN_PLACE, Frozen, LoadOption


class VallyOptions(Frozen):
    """Options of the commands that load suites, and of the configuration."""

    skill_path: Annotated[str | None, LoadOption("--skill-path", metavar="DIR")] = Field(
        default=None,
        description="Folder of the skill, for a suite that lies elsewhere. Default: the one around it.",
        json_schema_extra=RUN_PLACE,
    )
