"""Evals: sessions of an agent that has the package, checked and then judged."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Document,
    FileSpec,
    Limits,
    Origin,
    Suite,
    SuiteDefaults,
    Target,
    TargetKind,
    canonical_json,
    digest,
)
from skillgauge_skill_folders import file_spec, leaks_of, skill_ref

from ..files.cases import Event
from ..files.evals import EvalCase, EvalConfig
from ..packages.dependencies import dependency_skills
from ..packages.installs import installs_of
from ..packages.package import REPORTS, Package
from .cases import case_files, read_cases
from .deterministic import FORMAT, NO_FAILURE

DIALECT, DOCUMENT, ARM = "evals", "uaaps", "package"
PACKAGE = "package"
"""Id of the target of cases that name none."""
FILES_CREATED = "files_created"
JUDGE = "judge"
OUTSIDE, PERMISSIONS = "writable_paths", "permissions"
"""Checks that nothing was written elsewhere, of the configuration and of the manifest."""
RESERVED = ("copilot", "cursor")
_OF_ENGINES = (".claude/**", ".agents/**", ".codex/**", ".gemini/**")
"""What agents' programs themselves write in a workspace."""
_KINDS = {"skill": TargetKind.SKILL, "hook": TargetKind.HOOK, "agent": TargetKind.AGENT}


def eval_suites(package: Package, packages: Path | None, engines: Sequence[str]) -> Iterator[Suite]:
    """Yield the suite of a package's evals, empty if it has none.

    Args:
        package: the package.
        packages: where the packages lie on which it depends.
        engines: names of the engines that may be used.
    """
    folder = package.root / "evals"
    if not case_files(folder / "cases") and not (folder / "eval-config.json").is_file():
        message = f"package {package.name!r} has no evals"
        package.findings.warning("no-evals", message, package.origin, "Run its tests: skillgauge test.")
        yield _suite(package, (), may_be_empty=True)
        return
    found = package.findings.file(EvalConfig, folder / "eval-config.json")
    if found is None:
        return
    config, document = found
    evals = _Evals(package, folder, config, document)
    evals.look_at_config(engines)
    read = list(read_cases(folder / "cases", EvalCase, package.findings))
    _look_at_index(package, {path.resolve() for _, _, path in read})
    cases = [evals.case(case, where, path) for case, where, path in read]
    if not cases:
        return
    skills = tuple(
        skill_ref(skill.path, skill.name, leaks_of(skill.path).paths)
        for owner, skill in (*((package, one) for one in package.skills), *dependency_skills(package, packages))
        if owner.skill(skill) is not None
    )
    arm = Arm(name=ARM, kind=ArmKind.AGENT, skills=skills, installs=installs_of(package))
    content = digest([file.content_id for file in package.files])
    yield _suite(
        package,
        cases,
        digest=content,
        targets=tuple(_targets(package, cases, arm)),
        arms=(arm,),
        defaults=SuiteDefaults(
            engine=config.engine, judge_model=config.judge, limits=Limits(timeout_s=config.timeout), baseline=False
        ),
        document=DOCUMENT,
        report_folder=str(package.root / REPORTS),
        gates=(NO_FAILURE,),
        parameters={"timeout": config.timeout, "judge": config.judge, "network": config.sandbox.network},
        extras={"config": document.value},
        origin=document.origin(),
    )


def made_folders(paths: Sequence[str] | None) -> tuple[str, ...]:
    """The set-up of a case whose agent may write in some folders: they are there."""
    return (f"mkdir -p -- {shlex.join(paths)}",) if paths else ()


def _suite(package: Package, cases: Sequence[Case], **more: Any) -> Suite:
    return Suite(
        id=package.name,
        name=package.name,
        version=package.manifest.version,
        description=package.manifest.description or "",
        format=FORMAT,
        dialect=DIALECT,
        root=str(package.root),
        cases=tuple(cases),
        **more,
    )


def _targets(package: Package, cases: list[Case], arm: Arm) -> Iterator[Target]:
    """Return the targets of cases, each once; the package stands for cases that name nothing."""
    for name in dict.fromkeys(case.targets[0] for case in cases):
        kind, _, inner = name.partition(":")
        yield Target(
            id=name,
            name=inner or package.name,
            version=package.manifest.version,
            kind=_KINDS.get(kind, TargetKind.SKILL),
            root=str(package.root),
            digest=arm.digest,
            origin=package.origin,
        )


