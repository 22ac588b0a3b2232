"""From packages to suites."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Loaded, LoadRequest, Problem, Suite, SuiteError

from .findings import Findings
from .options import Stage, UaapsOptions
from .packages.manifests import MANIFESTS
from .packages.package import note_missing_programs, open_package
from .suites.deterministic import Chosen, test_suites
from .suites.evals import eval_suites


def load(request: LoadRequest, options: UaapsOptions) -> Loaded:
    """The suites of every package.

    Raises:
        SuiteError: something in a package that was named is wrong.
    """
    suites: list[Suite] = []
    fatal: list[Problem] = []
    passed_over: list[Problem] = []
    for paths, problems in ((request.paths, fatal), (request.searched, passed_over)):
        for path in map(Path, paths):
            folder = path.parent if path.name in MANIFESTS else path
            findings = Findings()
            found = _load(folder, findings, options, request)
            problems += findings.errors
            if not findings.errors:
                suites += _with_warnings(found, findings)
    if fatal:
        raise SuiteError([*fatal, *passed_over])
    return Loaded(tuple(suites), tuple(passed_over))


def _load(folder: Path, findings: Findings, options: UaapsOptions, request: LoadRequest) -> list[Suite]:
    is_tests = options.stage is Stage.TESTS
    strict = options.strict if options.strict is not None else not is_tests
    package = open_package(folder, findings, strict=strict)
    if package is None:
        return []
    note_missing_programs(package, is_error=is_tests)
    chosen = Chosen(options.test_skills, options.test_hooks, options.test_event)
    if is_tests:
        return list(test_suites(package, chosen))
    packages = Path(request.cwd, Path(options.packages).expanduser()) if options.packages else None
    return list(eval_suites(package, packages, request.installed.get("engines", ())))


def _with_warnings(suites: list[Suite], findings: Findings) -> list[Suite]:
    """The first suite has those of its package, which are told once."""
    return [
        suite.model_copy(update={"warnings": tuple(findings.warnings)}) if not index else suite
        for index, suite in enumerate(suites)
    ]
