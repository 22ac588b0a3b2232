"""Write a suite as scenarios of Tessl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Case,
    Dumped,
    FileSpec,
    Origin,
    Problem,
    SkillRef,
    SkillRole,
    Suite,
    VerdictMode,
    VerdictRule,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from .cases import CONTEXT, METADATA
from .claiming import CAPABILITY, CRITERIA, EVALS, FORMAT, SCENARIO, TASK, WEIGHTED_CHECKLIST
from .loading import TIMEOUT_S
from .options import TesslOptions
from .reading import warning
from .scenarios import FILES
from .workspace import setup_command
from .written import Folders, Written, checklist
from .written_parts import WrittenParts, written_parts

_RULE = VerdictRule(mode=VerdictMode.MEAN, threshold=TesslOptions().pass_mark)
_UNWRITTEN = {
    "input": "input",
    "arm_prompts": "prompts of single arms",
    "turns": "further turns",
    "user": "user",
    "image_files": "image",
    "installs": "installs",
    "grader_files": "files of graders",
    "env": "env",
    "pass_env": "env of the host",
    "tags": "tags",
    "cluster": "cluster",
    "network": "network",
    "skip": "skip",
    "targets": "targets",
    "weight": "weight",
    "repeat_rule": "repeat_rule",
    "runs": "runs",
}
"""Fields of a case that a scenario has no place for, in words."""
_INPUTS = "inputs"
"""Name of the folder with the files of the workspace."""


@dataclass
class _Writing:
    """One suite on its way."""

    files: dict[str, bytes] = field(default_factory=dict)
    losses: list[Problem] = field(default_factory=list)

    def lose(self, message: str, origin: Origin | None) -> None:
        """Something that Tessl has no words for."""
        self.losses.append(warning("loss", message, origin))


def dump(suite: Suite) -> Dumped:
    """The suite beside the SKILL.md of each skill under test, and what cannot be said as losses."""
    writing = _Writing()
    _write_subject(suite, writing)
    _lose_defaults(suite, writing)
    cases = tuple(suite.cases)
    folders = Folders([case.id for case in cases])
    for case in cases:
        written = checklist(case)
        for check, loss in written.losses:
            writing.lose(f"case {case.id!r}: {loss}", check.origin if check else case.origin)
        if not case.prompt or not case.prompt.strip():
            writing.lose(f"case {case.id!r} is left out: it has no prompt", case.origin)
        elif not written.items:
            writing.lose(f"case {case.id!r} is left out: nothing of it can be checked", case.origin)
        else:
            _write_case(suite, case, written, folders.name(case.id), writing)
    has_cases = any(path.startswith(f"{EVALS}/") for path in writing.files)
    return Dumped(tuple(writing.files.items()) if has_cases else (), tuple(writing.losses))


def _write_subject(suite: Suite, writing: _Writing) -> None:
    """Write one skill beside its scenarios; several, and what is installed beside them, as a plugin."""
    present = [skill for skill in _skills(suite, SkillRole.CANDIDATE) if Path(skill.root, SKILL_FILE).is_file()]
    for skill in _skills(suite, SkillRole.DISTRACTOR, SkillRole.PREVIOUS):
        writing.lose(f"skill {skill.name!r}, which lies beside the candidate, is not written", suite.origin)
    parts = written_parts(suite)
    writing.files |= parts.files
    for kind in parts.unwritten:
        writing.lose(f"{kind} beside skills: not written", suite.origin)
    if parts.manifest or len(present) > 1:
        writing.files["tile.json"] = _json(_manifest(suite, parts) | _listed(present, writing))
    elif present:
        writing.files[SKILL_FILE] = Path(present[0].root, SKILL_FILE).read_bytes()
    else:
        message = f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it"
        writing.lose(message, suite.origin)


def _manifest(suite: Suite, parts: WrittenParts) -> dict[str, Any]:
    summary = parts.about or suite.description or None
    manifest = {"name": suite.name or suite.id, "version": suite.version, "summary": summary}
    return {key: value for key, value in manifest.items() if value is not None} | parts.manifest


def _listed(skills: list[SkillRef], writing: _Writing) -> dict[str, Any]:
    """Write skills into the plugin; return the key that lists them."""
    listed: dict[str, Any] = {}
    for skill in skills:
        path = f"skills/{skill.name}/{SKILL_FILE}"
        writing.files[path] = Path(skill.root, SKILL_FILE).read_bytes()
        listed[skill.name] = {"path": path}
    return {"skills": listed} if listed else {}


def _skills(suite: Suite, *roles: SkillRole) -> list[SkillRef]:
    skills = {skill.name: skill for arm in suite.arms for skill in arm.skills if skill.role in roles}
    return list(skills.values())


def _lose_defaults(suite: Suite, writing: _Writing) -> None:
    """Tell which wishes of the suite are for Tessl's command line, or for nobody."""
    defaults = suite.defaults
    for name in ("runs", "engine", "model", "judge", "judge_model"):
        if getattr(defaults, name) is not None:
            writing.lose(f"default {name.replace('_', ' ')} is left out: no file of Tessl says it", suite.origin)
    if defaults.limits.timeout_s != TIMEOUT_S:
        writing.lose(f"the time limit becomes {TIMEOUT_S:.0f} seconds", suite.origin)
    if defaults.limits.max_turns is not None:
        writing.lose("a limit of turns cannot be written", suite.origin)


