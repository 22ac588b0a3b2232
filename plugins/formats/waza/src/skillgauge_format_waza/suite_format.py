"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .dumping import dump
from .loading import claim, load


class WazaFormat:
    """Suites about a skill whose tasks lie in files of their own."""

    def claim(self, path: Path) -> Claim | None:
        """An eval.yaml with `skill`, `config` and where its tasks are."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite for each eval.yaml.

        Raises:
            SuiteError: a named file is bad.
        """
        return load(request)

    def dump(self, suite: Suite) -> Dumped:
        """The suite as eval.yaml with its task files, the skill's SKILL.md and the files of its cases."""
        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None of its own: what counts is the share of trials that passed."""
        return {}
