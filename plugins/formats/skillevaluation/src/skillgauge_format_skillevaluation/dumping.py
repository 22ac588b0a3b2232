"""Write a suite as eval.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import (
    ALL_PASSED,
    ArmKind,
    Case,
    Check,
    Dumped,
    FileSpec,
    Limits,
    Origin,
    Problem,
    Severity,
    SkillRole,
    Suite,
)
from skillgauge_skill_folders import SKILL_FILE
from skillgauge_skillevaluation import Validator

from .cases import COMMAND, EACH, RUBRIC, SHOULD_TRIGGER
from .claiming import NAMES

_FAIL_CODES = (0, 1)


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md and what validators call, and what cannot be said as losses."""
    losses = list(_unsaid_of_suite(suite))
    files: dict[str, bytes] = {}
    skill = _skill_file(suite)
    if skill is None:
        message = f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it"
        losses.append(_loss(message, suite.origin))
    else:
        files[SKILL_FILE] = skill
    cases = []
    for case in suite.cases:
        if case.prompt is None:
            losses.append(_loss(f"case {case.id!r} is left out: it has no prompt", case.origin))
            continue
        losses += [_loss(f"case {case.id!r}: {what}", case.origin) for what in _unsaid(case)]
        files |= {file.path: _content(file) for file in (*case.grader_files, *case.setup_files)}
        written = _case(case)
        if written.keys() & {"expectations", "validators", "should_trigger"}:
            cases.append(written)
        else:
            losses.append(_loss(f"case {case.id!r} is left out: nothing of it can be checked here", case.origin))
    text = yaml.safe_dump({"cases": cases}, sort_keys=False, allow_unicode=True, width=120)
    files[NAMES[0]] = text.encode()
    return Dumped(tuple(files.items()), tuple(losses))


def _case(case: Case) -> dict[str, Any]:
    checks = [check for check in case.checks if not check.beside]
    written: dict[str, Any] = {
        "name": case.id,
        "description": case.description or None,
        "prompt": case.prompt,
        "setup": _setup(case),
        "expectations": [text for check in checks for text in _expectations(check)] or None,
        "validators": [_validator(check) for check in checks if check.scorer == COMMAND] or None,
        "max_turns": case.limits.max_turns,
        "should_trigger": case.extras.get(SHOULD_TRIGGER),
        "tags": list(case.tags) or None,
    }
    return {key: value for key, value in written.items() if value is not None}


def _setup(case: Case) -> dict[str, Any] | list[str] | None:
    commands = list(case.setup)
    texts = {file.path: _content(file).decode("utf-8", "replace") for file in case.files}
    if not texts:
        return commands or None
    return {"files": texts} | ({"commands": commands} if commands else {})


def _expectations(check: Check) -> tuple[str, ...]:
    claims = check.options.get("claims")
    if check.scorer != RUBRIC:
        return ()
    if isinstance(claims, tuple):
        return tuple(map(str, claims))
    criteria = check.options.get("criteria")
    return tuple(map(str, criteria if isinstance(criteria, tuple) else (criteria,))) if criteria else ()


def _validator(check: Check) -> dict[str, Any]:
    options = check.options
    validator = Validator(str(options["command"]), label=str(options.get("label") or ""))
    written: dict[str, Any] = {"cmd": validator.cmd}
    if "expect_exit_code" in options:
        written["expect_exit_code"] = options["expect_exit_code"]
    return written | ({"label": validator.label} if validator.label else {})


def _unsaid_of_suite(suite: Suite) -> Iterator[Problem]:
    if any(arm.kind is ArmKind.DIRECT for arm in suite.arms):
        yield _loss("direct calls are left out: a case asks an agent", suite.origin)
    if any(skill.role is not SkillRole.CANDIDATE for arm in suite.arms for skill in arm.skills):
        yield _loss("skills beside the one under test are left out", suite.origin)


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that a case of this format has no key for."""
    if case.rule not in (ALL_PASSED, EACH):
        yield "its rule for a verdict is left out"
    if case.limits.model_copy(update={"max_turns": None}) != Limits():
        yield "its limits of time and output are left out"
    if case.weight != 1 or any(check.weight != 1 for check in case.checks):
        yield "weights are left out"
    for name in ("turns", "user", "env", "targets", "installs", "image_files", "runs"):
        if getattr(case, name):
            yield f"{name} cannot be written"
    for check in case.checks:
        if check.beside or check.scorer not in (COMMAND, RUBRIC):
            yield f"check {check.id!r} of scorer {check.scorer!r} is left out"
        elif check.options.get("fail_codes", _FAIL_CODES) != _FAIL_CODES:
            yield f"the codes that fail check {check.id!r} are left out"


def _skill_file(suite: Suite) -> bytes | None:
    roots = [skill.root for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE]
    roots += [target.root for target in suite.targets if target.root]
    files = (Path(root, SKILL_FILE) for root in roots)
    return next((path.read_bytes() for path in files if path.is_file()), None)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
