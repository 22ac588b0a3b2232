"""Write a suite as an eval file of Vally."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from skillgauge.api import (
    ALL_PASSED,
    Case,
    Dumped,
    Install,
    SkillRef,
    SkillRole,
    Suite,
    VerdictMode,
    VerdictRule,
    thaw,
)
from skillgauge_skill_folders import SKILL_FILE

from .claiming import FORMAT
from .loading import TIMEOUT_S
from .source.durations import duration_text
from .writing.losses import Writing, lay_below
from .writing.stimuli import WrittenStimulus, written_stimulus
from .writing.weights import type_weights

_SERVERS = "servers"


def dump(suite: Suite) -> Dumped:
    """Return the suite with the skill's SKILL.md and its files, and what cannot be said as losses."""
    cases = list(suite.cases)
    skill = _candidate(suite)
    name = skill.name if skill is not None else suite.name or suite.id
    writing = Writing(name, _rule(cases), _timeout(suite, cases), suite.format == FORMAT)
    if skill is not None and (file := Path(skill.root, SKILL_FILE)).is_file():
        writing.files[SKILL_FILE] = file.read_bytes()
    else:
        writing.lose(f"the suite is about no skill with a {SKILL_FILE}, which has to lie beside it", suite.origin)
    for loss in _unsaid(suite, cases):
        writing.lose(loss, suite.origin)
    written = [written_stimulus(case, number, writing) for number, case in enumerate(cases, 1)]
    stimuli = [stimulus for stimulus in written if stimulus is not None]
    head = _head(suite, writing)
    if scoring := _scoring(suite, stimuli, writing):
        head["scoring"] = scoring
    if writing.is_own:
        lay_below(head, thaw(suite.extras))
    head["stimuli"] = [stimulus.keys for stimulus in stimuli]
    return Dumped((("eval.yaml", _yaml(head)), *writing.files.items()), tuple(writing.losses))


def _head(suite: Suite, writing: Writing) -> dict[str, Any]:
    defaults = suite.defaults
    head: dict[str, Any] = {"name": suite.name or suite.id}
    head |= {"description": suite.description} if suite.description else {}
    head |= {"version": suite.version} if suite.version is not None else {}
    settings = {
        "timeout": duration_text(writing.timeout_s),
        "runs": defaults.runs or 1,
        "model": defaults.model,
        "judge_model": defaults.judge_model,
    }
    head["defaults"] = {key: value for key, value in settings.items() if value is not None}
    servers: dict[str, Any] = {}
    for install in _installs(suite):
        if install.kind == _SERVERS and not install.files:
            servers |= thaw(install.content).get(_SERVERS, {})
        else:
            writing.lose(f"{install.kind} {install.name!r} cannot be written", suite.origin)
    return {**head, "environment": {"mcpServers": servers}} if servers else head


def _installs(suite: Suite) -> list[Install]:
    """Return what arms install beside skills, each once."""
    return list({install.digest: install for arm in suite.arms for install in arm.installs}.values())


def _scoring(suite: Suite, stimuli: Sequence[WrittenStimulus], writing: Writing) -> dict[str, Any]:
    """Return the way in which the scores of graders become one; empty if each grader has to pass."""
    if not writing.averages:
        return {}
    weights = type_weights([stimulus.weighted for stimulus in stimuli])
    if weights is None:
        writing.lose("weights of checks are left out, since graders of one type share a weight", suite.origin)
    return {"threshold": writing.rule.threshold} | ({"weights": weights} if weights else {})


def _unsaid(suite: Suite, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the parts of a suite that a file has no key for."""
    candidate = _candidate(suite)
    for name in dict.fromkeys(skill.name for arm in suite.arms for skill in arm.skills if skill != candidate):
        yield f"skill {name!r}, which lies beside the candidate, is not written"
    defaults = suite.defaults
    if defaults.baseline and suite.comparisons:
        yield "an eval file has no arms, so that the one without the skill runs by --baseline only"
    for key in ("engine", "judge"):
        if getattr(defaults, key) is not None:
            yield f"{key} {getattr(defaults, key)!r} is left out"
    if defaults.limits.max_turns is not None:
        yield "a limit of turns cannot be written"
    if _limits(suite, cases) == [None]:
        yield f"no limit of time is set, and Vally ends a session after {TIMEOUT_S:g} s"


def _limits(suite: Suite, cases: Sequence[Case]) -> list[float | None]:
    """Return the limits of the sessions, each once; `None` where there is none."""
    limits = {case.limits.timeout_s or suite.defaults.limits.timeout_s for case in cases}
    return sorted(limits, key=lambda limit: limit or 0.0)


def _timeout(suite: Suite, cases: Sequence[Case]) -> float:
    """Return the limit that all sessions get: that of the suite, else the longest of a case."""
    return suite.defaults.limits.timeout_s or max(_limits(suite, cases), key=lambda limit: limit or 0.0) or TIMEOUT_S


def _rule(cases: Sequence[Case]) -> VerdictRule:
    """Return the rule that all cases get: that of the first if it is a mean that a file can say."""
    first = cases[0].rule if cases else ALL_PASSED
    return first if first.mode is VerdictMode.MEAN and not first.above and first.threshold > 0 else ALL_PASSED


def _candidate(suite: Suite) -> SkillRef | None:
    skills = (skill for arm in suite.arms for skill in arm.skills)
    return next((skill for skill in skills if skill.role is SkillRole.CANDIDATE), None)


def _yaml(value: object) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120).encode()
