"""Deterministic tests of skills and hooks: commands, and what they write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Case,
    Check,
    Document,
    FileSpec,
    JsonObject,
    Limits,
    Origin,
    Suite,
    SuiteDefaults,
    Target,
    TargetKind,
    digest,
    thaw,
)
from skillgauge.api.report import Gate, GateFigure

from ..files.cases import Event, Expected, HookCase, HookGroup, RunnerConfig, SkillCase
from ..packages.package import Artifact, Package
from .cases import case_files, read_cases

FORMAT, DIALECT = "uaaps", "tests"
ADAPTER = "command"
QUALITY_TIMEOUT_S = 600.0
NO_FAILURE = Gate(figure=GateFigure.FAILED, threshold=0)
_ROOT = "PACKAGE_ROOT"


@dataclass(frozen=True)
class Chosen:
    """The tests of a package that take part."""

    skills: tuple[str, ...] = ()
    hooks: bool = False
    event: str | None = None

    @property
    def is_all(self) -> bool:
        """True if nothing is left out."""
        return not (self.skills or self.hooks or self.event)


def test_suites(package: Package, chosen: Chosen) -> Iterator[Suite]:
    """A suite for each skill with tests, one for the hooks, one for the commands, one for the package as a whole."""
    skill_names = {skill.name for skill in package.skills}
    for name in sorted(set(chosen.skills) - skill_names):
        listed = ", ".join(sorted(skill_names)) or "none"
        package.findings.error("no-such-skill", f"there is no skill {name!r} (there are: {listed})", package.origin)
    for skill in package.skills:
        if chosen.is_all or skill.name in chosen.skills:
            yield from _of_skill(package, skill)
    if chosen.is_all or chosen.hooks or chosen.event:
        yield from _of_hooks(package, chosen.event)
    if chosen.is_all:
        yield from _of_commands(package)
        yield from _of_package(package)


@dataclass(frozen=True)
class _Folder:
    """A folder of tests with its configuration."""

    package: Package
    path: Path
    config: RunnerConfig

    @classmethod
    def read(cls, package: Package, path: Path) -> _Folder:
        """With what its configuration says; without one, defaults hold."""
        file = path / "test-config.json"
        if file.is_file():
            config = package.findings.file(RunnerConfig, file)
            return cls(package, path, config[0] if config else RunnerConfig(version=1))
        message = "there is no test-config.json, so the defaults hold: 30 s a case, no variables"
        package.findings.warning("no-test-config", message, Origin(str(path)))
        return cls(package, path, RunnerConfig(version=1))

    @cached_property
    def files(self) -> tuple[FileSpec, ...]:
        """The package without the cases of its tests: what is tested need not see what it is expected to answer.

        Each case has a copy of its own, so copying all the others would take time that grows with their square.
        """
        root = self.package.root.resolve()
        tests = [self.package.hooks_folder / "tests", *(skill.path / "tests" for skill in self.package.skills)]
        cases = {file for folder in tests for file in case_files((folder / "cases").resolve())}
        return tuple(file for file in self.package.files if root / file.path not in cases)

    @property
    def env(self) -> dict[str, str]:
        """Variables of its cases."""
        return _defaults(self.package) | dict(self.config.env)

    def suite(self, target_id: str, kind: TargetKind, cases: list[Case]) -> Iterator[Suite]:
        """A suite of these cases; none of no cases."""
        if cases:
            yield _suite(self.package, target_id, kind, cases, self.config.timeout)


def _defaults(package: Package) -> dict[str, str]:
    return {name: one.default for name, one in package.manifest.env.items() if one.default is not None}


def _suite(package: Package, target_id: str, kind: TargetKind, cases: list[Case], timeout_s: float) -> Suite:
    content = digest([file.content_id for file in package.files])
    target = Target(
        id=target_id,
        name=target_id.partition(":")[2] or target_id,
        version=package.manifest.version,
        kind=kind,
        adapter=ADAPTER,
        root=str(package.root),
        digest=content,
        origin=package.origin,
    )
    return Suite(
        id=f"{package.name} {target_id}",
        name=f"{package.name} {target_id}",
        version=package.manifest.version,
        description=package.manifest.description or "",
        format=FORMAT,
        dialect=DIALECT,
        root=str(package.root),
        digest=content,
        cases=tuple(cases),
        targets=(target,),
        defaults=SuiteDefaults(limits=Limits(timeout_s=timeout_s)),
        gates=(NO_FAILURE,),
        origin=package.origin,
    )


def _of_skill(package: Package, skill: Artifact) -> Iterator[Suite]:
    tests = skill.path / "tests"
    if not tests.is_dir():
        return
    package.skill(skill)
    folder = _Folder.read(package, tests)
    cwd = skill.path.relative_to(package.root.resolve()).as_posix()
    cases = []
    for case, document, path in read_cases(tests / "cases", SkillCase, package.findings):
        for index, written in enumerate(case.input.files):
            origin = document.origin("input", "files", index)
            found = package.resolve(written, skill.path, origin)
            if found is not None and not found.is_file():
                message = f"{written!r} is not there (looked in the folder of the skill, {str(skill.path)!r})"
                package.findings.error(
                    "missing-file", message, origin, "Name it as seen from the skill: tests/fixtures/..."
                )
        steps = {"steps": [{"command": case.input.command}], "stdin": case.input.stdin or "", "cwd": cwd}
        cases.append(_case(folder, case, document, path, steps, _checks(case.expected, document, default_code=0)))
    yield from folder.suite(f"skill:{skill.name}", TargetKind.SKILL, cases)


def _of_hooks(package: Package, event: str | None) -> Iterator[Suite]:
    tests = package.hooks_folder / "tests"
    if event is not None and event not in {one.value for one in Event}:
        events = ", ".join(one.value for one in Event)
        package.findings.error("no-such-event", f"{event!r} is no event (there are: {events})", package.origin)
    if not tests.is_dir():
        return
    folder = _Folder.read(package, tests)
    cases: list[Case] = []
    for case, document, path in read_cases(tests / "cases", HookCase, package.findings):
        if event is None or case.event == event:
            cases += _hook_case(folder, case, document, path)
    yield from folder.suite("hooks", TargetKind.HOOK, cases)


def _hook_case(folder: _Folder, case: HookCase, document: Document, path: Path) -> Iterator[Case]:
    package = folder.package
    groups = package.hooks.hooks.get(case.event, ()) if package.hooks else ()
    payload = _payload(folder, case, document)
    if not groups:
        message = f"there is no hook for event {case.event.value!r} in {package.manifest.hooks}"
        package.findings.error("no-such-hook", message, document.origin("event"))
        return
    if case.hook_index >= len(groups):
        message = (
            f"hook-index {case.hook_index} is out of range: {case.event.value!r} has {len(groups)} group(s), from 0"
        )
        package.findings.error("no-such-hook", message, document.origin("hook-index"))
        return
    group = groups[case.hook_index]
    _note_matcher(package, group, payload, document)
    commands = [entry for entry in group.hooks if entry.command is not None]
    if payload is None:
        return
    if not commands:
        yield Case(
            id=case.name,
            name=path.stem,
            description=case.description or "",
            skip="a prompt hook needs a model, and tests ask none",
            origin=document.origin(),
        )
        return
    checks = _checks(case.expected, document, default_code=None)
    if not [check for check in checks if not check.beside]:
        message = f"case {case.name!r} asserts nothing, so it could never fail"
        package.findings.error(
            "no-check", message, document.origin("expected"), "Add `exit-code`, or what it has to write."
        )
        return
    steps: dict[str, Any] = {
        "steps": [{"command": entry.command, "timeout_s": entry.timeout} for entry in commands],
        "stdin": json.dumps(payload, ensure_ascii=False) + "\n",
    }
    tool_input = payload.get("toolInput")
    file = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    env = {"file": file} if isinstance(file, str) else {}
    yield _case(folder, case, document, path, steps, checks, env)


def _note_matcher(package: Package, group: HookGroup, payload: Mapping[str, Any] | None, document: Document) -> None:
    """A group is chosen by its index; what it says of tools is only compared."""
    tool = payload.get("toolName") if payload else None
    if group.matcher and isinstance(tool, str) and not re.search(group.matcher, tool):
        message = f"the group is for tools {group.matcher!r}, and the payload names {tool!r}; it is run all the same"
        package.findings.warning("hook-matcher", message, document.origin("hook-index"))


def _payload(folder: _Folder, case: HookCase, document: Document) -> dict[str, Any] | None:
    """Return the hook's stdin: the fixture with the overrides laid over it."""
    payload: Any = {"hookEventName": case.event.value}
    if case.input.fixture is not None:
        origin = document.origin("input", "fixture")
        path = folder.package.resolve(case.input.fixture, folder.path, origin)
        if path is None:
            return None
        if not path.is_file():
            message = f"{case.input.fixture!r} is not there (looked in {str(folder.path)!r})"
            folder.package.findings.error(
                "missing-file", message, origin, "Name it as seen from hooks/tests: fixtures/..."
            )
            return None
        fixture = folder.package.findings.read(path)
        if fixture is None:
            return None
        payload = thaw(fixture.value)
        if not isinstance(payload, dict):
            folder.package.findings.error("wrong-type", "a payload must be an object", fixture.origin())
            return None
    for key, value in case.input.overrides.items():
        try:
            _override(payload, key.split("."), thaw(value))
        except ValueError as error:
            folder.package.findings.error("override", f"{key!r}: {error}", document.origin("input", "overrides", key))
            return None
    return payload  # type: ignore[no-any-return]  # an object, as was looked


