"""A package: its manifest, and the artifacts that it lists or that lie where the specification has them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from skillgauge.api import Document, FileSpec, Origin, SuiteError, host_environment
from skillgauge_skill_folders import SKILL_FILE, Skill, contained, file_spec, read_skill

from ..files.cases import Event, HooksFile
from ..files.manifest import Manifest, RegisteredArtifact
from ..findings import Findings
from .manifests import manifest_of

WORKSPACES = ("workspace.agent.json", "workspace.agent.yaml")
_OF_OTHER_TOOLS = ("aam.yaml",)
LEFT_OUT = frozenset({".git", ".hg", "__pycache__", ".venv", "venv", ".pytest_cache", ".mypy_cache", ".DS_Store"})
"""What of a package is no part of it."""
REPORTS = "evals/reports"
MAX_FILES = 20_000
_HARD = frozenset({"suite.skill-name", "suite.skill-description", "suite.skill-front-matter"})
"""Broken rules of a SKILL.md that are errors where it counts."""


@dataclass(frozen=True)
class Artifact:
    """A skill, an agent, a command or a rule."""

    name: str
    path: Path
    """Absolute: its folder, or its file."""
    origin: Origin


@dataclass
class Package:
    """A package that has a manifest."""

    root: Path
    manifest: Manifest
    document: Document
    findings: Findings
    strict: bool
    skills: tuple[Artifact, ...] = ()
    agents: tuple[Artifact, ...] = ()
    commands: tuple[Artifact, ...] = ()
    rules: tuple[Artifact, ...] = ()
    hooks: HooksFile | None = None
    hooks_document: Document | None = None
    _skill_files: dict[str, Skill | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As the manifest says it."""
        return self.manifest.name

    @property
    def origin(self) -> Origin:
        """The manifest."""
        return self.document.origin()

    @property
    def hooks_folder(self) -> Path:
        """The folder of the hooks, with their tests."""
        return (self.root / self.manifest.hooks).parent

    @cached_property
    def files(self) -> tuple[FileSpec, ...]:
        """Every file that belongs to the package, to be copied into a workspace."""
        specs = tuple(file_spec(self.root / path, path) for path in self._paths())
        if len(specs) > MAX_FILES:
            message = f"the package has {len(specs):,} files, and may have {MAX_FILES:,}"
            self.findings.error("too-many-files", message, self.origin, "Leave out of it what can be installed anew.")
            return ()
        return specs

    def resolve(self, written: str, base: Path, origin: Origin) -> Path | None:
        """Return the file that a path means below a folder; `None` after noting that it leaves it by a link."""
        path = contained(base, written)
        if path is None:
            message = f"{written!r} leads out of {str(base)!r}"
            self.findings.error("escaping-path", message, origin, "Keep the file below that folder.")
        return path

    def skill(self, artifact: Artifact) -> Skill | None:
        """Return the content of a skill's SKILL.md, read once; broken rules are noted."""
        if artifact.name not in self._skill_files:
            self._skill_files[artifact.name] = self._read_skill(artifact)
        return self._skill_files[artifact.name]

    def _read_skill(self, artifact: Artifact) -> Skill | None:
        try:
            skill = read_skill(artifact.path)
        except SuiteError as error:
            self.findings.errors += error.problems
            return None
        for warning in skill.warnings:
            is_error = self.strict and warning.code in _HARD
            note = self.findings.error if is_error else self.findings.warning
            note(warning.code.removeprefix("suite."), warning.message, warning.origin or skill.origin(), warning.hint)
        for key, kind in (("compatibility", Mapping), ("allowed-tools", tuple)):
            if isinstance(skill.front_matter.get(key), kind):
                message = f"{key!r} of this shape is not portable: agents other than those of UAAPS expect text"
                self.findings.warning("skill-not-portable", message, skill.origin(key))
        return skill

    def _paths(self) -> Iterator[str]:
        for folder, names, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            names[:] = sorted(name for name in names if name not in LEFT_OUT and (here / name).as_posix() != REPORTS)
            for name in sorted((*files, *(one for one in names if Path(folder, one).is_symlink()))):
                path = here / name
                if path.name in LEFT_OUT or not self._belongs(path):
                    continue
                yield path.as_posix()

    def _belongs(self, path: Path) -> bool:
        whole = self.root / path
        if not whole.is_symlink():
            return whole.is_file()
        where = Origin(str(whole))
        if contained(self.root, path.as_posix()) is None:
            self.findings.error("escaping-path", f"{path.as_posix()!r} is a link out of the package", where)
        elif whole.is_dir():
            self.findings.warning("link", f"{path.as_posix()!r} is a link to a folder and is left out", where)
        return whole.is_file()


def skill_folders(folder: Path) -> tuple[Path, ...]:
    """Folders of the skills of a package, whatever else may be wrong with it: they may have suites of other formats."""
    package = open_package(folder, Findings(), strict=False)
    return tuple(skill.path for skill in package.skills) if package else ()


