"""Write a suite as eval.yaml of skillgrade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import Case, Check, Dumped, FileSpec, Origin, Problem, Severity, SkillRole, Suite, thaw
from skillgauge_skill_folders import SKILL_FILE

from .claiming import FORMAT
from .files import TIMEOUT_S, TRIALS
from .loading import COMMAND, ENGINES, RUBRIC, RULE

FIXTURES = "fixtures"
_YES, _NO = '{"score": 1}', '{"score": 0}'
_UNWRITTEN = (
    "name",
    "description",
    "input",
    "arm_prompts",
    "turns",
    "user",
    "image_files",
    "installs",
    "setup",
    "env",
    "pass_env",
    "tags",
    "cluster",
)


def dump(suite: Suite) -> Dumped:
    """The suite with the skill's SKILL.md and its files, and what cannot be said as losses."""
    losses: list[Problem] = []
    files: dict[str, bytes] = {}
    skill = _skill_file(suite)
    if skill is None:
        losses.append(
            _loss(f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it", suite.origin)
        )
    else:
        files[SKILL_FILE] = skill
    tasks = []
    for number, case in enumerate(suite.cases, 1):
        losses += [_loss(f"case {case.id!r}: {what}", case.origin) for what in _unsaid(case)]
        files |= {file.path: _content(file) for file in case.grader_files}
        workspace = []
        for file in case.files:
            place = f"{FIXTURES}/{number}/{file.path}"
            files[place] = _content(file)
            workspace.append({"src": place, "dest": file.path} | ({"chmod": "+x"} if file.executable else {}))
        graders = [grader for check in case.checks if (grader := _grader(check)) is not None]
        if graders and case.prompt:
            task: dict[str, Any] = {"name": case.id, "instruction": case.prompt}
            task |= {"workspace": workspace} if workspace else {}
            task |= {"graders": graders}
            task |= {"trials": case.runs} if case.runs is not None else {}
            task |= {"timeout": case.limits.timeout_s} if case.limits.timeout_s is not None else {}
            tasks.append(task | (_kept(case) if suite.format == FORMAT else {}))
        else:
            losses.append(_left_out(case))
    document = {"version": "1", "defaults": _defaults(suite), "tasks": tasks}
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return Dumped((("eval.yaml", text.encode()), *files.items()), tuple(losses))


def _left_out(case: Case) -> Problem:
    why = "nothing of it can be checked here" if case.prompt else "it has no prompt"
    return _loss(f"case {case.id!r} is left out: {why}", case.origin)


def _defaults(suite: Suite) -> dict[str, Any]:
    kept = suite.extras.get("defaults")
    written: dict[str, Any] = thaw(kept) if isinstance(kept, Mapping) and suite.format == FORMAT else {}
    names = {engine: agent for agent, engine in ENGINES.items()}
    if suite.defaults.engine in names:
        written["agent"] = names[suite.defaults.engine]
    if suite.defaults.judge_model is not None:
        written["grader_model"] = suite.defaults.judge_model
    timeout = suite.defaults.limits.timeout_s
    return {
        **written,
        "trials": suite.defaults.runs or TRIALS,
        "timeout": timeout if timeout is not None else TIMEOUT_S,
    }


def _kept(case: Case) -> dict[str, Any]:
    """Return the keys of a task that nothing executes here."""
    kept: dict[str, Any] = thaw(case.extras)
    further = kept.pop("further", {})
    return {**kept, **further}


def _grader(check: Check) -> dict[str, Any] | None:
    weight = {} if check.weight == 1 else {"weight": check.weight}
    options = check.options
    if check.beside:
        return None
    if check.scorer == COMMAND and options.get("reads") == "score":
        return {"type": "deterministic", "run": options["command"]} | weight
    if check.scorer == COMMAND:
        # Here a grader has to print a score, so the exit code becomes one.
        code = options.get("expect_exit_code", 0)
        test = f"if [ $? -eq {code} ]; then echo '{_YES}'; else echo '{_NO}'; fi"
        run = f"( {options['command']}\n) >&2\n{test}"
        return {"type": "deterministic", "run": run} | weight
    criteria = options.get("criteria") or options.get("claims")
    if check.scorer != RUBRIC or not criteria:
        return None
    text = "\n".join(map(str, criteria)) if isinstance(criteria, tuple) else str(criteria)
    model = options.get("model")
    return {"type": "llm_rubric", "rubric": text} | ({"model": model} if model else {}) | weight


def _unsaid(case: Case) -> Iterator[str]:
    """Return the parts that a task has no key for."""
    if case.rule != RULE:
        yield "its rule for a verdict is left out"
    for name in _UNWRITTEN:
        if getattr(case, name):
            yield f"{name.replace('_', ' ')} cannot be written"
    for check in case.checks:
        if _grader(check) is None:
            yield f"check {check.id!r} of scorer {check.scorer!r} is left out"


def _skill_file(suite: Suite) -> bytes | None:
    roots = [skill.root for arm in suite.arms for skill in arm.skills if skill.role is SkillRole.CANDIDATE]
    files = (Path(root, SKILL_FILE) for root in roots)
    return next((path.read_bytes() for path in files if path.is_file()), None)


def _content(file: FileSpec) -> bytes:
    return Path(file.source).read_bytes() if file.source is not None else (file.text or "").encode()


def _loss(message: str, origin: Origin | None) -> Problem:
    return Problem("suite.loss", message, origin=origin, severity=Severity.WARNING)
