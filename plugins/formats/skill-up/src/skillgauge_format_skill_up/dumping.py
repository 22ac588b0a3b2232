"""Write a suite as eval.yaml of skill-up, with its case files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import (
    Case,
    Check,
    Dumped,
    FileSpec,
    Install,
    Origin,
    Problem,
    Severity,
    SkillRef,
    SkillRole,
    Suite,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from .claiming import FORMAT, VERSION
from .conversation.turns import places_in, turns_of
from .conversation.users import simulator_of
from .drafts import COMMAND
from .grading import CaseGrading
from .judges import script_of
from .loading import ENGINES, TIMEOUT_S
from .servers.writing import WrittenServers, shared_installs
from .workspace import DIFF, git_of, is_of_git
from .written import condition_of

EVAL = "evals/eval.yaml"
_UNWRITTEN = ("input", "arm_prompts", "image_files", "pass_env", "cluster", "network", "skip", "runs")
_ENGINE, _JUDGE_MODEL = "claude_code", "anthropic/claude-sonnet-4-6"
"""Names that every file needs, where the suite has none."""


@dataclass
class _Writing:
    """One suite on its way."""

    suite: Suite
    env: Mapping[str, Any]
    """Variables of all cases."""
    steps: tuple[str, ...]
    """Set-up commands of all cases."""
    shared: tuple[Install, ...]
    """Servers of all cases."""
    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    @cached_property
    def servers(self) -> WrittenServers:
        """The writing of servers."""
        return WrittenServers(lambda path, content: self.put(path, content, self.suite.origin), self.shared)

    def lose(self, message: str, origin: Origin | None) -> None:
        """Something that skill-up has no words for."""
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))

    def put(self, path: str, content: bytes, origin: Origin | None) -> None:
        """A file, whose place is not that of another one."""
        if self.files.setdefault(path, content) != content:
            self.lose(f"two different files would be {path!r}; the first is kept", origin)


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md and its files, and what cannot be said as losses."""
    cases = list(suite.cases)
    writing = _Writing(suite, _shared_env(cases), _shared_steps(cases), shared_installs(cases))
    _put_skill(writing)
    paths = []
    for number, case in enumerate(cases, 1):
        written = _case(case, number, writing)
        if written is not None:
            name = re.sub(r"[^a-z0-9]+", "-", case.id.lower()).strip("-")[:60]
            path = f"evals/cases/{number:05}-{name or 'case'}.yaml"
            writing.put(path, _yaml(written), case.origin)
            paths.append(path)
    head = _yaml(_head(writing, paths))
    return Dumped(((EVAL, head), *writing.files.items()), tuple(writing.losses))


def _shared_env(cases: list[Case]) -> Mapping[str, Any]:
    env: Mapping[str, Any] = thaw(cases[0].env) if cases else {}
    is_shared = all(thaw(case.env) == env for case in cases) and not any("$" in str(value) for value in env.values())
    return env if is_shared else {}


def _shared_steps(cases: list[Case]) -> tuple[str, ...]:
    """The commands with which the set-up of every case begins, before a repository is made."""
    steps = [_divided(case)[0] for case in cases]
    return steps[0] if steps and len(set(steps)) == 1 else ()


