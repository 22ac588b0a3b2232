"""Write a suite as eval.yaml of waza, with its task files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import (
    ALL_PASSED,
    Case,
    Dumped,
    FileSpec,
    Origin,
    Problem,
    Severity,
    SkillRef,
    SkillRole,
    Suite,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from .claiming import FORMAT
from .loading import FIXTURES
from .responders import responder
from .written import expected, grader

_UNWRITTEN = ("input", "arm_prompts", "image_files", "setup", "pass_env", "cluster", "network", "runs")
_DEFAULT_TIMEOUT_S = 300
_CONFIG: dict[str, Any] = {"executor": "copilot-sdk", "model": "claude-sonnet-4.5"}
"""What a waza file has to say, where the suite says nothing of it."""
_METRICS = [{"name": "task_completion", "weight": 1.0, "threshold": 0.8}]


@dataclass
class _Writing:
    """One suite on its way."""

    skill: str
    compares: bool
    has_servers: bool = False
    """Whether eval.yaml says which servers each task has."""
    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)
    snapshots: dict[str, str] = field(default_factory=dict)
    """Texts that files are compared with, by their place among the fixtures."""

    def lose(self, message: str, origin: Origin | None) -> None:
        """Something that waza has no words for."""
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))

    def put(self, path: str, content: bytes, origin: Origin | None) -> None:
        """A file, whose place is not that of another one."""
        if self.files.setdefault(path, content) != content:
            self.lose(f"two different files would be {path!r}; the first is kept", origin)


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md and its files, and what cannot be said as losses."""
    candidate = _candidate(suite)
    writing = _Writing(
        candidate.name if candidate else suite.name or suite.id, suite.defaults.baseline, suite.format == FORMAT
    )
    if candidate is not None and (file := Path(candidate.root, SKILL_FILE)).is_file():
        writing.files[SKILL_FILE] = file.read_bytes()
    else:
        message = f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it"
        writing.lose(message, suite.origin)
    for name in dict.fromkeys(
        one.name for arm in suite.arms for one in arm.skills if one.role is not SkillRole.CANDIDATE
    ):
        writing.lose(f"skill {name!r}, which lies beside the candidate, is not written", suite.origin)
    for number, case in enumerate(suite.cases, 1):
        task = _task(case, writing)
        if task is not None:
            name = re.sub(r"[^a-z0-9]+", "-", case.id.lower()).strip("-")[:60]
            writing.files[f"tasks/{number:05}-{name or 'task'}.yaml"] = _yaml(task)
    for path, text in writing.snapshots.items():
        writing.put(f"{FIXTURES}/{path}", text.encode(), suite.origin)
    return Dumped((("eval.yaml", _yaml(_head(suite, writing))), *writing.files.items()), tuple(writing.losses))


def _head(suite: Suite, writing: _Writing) -> dict[str, Any]:
    kept: Mapping[str, Any] = thaw(suite.extras) if suite.format == FORMAT else {}
    defaults = suite.defaults
    timeout = defaults.limits.timeout_s or _DEFAULT_TIMEOUT_S
    if defaults.limits.max_turns is not None:
        writing.lose("a limit of turns cannot be written", suite.origin)
    config: dict[str, Any] = {"trials_per_task": defaults.runs or 1, "timeout_seconds": max(1, round(timeout))}
    config |= kept.get("config", _CONFIG)
    if defaults.judge_model is not None:
        config["judge_model"] = defaults.judge_model
    head: dict[str, Any] = {"name": suite.name or suite.id}
    head |= {"description": suite.description} if suite.description else {}
    head |= {"skill": writing.skill, "version": suite.version or "1.0"}
    head |= {"baseline": True} if defaults.baseline else {}
    head |= {"mcp_mocks": kept["mcp_mocks"]} if "mcp_mocks" in kept else {}
    return head | {"config": config, "metrics": kept.get("metrics", _METRICS), "tasks": ["tasks/*.yaml"]}