def _write_case(suite: Suite, case: Case, written: Written, name: str, writing: _Writing) -> None:
    if name != case.id:
        writing.lose(f"case {case.id!r} is called {name!r}", case.origin)
    for loss in _unsaid(case):
        writing.lose(f"case {case.id!r}: {loss}", case.origin)
    folder = f"{EVALS}/{name}"
    criteria = _context(suite, case) | {"type": WEIGHTED_CHECKLIST, "checklist": list(written.items)}
    if METADATA in case.extras:
        criteria[METADATA] = thaw(case.extras[METADATA])
    writing.files[f"{folder}/{TASK}"] = (case.prompt or "").encode()
    writing.files[f"{folder}/{CRITERIA}"] = _json(criteria)
    if case.name.strip():
        writing.files[f"{folder}/{CAPABILITY}"] = f"{case.name.strip()}\n".encode()
    settings: dict[str, Any] = {"description": case.description} if case.description else {}
    if case.files:
        inputs = _inputs(case)
        settings["include"] = [f"./{inputs}"]
        for file in case.files:
            writing.files[f"{folder}/{inputs}/{file.path}"] = _content(file)
    if _has_own_setup(case):
        settings["setup"] = [f"./{file.path}" for file in case.setup_files]
        writing.files |= {f"{folder}/{file.path}": _content(file) for file in case.setup_files}
    if settings:
        writing.files[f"{folder}/{SCENARIO}"] = _json(settings)


def _inputs(case: Case) -> str:
    """A folder that no script lies in and that the task does not name, which would keep its name in the workspace."""
    used = {file.path.split("/")[0] for file in case.setup_files}
    names = chain((_INPUTS,), (f"{_INPUTS}-{number}" for number in count(2)))
    return next(name for name in names if name not in used and f"{name}/" not in (case.prompt or ""))


def _context(suite: Suite, case: Case) -> dict[str, Any]:
    """The words for people about what is tested: of a suite of Tessl as they were."""
    if CONTEXT in case.extras:
        return {CONTEXT: thaw(case.extras[CONTEXT])}
    return {CONTEXT: case.description or case.title} if suite.format != FORMAT else {}


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that a scenario has no place for."""
    if case.rule != _RULE:
        yield f"its rule for a verdict is left out: a share of the points passes, {_RULE.threshold:.0%} by default"
    if case.limits.timeout_s not in (None, TIMEOUT_S) or case.limits.max_turns is not None:
        yield "its limits are left out"
    for name, words in _UNWRITTEN.items():
        if getattr(case, name) != Case.model_fields[name].get_default():
            yield f"{words} cannot be written"
    if (case.setup or case.setup_files) and not _has_own_setup(case):
        yield "setup cannot be written"
    for file in case.files:
        if file.executable:
            yield f"files: {file.path!r} is executable, which cannot be written"


def _has_own_setup(case: Case) -> bool:
    """Tell whether the set-up is scripts that lie in the scenario, and nothing else."""
    commands = tuple(setup_command(file.path) for file in case.setup_files)
    is_free = all(file.path not in FILES and file.executable for file in case.setup_files)
    return bool(commands) and commands == case.setup and is_free


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()