@dataclass(frozen=True)
class _Evals:
    """The evals of a package while they are read."""

    package: Package
    folder: Path
    config: EvalConfig
    document: Document

    def look_at_config(self, engines: Sequence[str]) -> None:
        """Refuse what cannot be run whatever the user says, and tell what has no effect.

        Args:
            engines: names of the engines that may be used.
        """
        note, at = self.package.findings, self.document.origin
        engine = self.config.engine
        if engine in RESERVED and engine not in engines:
            message = f"engine {engine!r} is reserved and not available (installed: {', '.join(engines) or 'none'})"
            note.error("unsupported-engine", message, at("engine"), "Name one that is, or install its plugin.")
        manifest = self.package.manifest
        for name, variable in manifest.env.items():
            if variable.required and variable.default is None and name not in self.config.env:
                message = f"variable {name!r} is required and has no value"
                note.error("missing-variable", message, at("env"), f"Set {name} in env of eval-config.json.")
        if self.config.sandbox.network and manifest.permissions and manifest.permissions.network is None:
            message = "network is true, and the manifest's permissions do not have it: it stays off"
            note.warning("permissions", message, at("sandbox", "network"))

    @property
    def _network(self) -> bool:
        permissions = self.package.manifest.permissions
        return self.config.sandbox.network and (permissions is None or permissions.network is not None)

    def case(self, case: EvalCase, where: Document, path: Path) -> Case:
        """A case as the kernel runs it."""
        kind, _, name = (case.target or "").partition(":")
        self._look_at_target(kind, name, where)
        return Case(
            id=case.name,
            name=path.stem,
            description=case.description or "",
            prompt=case.input.prompt,
            files=tuple(self._files(case, where)),
            setup=made_folders(self.config.sandbox.writable_paths),
            env={**self._defaults(), **self.config.env},
            network=self._network,
            checks=tuple(self._checks(case, where, name if kind == "hook" else None)),
            targets=(case.target or PACKAGE,),
            extras=case.model_extra or {},
            origin=where.origin(),
        )

    def _defaults(self) -> dict[str, str]:
        return {name: one.default for name, one in self.package.manifest.env.items() if one.default is not None}

    def _look_at_target(self, kind: str, name: str, where: Document) -> None:
        hooks = self.package.hooks.hooks if self.package.hooks else {}
        present = {
            "skill": [one.name for one in self.package.skills],
            "agent": [one.name for one in self.package.agents],
            "hook": [event for event in hooks if event in {one.value for one in Event}],
        }
        if kind and name not in present[kind]:
            message = f"there is no {kind} {name!r} in the package (there are: {', '.join(present[kind]) or 'none'})"
            self.package.findings.error("no-such-target", message, where.origin("target"))

    def _files(self, case: EvalCase, where: Document) -> Iterator[FileSpec]:
        places: dict[str, str] = {}
        for key, written, file in (
            *(("files", one, self.folder / one) for one in case.input.files),
            *(("workspace-files", one, self.folder / "fixtures" / one) for one in case.input.workspace_files),
        ):
            index = (case.input.files if key == "files" else case.input.workspace_files).index(written)
            origin = where.origin("input", key, index)
            plain = str(PurePosixPath(written))
            if plain in places:
                message = f"{written!r} is there twice"
                self.package.findings.error("duplicate-file", message, origin, "Name each file once.")
                continue
            places[plain] = key
            path = self.package.resolve(file.relative_to(self.folder).as_posix(), self.folder, origin)
            if path is not None and path.is_file():
                yield file_spec(path, plain)
            elif key == "files":
                message = f"{written!r} is not there (looked in {str(self.folder)!r})"
                self.package.findings.error(
                    "missing-file", message, origin, "Name it as seen from evals/: fixtures/..."
                )
            else:
                yield FileSpec(path=plain, text="")
        manifest = {"name": self.package.name, "version": self.package.manifest.version}
        yield FileSpec(path="package.agent.json", text=canonical_json(manifest) + "\n")

    def _checks(self, case: EvalCase, where: Document, event: str | None) -> Iterator[Check]:
        expected = case.expected
        for name, keywords in (("contains", expected.contains), ("not_contains", expected.not_contains)):
            if keywords:
                said: dict[str, Any] = {"keywords": keywords, "case_sensitive": True, "stream": "messages"}
                said |= {"absent": True} if name == "not_contains" else {}
                origin = where.origin("expected", name.replace("_", "-"))
                yield Check(id=name, scorer="contains", options=said, origin=origin)
        writable = [folder.strip("/") for folder in self.config.sandbox.writable_paths or ()]
        for index, path in enumerate(expected.files_created):
            origin = where.origin("expected", "files-created", index)
            plain = PurePosixPath(path)
            if self.config.sandbox.writable_paths is not None and not any(
                plain.is_relative_to(one) for one in writable
            ):
                message = f"{path!r} is to be created outside of what the agent may write"
                self.package.findings.warning("not-writable", message, origin)
            options = {"path": str(plain), "state": "created"}
            yield Check(id=f"{FILES_CREATED} {plain}", scorer="files", options=options, origin=origin)
        if expected.agent_blocked is not None:
            options_: dict[str, Any] = {"expect": expected.agent_blocked, "by": "hook"} | (
                {"event": event} if event else {}
            )
            origin = where.origin("expected", "agent-blocked")
            yield Check(id="agent_blocked", scorer="blocked", options=options_, origin=origin)
        yield from self._outside(writable)
        criteria = {"criteria": case.judge.criteria.strip()}
        yield Check(id=JUDGE, scorer="rubric", options=criteria, stage=1, origin=where.origin("judge", "criteria"))

    def _outside(self, writable: list[str]) -> Iterator[Check]:
        """Checks that nothing was written elsewhere, whatever the sandbox can enforce."""
        permissions = self.package.manifest.permissions
        if self.config.sandbox.writable_paths is not None:
            globs = tuple(f"{folder}/**" if folder not in ("", ".") else "**" for folder in writable)
            origin = self.document.origin("sandbox", "writable-paths")
            yield _untouched_but(OUTSIDE, globs, origin)
        if permissions and permissions.fs.write:
            yield _untouched_but(PERMISSIONS, permissions.fs.write, self.package.document.origin("permissions", "fs"))


def _untouched_but(name: str, globs: tuple[str, ...], origin: Origin) -> Check:
    options: dict[str, Any] = {"path": "**", "state": "untouched", "leave_out": (*globs, *_OF_ENGINES)}
    return Check(id=name, scorer="files", options=options, origin=origin)


def _look_at_index(package: Package, cases: set[Path]) -> None:
    """The manifest's index of evals is for people; what it names must be there."""
    for index, entry in enumerate(package.manifest.quality.evals):
        origin = package.document.origin("quality", "evals", index, "path")
        path = package.resolve(entry.path, package.root, origin)
        if path is not None and path not in cases:
            package.findings.error("missing-file", f"{entry.path!r} is no case of this package", origin)
