"""Write a suite as case folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import (
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
    thaw,
)
from skillgauge_mcp_servers.names import SERVERS
from skillgauge_skill_folders import SKILL_FILE

from .cases import KEPT, RUNS, SYSTEM_PROMPT
from .claiming import CASE_FILE, EVALS, FORMAT, GRADERS, PROMPT_FILE
from .files import BODIES
from .mocks import MOCKS
from .written import Grader, graders_of

VERSION = "1.1"
SCRIPT, INPUTS = "scaffold.sh", "inputs"
_MOST = {"runs": 50, "max_turns": 200, "timeout_seconds": 3600}
_UNWRITTEN = (
    *("arm_prompts", "turns", "user", "input", "image_files", "grader_files"),
    *("pass_env", "network", "skip", "cluster"),
)
_VARIABLE = "EVAL_"


@dataclass
class _Writing:
    """One suite on its way."""

    suite: Suite
    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    def lose(self, message: str, origin: Origin | None) -> None:
        """Note something that the format has no words for."""
        self.losses.append(Problem("suite.loss", message, origin=origin, severity=Severity.WARNING))


def dump(suite: Suite) -> Dumped:
    """Write a folder for each case, with the skill's SKILL.md, and what cannot be said as losses."""
    writing = _Writing(suite)
    roots = [one.root for arm in suite.arms for one in arm.skills if one.role is SkillRole.CANDIDATE]
    skill = next((path for root in roots if (path := Path(root, SKILL_FILE)).is_file()), None)
    if skill is not None:
        writing.files[SKILL_FILE] = skill.read_bytes()
    if any(one.role is not SkillRole.CANDIDATE for arm in suite.arms for one in arm.skills):
        writing.lose("skills beside the candidate are not written", suite.origin)
    folders: set[str] = set()
    for case in suite.cases:
        _write(case, _folder(case, folders), writing)
    return Dumped(tuple(writing.files.items()), tuple(writing.losses))


def _folder(case: Case, folders: set[str]) -> str:
    """Return a folder of its own for a case, which lies in no other case."""
    parts = [re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip(".-") or "case" for part in case.id.split("/")]
    folder, number = "/".join(parts), 2
    if any(one.startswith(f"{folder}/") or folder.startswith(f"{one}/") for one in folders):
        folder = "-".join(parts)
    stem = folder
    while folder in folders:
        folder, number = f"{stem}-{number}", number + 1
    folders.add(folder)
    return folder


def _write(case: Case, folder: str, writing: _Writing) -> None:
    def lose(message: str) -> None:
        writing.lose(f"case {case.id!r}: {message}", case.origin)

    if not case.prompt or not case.prompt.strip():
        writing.lose(f"case {case.id!r} is left out: it has no prompt", case.origin)
        return
    graders = dict(_graders(case, writing))
    if not graders:
        writing.lose(f"case {case.id!r} is left out: nothing would grade it", case.origin)
        return
    for loss in _unwritten(case):
        lose(loss)
    place = f"{EVALS}/{folder}"
    writing.files[f"{place}/{PROMPT_FILE}"] = _headed(_head(case, writing), case.prompt)
    if case.setup or case.files:
        name = case.name or case.id
        document = {"schema_version": VERSION, "name": name, "context": {"scaffold_script": SCRIPT}}
        writing.files[f"{place}/{CASE_FILE}"] = _yaml(document).encode()
        writing.files[f"{place}/{SCRIPT}"] = _script(case).encode()
        for file in (*case.setup_files, *case.files):
            inner = file.path if file in case.setup_files else f"{INPUTS}/{file.path}"
            writing.files.setdefault(f"{place}/{inner}", _content(file))
    _write_installs(case, place, writing)
    for number, (name, grader) in enumerate(graders.items(), 1):
        body_key = BODIES.get(grader["type"], "")
        body = grader.pop(body_key, "") if _survives_as_body(grader.get(body_key, "")) else ""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "grader"
        writing.files[f"{place}/{GRADERS}/{number:02}-{slug}.md"] = _headed({"name": name, **grader}, body)


