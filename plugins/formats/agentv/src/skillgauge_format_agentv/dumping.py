"""Write a suite as EVAL.yaml: a prompt that is one variable, and a test for each case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import Case, Check, Dumped, FileSpec, Origin, Problem, Severity, SkillRole, Suite, VerdictMode, thaw
from skillgauge_assertions import FOLDER as CODE_FOLDER
from skillgauge_assertions import with_variables
from skillgauge_skill_folders import SKILL_FILE

from .grading import THRESHOLD
from .loading import ENGINES
from .scripts import FOLDER
from .written import written_assertions
from .written_turns import conversation, unsaid

EVAL_FILE = "EVAL.yaml"
_PROMPT = "{{ input }}"
_UNWRITTEN = (
    "name",
    "arm_prompts",
    "user",
    "input",
    "image_files",
    "installs",
    "setup",
    "setup_files",
    "env",
    "pass_env",
    "network",
    "skip",
    "runs",
)
_PROVIDERS = {engine: name for name, engine in reversed(tuple(ENGINES.items()))}


@dataclass
class _Writing:
    """One suite on its way."""

    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    def lose(self, message: str, origin: Origin | None) -> None:
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))

    def lose_of(self, case: Case, loss: str) -> None:
        self.lose(f"case {case.id!r}: {loss}", case.origin)


@dataclass(frozen=True)
class _Gate:
    """The checks without which a case fails, whatever the others say."""

    is_mean: bool
    """Whether the mean of the checks decides; otherwise all of them have to hold."""
    stages: frozenset[int]
    """Stages of the checks that decide: of two, the first is the gate."""

    @classmethod
    def of(cls, case: Case) -> _Gate:
        stages = frozenset(check.stage for check in case.checks if not check.beside)
        return cls(case.rule.mode is VerdictMode.MEAN, stages)

    @property
    def is_first_stage(self) -> bool:
        """True if the gate is asked before the rest, which is all that can be said of an order."""
        return self.is_mean and len(self.stages) == 2

    def requires(self, check: Check) -> bool:
        if check.beside:
            return False
        if not self.is_mean:
            return True
        return self.is_first_stage and check.stage == min(self.stages)


def dump(suite: Suite) -> Dumped:
    """The file with the skill's SKILL.md and the files of its cases, and what cannot be said as losses."""
    writing = _Writing()
    roots = [one.root for arm in suite.arms for one in arm.skills if one.role is SkillRole.CANDIDATE]
    skill = next((path for root in roots if (path := Path(root, SKILL_FILE)).is_file()), None)
    if skill is not None:
        writing.files[SKILL_FILE] = skill.read_bytes()
    cases = [case for case in suite.cases if _can_be_asked(case, writing)]
    tests = [_test(case, number, writing) for number, case in enumerate(cases, 1)]
    if any(case.turns for case in cases):  # a prompt of the file would be asked before each conversation
        tests = [test if "turns" in test else {**test, "prompts": [_PROMPT]} for test in tests]
        prompts = {}
    else:
        prompts = {"prompts": [_PROMPT]}
    document = {**_head(suite, writing), **prompts, "tests": tests}
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return Dumped(((EVAL_FILE, text.encode()), *writing.files.items()), tuple(writing.losses))


def _can_be_asked(case: Case, writing: _Writing) -> bool:
    if case.prompt is None:
        writing.lose(f"case {case.id!r} is left out: it has no prompt", case.origin)
    return case.prompt is not None


def _head(suite: Suite, writing: _Writing) -> dict[str, Any]:
    name, defaults = suite.name or suite.id, suite.defaults
    head: dict[str, Any] = {"name": name} | ({"description": suite.description} if suite.description else {})
    if not re.fullmatch(r"[a-z0-9-]+", name):
        writing.lose(f"agentv knows names of small letters, digits and hyphens, and not {name!r}", suite.origin)
    if defaults.engine is not None and defaults.engine not in _PROVIDERS:
        writing.lose(f"engine {defaults.engine!r} is no provider of agentv", suite.origin)
    elif defaults.engine is not None:
        provider: dict[str, Any] = {"id": _PROVIDERS[defaults.engine]}
        head["providers"] = [provider | ({"config": {"model": defaults.model}} if defaults.model else {})]
    if defaults.limits.max_turns is not None:
        writing.lose("a limit of turns cannot be written", suite.origin)
    if defaults.limits.timeout_s is not None:
        head["timeout_seconds"] = defaults.limits.timeout_s
    return head | ({"evaluate_options": {"repeat": defaults.runs}} if defaults.runs else {})


