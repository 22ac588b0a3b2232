"""The options of the format."""

from __future__ import annotations

from pydantic import Field

from skillgauge.api import Frozen


class SkillevaluationOptions(Frozen):
    """Options of `skillevaluation`."""

    keep: tuple[str, ...] = Field(
        default=(),
        description="Globs of paths in the skill's folder that are installed although they could leak answers.",
    )
    judge_last: bool = Field(
        default=False,
        description="Ask the judge of a case only where all of its validators passed; saves what its answers cost.",
    )
