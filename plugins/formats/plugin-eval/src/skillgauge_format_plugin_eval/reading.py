"""One case as its files say it, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from skillgauge.api import Document, JsonValue, Origin, Problem, Severity, SuiteError, did_you_mean, read_document
from skillgauge_skill_folders import Headed, read_headed
from skillgauge_validation import validate

from .claiming import CASE_FILE, GRADERS, PROMPT_FILE
from .files import BODIES, CaseFile, ContextPart, PromptHead

M = TypeVar("M", bound=BaseModel)
_MAX_BYTES = 1 << 20
_MOST_GRADERS = 256
_TEMPLATE = "TODO"
_MISSING = {"schema_version": 'Write schema_version: "1.1", with the quotes.', "name": "Write the name of the case."}
_NO_EFFECT = ("artifact_publish", "growthbook_overrides")


@dataclass
class Findings:
    """Everything that is wrong with a suite, and everything that is worth telling."""

    problems: list[Problem] = field(default_factory=list)
    warnings: dict[tuple[str, str], tuple[Problem, int]] = field(default_factory=dict)

    def refuse(self, message: str, origin: Origin, hint: str | None = None) -> None:
        """Note something that cannot be honoured."""
        self.problems.append(Problem("suite.unsupported", message, origin=origin, hint=hint))

    def tell(self, message: str, origin: Origin, *, once: bool = True) -> None:
        """Note something that is honoured in another way, or has no effect: once a suite, or at each place."""
        problem = Problem("suite.ignored", message, origin=origin, severity=Severity.WARNING)
        key = (message, "" if once else f"{origin.file} {origin.pointer}")
        first, count = self.warnings.get(key, (problem, 0))
        self.warnings[key] = (first, count + 1)

    def told(self) -> tuple[Problem, ...]:
        """Return the warnings, each with its number of places."""
        return tuple(
            first if count == 1 else replace(first, message=f"{first.message} ({count} places)")
            for first, count in self.warnings.values()
        )

    def read(self, model: type[M], value: object, document: Document, *pointer: str | int) -> M | None:
        """Return part of a document; `None` after noting what is wrong with it."""
        try:
            return validate(model, value, document, *pointer)
        except SuiteError as error:
            self.problems += [_with_hint(one) for one in error.problems]
            return None


def _with_hint(problem: Problem) -> Problem:
    """Return a problem with what to write where a key is missing, as far as there is one answer."""
    key = next((key for key in _MISSING if problem.code == "suite.missing-key" and repr(key) in problem.message), None)
    return problem if key is None else replace(problem, hint=_MISSING[key])


@dataclass(frozen=True)
class WrittenGrader:
    """A grader as it is written, and where."""

    values: Mapping[str, JsonValue]
    document: Document
    pointer: tuple[str | int, ...]
    default_name: str

    def origin(self, *pointer: str | int) -> Origin:
        """Return the place of one of its keys."""
        return self.document.origin(*self.pointer, *pointer)


@dataclass(frozen=True)
class WrittenCase:
    """A case, its two files laid over each other: what prompt.md says wins, graders and withheld tools are joined."""

    folder: Path
    values: Mapping[str, Any]
    """What is set, by key, whichever file it stands in."""
    origins: Mapping[str, Origin]
    prompt: str
    context: ContextPart
    graders: tuple[WrittenGrader, ...]
    own: Origin
    """Of the case as a whole."""
    contents: tuple[JsonValue, ...]
    """Everything that was read, for a digest."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key."""
        return self.values.get(key, default)

    def origin(self, key: str) -> Origin:
        """Return the place of a key, else of the case."""
        return self.origins.get(key, self.own)


@dataclass
class _Layers:
    """The files of a case, laid over each other one by one."""

    findings: Findings
    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    graders: list[WrittenGrader] = field(default_factory=list)
    context: ContextPart = field(default_factory=ContextPart)

    def lay_case_file(self, document: Document) -> None:
        """Take case.yaml, the lower layer."""
        case = self.findings.read(CaseFile, document.value, document)
        if case is None:
            return
        _tell_unknown(case, document, self.findings)
        self._lay(case, document)
        self._lay(case.execution, document, "execution")
        self.context = case.context
        self.graders += _listed(document)

    def lay_prompt(self, document: Document) -> None:
        """Take the front matter of prompt.md, which wins."""
        withheld = self.values.get("disallowed_tools") or ()
        read = self.findings.read(PromptHead, document.value, document)
        if read is None:
            return
        self._lay(read, document)
        if read.disallowed_tools:
            self.values["disallowed_tools"] = tuple(dict.fromkeys((*withheld, *read.disallowed_tools)))

    def _lay(self, part: BaseModel, document: Document, *pointer: str) -> None:
        for key in part.model_fields_set & type(part).model_fields.keys():
            self.values[key] = getattr(part, key)
            self.origins[key] = document.origin(*pointer, key)

    def tell_without_effect(self) -> None:
        """Tell which keys only the program's maker honours."""
        for key in _NO_EFFECT:
            if self.values.get(key) is not None:
                self.findings.tell(f"{key} has an effect at the program's maker only", self.origins[key])