def _divided(case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The commands of a case before the first that is one of git, and the rest."""
    at = next((number for number, command in enumerate(case.setup) if is_of_git(command)), len(case.setup))
    return case.setup[:at], case.setup[at:]


def _put_skill(writing: _Writing) -> None:
    suite = writing.suite
    skills = [skill for arm in suite.arms for skill in arm.skills]
    candidate = next((skill for skill in skills if skill.role is SkillRole.CANDIDATE), None)
    if candidate is not None and (file := Path(candidate.root, SKILL_FILE)).is_file():
        writing.files[SKILL_FILE] = file.read_bytes()
    else:
        message = f"the suite is about no skill with a {SKILL_FILE}, which has to lie above it"
        writing.lose(message, suite.origin)
    for skill in dict.fromkeys(skills):
        if skill is not candidate and not _is_same(skill, candidate):
            writing.lose(f"skill {skill.name!r}, which lies beside the candidate, is not written", suite.origin)


def _is_same(skill: SkillRef, other: SkillRef | None) -> bool:
    return other is not None and (skill.name, skill.root) == (other.name, other.root)


def _head(writing: _Writing, paths: list[str]) -> dict[str, Any]:
    suite, defaults = writing.suite, writing.suite.defaults
    kept: dict[str, Any] = thaw(suite.extras) if suite.format == FORMAT else {}
    for name in ("runs", "judge"):
        if getattr(defaults, name) not in (None, 1):
            writing.lose(f"default {name} cannot be written", suite.origin)
    if defaults.limits.max_turns is not None:
        writing.lose("a limit of turns cannot be written", suite.origin)
    names = {name: written for written, name in reversed(ENGINES.items())}
    engine: dict[str, Any] = {"name": names.get(defaults.engine or "", _ENGINE)}
    if defaults.engine is not None and defaults.engine not in names:
        writing.lose(f"engine {defaults.engine!r} is none of skill-up", suite.origin)
    elif defaults.model is not None:
        engine["model"] = {"name": defaults.model}
    environment: dict[str, Any] = {"type": "none"}
    environment |= {"env": dict(writing.env)} if writing.env else {}
    environment |= {"setup_steps": [{"run": step} for step in writing.steps]} if writing.steps else {}
    timeout_s = defaults.limits.timeout_s or TIMEOUT_S
    cases = {"files": paths, "defaults": {"timeout_seconds": max(1, round(timeout_s))}} | kept.pop("cases", {})
    return {
        "schema_version": VERSION,
        "environment": environment,
        **_mcp(writing.servers.of_suite()),
        "skills": [{"source": "local_path", "path": "."}],
        "engine": engine,
        "cases": cases,
        "benchmark": {"enabled": defaults.baseline},
    } | kept


def _case(case: Case, number: int, writing: _Writing) -> dict[str, Any] | None:
    if why := _why_unasked(case):
        writing.lose(f"case {case.id!r} is left out: {why}", case.origin)
        return None

    def put(path: str, text: str) -> None:
        writing.put(path, text.encode(), case.origin)

    grading = CaseGrading(case, number, put, writing.suite.defaults.judge_model or _JUDGE_MODEL)
    keys = grading.keys()
    is_graded = bool(keys or grading.conditions)
    for loss in (*(_unsaid(case, writing) if is_graded else ()), *grading.losses):
        writing.lose(f"case {case.id!r}: {loss}", case.origin)
    if not is_graded:
        writing.lose(f"case {case.id!r} is left out: nothing of it can be checked in skill-up", case.origin)
        return None
    written = {
        "id": case.id,
        "title": case.name or None,
        "description": case.description or None,
        "tag": case.tags[0] if case.tags else None,
        "input": _input(case, grading.conditions),
        **_user(case),
        **_mcp(writing.servers.of_case(case)),
        "context": _context(case, number, writing) or None,
        "constraints": _constraints(case) or None,
    }
    _put_graders(case, writing)
    return {key: value for key, value in written.items() if value is not None} | keys


def _mcp(servers: list[dict[str, Any]]) -> dict[str, Any]:
    return {"mcp": {"servers": servers}} if servers else {}


def _why_unasked(case: Case) -> str:
    """Return why skill-up cannot ask what a case asks; empty if it can."""
    if not case.prompt or not case.prompt.strip():
        return "it has no prompt"
    if case.turns and turns_of(case) is None and places_in((case.prompt, *case.turns)):
        return "{{...}} in a turn stands for a value of an earlier answer there, and nothing gives it"
    return ""


def _user(case: Case) -> dict[str, Any]:
    """Return the key of the user whom a model plays, if there is one that can be written."""
    scripted = turns_of(case)
    return scripted[1] if scripted is not None else simulator_of(case)


def _constraints(case: Case) -> dict[str, int]:
    timeout_s = case.limits.timeout_s
    constraints = {"timeout_seconds": max(1, round(timeout_s))} if timeout_s else {}
    return constraints | ({"max_turns": case.user.turns + 1} if case.user and simulator_of(case) else {})


def _input(case: Case, conditions: Sequence[Check]) -> dict[str, Any]:
    scripted = turns_of(case)
    if scripted is None and not case.turns and all(check.turn is None for check in case.checks):
        return {"prompt": case.prompt}
    written = [{"role": "user", "content": text} for text in (case.prompt, *case.turns)]
    turns: list[dict[str, Any]] = scripted[0] if scripted is not None else written
    for check in conditions:
        key, texts = condition_of(check) or ("", [])
        turns[check.turn or 0].setdefault("post_condition", {})[key] = texts
    return {"turns": turns}


def _put_graders(case: Case, writing: _Writing) -> None:
    commands = [str(check.options["command"]) for check in case.checks if check.scorer == COMMAND]
    scripts = {script_of(command) for command in commands}
    for file in case.grader_files:
        if file.path in scripts:
            writing.put(file.path, _content(file), case.origin)
        else:
            writing.lose(f"case {case.id!r}: grader file {file.path!r} cannot be written", case.origin)


def _context(case: Case, number: int, writing: _Writing) -> dict[str, Any]:
    """Files with their texts, other files in a folder that is copied, and the repository that set-up commands make."""
    context: dict[str, Any] = {}
    folder = f"evals/fixtures/{number:05}"
    for file in case.files:
        if file.executable:
            message = f"case {case.id!r}: {file.path!r} of its files is executable, which cannot be written"
            writing.lose(message, case.origin)
        if file.text is not None:
            context.setdefault("files", {})[file.path] = file.text
        else:
            context["repo_fixture"] = folder
            writing.put(f"{folder}/{file.path}", _content(file), case.origin)
    steps, commands = _divided(case)
    patch = next((file for file in case.setup_files if file.path == DIFF), None)
    path = f"evals/diffs/{number:05}.patch" if patch is not None else None
    git = git_of(commands, path)
    others = [file.path for file in case.setup_files if file.path != DIFF]
    if git is None or steps != writing.steps or others:
        writing.lose(f"case {case.id!r}: its setup cannot be written", case.origin)
    elif git:
        context["git"] = git
        if patch is not None and path is not None:
            writing.put(path, _content(patch), case.origin)
    return context


def _unsaid(case: Case, writing: _Writing) -> Iterator[str]:
    """Yield the parts that a case file has no key for."""
    if case.weight != 1:
        yield "its weight is left out"
    if case.limits.max_turns is not None:
        yield "its limit of turns is left out"
    if thaw(case.env) != writing.env:
        yield "env cannot be written: in skill-up it is that of all cases"
    yield from writing.servers.losses(case)
    if case.user and not simulator_of(case) and turns_of(case) is None:
        yield "a user who is simulated otherwise than by a scenario, or after further turns, cannot be written"
    if len(case.tags) > 1:
        yield f"tags but the first cannot be written: {', '.join(case.tags[1:])}"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _yaml(value: object) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120).encode()
