"""From scenarios to suites: those below the same folder `evals` are one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Comparison,
    Limits,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Suite,
    SuiteDefaults,
    SuiteError,
    digest,
)

from .cases import case_of
from .claiming import CRITERIA, FORMAT, TASK
from .options import TesslOptions
from .reading import Notices, refusal, warning
from .scenarios import Scenario, incomplete, scenarios_at
from .skills import Search, Subject

WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
WITH_PLUGIN, WITHOUT_PLUGIN = "with_plugin", "without_plugin"
"""Arms of a plugin of which more than skills is installed."""
TIMEOUT_S = 600.0
"""The time that an agent of Tessl has."""


def load(request: LoadRequest, options: TesslOptions) -> Loaded:
    """One suite for each folder of scenarios, of the scenarios that were named or met by searching.

    Raises:
        SuiteError: a named scenario is bad; with everything that is wrong with all of them.
    """
    loading = _Loading(options)
    for text in request.paths:
        loading.add(Path(text), is_named=True)
    for text in request.searched:
        loading.add(Path(text), is_named=False)
    suites = tuple(suite for root in loading.groups if (suite := loading.suite(root)) is not None)
    if loading.fatal:
        raise SuiteError([*loading.fatal, *loading.passed_over])
    return Loaded(suites, tuple(loading.passed_over))


@dataclass
class _Loading:
    """The state of one load request; problems are collected until everything was read."""

    options: TesslOptions
    groups: dict[Path, dict[Scenario, bool]] = field(default_factory=dict)
    """The scenarios of each folder, each with whether it was named."""
    visited: set[Path] = field(default_factory=set)
    fatal: list[Problem] = field(default_factory=list)
    passed_over: list[Problem] = field(default_factory=list)

    def add(self, path: Path, *, is_named: bool) -> None:
        """Note the scenarios that a path stands for, each once."""
        scenarios = scenarios_at(path)
        if not scenarios:
            hint = f"Name a folder with {TASK} and {CRITERIA}, or one that holds such folders."
            self._problems(is_named).append(refusal("there is no scenario here", path, hint=hint))
        for scenario in scenarios:
            if (place := scenario.folder.resolve()) not in self.visited:
                self.visited.add(place)
                self.groups.setdefault(scenario.root, {})[scenario] = is_named

    def suite(self, root: Path) -> Suite | None:
        """The suite of a folder; `None` if none of its scenarios can be used."""
        scenarios, notices = self.groups[root], Notices()
        problems = self._problems(any(scenarios.values()))
        place = next(iter(scenarios)).file(CRITERIA)
        subject = Search(root, place, problems, notices, skills_only=self.options.skills_only).subject()
        results = [
            case_of(scenario, self.options.pass_mark, self._problems(is_named), notices)
            for scenario, is_named in scenarios.items()
        ]
        cases = tuple(case for case in results if case is not None)
        if subject is None or not cases:
            return None
        warnings = (*subject.warnings, *self._general(cases[0]), *notices.warnings(), *incomplete(root))
        return _suite(root, subject, cases).model_copy(update={"warnings": warnings})

    def _problems(self, is_named: bool) -> list[Problem]:
        return self.fatal if is_named else self.passed_over

    def _general(self, case: Case) -> tuple[Problem, ...]:
        """The notices about all scenarios, given once."""
        origin = Origin(case.origin.file if case.origin else "", ("checklist",))
        mark = f"Tessl has no pass mark: here a scenario passes with {self.options.pass_mark:.0%} of its points"
        points = "the points of an item are given whole or not at all; Tessl gives part of them, too"
        judge = "the judge sees the answer beside the files; in Tessl it sees the files alone"
        return (
            warning("pass-mark", mark, origin, "Set another one: --set formats.tessl.pass_mark=0.9"),
            warning("ignored", points, origin),
            warning("ignored", judge, origin),
        )


def _suite(root: Path, subject: Subject, cases: tuple[Case, ...]) -> Suite:
    target, refs = subject.target, subject.refs(root)
    names = (WITH_PLUGIN, WITHOUT_PLUGIN) if subject.installs else (WITH_SKILL, WITHOUT_SKILL)
    contents = [[case.id, case.name, case.execution_digest, case.checks_digest, case.extras] for case in cases]
    return Suite(
        id=target.id,
        name=target.name,
        version=target.version,
        description=target.description,
        format=FORMAT,
        root=str(root),
        digest=digest(contents, [ref.digest for ref in refs], [install.digest for install in subject.installs]),
        cases=cases,
        targets=(target,),
        arms=(
            Arm(name=names[0], kind=ArmKind.AGENT, skills=refs, installs=subject.installs),
            Arm(name=names[1], kind=ArmKind.AGENT),
        ),
        comparisons=(Comparison(candidate=names[0], baseline=names[1]),),
        defaults=SuiteDefaults(limits=Limits(timeout_s=TIMEOUT_S)),
        origin=cases[0].origin,
    )