def _task(case: Case, writing: _Writing) -> dict[str, Any] | None:
    if not case.prompt or not case.prompt.strip():
        writing.lose(f"case {case.id!r} is left out: it has no prompt", case.origin)
        return None
    for loss in _unsaid(case, writing):
        writing.lose(f"case {case.id!r}: {loss}", case.origin)
    expectations = _expectations(case, writing)
    graders = _graders(case, writing)
    for file in case.grader_files:
        writing.put(file.path, _content(file), case.origin)
    timeout = case.limits.timeout_s
    task = {
        "id": case.id,
        "name": case.name or case.id,
        "description": case.description or None,
        "enabled": False if case.skip else None,
        "tags": list(case.tags) or None,
        "timeout_seconds": max(1, round(timeout)) if timeout else None,
        "inputs": _inputs(case, writing),
        "expected": expectations or None,
        "graders": graders or None,
    }
    return {key: value for key, value in task.items() if value is not None}


def _expectations(case: Case, writing: _Writing) -> dict[str, Any]:
    """The checks that a task says by `expected`, under names that waza gives them."""
    expectations = dict[str, Any]()
    for _, words in expected(case.checks, writing.skill):
        expectations |= words
    return expectations


def _graders(case: Case, writing: _Writing) -> list[dict[str, Any]]:
    """The graders of all checks that `expected` does not say."""
    by_expectation = {check.id for check, _ in expected(case.checks, writing.skill)}
    graders = []
    for check in case.checks:
        if check.id in by_expectation:
            continue
        grader_ = grader(check, writing.snapshots)
        if grader_ is None:
            writing.lose(f"case {case.id!r}: check {check.id!r} of scorer {check.scorer!r} is left out", check.origin)
        else:
            graders.append(grader_)
    return graders


def _inputs(case: Case, writing: _Writing) -> dict[str, Any]:
    inputs: dict[str, Any] = {"prompt": case.prompt}
    if case.turns:
        inputs["follow_up_prompts"] = list(case.turns)
    if case.user:
        inputs["responder"] = responder(case) or None
    if "context" in case.extras:
        inputs["context"] = thaw(case.extras["context"])
    if case.files:
        inputs["files"] = [_input(file, case, writing) for file in case.files]
    if case.env:
        inputs["environment"] = thaw(case.env)
    return {key: value for key, value in inputs.items() if value is not None}


def _input(file: FileSpec, case: Case, writing: _Writing) -> dict[str, str]:
    """A file of the workspace: a text in the task, a file among the fixtures as long as its place is free."""
    if file.executable:
        writing.lose(f"case {case.id!r}: {file.path!r} is executable, which cannot be written", case.origin)
    if file.text:
        return {"path": file.path, "content": file.text}
    place, content = f"{FIXTURES}/{file.path}", _content(file)
    if writing.files.get(place, content) != content and (text := _decoded(content)):
        return {"path": file.path, "content": text}
    writing.put(place, content, case.origin)
    return {"path": file.path}


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return ""


def _unsaid(case: Case, writing: _Writing) -> Iterator[str]:
    """Return the parts that a task has no key for."""
    if case.rule != ALL_PASSED:
        yield "its rule for a verdict is left out: waza passes a trial if every grader passed"
    if case.weight != 1:
        yield "its weight is left out"
    if case.limits.max_turns is not None:
        yield "its limit of turns is left out"
    if case.user and not responder(case):
        yield "a user who is simulated otherwise than by instructions, or after further turns, cannot be written"
    if case.installs and not writing.has_servers:
        yield "installs cannot be written"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"
    yield from _unsaid_of_checks(case, writing)


def _unsaid_of_checks(case: Case, writing: _Writing) -> Iterator[str]:
    for check in case.checks:
        if check.beside and check.scorer != "trigger" and not (writing.compares and "skills" in check.options):
            yield f"check {check.id!r} would decide, and is no more than a figure here"
        if check.turn is not None:
            yield f"check {check.id!r} is about turn {check.turn}, and would be about the whole session"
        if check.required:
            yield f"check {check.id!r} ends no conversation: it is asked as any other"
        if check.stage:
            yield f"check {check.id!r} would be asked whatever others say"


def _candidate(suite: Suite) -> SkillRef | None:
    skills = (skill for arm in suite.arms for skill in arm.skills)
    return next((skill for skill in skills if skill.role is SkillRole.CANDIDATE), None)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _yaml(value: object) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120).encode()
