"""Write a suite as the evals of a package: one that is copied, or one that is made around the suite's skill."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import Case, Dumped, FileSpec, Origin, Problem, Severity, SkillRef, SkillRole, Suite, thaw
from skillgauge_skill_folders import SKILL_FILE, file_spec, files_of

from .files.evals import TARGET, EvalConfig
from .files.manifest import PACKAGE_NAME, VERSION
from .findings import Findings
from .packages.manifests import MANIFESTS
from .packages.package import Package, open_package
from .suites.deterministic import FORMAT
from .suites.evals import DIALECT, PACKAGE, made_folders
from .written_checks import Expectations

EVALS, CASES, CONFIG = "evals", "evals/cases", "evals/eval-config.json"
FIXTURES = "evals/fixtures"
ENGINE, FIRST_VERSION = "claude-code", "1.0.0"
"""Written where a suite says nothing, because a package must."""
_NAME_CHARACTERS, _STEM = 64, re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_UNWRITTEN = (
    *("tags", "cluster", "input", "installs", "arm_prompts", "turns", "user", "image_files"),
    *("setup_files", "grader_files", "pass_env", "runs"),
)
_GENERATED = frozenset(MANIFESTS)
"""Files of a workspace that reading a package makes itself."""


def dump(suite: Suite) -> Dumped:
    """The package with its evals, and what cannot be said as losses; nothing where there is no eval to write."""
    if suite.dialect != DIALECT and suite.format == FORMAT:
        message = "deterministic tests are no evals: they belong to the files of their package, and are not written"
        return Dumped((), (_loss(message, suite.origin or Origin(suite.root)),))
    writer = _Writer(suite)
    writer.write()
    return Dumped(tuple(writer.files.items()) if writer.has_cases else (), tuple(writer.losses))


class _Writer:
    """The files of one package while they are made."""

    def __init__(self, suite: Suite) -> None:
        self.files: dict[str, bytes] = {}
        self.losses: list[Problem] = []
        self.has_cases = False
        self._only_skill: str | None = None
        self._absent = set[str]()
        """Where no file may be, because a case has an empty one of that name."""
        self._suite = suite
        self._is_own = suite.format == FORMAT
        self._cases = [case for case in suite.cases if self._can_be_asked(case)]
        self._config = self._made_config()

    def write(self) -> None:
        """Write the package around the cases, then its configuration and each case."""
        package = open_package(Path(self._suite.root), Findings(), strict=False) if self._is_own else None
        defaults = dict[str, str]()
        if package is not None:
            self._copy(package)
            defaults = {name: one.default for name, one in package.manifest.env.items() if one.default is not None}
        else:
            self._make()
        variables = self._config.get("env", {})
        env = {
            name: text for name, text in self._shared_env().items() if name in variables or defaults.get(name) != text
        }
        self._config |= {"env": env} if env else {}
        self.files[CONFIG] = _json(self._config)
        names, stems = set[str](), set[str]()
        for number, case in enumerate(self._cases, 1):
            self._write_case(case, number, names, stems)
        if self._cases and not self._is_own:
            for loss in (
                "its targets are the package, or the only skill of it",
                f"files: every workspace has {MANIFESTS[0]!r}",
            ):
                self._tell(f"every case: {loss}")

    def _can_be_asked(self, case: Case) -> bool:
        if not case.prompt:
            self._tell(f"case {case.id!r} is left out: it has no prompt, and an eval asks an agent", case.origin)
        return bool(case.prompt)

    def _tell(self, message: str, origin: Origin | None = None) -> None:
        self.losses.append(_loss(message, origin or self._suite.origin or Origin(self._suite.root)))

    def _copy(self, package: Package) -> None:
        """All of a package but its evals, which are written anew."""
        for file in package.files:
            if file.path != CONFIG and not file.path.startswith(f"{CASES}/"):
                self.files[file.path] = _content(file)
        self._tell_executables(package.files)

    def _make(self) -> None:
        """A package of the skills under test."""
        self.files[MANIFESTS[0]] = _json(self._manifest())
        references = [skill for arm in self._suite.arms for skill in arm.skills]
        skills = {skill.name: skill for skill in references if skill.role is SkillRole.CANDIDATE}
        if any(skill.role is not SkillRole.CANDIDATE for skill in references):
            self._tell("skills beside the one under test are left out")
        if not any(Path(skill.root, SKILL_FILE).is_file() for skill in skills.values()):
            self._tell(f"the suite is about no skill with a {SKILL_FILE}, so the package has none")
        for skill in skills.values():
            self._copy_skill(skill)
        self._only_skill = next(iter(skills)) if len(skills) == 1 else None

    def _manifest(self) -> dict[str, str]:
        """The facts that a package must tell, made up where those of the suite do not fit."""
        name = self._suite.name or self._suite.id
        version = self._suite.version or ""
        manifest = {
            "name": name if re.fullmatch(PACKAGE_NAME, name) else _slug(name),
            "version": version if re.fullmatch(VERSION, version) else FIRST_VERSION,
        }
        if self._suite.description:
            manifest["description"] = self._suite.description
        return manifest

    def _copy_skill(self, skill: SkillRef) -> None:
        root = Path(skill.root)
        paths = set(files_of(root, skill.leaves_out))
        if manifests := sorted(paths & _GENERATED):
            self._tell(f"suite: {manifests[0]!r} of skill {skill.name!r} would make it a package, and is left out")
        files = [file_spec(root / path, f"skills/{skill.name}/{path}") for path in sorted(paths - _GENERATED)]
        self.files |= {file.path: _content(file) for file in files}
        self._tell_executables(files)

    def _tell_executables(self, files: Iterable[FileSpec]) -> None:
        names = [file.path for file in files if file.executable]
        if names:
            few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            self._tell(f"suite: these files may no longer be executed: {few}")

    def _made_config(self) -> dict[str, Any]:
        suite, kept = self._suite, self._suite.extras.get("config")
        config: dict[str, Any] = thaw(kept) if self._is_own and isinstance(kept, Mapping) else {"version": 1}
        config |= {"engine": suite.defaults.engine or ENGINE}
        timeout = suite.defaults.limits.timeout_s
        if timeout != config.get("timeout", EvalConfig.model_fields["timeout"].default) and timeout is not None:
            config["timeout"] = timeout
        if suite.defaults.judge_model is not None:
            config["judge"] = suite.defaults.judge_model
        if not self._is_own and self._cases and all(case.network for case in self._cases):
            config["sandbox"] = {"network": True}
        return config

    def _shared_env(self) -> dict[str, str]:
        """Variables that all cases have with the same value: a package has them for all of its evals."""
        first = self._cases[0].env if self._cases else {}
        return {
            name: text
            for name, text in first.items()
            if isinstance(text, str) and all(case.env.get(name) == text for case in self._cases)
        }

    def _write_case(self, case: Case, number: int, names: set[str], stems: set[str]) -> None:
        name = _free(_slug(case.id), names)
        stem = case.name if _STEM.fullmatch(case.name) and case.name.lower() not in stems else f"{number:02}-{name}"
        stems.add(stem.lower())
        if stem != case.name and not self._is_own:
            self._tell(f"case {case.id!r}: its name is that of its file", case.origin)
        expected = Expectations.of(case, with_package=self._is_own)
        target = self._target(case)
        eval_: dict[str, Any] = {"prompt": case.prompt}
        eval_ |= {key: paths for key, paths in self._inputs(case).items() if paths}
        written = {
            "name": name,
            "description": case.description or None,
            "target": target,
            "input": eval_,
            "expected": expected.written or None,
            "judge": {"criteria": expected.criteria},
            **(thaw(case.extras) if self._is_own else {}),
        }
        document = {key: value for key, value in written.items() if value is not None}
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
        self.files[f"{CASES}/{stem}.yaml"] = text.encode()
        self.has_cases = True
        for loss in (*self._unsaid(case, name), *expected.unsaid):
            self._tell(f"case {case.id!r}: {loss}", case.origin)

    def _target(self, case: Case) -> str | None:
        named = [one for one in case.targets if one != PACKAGE]
        if self._is_own and len(named) == 1 and re.fullmatch(TARGET, named[0]):
            return named[0]
        return f"skill:{self._only_skill}" if self._only_skill is not None else None

    def _inputs(self, case: Case) -> dict[str, list[str]]:
        """Files of the workspace by the two keys for them, each where its content can lie for all cases."""
        inputs: dict[str, list[str]] = {"files": [], "workspace-files": []}
        for file in case.files:
            if file.path in _GENERATED:
                continue
            content = _content(file)
            for key, place in (("files", f"{EVALS}/{file.path}"), ("workspace-files", f"{FIXTURES}/{file.path}")):
                if key == "files" and not content:
                    continue  # an empty file needs none to be copied from
                if self._is_free(place, content, is_needed=bool(content)):
                    inputs[key].append(file.path)
                    break
            else:
                message = f"case {case.id!r}: files: {file.path!r} has another content in another case"
                self._tell(message, case.origin)
        return inputs

    def _is_free(self, place: str, content: bytes, *, is_needed: bool) -> bool:
        """Tell whether a content can lie at a place, where it lies from now on if it is needed there."""
        if place == CONFIG or place.startswith((f"{CASES}/", f"{EVALS}/reports/")):
            return False
        if not is_needed:
            self._absent.add(place)
            return not self.files.get(place)
        return place not in self._absent and self.files.setdefault(place, content) == content

    def _unsaid(self, case: Case, name: str) -> Iterator[str]:
        """Return the parts that an eval has no key for."""
        if name != case.id:
            yield f"it is called {name!r} there"
        for field in _UNWRITTEN:
            if getattr(case, field):
                yield f"{field.replace('_', ' ')} cannot be written"
        if case.setup and not (self._is_own and case.setup == self._folders()):
            yield "setup cannot be written"
        if case.weight != 1:
            yield "its weight is left out"
        yield from self._unshared(case)
        if case.skip:
            yield "it is skipped, which cannot be written"

    def _unshared(self, case: Case) -> Iterator[str]:
        """Return the parts that a package has once for all of its evals."""
        limits = case.limits
        if limits.timeout_s is not None or limits.max_turns is not None or limits.output_bytes:
            yield "its limits are left out: a package has one of time for all of its evals"
        if not self._is_own and case.network and not all(member.network for member in self._cases):
            yield "network is for all cases of a package or for none, and stays off"
        if own := sorted(set(case.env) - set(self._shared_env())):
            yield f"env is for all cases of a package; left out: {', '.join(own)}"

    def _folders(self) -> tuple[str, ...]:
        sandbox = self._config.get("sandbox")
        return made_folders((sandbox or {}).get("writable-paths"))


def _slug(text: str) -> str:
    """A text in the letters of a name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_NAME_CHARACTERS].strip("-") or "case"


def _free(name: str, names: set[str]) -> str:
    tries = (name, *(f"{name[: _NAME_CHARACTERS - 6]}-{number}" for number in range(2, 100_000)))
    free = next(one for one in tries if one not in names)
    names.add(free)
    return free


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def _loss(message: str, origin: Origin) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