def _test(case: Case, number: int, writing: _Writing) -> dict[str, Any]:
    for loss in _unwritten(case):
        writing.lose_of(case, loss)
    test = _settings(case)
    if case.files:
        test["environment"] = _environment(case, f"workspaces/{number:05}", writing)
    _add_grader_files(case, writing)
    if case.turns:
        for loss in unsaid(case):
            writing.lose_of(case, loss)
        return test | conversation(case, lambda turn: _asserted(turn, writing))
    assertions_, texts = with_variables(_asserted(case, writing), test["vars"])
    test["vars"] |= texts
    if case.rule.mode is VerdictMode.MEAN:
        test |= _threshold(case, writing)
    if assertions_:
        test["assert"] = assertions_
    return test


def _unwritten(case: Case) -> Iterator[str]:
    """The settings of a case that a test has no key for."""
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"
    if case.weight != 1 or case.targets or case.limits.max_turns is not None:
        yield "its weight, targets and limit of turns are left out"


def _settings(case: Case) -> dict[str, Any]:
    """The keys of a test that each say one thing of its case."""
    settings: dict[str, Any] = {"id": case.id}
    if case.description:
        settings["description"] = case.description
    settings["vars"] = {"input": case.prompt or ""}
    if case.tags:
        settings["metadata"] = {"tags": list(case.tags)}
    if case.cluster:
        settings["conversation_id"] = case.cluster
    if case.limits.timeout_s is not None:
        settings["run"] = {"timeout_seconds": case.limits.timeout_s}
    return settings


def _environment(case: Case, folder: str, writing: _Writing) -> dict[str, Any]:
    """The workspace of a test: a folder with the files of its case, which are put there."""
    writing.files |= {f"{folder}/{file.path}": _content(file) for file in case.files}
    if any(file.executable for file in case.files):
        writing.lose_of(case, "that files are executable cannot be written")
    return {"type": "host", "workdir": folder}


def _threshold(case: Case, writing: _Writing) -> dict[str, Any]:
    """The mean that passes a test; one that has to be exceeded cannot be said."""
    if case.rule.above:
        writing.lose_of(case, "its rule for a verdict is left out")
        return {}
    return {} if case.rule.threshold == THRESHOLD else {"threshold": case.rule.threshold}


def _asserted(case: Case, writing: _Writing) -> list[Any]:
    """The assertions; where all checks of a case have to hold, all are required."""
    kept = case.extras.get("assert")
    raw = kept if isinstance(kept, Mapping) else {}
    gate = _Gate.of(case)
    asserted: list[Any] = []
    for check in case.checks:
        written = [thaw(raw[check.id])] if check.id in raw else written_assertions(check, case.grader_files)
        for loss in _losses(check, len(written), gate):
            writing.lose(f"case {case.id!r}: check {check.id!r} {loss}", check.origin)
        marks = _marks(check, len(written), gate)
        for assertion in written:
            asserted.append(_named(assertion, check.id, len(asserted) + 1, marks))
    return asserted


def _losses(check: Check, count: int, gate: _Gate) -> Iterator[str]:
    """Everything that `count` assertions in place of a check do not say of it."""
    if not count:
        yield f"of scorer {check.scorer!r} is left out"
    elif check.stage and not gate.is_first_stage:
        yield f"of scorer {check.scorer!r} is asked after others, which cannot be written"
    if count > 1:
        yield f"becomes {count} assertions"


def _marks(check: Check, count: int, gate: _Gate) -> dict[str, Any]:
    """The keys by which each of `count` assertions in place of a check counts."""
    weight = 0 if check.beside else check.weight / max(1, count)
    marks: dict[str, Any] = {}
    if weight != 1:
        marks["weight"] = weight
    if gate.requires(check):
        marks["required"] = True
    return marks


def _add_grader_files(case: Case, writing: _Writing) -> None:
    for file in case.grader_files:
        if file.path.startswith(f"{FOLDER}/files/"):
            writing.files[file.path] = _content(file)
        elif not file.path.startswith((f"{FOLDER}/", f"{CODE_FOLDER}/")):
            writing.lose_of(case, f"{file.path!r}, a file of graders, is left out")


def _named(assertion: Any, name: str, number: int, more: dict[str, Any]) -> Any:
    """An assertion that is called as its check is when it is read: by its text, its name, or its type and number."""
    if isinstance(assertion, str) and not more and assertion == name:
        return assertion
    typed: dict[str, Any] = {"type": "llm-rubric", "value": [assertion]} if isinstance(assertion, str) else assertion
    plain = str(typed["type"]).removeprefix("not-")
    return typed | ({} if name == f"{plain} {number}" else {"metric": name}) | more


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()
