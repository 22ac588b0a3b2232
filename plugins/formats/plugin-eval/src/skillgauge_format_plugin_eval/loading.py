"""From case folders to suites, one for each plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import (
    Case,
    Comparison,
    JsonValue,
    LimitOutcome,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Suite,
    SuiteDefaults,
    SuiteError,
    digest,
)

from .cases import RUNS, CaseMaking, case_of, runs_of
from .claiming import (
    CASE_FILE,
    FORMAT,
    GRADERS,
    PROMPT_FILE,
    SKIPPED,
    cases_below,
    evals_around,
    is_case,
    root_around,
)
from .mocks import Mocks
from .options import PluginEvalOptions
from .reading import Findings, WrittenCase, read_case
from .subject import Subject

_ODD_NAMES = {"case.yml": CASE_FILE, "PROMPT.md": PROMPT_FILE, "prompt.txt": PROMPT_FILE}


def load(request: LoadRequest, options: PluginEvalOptions) -> Loaded:
    """Make one suite of all cases of a plugin.

    Raises:
        SuiteError: a case that was named is bad; with everything that is wrong with all of them.
    """
    groups: dict[tuple[Path, ...], _Group] = {}
    fatal: list[Problem] = []
    for paths, was_named in ((request.paths, True), (request.searched, False)):
        for folder in _folders(paths, fatal):
            findings = Findings()
            case = read_case(folder, findings)
            plugins = _plugins_of(folder, case)
            group = groups.setdefault(plugins, _Group(plugins))
            group.add(folder, case, findings)
            group.was_named = group.was_named or was_named
    suites: list[Suite] = []
    passed_over: list[Problem] = []
    for group in groups.values():
        try:
            suites += _suites(group, options)
        except SuiteError as error:
            (fatal if group.was_named else passed_over).extend(error.problems)
    if fatal:
        raise SuiteError([*fatal, *passed_over])
    return Loaded(tuple(suites), tuple(passed_over))


@dataclass
class _Group:
    """The cases of one suite."""

    plugins: tuple[Path, ...]
    """Folders of the plugins that the arm with them has, the one under test first."""
    cases: dict[Path, WrittenCase | None] = field(default_factory=dict)
    """Those that were read, by their folder; `None` for one that cannot be."""
    findings: Findings = field(default_factory=Findings)
    was_named: bool = False

    def add(self, folder: Path, case: WrittenCase | None, findings: Findings) -> None:
        """Take one more case, each once."""
        if folder in self.cases:
            return
        self.cases[folder] = case
        self.findings.problems += findings.problems
        self.findings.warnings |= findings.warnings


def _folders(paths: Iterable[str], problems: list[Problem]) -> Iterator[Path]:
    for path in map(Path, paths):
        folder = path if path.is_dir() else path.parent
        folders = list(cases_below(folder))
        if not folders:
            message = "there is no case here: a folder below evals/ with prompt.md and graders/"
            problems.append(Problem("suite.no-case", message, origin=Origin(str(path))))
        yield from folders


def _plugins_of(folder: Path, case: WrittenCase | None) -> tuple[Path, ...]:
    """Return the plugins of a case: those that it names, else the nearest one above."""
    root = root_around(folder)
    assert root is not None  # it was claimed for it
    named = case.get("plugins") if case is not None else None
    places = [(folder / one).resolve() for one in named or ()]
    inside = [one for one in places if one.is_relative_to(root.resolve()) and one.is_dir()]
    return tuple(dict.fromkeys(inside)) if inside else (root.resolve(),)


def _suites(group: _Group, options: PluginEvalOptions) -> Iterator[Suite]:
    """Yield the suite of a plugin; cases that ask for another model than the first are one of their own."""
    findings = group.findings
    folders = sorted(group.cases, key=str)
    evals = frozenset(one for folder in folders if (one := evals_around(folder)) is not None)
    subject = Subject.of(group.plugins, evals, findings, real_servers=options.real_servers)
    written = [case for folder in folders if (case := group.cases[folder]) is not None]
    roots = {one.folder: root_around(one.folder) or group.plugins[0] for one in written}
    runs = _runs(written)
    mocks = Mocks(group.plugins[0], subject.servers, findings)
    making = CaseMaking(subject.plugin, mocks, findings, runs)
    cases = {one.folder: case_of(one, roots[one.folder], making) for one in written}
    _tell_unread(evals, findings)
    parts = [(part, SuiteDefaults(runs=runs, model=_model(part, findings))) for part in _by_model(written)]
    if findings.problems:
        raise SuiteError(findings.problems)
    for number, (part, defaults) in enumerate(parts):
        facts = {cases[one.folder].id: _facts(one, roots[one.folder], cases[one.folder]) for one in part}
        suite = _suite(group, subject, part, tuple(cases[one.folder] for one in part))
        further = {"defaults": defaults, "parameters": {"cases": facts}}
        if number:
            yield suite.model_copy(update={**further, **dict.fromkeys(("id", "name"), f"{suite.id}-{defaults.model}")})
        else:
            yield suite.model_copy(update={**further, "warnings": findings.told()})


def _by_model(written: list[WrittenCase]) -> list[list[WrittenCase]]:
    """Return the cases by the model that they ask for; those that ask for none are with the first."""
    first = next((one.get("model") for one in written if one.get("model")), None)
    parts: dict[str | None, list[WrittenCase]] = {}
    for case in written:
        parts.setdefault(case.get("model") or first, []).append(case)
    return list(parts.values())


def _suite(group: _Group, subject: Subject, written: list[WrittenCase], cases: tuple[Case, ...]) -> Suite:
    candidate, baseline = subject.arms
    return Suite(
        id=subject.name,
        name=subject.name,
        version=subject.version,
        format=FORMAT,
        root=str(group.plugins[0]),
        digest=digest([one.contents for one in written], candidate.digest, *_stand_ins(cases)),
        cases=cases,
        targets=(subject.target,),
        arms=(candidate, baseline),
        comparisons=(Comparison(candidate=candidate.name, baseline=baseline.name),),
        on_agent_limit=LimitOutcome.GRADED,
        document=FORMAT,
        origin=written[0].own,
    )


def _stand_ins(cases: tuple[Case, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(install.digest for case in cases for install in case.installs))


def _facts(written: WrittenCase, root: Path, case: Case) -> dict[str, JsonValue]:
    """Return what the result document says of a case beyond its results."""
    files = [name for name in (PROMPT_FILE, CASE_FILE) if (written.folder / name).is_file()]
    source = "mixed" if len(files) > 1 else "prose" if PROMPT_FILE in files else "case_yaml"
    return {
        "dir": written.folder.resolve().relative_to(root.resolve()).as_posix(),
        "source": source,
        "runs": runs_of(written),
        "timeoutSeconds": round(case.limits.timeout_s or 0),
        "maxTurns": case.limits.max_turns,
        "graders": {check.id: one.values for check, one in zip(case.checks, written.graders, strict=False)},
    }


def _runs(written: list[WrittenCase]) -> int:
    """Return the number of runs that all cases have, else that of a case which says nothing."""
    numbers = {runs_of(one) for one in written}
    return numbers.pop() if len(numbers) == 1 else RUNS


def _model(written: list[WrittenCase], findings: Findings) -> str | None:
    """Return the model that those of the cases ask for which ask for any."""
    asking = [one for one in written if one.get("model")]
    if asking and len(asking) < len(written):
        findings.tell("the model of some cases is asked in all of them", asking[0].origin("model"))
    return str(asking[0].get("model")) if asking else None


def _tell_unread(evals: Iterable[Path], findings: Findings) -> None:
    """Tell of folders that look like cases and are none, since the program passes over them in silence."""
    for place in sorted(evals):
        for folder in _between(place):
            names = {one.name for one in folder.iterdir()}
            odd = next((name for name in _ODD_NAMES if name in names), None)
            if odd or GRADERS in names:
                message = f"this folder is no case: there is no {_ODD_NAMES.get(odd or '', PROMPT_FILE)} in it"
                findings.tell(message, Origin(str(folder)), once=False)


def _between(folder: Path) -> Iterator[Path]:
    """Yield the folders below one that are neither cases nor in one."""
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.name not in SKIPPED and not is_case(inner):
            yield inner
            yield from _between(inner)