def read_case(folder: Path, findings: Findings) -> WrittenCase | None:
    """Read a case folder; `None` after noting what is wrong with it."""
    before = len(findings.problems)
    layers = _Layers(findings)
    head = _headed(folder / PROMPT_FILE, findings)
    file = _document(folder / CASE_FILE, findings)
    documents = [one for one in (file, head.document if head else None) if one is not None]
    if file is not None:
        layers.lay_case_file(file)
    if head is not None:
        layers.lay_prompt(head.document)
    layers.graders += _in_files(folder / GRADERS, findings)
    prompt = head.body if head is not None else str(layers.values.get("prompt") or "").strip()
    own = documents[-1].origin() if documents else Origin(str(folder))
    _check(prompt, layers.graders, own, findings)
    layers.tell_without_effect()
    if len(findings.problems) > before:
        return None
    return WrittenCase(
        folder=folder,
        values=layers.values,
        origins=layers.origins,
        prompt=prompt,
        context=layers.context,
        graders=tuple(layers.graders),
        own=own,
        contents=(*(one.value for one in documents), prompt, *(one.values for one in layers.graders)),
    )


def _headed(path: Path, findings: Findings) -> Headed | None:
    if not path.is_file():
        return None
    try:
        return read_headed(path)
    except SuiteError as error:
        findings.problems += error.problems
        return None


def _document(path: Path, findings: Findings) -> Document | None:
    if not path.is_file():
        return None
    try:
        return read_document(path, kind="yaml", max_bytes=_MAX_BYTES)
    except SuiteError as error:
        findings.problems += error.problems
        return None


def _tell_unknown(case: CaseFile, document: Document, findings: Findings) -> None:
    for part, pointer in ((case, ()), (case.execution, ("execution",)), (case.context, ("context",))):
        model_keys = tuple(type(part).model_fields)
        for key in part.model_extra or {}:
            message = f"key {key!r} has no effect{did_you_mean(key, model_keys)}"
            findings.tell(message, document.origin(*pointer, key), once=False)


def _listed(document: Document) -> Iterator[WrittenGrader]:
    value = document.value
    graders = value.get("graders") if isinstance(value, Mapping) else None
    for number, grader in enumerate(graders if isinstance(graders, tuple) else ()):
        if isinstance(grader, Mapping):
            yield WrittenGrader(grader, document, ("graders", number), f"grader-{number + 1}")


def _in_files(folder: Path, findings: Findings) -> Iterator[WrittenGrader]:
    """Yield the graders of a folder, in the order of their files; what the program passes over is told."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.suffix != ".md" or not path.is_file():
            findings.tell("only files NAME.md right in graders/ are graders", Origin(str(path)), once=False)
            continue
        headed = _headed(path, findings)
        if headed is None:
            continue
        if not headed.has_head:
            message = "this file is no grader, since it has no front matter"
            findings.tell(message, Origin(str(path), place=(1, 1)), once=False)
            continue
        values = headed.document.value
        if not isinstance(values, Mapping):
            findings.refuse("the front matter is no list of keys and values", Origin(str(path), place=(1, 1)))
            continue
        body_key = BODIES.get(str(values.get("type")))
        if body_key is not None and body_key not in values and headed.body:
            values = {**values, body_key: headed.body}
        yield WrittenGrader(values, headed.document, (), path.stem)


def _check(prompt: str, graders: list[WrittenGrader], own: Origin, findings: Findings) -> None:
    if not prompt or prompt.startswith(_TEMPLATE):
        message = "there is no prompt" if not prompt else "the prompt is still that of the template"
        findings.refuse(message, own, "Write what the agent is asked, below the front matter.")
    if not graders:
        folder = Path(own.file).parent / GRADERS
        headless = next(iter(sorted(folder.glob("*.md"))), None)
        hint = "Add a file such as graders/answer.md, with `type: regex`."
        if headless is not None:
            hint = f"Begin {GRADERS}/{headless.name} with the lines ---, type: llm, ---: without them it is no grader."
        findings.refuse("nothing grades this case", own, hint)
    if len(graders) > _MOST_GRADERS:
        findings.refuse(f"{len(graders)} graders are too many; the program takes {_MOST_GRADERS}", own)