def _override(place: Any, parts: list[str], value: Any) -> None:
    """Set a value by a path of dots; absent objects are made, a number is an index where there is a list."""
    *way, last = parts
    if "" in parts:
        raise ValueError("a part of the path is empty")
    for part in way:
        if isinstance(place, list):
            place = place[_index(place, part)]
        elif isinstance(place, dict):
            place = place.setdefault(part, {})
        else:
            raise ValueError(f"there is no place for {part!r} below a value")
    if isinstance(place, list):
        place[_index(place, last)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise ValueError(f"there is no place for {last!r} below a value")


def _index(items: list[Any], part: str) -> int:
    if not part.isdecimal() or int(part) >= len(items):
        raise ValueError(f"{part!r} is no index of a list with {len(items)} items")
    return int(part)


def _of_commands(package: Package) -> Iterator[Suite]:
    """The specification reserves a folder for tests of commands, and says nothing of what they are."""
    tests = package.root / package.manifest.commands / "tests"
    cases = [
        Case(id=path.stem, skip="no case format is defined for tests of commands", origin=Origin(str(path)))
        for path in case_files(tests / "cases")
    ]
    if cases:
        yield _suite(package, "commands", TargetKind.COMMAND, cases, RunnerConfig(version=1).timeout)


def _of_package(package: Package) -> Iterator[Suite]:
    at, tests = package.document.origin, package.manifest.quality.tests
    package.findings.doubled(
        ((test.name, at("quality", "tests", index, "name")) for index, test in enumerate(tests)), "quality test"
    )
    cases = [
        Case(
            id=test.name,
            description=test.description or "",
            input={"steps": ({"command": test.command},), "root_variable": _ROOT},
            files=package.files,
            env=_defaults(package),
            checks=(Check(id="exit_code", scorer="exit-code", origin=at("quality", "tests", index)),),
            origin=at("quality", "tests", index),
        )
        for index, test in enumerate(tests)
    ]
    if cases:
        yield _suite(package, "package", TargetKind.COMMAND, cases, QUALITY_TIMEOUT_S)


def _case(
    folder: _Folder,
    case: SkillCase | HookCase,
    document: Document,
    path: Path,
    steps: Mapping[str, Any],
    checks: list[Check],
    env: Mapping[str, str] | None = None,
) -> Case:
    return Case(
        id=case.name,
        name=path.stem,
        description=case.description or "",
        input={**steps, "root_variable": _ROOT},
        files=folder.files,
        env={**(env or {}), **folder.env},
        checks=tuple(checks),
        origin=document.origin(),
    )


def _checks(expected: Expected, document: Document, *, default_code: int | None) -> list[Check]:
    """A check for each thing that is expected, named as reports name it."""
    code = expected.exit_code if expected.exit_code is not None else default_code
    options: list[tuple[str, str, JsonObject]] = []
    if code is not None:
        options.append(("exit_code", "exit-code", {"codes": (code,)}))
    texts = (
        ("stdout_contains", expected.stdout_contains, "stdout"),
        ("stderr_contains", expected.stderr_contains, "stderr"),
        ("not_contains", expected.not_contains, "both"),
    )
    for name, keywords, stream in texts:
        if keywords:
            said: dict[str, Any] = {"keywords": keywords, "case_sensitive": True, "stream": stream}
            options.append((name, "contains", said | ({"absent": True} if name == "not_contains" else {})))
    if expected.stdout_json is not None:
        options.append(("stdout_json", "json-match", {"value": expected.stdout_json, "subset": True}))
    checks = [
        Check(id=name, scorer=scorer, options=said, origin=_place(document, name.replace("_", "-")))
        for name, scorer, said in options
    ]
    if code is None:
        beside = Check(id="usual_exit_code", scorer="exit-code", options={"codes": (0, 2)}, beside=True)
        checks.append(beside.model_copy(update={"origin": _place(document, "")}))
    return checks


def _place(document: Document, key: str) -> Origin:
    """Return the place of an expectation, or the place that it would have."""
    value = document.value
    expected = value.get("expected") if isinstance(value, Mapping) else None
    if not isinstance(expected, Mapping):
        return document.origin()
    return document.origin("expected", key) if key in expected else document.origin("expected")
