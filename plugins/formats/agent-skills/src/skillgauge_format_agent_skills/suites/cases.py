"""From evals to cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from skillgauge.api import (
    NO_LIMITS,
    Case,
    Check,
    FileSpec,
    Install,
    JsonObject,
    JsonValue,
    Limits,
    Origin,
    SuiteError,
    VerdictMode,
    VerdictRule,
    digest,
    read_document,
)
from skillgauge_mcp_servers.written import read_servers
from skillgauge_skill_folders import bundled_files, contained, file_spec, files_of, repository_around

from ..checks.assertions import RUBRIC, Assertion, assertion_of, rubric_options
from ..checks.rules import COMMAND
from ..checks.scenarios import plain_assertion
from ..findings import Findings, OriginOf
from ..recognition.drafts import DRAFT
from ..recognition.sources import EVALS_FOLDER, could_be_suite, line_of
from .evals import Eval, read_eval
from .files import EvalFile, InlineFile

EXPECTED_OUTPUT = "expected_output"
"""Id of the check of a case that says nothing but what is expected."""
TRIGGER = "trigger"
SERVERS_KEY = "mcp_servers"
FIRED, SILENT = "Fired when it should", "Silent when it should be"
"""Ids of the checks that stand beside assertions and ask whether the skill fired, as reports call their figures."""
EACH = VerdictRule(mode=VerdictMode.EACH)
"""All assertions have to hold, and what counts beside that is the share of them that do."""
AS_EXPECTED = "The result agrees with the reference in everything that matters for the task."


@dataclass(frozen=True)
class CaseMaker:
    """Makes the cases of one file."""

    root: Path
    """The skill's folder."""
    skill_name: str
    folder: Path
    """Where the file lies."""
    findings: Findings
    threshold: float | None = None
    """Share of its checks that an eval needs, where it says nothing itself; `None`: all of them."""
    baseline: str = ""
    """Name of the arm that another prompt may be for."""
    servers: tuple[Install, ...] = ()
    """Servers that the agent is given in every eval."""
    written_servers: JsonValue = None
    """The same as they are written again."""
    of_scenarios: bool = False
    """True for a document with `scenarios`, which has rules of its own for some types of assertions."""

    def cases(self, items: tuple[JsonValue, ...], origin_of: OriginOf) -> tuple[Case, ...]:
        """The cases of all evals that have no fault; `origin_of` makes the place of an index and the keys below it."""
        cases: list[Case] = []
        first: dict[str, Origin] = {}
        if not items:
            self.findings.error("no-cases", "there is no eval in it", origin_of(), "Add at least one.")
        for index, item in enumerate(items):
            read = read_eval(item, partial(origin_of, index), self.findings)
            if read is None:
                continue
            case_id = str(read.file.id) if read.file.id is not None else str(index + 1)
            if case_id in first:
                message = f"id {case_id!r} is used twice, first at {line_of(first[case_id])}"
                self.findings.error("duplicate-id", message, read.where("id"), "Give every eval an id of its own.")
            first.setdefault(case_id, read.where("id"))
            cases.append(self._case(read, case_id, origin_of(index)))
        return tuple(cases)

    def _case(self, read: Eval, case_id: str, origin: Origin) -> Case:
        file, where = read.file, read.where
        assertions = list(self._assertions(read))
        checks = [one.check for one in assertions]
        if not checks and file.expected_output is not None:
            options = rubric_options(AS_EXPECTED, file.expected_output)
            checks = [Check(id=EXPECTED_OUTPUT, scorer=RUBRIC, options=options, origin=where("expected_output"))]
        trigger = self._trigger(file, read.given, where)
        if trigger is not None:
            checks.append(_beside(trigger) if checks else trigger)
        checks += read.called if checks else ()
        commands = [str(check.options["command"]) for check in checks if check.scorer == COMMAND]
        return Case(
            id=case_id,
            name=file.name or "",
            description=file.description or "",
            prompt=file.prompt,
            arm_prompts=((self.baseline, file.prompt_baseline),) if file.prompt_baseline and self.baseline else (),
            files=tuple(self._files(file, where)),
            installs=(*self.servers, *self._read_servers(file.mcp_servers, where)),
            setup=file.setup_commands,
            grader_files=bundled_files(self.root, commands),
            checks=tuple(checks),
            rule=self._rule(read, assertions),
            weight=file.weight,
            limits=_limits(file),
            tags=tuple(dict.fromkeys((*file.tags, *read.tags, *((DRAFT,) if file.draft else ())))),
            cluster=file.cluster,
            extras=_extras(read, assertions) | self._kept_servers(file),
            origin=origin,
        )

    def with_servers(self, written: JsonValue, origin_of: OriginOf) -> CaseMaker:
        """Return a maker whose evals all have the servers of their file; `None` stands for none."""
        written = _inlined(written, self.folder)
        return replace(self, servers=self._read_servers(written, origin_of), written_servers=written)

    def _kept_servers(self, file: EvalFile) -> dict[str, Any]:
        """Return the servers of an eval as they are written again, those of its file among them."""
        parts = (self.written_servers, _inlined(file.mcp_servers, self.folder))
        written = {name: server for part in parts if isinstance(part, Mapping) for name, server in part.items()}
        return {SERVERS_KEY: written} if written else {}

    def _read_servers(self, written: JsonValue, where: OriginOf) -> tuple[Install, ...]:
        place = partial(where, SERVERS_KEY)
        return () if written is None else read_servers(written, self.folder, place, self.findings.errors)

    def _rule(self, read: Eval, assertions: list[Assertion]) -> VerdictRule:
        threshold = read.file.threshold if read.file.threshold is not None else self.threshold
        if threshold is None:
            return EACH
        if any(one.critical for one in assertions):
            message = "a critical assertion in an eval that passes with a share of them: no rule says both"
            hint = "Make an eval of its own of what must hold, or leave the threshold out."
            self.findings.error("critical-threshold", message, read.where(), hint)
        return VerdictRule(mode=VerdictMode.MEAN, threshold=threshold)

    def _assertions(self, read: Eval) -> Iterator[Assertion]:
        """Those of all keys in the order of the file, each once."""
        texts: set[str] = set()
        ids: dict[str, int] = {}
        for written, origin in read.assertions:
            item = plain_assertion(written) if self.of_scenarios else written
            if (content := digest(item)) in texts:
                continue
            texts.add(content)
            made = assertion_of(item, read.file.expected_output, origin, self.findings)
            if made is None:
                continue
            count = ids[made.check.id] = ids.get(made.check.id, 0) + 1
            if count > 1:  # the same words for two things that are checked differently
                check = made.check.model_copy(update={"id": f"{made.check.id} ({count})"})
                made = replace(made, check=check)
            yield made

    def _trigger(self, file: EvalFile, raw: JsonObject, where: OriginOf) -> Check | None:
        """Return the trigger check of this skill, where the eval says that it should fire, or should not."""
        own = self.skill_name
        should, key = file.should_trigger, "should_trigger"
        if should is None and "expected_skill" in raw:
            should, key = file.expected_skill == own or own in file.acceptable_skills, "expected_skill"
            if not should and file.expected_skill is not None:
                other_skill = file.expected_skill
                checked = f"checked is that {own!r} does not fire, not that {other_skill!r} does"
                message = f"expected_skill is {other_skill!r}: {checked}"
                self.findings.warning("other-skill", message, where(key))
        if should is None:
            return None
        acceptable = [name for name in file.acceptable_skills if name != own]
        options: dict[str, Any] = {"skill": own, "should_trigger": should}
        if acceptable and should:
            options["acceptable"] = acceptable
        if file.expected_skill is not None and file.expected_skill != own and not should:
            options["owner"] = file.expected_skill
        return Check(id=TRIGGER, scorer=TRIGGER, options=options, origin=where(key))

    def _files(self, file: EvalFile, where: OriginOf) -> Iterator[FileSpec]:
        for index, file_given in enumerate(file.files):
            inline = file_given if isinstance(file_given, InlineFile) else None
            put = inline.path if inline else str(file_given)
            if "\\" in put or contained(self.root, put) is None:
                self._escaping(put, where("files", index))
            elif inline and inline.content is not None:
                yield FileSpec(path=str(PurePosixPath(put)), text=inline.content)
            else:
                yield from self._found((inline and inline.source) or put, put, where("files", index))
        if file.copy_test_files:
            beside = (one for one in files_of(self.folder) if not could_be_suite(self.folder / one))
            yield from (file_spec(self.folder / one, str(one)) for one in beside)

    def _found(self, written: str, put: str, origin: Origin) -> Iterator[FileSpec]:
        """A file, or a whole folder: below the skill, or from the suite's folder on somewhere in its repository."""
        paths = [contained(base, written) for base in dict.fromkeys(self._bases())]
        if written != put and any(path is None for path in paths):
            paths = [self._in_repository(written)]
        if "\\" in written or any(path is None for path in paths):
            self._escaping(written, origin)
            return
        found = next((path for path in paths if path is not None and path.exists()), None)
        if found is None:
            looked = " or ".join(str(base) for base in dict.fromkeys(self._bases()))
            self.findings.error("missing-file", f"file {written!r} is not there (looked in {looked})", origin)
        elif found.is_dir():
            yield from (file_spec(found / one, str(PurePosixPath(put) / one)) for one in files_of(found))
        else:
            yield file_spec(found, str(PurePosixPath(put)))

    def _in_repository(self, written: str) -> Path | None:
        """The place that a path leads to, if that is in the repository of the suite and none of git's own."""
        root = repository_around(self.folder / EVALS_FOLDER)
        if root is None or not (place := (self.folder / written).resolve()).is_relative_to(root.resolve()):
            return None
        return contained(root, place.relative_to(root.resolve()).as_posix())

    def _escaping(self, written: str, origin: Origin) -> None:
        message = f"file {written!r} leads out of the skill's folder"
        hint = "Keep it below the skill, or say where it goes: path, and source for a file elsewhere in the repository."
        self.findings.error("escaping-path", message, origin, hint)

    def _bases(self) -> tuple[Path, ...]:
        """The folders in which input files are looked for, in this order."""
        around = (self.folder.parent,) if self.folder.name == EVALS_FOLDER else ()
        return self.root, self.root / EVALS_FOLDER, self.folder, *around


