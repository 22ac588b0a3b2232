"""The format as the kernel sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import (
    Claim,
    Dumped,
    Figure,
    GroupKey,
    Loaded,
    LoadRequest,
    Problem,
    Suite,
    SuiteError,
    SuiteSummary,
)

from .deterministic import Chosen, test_suites
from .dumping import dump
from .evals import eval_suites
from .findings import Findings
from .options import Stage, UaapsOptions
from .package import MANIFESTS, manifest_of, note_missing_programs, open_package, skill_folders


class UaapsFormat:
    """Packages of skills, agents, commands, rules, hooks and servers, with their tests and evals.

    Args:
        options: what the configuration says; a load request's own options rule over it.
    """

    def __init__(self, options: UaapsOptions) -> None:
        self._options = options

    def claim(self, path: Path) -> Claim | None:
        """A folder with a manifest, or the manifest."""
        try:
            manifest = manifest_of(path) if path.is_dir() else path
            is_one = manifest is not None and manifest.name in MANIFESTS and manifest.is_file()
        except OSError:
            return None
        if manifest is None or not is_one:
            return None
        return Claim("package", f"has {manifest.name}", leaves=skill_folders(manifest.parent))

    def load(self, request: LoadRequest) -> Loaded:
        """The suites of every package.

        Raises:
            SuiteError: something in a package that was named is wrong.
        """
        known = UaapsOptions.model_fields
        given = {key: value for key, value in request.options.items() if key in known}
        options = UaapsOptions.model_validate({**self._options.model_dump(exclude_unset=True), **given})
        suites: list[Suite] = []
        fatal: list[Problem] = []
        passed_over: list[Problem] = []
        for paths, problems in ((request.paths, fatal), (request.searched, passed_over)):
            for path in map(Path, paths):
                folder = path.parent if path.name in MANIFESTS else path
                findings = Findings()
                found = _load(folder, findings, options, Path(request.cwd))
                problems += findings.errors
                if not findings.errors:
                    suites += _with_warnings(found, findings)
        if fatal:
            raise SuiteError([*fatal, *passed_over])
        return Loaded(tuple(suites), tuple(passed_over))

    def dump(self, suite: Suite) -> Dumped:
        """The package with its evals; one is made around the skill of a suite of another format."""
        return dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """None: what counts is the number of cases that passed."""
        return {}


def _load(folder: Path, findings: Findings, options: UaapsOptions, cwd: Path) -> list[Suite]:
    is_tests = options.stage is Stage.TESTS
    strict = options.strict if options.strict is not None else not is_tests
    package = open_package(folder, findings, strict=strict)
    if package is None:
        return []
    note_missing_programs(package, is_error=is_tests)
    chosen = Chosen(options.test_skills, options.test_hooks, options.test_event)
    packages = cwd / Path(options.packages).expanduser() if options.packages else None
    return list(test_suites(package, chosen) if is_tests else eval_suites(package, packages))


def _with_warnings(suites: list[Suite], findings: Findings) -> list[Suite]:
    """The first suite has those of its package, which are told once."""
    return [
        suite.model_copy(update={"warnings": tuple(findings.warnings)}) if not index else suite
        for index, suite in enumerate(suites)
    ]