def open_package(folder: Path, findings: Findings, *, strict: bool) -> Package | None:
    """Read a manifest and find the artifacts; `None` if there is none that can be used."""
    path = manifest_of(folder)
    if path is None:
        hint = "Write package.agent.json with name and version."
        if any((folder / name).is_file() for name in _OF_OTHER_TOOLS):
            hint = "aam.yaml is the manifest of another tool. " + hint
        findings.error("no-manifest", "this is no package: it has no package.agent.json", Origin(str(folder)), hint)
        return None
    found = findings.file(Manifest, path)
    if found is None:
        return None
    manifest, document = found
    package = Package(folder, manifest, document, findings, strict)
    _note_extensions(package)
    registry = manifest.artifacts
    package.skills = _artifacts(package, "skills", manifest.skills, registry.skills, SKILL_FILE)
    package.agents = _artifacts(package, "agents", manifest.agents, registry.agents, "agent.yaml")
    package.commands = _artifacts(package, "commands", manifest.commands, registry.commands, None)
    package.rules = tuple(_rules(package))
    hooks = package.resolve(manifest.hooks, folder, document.origin("hooks"))
    if hooks is not None and (hooks.is_file() or "hooks" in manifest.model_fields_set):
        read = findings.file(HooksFile, hooks)
        if read is not None:
            package.hooks, package.hooks_document = read
            _note_events(package.hooks, read[1], findings)
    return package


def _note_extensions(package: Package) -> None:
    for key, value in (package.manifest.model_extra or {}).items():
        if key.startswith("x-") and not isinstance(value, Mapping):
            package.findings.error("wrong-type", f"{key!r} must be an object", package.document.origin(key))
    permissions, warn = package.manifest.permissions, package.findings.warning
    at = package.document.origin
    if permissions is None:
        return
    if permissions.shell and permissions.shell.allow and not permissions.shell.binaries:
        warn("permissions", "the shell is allowed for every program", at("permissions", "shell"), "Name the binaries.")
    for index, glob in enumerate(permissions.fs.write):
        if glob in ("**", ".", "./", "**/*"):
            warn("permissions", "every file may be written", at("permissions", "fs", "write", index))
    network = permissions.network
    if network and "*" in network.hosts:
        warn("permissions", "every host may be asked", at("permissions", "network", "hosts"))
    if network and "http" in network.schemes:
        warn("permissions", "hosts may be asked without encryption", at("permissions", "network", "schemes"))


def note_missing_programs(package: Package, *, is_error: bool) -> None:
    """Programs that the package declares to need and that are not here."""
    note = package.findings.error if is_error else package.findings.warning
    for index, name in enumerate(package.manifest.system_dependencies.binaries):
        if shutil.which(name, path=host_environment().get("PATH")) is None:
            origin = package.document.origin("systemDependencies", "binaries", index)
            note("missing-program", f"program {name!r} is not there, and the package needs it", origin, "Install it.")


def _note_events(hooks: HooksFile, document: Document, findings: Findings) -> None:
    events = {event.value for event in Event}
    for name in hooks.hooks:
        if name not in events:
            findings.warning(
                "unknown-event", f"event {name!r} is not known and is ignored", document.origin("hooks", name)
            )


def _artifacts(
    package: Package, kind: str, folder: str, registered: Sequence[RegisteredArtifact] | None, marker: str | None
) -> tuple[Artifact, ...]:
    """Those that the manifest lists, else those that lie in the folder of their kind."""
    at = package.document.origin
    if registered is not None:
        artifacts = []
        for index, entry in enumerate(registered):
            origin = at("artifacts", kind, index, "path")
            path = package.resolve(entry.path, package.root, origin)
            if path is None:
                continue
            is_there = (path / marker).is_file() if marker and path.is_dir() else path.is_file()
            if not is_there:
                wanted = f"{entry.path.rstrip('/')}/{marker}" if marker else entry.path
                package.findings.error(
                    "missing-file", f"{wanted!r} is not there", origin, "Correct the path, or remove it."
                )
                continue
            artifacts.append(Artifact(entry.name, path, origin))
        package.findings.doubled(
            ((entry.name, at("artifacts", kind, index, "name")) for index, entry in enumerate(registered)), kind[:-1]
        )
        return tuple(artifacts)
    place = package.resolve(folder, package.root, at(kind))
    if place is None:
        return ()
    if not place.is_dir():
        if kind in package.manifest.model_fields_set:
            package.findings.error("missing-file", f"folder {folder!r} is not there", at(kind))
        return ()
    return tuple(_in_folder(package, place, marker))


def _in_folder(package: Package, place: Path, marker: str | None) -> Iterator[Artifact]:
    for path in sorted(place.iterdir()):
        if (
            path.name.startswith(".")
            or contained(package.root, path.relative_to(package.root.resolve()).as_posix()) is None
        ):
            continue
        if marker is not None and path.is_dir():
            if (path / marker).is_file():
                yield Artifact(path.name, path, Origin(str(path / marker)))
            elif (path / "tests").is_dir() or marker == SKILL_FILE:
                hint = f"Write {path.name}/{marker}, or remove the folder."
                package.findings.warning("missing-file", f"{path.name!r} has no {marker}", Origin(str(path)), hint)
        elif path.suffix == ".md" and path.is_file() and marker != SKILL_FILE:
            yield Artifact(path.stem, path, Origin(str(path)))


def _rules(package: Package) -> Iterator[Artifact]:
    """Rules, in groups of any depth."""
    folder = package.resolve(package.manifest.rules, package.root, package.document.origin("rules"))
    for path in sorted(folder.rglob("RULE.md")) if folder is not None and folder.is_dir() else ():
        if not path.is_symlink():
            yield Artifact(path.parent.relative_to(folder or path).as_posix(), path, Origin(str(path)))