def _inlined(written: JsonValue, folder: Path) -> JsonValue:
    """Return servers whose answers stand with them, and not in files; what cannot be read stays as it is."""
    if not isinstance(written, Mapping):
        return written
    servers: dict[str, JsonValue] = {}
    for name, server in written.items():
        servers[name] = server
        mock = server.get("mock") if isinstance(server, Mapping) else None
        path = contained(folder, mock) if isinstance(mock, str) else None
        if isinstance(server, Mapping) and path is not None and path.is_file():
            with suppress(SuiteError):
                servers[name] = {**server, "mock": read_document(path).value}
    return servers


def _beside(trigger: Check) -> Check:
    """A trigger check of an eval that runs in both arms: only one of them can meet it."""
    should = bool(trigger.options["should_trigger"])
    return trigger.model_copy(update={"id": FIRED if should else SILENT, "beside": True})


def _limits(file: EvalFile) -> Limits:
    if file.timeout_s is None and file.max_turns is None:
        return NO_LIMITS  # one for all cases
    return Limits(timeout_s=file.timeout_s, max_turns=file.max_turns)


def _extras(read: Eval, assertions: list[Assertion]) -> dict[str, Any]:
    """Return the keys that a case has no field for and that are needed to write the eval again."""
    file = read.file
    objects = {one.check.id: one.raw for one in assertions if one.raw is not None}
    kept = ("expected_skill", "acceptable_skills", "should_trigger")
    extras: dict[str, Any] = {
        "integer_id": True if isinstance(file.id, int) else None,
        EXPECTED_OUTPUT: file.expected_output,
        "assertions": objects or None,
        "tags": read.tags or None,
        "keys": {**{key: read.given[key] for key in kept if key in read.given}, **(file.model_extra or {})} or None,
    }
    return {key: value for key, value in extras.items() if value is not None}
