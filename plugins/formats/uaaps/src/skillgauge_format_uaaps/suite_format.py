"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, Dumped, Figure, GroupKey, Loaded, LoadRequest, Suite, SuiteSummary

from .claiming import claim
from .options import UaapsOptions


class UaapsFormat:
    """Packages of skills, agents, commands, rules, hooks and servers, with their tests and evals.

    Args:
        options: what the configuration says; a load request's own options rule over it.
    """

    def __init__(self, options: UaapsOptions) -> None:
        self._options = options

    def claim(self, path: Path) -> Claim | None:
        """A folder with a manifest, or the manifest."""
        return claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """The suites of every package.

        Raises:
            SuiteError: something in a package that was named is wrong.
        """
        known = UaapsOptions.model_fields
        given = {key: value for key, value in request.options.items() if key in known}
        options = UaapsOptions.model_validate({**self._options.model_dump(exclude_unset=True), **given})
        from .loading import load  # noqa: PLC0415 - slow, and most runs have no such suite

        return load(request, options)

    def dump(self, suite: Suite) -> Dumped:
        """The package with its evals; one is made around the skill of a suite of another format."""
        from .dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None: what counts is the number of cases that passed."""
        return {}
