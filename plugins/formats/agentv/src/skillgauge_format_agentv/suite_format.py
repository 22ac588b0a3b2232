"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .claiming import claim


class AgentvFormat:
    """Tests of an agent, with a skill or without one."""

    def claim(self, path: Path) -> Claim | None:
        """An EVAL.yaml, or a file that ends with .eval.yaml, whose tests have ids."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite for each file.

        Raises:
            SuiteError: a named file is bad.
        """
        from .loading import load  # noqa: PLC0415 - slow, and most runs have no such suite

        return load(request)

    def dump(self, suite: Suite) -> Dumped:
        """The suite as EVAL.yaml, with the skill's SKILL.md and the files of its cases."""
        from .dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None of its own: what counts is the share of trials that passed."""
        return {}
