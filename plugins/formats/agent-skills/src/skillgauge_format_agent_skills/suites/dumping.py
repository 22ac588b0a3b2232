"""Write a suite as evals, or queries, of a skill."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import (
    ALL_PASSED,
    ArmKind,
    Case,
    Check,
    Dumped,
    FileSpec,
    JsonObject,
    JsonValue,
    Origin,
    Problem,
    Severity,
    SkillRole,
    Suite,
    VerdictMode,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from ..checks.assertions import RUBRIC
from ..checks.written import counting, written
from ..keys import KEYS, Use, listed
from ..recognition.shapes import TRIGGERS
from .cases import AS_EXPECTED, EACH, EXPECTED_OUTPUT, SERVERS_KEY, TRIGGER

EVALS_FILE, QUERIES_FILE = "evals/evals.json", "evals/trigger_evals.json"
SKILL_CREATOR = "skill-creator"
TOOL_CALL = "tool-call"
_CALLED_KEYS = tuple(key for key, use in KEYS.items() if use is Use.CALLED)
_TRIGGER_KEYS = ("expected_skill", "acceptable_skills", "should_trigger")


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md and the files of its cases, and what cannot be said as losses."""
    losses: list[Problem] = list(_unsaid_of_suite(suite))
    files: dict[str, bytes] = {}
    skill = _skill_file(suite)
    if skill is None:
        losses.append(
            _loss(f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it", suite.origin)
        )
    else:
        files[SKILL_FILE] = skill
    cases = list(suite.cases)
    for case in cases:
        losses += [_loss(f"case {case.id!r}: {what}", case.origin) for what in _unsaid(case)]
        for file in (*case.grader_files, *case.files):
            if files.setdefault(file.path, content := _content(file)) != content:
                message = f"case {case.id!r}: {file.path!r} of its files has another content in a case before"
                losses.append(_loss(message, case.origin))
    if suite.dialect == TRIGGERS and all(len(case.checks) == 1 and _is_query(case) for case in cases):
        files[QUERIES_FILE] = _json([_query(case) for case in cases])
    else:
        key = "expectations" if suite.dialect == SKILL_CREATOR else "assertions"
        evals = [_eval(case, key, losses) for case in cases]
        document = {"skill_name": suite.name or suite.id, "evals": evals}
        files[EVALS_FILE] = _json(_with_keys(document, suite.extras))
    return Dumped(tuple(files.items()), tuple(losses))


def _json(document: object) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


def _with_keys(written: dict[str, Any], extras: Mapping[str, JsonValue]) -> dict[str, Any]:
    keys = extras.get("keys")
    return {**written, **(thaw(keys) if isinstance(keys, Mapping) else {})}


def _eval(case: Case, key: str, losses: list[Problem]) -> dict[str, Any]:
    reference = _reference(case)
    assertions = _assertions(case, reference, losses)
    eval_ = {
        "id": _id(case),
        "name": case.name or None,
        "description": case.description or None,
        "prompt": case.prompt if case.prompt is not None else _as_prompt(case.input),
        "expected_output": thaw(reference),
        "files": [file.path for file in case.files] or None,
        SERVERS_KEY: thaw(case.extras.get(SERVERS_KEY)),
        key: assertions or None,
        **_settings(case),
        **_trigger_keys(case),
    }
    return _with_keys({name: value for name, value in eval_.items() if value is not None}, case.extras)


def _assertions(case: Case, reference: JsonValue, losses: list[Problem]) -> list[Any]:
    """The assertions in place of the checks of a case; one that no assertion means is a claim for a judge."""
    raw = case.extras.get("assertions")
    objects = raw if isinstance(raw, Mapping) else {}
    assertions = []
    for check in case.checks:
        if _is_said_by_keys(check, case):
            continue
        items = written(check, objects.get(check.id), reference)
        lost = _lost(check, len(items))
        if lost:
            losses.append(_loss(f"case {case.id!r}: check {check.id!r} {lost}", check.origin or case.origin))
        assertions += [thaw(item) for item in items] or [_for_a_judge(check)]
    return assertions


def _lost(check: Check, items: int) -> str:
    """Return what as many assertions do not say of a check; empty if nothing."""
    if not items:
        return f"of scorer {check.scorer!r} is left to a judge"
    return f"becomes {items} assertions" if items > 1 else ""


def _for_a_judge(check: Check) -> dict[str, Any]:
    return {"text": check.id, "type": check.scorer, "options": thaw(check.options), **counting(check)}


def _is_said_by_keys(check: Check, case: Case) -> bool:
    """Tell whether another key of the eval stands for a check, and so no assertion has to."""
    if _is_trigger(check):
        return True
    if check.id == EXPECTED_OUTPUT and check.options.get("claims") == (AS_EXPECTED,):
        return True
    return check.beside and check.scorer == TOOL_CALL and _names_what_is_used(case)


def _settings(case: Case) -> dict[str, Any]:
    """The keys for how an eval is run and how it counts; `None` where its case says nothing of it."""
    kept_tags = listed(case.extras.get("tags", ()))
    is_mean = case.rule.mode is VerdictMode.MEAN
    return {
        "tags": [tag for tag in case.tags if tag not in kept_tags] or None,
        "cluster": case.cluster or None,
        "prompt_baseline": next((text for _, text in case.arm_prompts), None),
        "weight": case.weight if case.weight != 1 else None,
        "threshold": case.rule.threshold if is_mean else None,
        "setup": {"commands": list(case.setup)} if case.setup else None,
        "timeout_s": case.limits.timeout_s,
        "max_turns": case.limits.max_turns,
    }


def _trigger_keys(case: Case) -> dict[str, Any]:
    """Return the keys for a trigger check of another format; those of this one are among the kept keys."""
    keys = case.extras.get("keys")
    if isinstance(keys, Mapping) and any(key in keys for key in _TRIGGER_KEYS):
        return {}
    checks = [check for check in case.checks if _is_trigger(check)]
    return _trigger_words(checks[0].options) if checks else {}


def _trigger_words(options: JsonObject) -> dict[str, Any]:
    """Return the keys for a trigger check, with the skills that may fire as well or in its place."""
    keys: dict[str, Any] = {"should_trigger": options.get("should_trigger", True)}
    if options.get("acceptable"):
        keys["acceptable_skills"] = list(listed(options["acceptable"]))
    if options.get("owner"):
        keys["expected_skill"] = options["owner"]
    return keys


def _query(case: Case) -> dict[str, Any]:
    should = case.checks[0].options.get("should_trigger", True)
    identity = {"id": _id(case)} if case.extras.get("id") else {}
    return _with_keys({**identity, "query": case.prompt, "should_trigger": should}, case.extras)


def _names_what_is_used(case: Case) -> bool:
    keys = case.extras.get("keys")
    return isinstance(keys, Mapping) and any(key in keys for key in _CALLED_KEYS)


def _is_query(case: Case) -> bool:
    return _is_trigger(case.checks[0]) and case.prompt is not None and "assertions" not in case.extras


def _is_trigger(check: Check) -> bool:
    return check.scorer == TRIGGER


def _id(case: Case) -> int | str:
    return int(case.id) if case.extras.get("integer_id") else case.id


def _as_prompt(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)


def _reference(case: Case) -> JsonValue:
    """Return the reference that all judged checks of a case compare with, if it is one and the same."""
    if EXPECTED_OUTPUT in case.extras:
        return case.extras[EXPECTED_OUTPUT]
    references = [check.options.get("reference") for check in case.checks if check.scorer == RUBRIC]
    return references[0] if references and all(one == references[0] for one in references) else None


def _unsaid_of_suite(suite: Suite) -> Iterator[Problem]:
    if any(arm.kind is ArmKind.DIRECT for arm in suite.arms):
        yield _loss("direct calls are left out: an eval asks an agent", suite.origin)
    if any(skill.role is not SkillRole.CANDIDATE for arm in suite.arms for skill in arm.skills):
        yield _loss("skills beside the one under test are left out", suite.origin)


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that an eval has no key for."""
    if case.prompt is None:
        yield "it has no prompt, so its input is asked as it is"
    if case.rule not in (ALL_PASSED, EACH) and (case.rule.mode is not VerdictMode.MEAN or case.rule.above):
        yield "its rule for a verdict is left out"
    if case.limits.output_bytes is not None:
        yield "its limit of output is left out"
    yield from _unsaid_of_servers(case)
    for name in ("turns", "user", "env", "targets", "runs"):
        if getattr(case, name):
            yield f"{name} cannot be written"


def _unsaid_of_servers(case: Case) -> Iterator[str]:
    if case.installs and SERVERS_KEY not in case.extras:
        yield "installs cannot be written"
    elif any(install.files for install in case.installs):
        yield "files of servers are left out"


def _skill_file(suite: Suite) -> bytes | None:
    roots = [skill.root for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE]
    roots += [target.root for target in suite.targets if target.root]
    for root in roots:
        path = Path(root, SKILL_FILE)
        if path.is_file():
            return path.read_bytes()
    return None


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
