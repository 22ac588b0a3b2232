"""Write a suite as evals.json of BenchFlow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skillgauge.api import (
    ArmKind,
    Case,
    Check,
    Dumped,
    HostVariable,
    JsonValue,
    Origin,
    Problem,
    Severity,
    SkillRole,
    Suite,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from .cases import GROUND_TRUTH, RUBRIC
from .claiming import EVALS_FILE, EVALS_FOLDER
from .files import JUDGE_MODEL, TIMEOUT_S
from .views import FORMAT

_KEPT = ("ground_truth", "expected_skill", "expected_script")


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md, and what cannot be said as losses."""
    losses: list[Problem] = []
    if any(arm.kind is ArmKind.DIRECT for arm in suite.arms):
        losses.append(_loss("direct calls are left out: a case asks an agent", suite.origin))
    if any(skill.role is not SkillRole.CANDIDATE for arm in suite.arms for skill in arm.skills):
        losses.append(_loss("skills beside the one under test are left out", suite.origin))
    cases = []
    for case in suite.cases:
        if case.prompt is None:
            losses.append(_loss(f"case {case.id!r} is left out: it has no prompt", case.origin))
            continue
        cases.append(_case(case))
        losses += [_loss(f"case {case.id!r}: {part}", case.origin) for part in _unsaid(case)]
    kept = suite.extras if suite.format == FORMAT else {}
    document: dict[str, Any] = {"skill_name": suite.name or suite.id, "version": kept.get("version", "1")}
    if defaults := _defaults(suite, kept.get("defaults")):
        document["defaults"] = defaults
    document["cases"] = cases
    text = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()
    files = {f"{EVALS_FOLDER}/{EVALS_FILE}": text}
    skill = _skill_file(suite)
    if skill is None:
        losses.append(_loss(f"the suite is about no skill with a {SKILL_FILE}", suite.origin))
    else:
        files[SKILL_FILE] = skill
    return Dumped(tuple(files.items()), tuple(losses))


def _defaults(suite: Suite, extra: JsonValue) -> dict[str, Any]:
    defaults: dict[str, Any] = thaw(extra) if isinstance(extra, Mapping) else {}
    timeout = suite.defaults.limits.timeout_s
    if timeout is not None and timeout != TIMEOUT_S:
        defaults["timeout_sec"] = max(1, round(timeout))
    if suite.defaults.judge_model not in (None, JUDGE_MODEL):
        defaults["judge_model"] = suite.defaults.judge_model
    return defaults


def _case(case: Case) -> dict[str, Any]:
    claims = [check for check in case.checks if _is_claim(check)]
    written: dict[str, Any] = {}
    if case.extras.get("has_id") is not False:
        written["id"] = case.id
    written["question"] = case.prompt or ""
    written |= {key: thaw(case.extras[key]) for key in _KEPT if key in case.extras}
    answer = _answer(case.checks, claims)
    if "ground_truth" not in written and answer is not None:
        written["ground_truth"] = answer
    if claims:
        written["expected_behavior"] = [_statement(check) for check in claims]
    environment = {**case.env, **{variable.name: _template(variable) for variable in case.pass_env}}
    if environment:
        written["environment"] = environment
    return written


def _answer(checks: Sequence[Check], claims: Sequence[Check]) -> str | None:
    """The right answer: of a check that compares with it, else the one that a judge of the claims is shown."""
    compared = [check.options.get("text") for check in checks if check.scorer == GROUND_TRUTH]
    shown = [check.options.get("reference") for check in claims]
    return next((text for text in (*compared, *shown) if isinstance(text, str) and text), None)


def _template(variable: HostVariable) -> str:
    default = "" if variable.default is None else f":-{variable.default}"
    return f"${{{variable.host}{default}}}"


def _is_claim(check: Check) -> bool:
    claims = check.options.get("claims")
    return check.scorer == RUBRIC and isinstance(claims, tuple) and len(claims) == 1


def _statement(check: Check) -> str:
    claims = check.options["claims"]
    assert isinstance(claims, tuple)
    return str(claims[0])


_UNWRITTEN = (
    *("turns", "user", "files", "installs", "grader_files", "setup"),
    *("targets", "tags", "name", "description", "runs"),
)


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that a case of BenchFlow has no key for."""
    for check in case.checks:
        if not check.beside and not _is_claim(check) and check.scorer != GROUND_TRUTH:
            yield f"check {check.id!r} of scorer {check.scorer!r} cannot be written"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name} cannot be written"
    if case.weight != 1 or any(check.weight != 1 for check in case.checks):
        yield "weights are left out"


def _skill_file(suite: Suite) -> bytes | None:
    roots = [skill.root for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE]
    roots += [target.root for target in suite.targets if target.root]
    files = (Path(root, SKILL_FILE) for root in roots)
    return next((path.read_bytes() for path in files if path.is_file()), None)


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
