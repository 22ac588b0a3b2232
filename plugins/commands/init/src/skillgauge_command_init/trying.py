"""Try drafts of evals once in each arm, and keep those that tell the arms apart."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Case,
    ExitCode,
    Problem,
    Score,
    ScoreStatus,
    Suite,
    TrialResult,
    UsageError,
    Verdict,
    cut,
    plain,
)
from skillgauge.api.report import RunState
from skillgauge.api.run import Asked, Evaluation, Invocation, eval_options
from skillgauge_skill_folders import Skill

from .asking import cost

EVALS_FILE = "evals/evals.json"
_REASON_CHARACTERS = 200
_ENDS = {RunState.INTERRUPTED: ExitCode.INTERRUPTED, RunState.STOPPED: ExitCode.BUDGET}
_SAME: Mapping[frozenset[tuple[ScoreStatus | None, ScoreStatus | None]], str] = {
    frozenset({(ScoreStatus.PASSED, ScoreStatus.PASSED)}): "it passes without the skill, too",
    frozenset({(ScoreStatus.FAILED, ScoreStatus.FAILED)}): "it fails with the skill, too",
}
"""Reasons to drop a draft all of whose assertions end alike, by how they end in both arms."""


@dataclass(frozen=True)
class Tried:
    """A draft after it was tried."""

    draft: Mapping[str, Any]
    """As `evals.json` has it; of its assertions only those that tell the arms apart."""
    dropped: str = ""
    """The reason why it is of no use; empty if it is kept."""

    @property
    def id(self) -> str:
        """Its name."""
        return str(self.draft["id"])


@dataclass(frozen=True)
class Trials:
    """The drafts of a skill after all were tried."""

    tried: tuple[Tried, ...]
    cost_usd: float | None
    """The known cost of the sessions."""
    exit_code: ExitCode = ExitCode.OK
    """That of an interrupt or a budget, if one ended the trying before its end."""

    @property
    def kept(self) -> tuple[Tried, ...]:
        """Those that are of use."""
        return tuple(one for one in self.tried if not one.dropped)


class _Silent:
    """Hears of an evaluation for a user who hears the same again from `eval`; how far it is, is shown."""

    def __init__(self, call: Invocation) -> None:
        self.watching = call.listener.watching

    def notice(self, text: str) -> None:
        """Nothing that could not wait."""

    def problems(self, problems: Iterable[Problem]) -> None:
        """Nothing that could not wait: what stops the evaluation is raised."""


async def try_drafts(
    call: Invocation, skill: Skill, drafts: Sequence[Mapping[str, Any]], asked: Mapping[str, Any]
) -> Trials:
    """Run each draft once in each arm, in a copy of the skill, and tell which are of use.

    Args:
        call: the command line.
        skill: whose drafts they are; its folder is left as it is.
        drafts: as `evals.json` has them.
        asked: options of `eval`: the engine, its model, the most it may cost.

    Raises:
        SkillgaugeError: the drafts cannot be run, with everything that is missing.
        UsageError: no session had an answer, so nothing is known of any draft.
    """
    with _copy(skill, drafts) as folder:
        quiet = replace(call, listener=_Silent(call))
        evaluation = await Evaluation.prepare(quiet, _once(eval_options(quiet, {**asked, "paths": (str(folder),)})))
        ended = await evaluation.carry_out()
        results = {(one.case_id, one.arm): one for one in ended.view.results()}
    if not any(one.verdict is not Verdict.ERROR for one in results.values()):
        reason = next((_trouble(one) for one in results.values()), "no session was run")
        message = f"no draft of an eval for {plain(skill.name)} could be tried: {reason}"
        raise UsageError(Problem("init.not-tried", message, hint="Mend that, and run `skillgauge init` again."))
    suites = [planned.suite for planned in evaluation.prepared.plan.suites]
    tried = tuple(judged(draft, suites, results) for draft in drafts)
    spent = cost([usage for one in results.values() for usage in one.usages])
    return Trials(tried, spent, _ENDS.get(ended.view.run.state, ExitCode.OK))


def _once(request: Asked) -> Asked:
    """The same evaluation with each session once, whatever configuration and suite say, kept and reported nowhere."""
    options = request.options.unkept()
    how = replace(options.how, runs=1, detect=None, until_decided=False)
    reports = replace(request.reports, names=(), own=False, file=None)
    return replace(request, options=replace(options, how=how), reports=reports)


def judged(draft: Mapping[str, Any], suites: Sequence[Suite], results: Mapping[tuple[str, str], TrialResult]) -> Tried:
    """Tell whether a draft is of use, by what its sessions showed.

    Args:
        draft: as `evals.json` has it.
        suites: what was run, with a case of the draft's id in one of them.
        results: by case and arm.
    """
    suite, case = next((suite, case) for suite in suites for case in suite.cases if case.id == draft["id"])
    of_arms = [results.get((case.id, arm.name)) for arm in suite.arms]
    for result in of_arms:
        if result is None or result.verdict is Verdict.ERROR:
            return Tried(draft, f"not tried: {'no session was run' if result is None else _trouble(result)}")
    results_given = [result for result in of_arms if result is not None]
    if len(results_given) < 2:
        return Tried(draft)
    return _discriminating(draft, case, *(result.scores for result in results_given[:2]))


def _discriminating(
    draft: Mapping[str, Any], case: Case, candidate: Sequence[Score], baseline: Sequence[Score]
) -> Tried:
    """Keep the assertions that hold in one arm alone."""
    checks = [check.id for check in case.checks if not check.beside]
    first, second = ({one.check_id: one.status for one in scores} for scores in (candidate, baseline))
    pairs = [(first.get(check), second.get(check)) for check in checks]
    apart = [index for index, pair in enumerate(pairs) if set(pair) == {ScoreStatus.PASSED, ScoreStatus.FAILED}]
    if apart and len(checks) == len(draft["assertions"]):
        return Tried({**draft, "assertions": [draft["assertions"][index] for index in apart]})
    if apart:
        return Tried(draft)
    return Tried(draft, _SAME.get(frozenset(pairs), "no assertion holds in one arm alone"))


def _trouble(result: TrialResult) -> str:
    """Return the reason why a session says nothing."""
    failure = result.execution.failure
    ungraded = next((one.reason for one in result.scores if one.status is ScoreStatus.UNGRADED), "")
    return plain(cut(failure.message if failure else ungraded or "no verdict", _REASON_CHARACTERS))


@contextmanager
def _copy(skill: Skill, drafts: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    """A copy of the skill with its drafts as evals."""
    with tempfile.TemporaryDirectory(prefix="skillgauge-init-") as folder:
        copy = Path(folder, skill.root.name)
        shutil.copytree(skill.root, copy, symlinks=True, ignore=partial(_left_out, str(skill.root)))
        (copy / EVALS_FILE).parent.mkdir()
        (copy / EVALS_FILE).write_text(as_document(skill, drafts), "utf-8")
        yield copy


def _left_out(root: str, folder: str, _names: Sequence[str]) -> set[str]:
    return {".git", "evals"} if folder == root else set()


def as_document(skill: Skill, drafts: Sequence[Mapping[str, Any]]) -> str:
    """The text of `evals.json`."""
    return json.dumps({"skill_name": skill.name, "evals": drafts}, indent=2, ensure_ascii=False) + "\n"
