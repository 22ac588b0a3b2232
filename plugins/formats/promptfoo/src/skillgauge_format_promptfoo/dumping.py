"""Write a suite as promptfooconfig.yaml: a prompt that is one variable, and a test for each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Origin,
    Problem,
    Severity,
    SkillRole,
    Suite,
    VerdictMode,
    VerdictRule,
    thaw,
)
from skillgauge_assertions import FILE, assertions, program_assertion, with_variables
from skillgauge_skill_folders import SKILL_FILE

from .assertions import EACH
from .keys import CLUSTER, CONVERSATION
from .loading import FORMAT
from .prompts import DEFAULT
from .providers import AGENT, ECHO, ENGINES
from .users import provider_of

CONFIG_FILE = "promptfooconfig.yaml"
COMMAND = "command"
_UNWRITTEN = (
    *("name", "files", "installs", "arm_prompts", "image_files", "setup", "setup_files"),
    *("env", "pass_env", "tags", "skip", "runs"),
)


def dump(suite: Suite) -> Dumped:
    """The configuration with the skill's SKILL.md and the files of checks, and what cannot be said as losses."""
    losses: list[Problem] = []
    files: dict[str, bytes] = {}
    skill = _skill_file(suite)
    if skill is not None:
        files[SKILL_FILE] = skill
    tests = []
    for case in suite.cases:
        if case.prompt is None:
            losses.append(_loss(f"case {case.id!r} is left out: it has no prompt", case.origin))
            continue
        tests += _turns(case, losses) if case.turns else [_test(case, losses)]
        files |= {file.path: _content(file) for file in _grader_files(case)}
    document: dict[str, Any] = {"description": suite.description or suite.name or suite.id}
    document["prompts"] = [DEFAULT]
    document["providers"] = [_provider(suite, losses)]
    options: dict[str, Any] = {"repeat": suite.defaults.runs} if suite.defaults.runs else {}
    timeout = suite.defaults.limits.timeout_s
    options |= {"timeoutMs": max(1, round(timeout * 1000))} if timeout is not None else {}
    document |= {"evaluateOptions": options} if options else {}
    document["tests"] = tests
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return Dumped(((CONFIG_FILE, text.encode()), *files.items()), tuple(losses))


def _provider(suite: Suite, losses: list[Problem]) -> Any:
    names = {engine: provider for provider, engine in reversed(tuple(ENGINES.items()))}
    engine, model = suite.defaults.engine, suite.defaults.model
    if engine in names:
        config = {"model": model} if model else {}
        turns = suite.defaults.limits.max_turns
        config |= {"max_turns": turns} if turns else {}  # type: ignore[dict-item]
        return {"id": names[engine], "config": config} if config else names[engine]
    is_agent = any(arm.kind is ArmKind.AGENT for arm in suite.arms)
    stand_in = AGENT if is_agent else ECHO
    if engine is not None:
        losses.append(_loss(f"engine {engine!r} is no provider of promptfoo; {stand_in!r} stands there", suite.origin))
    elif is_agent:
        losses.append(_loss(f"the suite names no engine; {stand_in!r} stands there", suite.origin))
    elif suite.format != FORMAT:
        message = f"no provider of promptfoo calls the skill; {stand_in!r}, which repeats the prompt, stands there"
        losses.append(_loss(message, suite.origin))
    return stand_in


def _test(case: Case, losses: list[Problem]) -> dict[str, Any]:
    losses += [_loss(f"case {case.id!r}: {part}", case.origin) for part in _unsaid(case)]
    return _written(case, thaw(case.extras.get("vars")) or {}, losses)


def _turns(case: Case, losses: list[Problem]) -> list[dict[str, Any]]:
    """Return a conversation as tests that share its id, each with the checks of its turn."""
    losses += [_loss(f"case {case.id!r}: {part}", case.origin) for part in (*_unsaid(case), *_untimed(case))]
    texts = (case.prompt or "", *case.turns)
    graded = {_turn(check, case) for check in case.checks if not check.beside}
    tests = []
    for number, (text, own) in enumerate(zip(texts, thaw(case.extras.get("turns")) or [{}] * len(texts), strict=True)):
        update = {
            "id": own.get("description", f"{case.id}, turn {number + 1}"),
            "prompt": text,
            "checks": tuple(check for check in case.checks if _turn(check, case) == number),
            "rule": case.rule if graded == {number} else EACH,
        }
        test = _written(case.model_copy(update=update), own.get("vars", {}), losses)
        tests.append({**test, "metadata": {CONVERSATION: case.id, **test.get("metadata", {})}})
    return tests


