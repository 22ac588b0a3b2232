"""Write a suite's cases as `benchmark.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillgauge.api import (
    DIRECT,
    ArmKind,
    Case,
    Dumped,
    Limits,
    Origin,
    Problem,
    Severity,
    Suite,
    VerdictRule,
)

from .checks import expectation
from .files import number
from .loading import FORMAT

FILE, RUBRIC = "benchmark.json", "rubric"
_VERSION = "1.0.0"
"""Written where a suite has no version, because a benchmark must."""


def dump(suite: Suite) -> Dumped:
    """The suite in one file, with everything that the file cannot say as losses."""
    losses: list[Problem] = []
    if suite.targets:
        losses.append(_loss("skills are not part of a benchmark; name them with --skills", suite.origin))
    if suite.arms != (DIRECT,):
        losses.append(_loss("arms and comparisons are left out: a task calls a skill directly", suite.origin))
    tasks = []
    for case in _called(suite, losses):
        losses += [_loss(f"case {case.id!r}: {what}", case.origin) for what in _unsaid(case)]
        if case.checks:
            tasks.append(_task(case, case.extras if suite.format == FORMAT else {}))
    extras = dict(suite.extras) if suite.format == FORMAT else {}
    written = {
        "id": suite.id,
        "name": suite.name or suite.id,
        "version": suite.version or _VERSION,
        "description": suite.description or None,
        "domain": suite.parameters.get("domain", "general"),
        "scoringMethod": suite.parameters.get("scoringMethod", "mean"),
        "maxLatencyMs": suite.parameters.get("maxLatencyMs"),
        "metadata": extras.pop("metadata", None),
        **extras,
        "tasks": tasks,
    }
    text = json.dumps(_without_none(written), indent=2, ensure_ascii=False)
    return Dumped(((FILE, f"{text}\n".encode()),), tuple(losses))


def _called(suite: Suite, losses: list[Problem]) -> Iterator[Case]:
    """Yield the cases that call a skill, after telling which ask an agent."""
    is_called = any(arm.kind is ArmKind.DIRECT for arm in suite.arms)
    for case in suite.cases:
        if case.prompt is None or case.input is not None or is_called:
            yield case
        else:
            message = f"case {case.id!r} is left out: its prompt is meant for an agent, and a task calls a skill itself"
            losses.append(_loss(message, case.origin))


def _task(case: Case, kept: Mapping[str, Any]) -> dict[str, Any]:
    expected, evaluator = expectation(case.checks[0])
    extras = dict(kept)
    timeout = case.limits.timeout_s
    task = {
        "id": case.id,
        "description": case.description or None,
        "inputData": _input(case),
        "expectedOutput": {**expected, **_part(extras, "expectedOutput")},
        "evaluator": {**evaluator, **_part(extras, "evaluator")},
        "timeoutMs": None if timeout is None else number(round(timeout * 1000, 3)),
        "tags": list(case.tags) or None,
        "cluster": case.cluster or None,
        "weight": None if case.weight == 1 else number(case.weight),
        **extras,
    }
    return _without_none(task)


def _input(case: Case) -> Any:
    if isinstance(case.input, Mapping):
        return case.input
    if case.input is not None:
        return {"input": case.input}
    return {} if case.prompt is None else {"prompt": case.prompt}


_UNWRITTEN = (
    *("files", "installs", "image_files", "setup", "setup_files", "grader_files"),
    *("name", "arm_prompts", "turns", "user", "env", "pass_env", "network", "skip", "targets", "runs", "repeat_rule"),
)


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that a task has no key for."""
    if not case.checks:
        yield "it checks nothing and is left out"
    if len(case.checks) > 1:
        others = ", ".join(check.id for check in case.checks[1:])
        yield f"a task has one check; left out: {others}"
    yield from _unsaid_of_check(case)
    if case.input is not None and not isinstance(case.input, Mapping):
        yield "its input is no object and was put under the key 'input'"
    if case.prompt is not None:
        yield "its prompt is meant for an agent, and a task has none"
    if case.rule != VerdictRule():
        yield "its rule for a verdict is left out"
    if case.limits != Limits(timeout_s=case.limits.timeout_s):
        yield "limits other than the time are left out"
    for name in _UNWRITTEN:
        if getattr(case, name) != Case.model_fields[name].get_default():
            yield f"{name.replace('_', ' ')} cannot be written"


def _unsaid_of_check(case: Case) -> Iterator[str]:
    """Return the parts of the one check that a task has otherwise."""
    for check in case.checks[:1]:
        if check.scorer == RUBRIC and not isinstance(check.options.get("criteria"), str):
            yield f"check {check.id!r} becomes one criterion"
        if check.beside or check.stage or check.turn is not None:
            yield f"check {check.id!r} decides by itself, about the whole of it"


def _part(extras: dict[str, Any], key: str) -> Mapping[str, Any]:
    part = extras.pop(key, None)
    return part if isinstance(part, Mapping) else {}


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