def _write_installs(case: Case, place: str, writing: _Writing) -> None:
    """Write what a case gives its agent: answers of stand-ins, and what only this format can say, if it is its own."""
    texts = case.extras.get(MOCKS)
    is_own = writing.suite.format == FORMAT
    for path, text in texts.items() if is_own and isinstance(texts, Mapping) else ():
        writing.files[f"{place}/{MOCKS}/{path}"] = str(text).encode()
    written = {SERVERS} if is_own and texts else set()
    written |= {SYSTEM_PROMPT} if is_own else set()
    for kind in dict.fromkeys(one.kind for one in case.installs if one.kind not in written):
        writing.lose(f"case {case.id!r}: {kind} that its agent is given cannot be written", case.origin)


def _survives_as_body(text: object) -> bool:
    """Tell whether a text is the same after the blanks around it are gone."""
    return isinstance(text, str) and text == text.strip() and "\r" not in text


def _graders(case: Case, writing: _Writing) -> Iterator[tuple[str, Grader]]:
    """Yield the graders of a case by their names: those that it was read from, else those that its checks become."""
    for check in case.checks:
        own = _own(check, case) if writing.suite.format == FORMAT else None
        if own is not None:
            yield check.id, own
            continue
        graders = graders_of(check)
        if not graders:
            message = f"case {case.id!r}: check {check.id!r} of scorer {check.scorer!r} is left out"
            writing.lose(message, check.origin)
        for number, grader in enumerate(graders, 1):
            yield check.id if len(graders) == 1 else f"{check.id} {number}", grader


def _own(check: Check, case: Case) -> Grader | None:
    graders = case.extras.get("graders")
    own = graders.get(check.id) if isinstance(graders, Mapping) else None
    return dict(thaw(own)) if isinstance(own, Mapping) else None


def _head(case: Case, writing: _Writing) -> dict[str, Any]:
    """Return the front matter: what the case was read from, as far as this format read it, and what its fields say."""
    suite = writing.suite
    limits = case.limits.over(suite.defaults.limits)
    timeout_s = round(limits.timeout_s) if limits.timeout_s else None
    head: dict[str, Any] = {
        "schema_version": VERSION,
        "name": case.name or case.id,
        "description": case.description,
        "tags": list(case.tags),
        "max_turns": limits.max_turns,
        "timeout_seconds": timeout_s if timeout_s is None else max(1, timeout_s),
        "env": _environment(case, writing),
    }
    runs = case.runs or suite.defaults.runs or 1
    head["runs"] = None if runs == RUNS else runs
    if suite.format == FORMAT:
        head |= {key: thaw(case.extras[key]) for key in KEPT if key in case.extras}
    else:
        head["model"] = suite.defaults.model
    for key, most in _MOST.items():
        if (value := head.get(key)) and value > most:
            writing.lose(f"case {case.id!r}: {key} {value} is more than the {most} that may be written", case.origin)
            head[key] = most
    return {key: value for key, value in head.items() if value}


def _environment(case: Case, writing: _Writing) -> dict[str, Any]:
    env = {key: value for key, value in thaw(case.env).items() if key.startswith(_VARIABLE)}
    if lost := sorted(case.env.keys() - env.keys()):
        message = f"case {case.id!r}: variables that do not begin with {_VARIABLE}: {', '.join(lost)}"
        writing.lose(message, case.origin)
    return env


def _unwritten(case: Case) -> Iterator[str]:
    """Yield the parts that a case has no key for."""
    if case.rule.mode is VerdictMode.MEAN:
        yield "its rule for a verdict is left out: every grader has to pass"
    if case.weight != 1:
        yield "its weight is left out"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"


def _script(case: Case) -> str:
    inputs = f'cp -R "$(dirname "$0")/{INPUTS}/." .\n' if case.files else ""
    return f"set -e\n{inputs}" + "".join(f"{command}\n" for command in case.setup)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _headed(head: Mapping[str, Any], body: str) -> bytes:
    return f"---\n{_yaml(head)}---\n{body}\n".encode()


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
