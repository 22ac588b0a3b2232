"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .claiming import claim
from .figures import figures
from .options import SkillevaluationOptions


class SkillevaluationFormat:
    """Suites about a skill that an agent may use, each case with and without it.

    Args:
        options: what the configuration says.
    """

    def __init__(self, options: SkillevaluationOptions) -> None:
        self._options = options

    def claim(self, path: Path) -> Claim | None:
        """A skill's folder with eval.yaml as its only suite, or such a file."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite for each eval.yaml.

        Raises:
            SuiteError: a named file is bad.
        """
        from .loading import load  # noqa: PLC0415 - slow, and most runs have no such suite

        return load(request, self._options)

    def dump(self, suite: Suite) -> Dumped:
        """The suite as eval.yaml, with the skill's SKILL.md and the files that validators need."""
        from .dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """The share of cases that the skill turned for the better and for the worse."""
        return figures(summary)