def _turn(check: Check, case: Case) -> int:
    """Return the turn whose test has a check: the last one, if it is about the whole conversation."""
    return len(case.turns) if check.turn is None else check.turn


def _untimed(case: Case) -> Iterator[str]:
    """The parts of a conversation that no single test says."""
    for check in case.checks:
        if check.turn is None:
            yield f"check {check.id!r} would be about the last turn alone"
    graded = {_turn(check, case) for check in case.checks if not check.beside}
    if len(graded) > 1 and case.rule.mode is VerdictMode.MEAN:
        yield "its rule for a verdict is left out"


def _written(case: Case, own: Mapping[str, Any], losses: list[Problem]) -> dict[str, Any]:
    """Return a test with the prompt and the checks of a case."""
    asserted, texts = with_variables(_asserted(case, losses), own)
    test: dict[str, Any] = {"description": case.id, "vars": {**own, **texts, "prompt": case.prompt or ""}}
    test |= provider_of(case)
    if "provider" in test and case.user:
        test["vars"]["instructions"] = case.user.check.options["instructions"]
    if case.cluster:
        test["metadata"] = {CLUSTER: case.cluster}
    if own:
        test["options"] = {"disableVarExpansion": True}
    if case.rule.mode is VerdictMode.MEAN:
        test["threshold"] = case.rule.threshold
    if asserted:
        test["assert"] = asserted
    return test


def _unsaid(case: Case) -> Iterator[str]:
    """The parts that a test has no key for."""
    if case.user and not provider_of(case):
        yield "a user who is simulated otherwise than by instructions, or after further turns, cannot be written"
    for check in case.checks:
        if check.required:
            yield f"check {check.id!r} ends no conversation: it is asked as any other"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"
    if not _is_rule_written(case.rule):
        yield "its rule for a verdict is left out"
    if case.weight != 1 or case.targets or case.limits != type(case.limits)():
        yield "its weight, targets and limits are left out"


def _is_rule_written(rule: VerdictRule) -> bool:
    """Tell whether a test says this rule: by a threshold of the mean, or by having none."""
    return not rule.above and (rule in (ALL_PASSED, EACH) or rule.mode is VerdictMode.MEAN)


def _asserted(case: Case, losses: list[Problem]) -> list[dict[str, Any]]:
    """The checks of a case as assertions; those that were read are written as they stood there."""
    kept = case.extras.get("assert")
    raw = kept if isinstance(kept, Mapping) else {}
    asserted: list[dict[str, Any]] = []
    for check in case.checks:
        written = [thaw(raw[check.id])] if check.id in raw else _assertions(check, case)
        if not written:
            message = f"case {case.id!r}: check {check.id!r} of scorer {check.scorer!r} is left out"
            losses.append(_loss(message, check.origin or case.origin))
        elif len(written) > 1:
            message = f"case {case.id!r}: check {check.id!r} becomes {len(written)} assertions"
            losses.append(_loss(message, check.origin or case.origin))
        asserted += _weighted(written, check)
    return asserted


def _assertions(check: Check, case: Case) -> list[dict[str, Any]]:
    """Return the assertions that a check of another format becomes."""
    if check.scorer == COMMAND:
        code = program_assertion(check.options, case.grader_files)
        return [code[0]] if code is not None else []
    written = assertions(check.scorer, check.options)
    return [] if any(str(one.get("value")).startswith(FILE) for one in written) else written


def _grader_files(case: Case) -> Iterator[FileSpec]:
    """Yield the files of graders but the programs that are made again from the code of assertions."""
    commands = [check for check in case.checks if check.scorer == COMMAND]
    programs = [program_assertion(check.options, case.grader_files) for check in commands]
    made = {code[1].path for code in programs if code is not None}
    yield from (file for file in case.grader_files if file.path not in made)


def _weighted(written: Sequence[dict[str, Any]], check: Check) -> list[dict[str, Any]]:
    """Assertions that together weigh as much as their check."""
    weight = 0 if check.beside else check.weight / max(1, len(written))
    addition = {} if weight == 1 else {"weight": weight}
    return [assertion | addition for assertion in written]


def _skill_file(suite: Suite) -> bytes | None:
    roots = [skill.root for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE]
    files = (Path(root, SKILL_FILE) for root in roots)
    return next((path.read_bytes() for path in files if path.is_file()), None)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
