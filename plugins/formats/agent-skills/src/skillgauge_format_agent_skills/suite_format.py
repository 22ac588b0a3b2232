"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge.api import Claim, Dumped, Loaded, LoadRequest, Peers, Suite, SuiteHead
from skillgauge_skill_folders import SKILL_FILE

from .options import AgentSkillsOptions
from .recognition.claiming import claim
from .recognition.shapes import TRIGGERS

if TYPE_CHECKING:
    from skillgauge.api.report import Figure, GroupKey, SuiteSummary

SKILL_FOLDERS = tuple(
    f".{name}/skills" for name in ("agents", "claude", "codex", "cursor", "gemini", "github", "opencode")
)
"""Folders of a project in which agents look for skills."""


class AgentSkillsFormat:
    """Suites about a skill that an agent may use: evals with and without it, and queries that should make it fire.

    It is a class because its claims depend on what is installed, which is looked up once for each object: slow for each
    path, and stale for a whole process, in which a format may be installed between two evaluations.

    Args:
        options: what the configuration says; a load request's own options rule over it.
        shapes: what the files of the run's formats are known by.
    """

    searched_folders = SKILL_FOLDERS

    def __init__(self, options: AgentSkillsOptions, shapes: Peers) -> None:
        self._options = options
        self._announced = shapes

    def claim(self, path: Path) -> Claim | None:
        """A skill's folder with suites, also by its SKILL.md, or a file of evals or queries.

        A suite of another tool is claimed too, to tell what would read it, as long as nothing installed does.
        """
        return claim(path, self._is_read)

    def load(self, request: LoadRequest) -> Loaded:
        """One suite of evals for each skill, and one for each set of queries.

        Raises:
            SuiteError: a named file is bad.
        """
        from .suites.loading import load  # noqa: PLC0415 - slow, and most runs have no such suite
        from .suites.plugins import with_plugins  # noqa: PLC0415 - as the loading

        paths = tuple(str(_suite_place(Path(path))) for path in request.paths)
        options = request.options_over(self._options)
        loaded = load(request.model_copy(update={"paths": paths}), options)
        return with_plugins(loaded, installed=options.with_plugin)

    def dump(self, suite: Suite) -> Dumped:
        """The suite as evals or queries of a skill, with the skill's SKILL.md and the files that cases need."""
        from .suites.dumping import dump  # noqa: PLC0415 - few commands write suites

        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """The share of expectations met; for queries, how often the skill fired and kept silent as it should."""
        from .figures import figures  # noqa: PLC0415 - with all of a suite, which claims do without

        return {group.key: figures(group, summary.suite) for group in summary.groups}

    def has_headline(self, suite: SuiteHead) -> bool:
        """True of queries: a skill that never fires is right about all that should not make it."""
        return suite.dialect == TRIGGERS

    def _is_read(self, mark: str) -> bool:
        return mark in self._shapes

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(self._announced.names())


def _suite_place(path: Path) -> Path:
    """The folder of a skill that was named by its SKILL.md; any other path as it is."""
    return path.parent if path.name == SKILL_FILE else path
