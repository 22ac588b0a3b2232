"""Write a suite as EVAL.yaml: a prompt that is one variable, and a test for each case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import Case, Check, Dumped, FileSpec, Origin, Problem, Severity, SkillRole, Suite, VerdictMode, thaw
from skillgauge_assertions import FOLDER as CODE_FOLDER
from skillgauge_assertions import assertions
from skillgauge_skill_folders import SKILL_FILE

from .grading import THRESHOLD
from .loading import ENGINES
from .scripts import FOLDER

EVAL_FILE = "EVAL.yaml"
_PROMPT = "{{ input }}"
_UNWRITTEN = (
    "name",
    "arm_prompts",
    "input",
    "image_files",
    "setup",
    "setup_files",
    "env",
    "pass_env",
    "network",
    "skip",
)
_PROVIDERS = {engine: name for name, engine in reversed(tuple(ENGINES.items()))}


@dataclass
class _Writing:
    """One suite on its way."""

    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    def lose(self, message: str, origin: Origin | None) -> None:
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))


def dump(suite: Suite) -> Dumped:
    """The file with the skill's SKILL.md and the files of its cases, and what cannot be said as losses."""
    writing = _Writing()
    roots = [one.root for arm in suite.arms for one in arm.skills if one.role is SkillRole.CANDIDATE]
    skill = next((path for root in roots if (path := Path(root, SKILL_FILE)).is_file()), None)
    if skill is not None:
        writing.files[SKILL_FILE] = skill.read_bytes()
    tests = [_test(case, number, writing) for number, case in enumerate(suite.cases, 1)]
    document = {**_head(suite, writing), "prompts": [_PROMPT], "tests": tests}
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return Dumped(((EVAL_FILE, text.encode()), *writing.files.items()), tuple(writing.losses))


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
    def lose(what: str, origin: Origin | None = None) -> None:
        writing.lose(f"case {case.id!r}: {what}", origin or case.origin)

    for name in _UNWRITTEN:
        if getattr(case, name):
            lose(f"{name.replace('_', ' ')} cannot be written")
    if case.weight != 1 or case.targets or case.limits.max_turns is not None:
        lose("its weight, targets and limit of turns are left out")
    test: dict[str, Any] = {"id": case.id} | ({"description": case.description} if case.description else {})
    test["vars"] = {"input": case.prompt or ""}
    test |= {"metadata": {"tags": list(case.tags)}} if case.tags else {}
    test |= {"conversation_id": case.cluster} if case.cluster else {}
    test |= {"run": {"timeout_seconds": case.limits.timeout_s}} if case.limits.timeout_s is not None else {}
    if case.files:
        folder = f"workspaces/{number:05}"
        test["environment"] = {"type": "host", "workdir": folder}
        writing.files |= {f"{folder}/{file.path}": _content(file) for file in case.files}
        if any(file.executable for file in case.files):
            lose("that files are executable cannot be written")
    asserted, all_required = _asserted(case, writing)
    if case.rule.mode is VerdictMode.MEAN and not case.rule.above:
        test |= {"threshold": case.rule.threshold} if case.rule.threshold != THRESHOLD else {}
    elif not all_required:
        lose("its rule for a verdict is left out")
    return test | ({"assert": asserted} if asserted else {})


def _asserted(case: Case, writing: _Writing) -> tuple[list[Any], bool]:
    """The assertions, and whether all of them are required, which is the rule that all have to hold."""
    kept = case.extras.get("assert")
    raw = kept if isinstance(kept, Mapping) else {}
    decides = [check for check in case.checks if not check.beside]
    is_mean = case.rule.mode is VerdictMode.MEAN
    gate = min((check.stage for check in decides), default=0)
    staged = len({check.stage for check in decides}) == 2
    assertions_: list[Any] = []
    for check in case.checks:
        written = [thaw(raw[check.id])] if check.id in raw else _assertions(check)
        if not written or (check.stage and not (staged and is_mean)):
            why = "is asked after others, which cannot be written" if written else "is left out"
            writing.lose(f"case {case.id!r}: check {check.id!r} of scorer {check.scorer!r} {why}", check.origin)
        if len(written) > 1:
            writing.lose(f"case {case.id!r}: check {check.id!r} becomes {len(written)} assertions", check.origin)
        weight = 0 if check.beside else check.weight / max(1, len(written))
        required = not check.beside and (not is_mean or (staged and check.stage == gate))
        more = ({"weight": weight} if weight != 1 else {}) | ({"required": True} if required else {})
        assertions_ += [_named(one, check.id, len(assertions_) + at, more) for at, one in enumerate(written, 1)]
    for file in case.grader_files:
        if file.path.startswith(f"{FOLDER}/files/"):
            writing.files[file.path] = _content(file)
        elif not file.path.startswith((f"{FOLDER}/", f"{CODE_FOLDER}/")):
            writing.lose(f"case {case.id!r}: {file.path!r}, a file of graders, is left out", case.origin)
    return assertions_, not is_mean


def _named(assertion: Any, name: str, number: int, more: dict[str, Any]) -> Any:
    """An assertion that is called as its check is when it is read: by its text, its name, or its type and number."""
    if isinstance(assertion, str) and not more and assertion == name:
        return assertion
    typed: dict[str, Any] = {"type": "llm-rubric", "value": [assertion]} if isinstance(assertion, str) else assertion
    plain = str(typed["type"]).removeprefix("not-")
    return typed | ({} if name == f"{plain} {number}" else {"metric": name}) | more


def _assertions(check: Check) -> list[Any]:
    """Return assertions that say the same; a claim is a text."""
    options = thaw(check.options)
    if check.scorer == "rubric" and options.keys() == {"claims"}:
        return list(options["claims"])
    if check.scorer == "usage" and check.options.keys() <= _METRICS.keys():
        return [
            {
                "type": "execution-metrics",
                **{_METRICS[key]: value * _UNITS.get(key, 1) for key, value in options.items()},
            }
        ]
    written = assertions(check.scorer, check.options)
    return written if all(one["type"].removeprefix("not-") in _SAME for one in written) else []


_METRICS = {
    "tool_calls": "max_tool_calls",
    "turns": "max_llm_calls",
    "tokens": "max_tokens",
    "cost_usd": "max_cost_usd",
    "duration_s": "max_duration_ms",
}
_UNITS = {"duration_s": 1000}
_SAME = (
    *("equals", "contains", "icontains", "regex", "is-json", "skill-used", "llm-rubric"),
    *("trajectory:tool-used", "trajectory:tool-sequence"),
)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()
