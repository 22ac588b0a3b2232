"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .claiming import claim
from .figures import figures
from .options import EvalSkillsOptions


class EvalSkillsFormat:
    """Suites of skills that are called directly, and of tasks that they have to solve.

    Args:
        options: what the configuration says; a load request's own options rule over it.
    """

    def __init__(self, options: EvalSkillsOptions) -> None:
        self._options = options

    def claim(self, path: Path) -> Claim | None:
        """A skill file, the folder that holds one, or a benchmark file."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite per benchmark, with all skills as its targets.

        Raises:
            SuiteError: a named file is bad, or the benchmark cannot be used.
        """
        known = EvalSkillsOptions.model_fields
        given = {key: value for key, value in request.options.items() if key in known}
        configured = self._options.model_dump(exclude_unset=True)
        if "benchmark" in given:
            configured.pop("tasks", None)
        from .loading import load  # noqa: PLC0415 - slow, and most runs have no such suite

        return load(request, EvalSkillsOptions.model_validate({**configured, **given}))

    def dump(self, suite: Suite) -> Dumped:
        """`benchmark.json` with the suite's cases."""
        from .dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Completion rate, partial score, error rate, consistency, composite score and latencies."""
        suite = summary.suite
        return {group.key: figures(group, suite.parameters, suite.timeout_s) for group in summary.groups}
