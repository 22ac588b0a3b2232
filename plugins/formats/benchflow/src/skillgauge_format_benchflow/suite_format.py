"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .claiming import claim
from .figures import figures
from .options import BenchflowOptions


class BenchflowFormat:
    """Suites about a skill that an agent may use, graded by a reward from 0 to 1 with and without it.

    Args:
        options: what the configuration says; a load request's own options rule over it.
    """

    def __init__(self, options: BenchflowOptions) -> None:
        self._options = options

    def claim(self, path: Path) -> Claim | None:
        """A file with `cases` that ask a `question`, or a skill's folder with nothing but it."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite for each file.

        Raises:
            SuiteError: a named file is bad.
        """
        known = BenchflowOptions.model_fields
        given = {key: value for key, value in request.options.items() if key in known}
        options = BenchflowOptions.model_validate({**self._options.model_dump(exclude_unset=True), **given})
        from .loading import load  # noqa: PLC0415 - slow, and most runs have no such suite

        return load(request, options)

    def dump(self, suite: Suite) -> Dumped:
        """The suite as evals.json, with the skill's SKILL.md."""
        from .dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """The average reward of each arm, and the lift of the arm with the skill."""
        return figures(summary)
