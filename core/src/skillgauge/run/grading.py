"""Grade an execution: run the checks of its case, isolate what breaks, and form the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from operator import attrgetter
from types import coroutine
from typing import Any, NamedTuple, TypeVar, assert_never, cast

from skillgauge_documents.frozen import digest_text
from skillgauge_documents.immutables import immutable

from ..contract.judges import Judge
from ..contract.sandboxes import Workspace
from ..contract.scorers import ScoreContext
from ..errors import SkillgaugeError
from ..stats import weighted_mean
from ..types.results.trials import Verdict
from ..types.score import Score, ScoreStatus
from ..types.suite import Case, Check, LimitOutcome, VerdictMode, VerdictRule
from ..types.trial import Blame, Execution, Trial
from .conversation import at_turn
from .scorers import Scorers

T = TypeVar("T")


@immutable
class Grading:
    """Everything that grading needs beside the execution."""

    scorers: Scorers
    """Has the scorer of each check."""
    on_agent_limit: Mapping[str, LimitOutcome] = field(default_factory=dict)
    """By suite id, what it means that an agent ran out of time or turns."""
    judges: tuple[Judge, ...] = ()
    """Model access for the scorers that want it."""
    judge_digest: str = ""
    """Identity of those judges, part of the score id."""
    clean: Callable[[str], str] = str
    """Takes secrets out of a text before it leaves."""
    limit_s: float = 7200.0
    """Time for all checks of a trial, beside the limit of each; what is not through by then is ungraded."""

    def is_graded(self, trial: Trial, execution: Execution) -> bool:
        """Tell whether checks decide on an execution: it came to its end, or to a limit at which its suite grades."""
        if execution.failure is None:
            return True
        is_at_limit = execution.failure.blame is Blame.AGENT_LIMIT
        return is_at_limit and self.on_agent_limit.get(trial.suite_id) is LimitOutcome.GRADED


class Grade(NamedTuple):
    """The scores and the verdict of an execution."""

    verdict: Verdict
    value: float | None
    scores: tuple[Score, ...]
    score_id: str


async def required_scores(
    trial: Trial, execution: Execution, grading: Grading, workspace: Workspace | None = None
) -> tuple[Score, ...]:
    """Score the required checks of the turn that a conversation has come to.

    Args:
        trial: what was meant to happen.
        execution: the session so far.
        grading: who grades.
        workspace: as the agent has left it for now.
    """
    turn = max(0, len(execution.answers) - 1)
    checks = [check for check in trial.case.checks if check.required and check.turn == turn]
    until = asyncio.get_running_loop().time() + grading.limit_s
    scores = [
        await _score(check, grading.scorers, _context(check, trial, execution, grading, workspace), until)
        for check in checks
    ]
    return tuple(scores)


async def user_score(trial: Trial, execution: Execution, grading: Grading, workspace: Workspace | None = None) -> Score:
    """Ask the user of a case what comes after the session so far; see `Case.user`."""
    user = trial.case.user
    if user is None:
        return Score.passed("the user has said everything")
    until = asyncio.get_running_loop().time() + grading.limit_s
    context = _context(user.check, trial, execution, grading, workspace)
    return await _score(user.check, grading.scorers, context, until)


async def grade(
    trial: Trial,
    execution: Execution,
    grading: Grading,
    workspace: Workspace | None = None,
    scored: Sequence[Score] = (),
) -> Grade:
    """Run every check of a trial's case against what happened.

    A failed execution is not graded, unless the suite grades what an agent left at a limit: its verdict follows from
    the blame alone.

    Args:
        trial: what was meant to happen.
        execution: what happened.
        grading: who grades.
        workspace: still open, with the graders' files in place.
        scored: the scores of required checks that were asked for while the conversation went on.
    """
    case, scorers = trial.case, grading.scorers
    graded = trial.execution_id, case.checks_digest, grading.judge_digest
    if execution.failure is not None and not grading.is_graded(trial, execution):
        on_limit = grading.on_agent_limit.get(trial.suite_id, LimitOutcome.FAIL)
        verdict = verdict_of_failure(execution.failure.blame, on_limit)
        score_id = digest_text("|".join((*graded, *map(scorers.label_of, case.checks))))
        return Grade(verdict, None if verdict is Verdict.ERROR else 0.0, (), score_id)
    if not case.checks:
        return Grade(Verdict.ERROR, None, (), digest_text("|".join(graded)))
    context = _context(case.checks[0], trial, execution, grading, workspace)
    known = {score.check_id: score for score in scored}
    scores: list[Score] = []
    labels: list[str] = []
    until = asyncio.get_running_loop().time() + grading.limit_s
    stage, is_asked = context.check.stage, True
    for check in sorted(case.checks, key=_stage_of):
        if check.stage != stage:
            stage, is_asked = check.stage, _all_passed(scores)
        if not is_asked and check.id not in known:
            labels.append(scorers.label_of(check))
            continue
        score = known.get(check.id) or await _score(check, scorers, context, until)
        scores.append(score)
        labels.append(f"{score.scorer} {score.scorer_version}")
    verdict, value = _verdict(scores, case)
    return Grade(verdict, value, tuple(scores), digest_text("|".join((*graded, *labels))))


def _context(
    check: Check, trial: Trial, execution: Execution, grading: Grading, workspace: Workspace | None
) -> ScoreContext:
    return ScoreContext(
        check=check,
        case=trial.case,
        execution=execution,
        arm=trial.arm,
        target=trial.target,
        workspace=workspace,
        judge=grading.judges[0] if grading.judges else None,
        panel=grading.judges,
        clean=grading.clean,
    )


def _verdict(scores: Sequence[Score], case: Case) -> tuple[Verdict, float | None]:
    """Return the verdict by the rule of a case, which no required check that failed lets pass; and the mean value."""
    verdict, value = verdict_of_scores(scores, case.rule)
    required = {check.id for check in case.checks if check.required}
    is_missed = any(score.check_id in required and not _holds(score) for score in scores)
    return (Verdict.FAIL if is_missed and verdict is Verdict.PASS else verdict), value


def _all_passed(scores: Sequence[Score]) -> bool:
    return all(_holds(score) or score.beside for score in scores)


def _holds(score: Score) -> bool:
    return score.status is ScoreStatus.PASSED


async def _score(check: Check, scorers: Scorers, context: ScoreContext, until: float) -> Score:
    labels = {"check_id": check.id, "scorer": check.scorer, "scorer_version": ""}
    try:
        score = await ended_by(until, _score_of(check, scorers, context, labels))
    except (SkillgaugeError, TimeoutError) as error:  # the guard of scorer or judge makes the first of what fails in it
        score = Score.ungraded(str(error) or "timeout: the time for grading one trial is over")
    return Score.model_validate(vars(score) | labels | {"weight": check.weight, "beside": check.beside})


async def _score_of(check: Check, scorers: Scorers, context: ScoreContext, labels: dict[str, str]) -> Score:
    if check.turn is not None:
        execution = at_turn(context.execution, check.turn)
        if execution is None:
            return Score.failed(f"The conversation did not come to turn {check.turn + 1}")
        context = replace(context, execution=execution)
    async with scorers.of(check) as bound:
        labels |= {"scorer": bound.name, "scorer_version": bound.scorer.version}
        return await bound.scorer.score(context if context.check is check else replace(context, check=check))


_stage_of = attrgetter("stage")


def verdict_of_failure(blame: Blame, on_agent_limit: LimitOutcome) -> Verdict:
    """The verdict of an execution that did not come to its end."""
    match blame:
        case Blame.TARGET:
            return Verdict.FAIL
        case Blame.INFRASTRUCTURE:
            return Verdict.ERROR
        case Blame.AGENT_LIMIT:
            return Verdict.ERROR if on_agent_limit is LimitOutcome.ERROR else Verdict.FAIL
        case _:
            assert_never(blame)


def verdict_of_scores(scores: Sequence[Score], rule: VerdictRule) -> tuple[Verdict, float | None]:
    """Verdict and weighted mean value of a graded execution.

    One ungraded check makes the trial an error, because the checks that did answer prove only a part. Without
    any check nothing was asserted, which is an error too. Checks beside the verdict are as if they were not there.
    """
    counting = [score for score in scores if not score.beside]
    statuses = [score.status for score in counting]
    if not counting or ScoreStatus.UNGRADED in statuses:
        return Verdict.ERROR, None
    mean = weighted_mean(_values(counting, rule.mode), [score.weight for score in counting])
    match rule.mode:
        case VerdictMode.ALL | VerdictMode.EACH:
            passed = ScoreStatus.FAILED not in statuses
        case VerdictMode.MEAN:
            passed = mean > rule.threshold if rule.above else mean >= rule.threshold
        case _:
            assert_never(rule.mode)
    return (Verdict.PASS if passed else Verdict.FAIL), mean


def _values(scores: Sequence[Score], mode: VerdictMode) -> list[float]:
    if mode is VerdictMode.EACH:
        return [float(score.status is ScoreStatus.PASSED) for score in scores]
    return [score.value or 0.0 for score in scores]


async def ended_by(until: float, call: Coroutine[Any, Any, T]) -> T:
    """Await a call as within `asyncio.timeout_at`, which takes as long as most checks and is entered only if it waits.

    Args:
        until: time of the event loop at which the call is cancelled.
        call: what is awaited.

    Raises:
        TimeoutError: the call was cancelled, or raises one itself.
    """
    try:
        waits_for = call.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    async with asyncio.timeout_at(until):
        return await _resumed(call, waits_for)


@coroutine
def _resumed(call: Coroutine[Any, Any, T], waits_for: object) -> Generator[Any, Any, T]:
    """Go on with a call that has begun, and what it waits for is here to be waited for."""
    while True:
        try:
            go_on = partial(call.send, (yield waits_for))
        except BaseException as error:  # noqa: BLE001 - it is the call's to handle
            go_on = partial(call.throw, error)
        try:
            waits_for = go_on()
        except StopIteration as end:
            return cast("T", end.value)
