"""The contract of scorers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import Any

from pydantic import ValidationError

from skillgauge.api import (
    DIRECT,
    EMPTY,
    Case,
    Check,
    Execution,
    Json,
    JsonObject,
    Judge,
    PluginError,
    Sandbox,
    SandboxSpec,
    Score,
    ScoreContext,
    Scorer,
    ScoreStatus,
    Target,
    Workspace,
)

from .announcing import UNKNOWN_OPTION
from .clauses import PATIENCE_S, answered, called, require, require_travels, run, shown
from .samples import odd_values
from .shapes import require_shape

_REASON_LENGTH = 10_000
_AT_ONCE = 8


def score_context(
    output: Json = None,
    options: JsonObject = EMPTY,
    *,
    execution: Execution | None = None,
    case: Case | None = None,
    target: Target | None = None,
    workspace: Workspace | None = None,
    judge: Judge | None = None,
) -> ScoreContext:
    """Make the context of a scorer: an output, or a whole execution, and a check with these options.

    `score_context("yes", {"value": "yes"})` is an answer `yes` and a check that has the option `value`.
    """
    check = Check(id="check", scorer="contract", options=options)
    return ScoreContext(
        check=check,
        case=(case or Case(id="case")).model_copy(update={"checks": (check,)}),
        execution=execution or Execution(output=output, duration_s=0.1),
        arm=DIRECT,
        target=target,
        workspace=workspace,
        judge=judge,
    )


def check_scorer(
    make: Callable[[JsonObject], Scorer],
    *,
    passing: Sequence[ScoreContext],
    failing: Sequence[ScoreContext],
    ungraded: Sequence[ScoreContext] = (),
    passes_odd_output: bool = False,
    sandbox: Sandbox | None = None,
    patience_s: float = PATIENCE_S,
) -> None:
    """Check a scorer: right verdicts, the same for the same input, on every output, in any order and at once.

    Example::

        def test_scorer():
            make = Maker(SCORERS, "acme_tone.plugin")
            formal, rude = (score_context(text, {"value": "formal"}) for text in ("Dear Sir", "hey"))
            check_scorer(make, passing=[formal], failing=[rude])

    Args:
        make: makes the scorer of a check from the check's options.
        passing: examples whose check holds in full.
        failing: examples whose check does not hold. The first is also tried with odd outputs in place of its own.
        ungraded: examples that lack something the scorer needs.
        passes_odd_output: say so if the check of the first failing example holds for some odd outputs, as one that
            forbids a word does.
        sandbox: opens a workspace for each example, with the files of its case, for scorers that look into one.
        patience_s: how long to wait for an answer.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require(passing and failing, "check_scorer needs at least one passing and one failing example")
    trying = _Trying(make, sandbox, patience_s)
    for context in (*passing, *failing, *ungraded):
        _check_options(make, context.check.options)
    for context in passing:
        run(trying.example(context, ScoreStatus.PASSED))
    for context in failing:
        run(trying.example(context, ScoreStatus.FAILED))
    for context in ungraded:
        run(trying.example(context, ScoreStatus.UNGRADED))
    run(trying.odd_outputs(failing[0], may_pass=passes_odd_output))
    run(trying.odd_outputs(passing[0], may_pass=True))


def _check_options(make: Callable[[JsonObject], Scorer], options: JsonObject) -> None:
    scorer = called(f"making a scorer with options {shown(dict(options))}", make, options)
    require_shape(scorer, Scorer)
    wrong = {**options, UNKNOWN_OPTION: 1}
    try:
        make(wrong)
    except (PluginError, ValidationError):
        return
    except Exception as error:
        outcome = f"raised {type(error).__name__}: {error}"
        raise AssertionError(
            f"an unknown option must be refused by the options model, but making it {outcome}"
        ) from error
    raise AssertionError("an unknown option must be refused by the options model, but a scorer was made with it")


def _described(score: Score) -> str:
    return f"it gave {score.status}, value {score.value}, reason {shown(score.reason)}"


@dataclass(frozen=True)
class _Trying:
    """Scores examples."""

    make: Callable[[JsonObject], Scorer]
    sandbox: Sandbox | None
    patience_s: float

    async def example(self, context: ScoreContext, status: ScoreStatus) -> None:
        """One example must get its verdict, always the same."""
        subject = f"Scorer.score of {shown(context.execution.output)} with options {shown(dict(context.check.options))}"
        async with AsyncExitStack() as stack:
            scorer = await self._opened(context, stack)
            whole = await self._with_workspace(context, stack)
            first = await self._score(scorer, whole)
            _require_verdict(f"{subject} as an example that is to be {status}", first, status)
            again = await self._score(scorer, whole)
            self._require_same(f"{subject} must be the same every time", first, again)
            second = await self._score(await self._opened(context, stack), whole)
            self._require_same(f"{subject} must be the same from every scorer that was made for it", first, second)
            await self._between_others(scorer, whole, first, subject)
            await self._without_surroundings(scorer, context, first, subject)

    async def odd_outputs(self, context: ScoreContext, *, may_pass: bool) -> None:
        """Check that there is a score, and no pass by accident, whatever the target answered."""
        async with AsyncExitStack() as stack:
            scorer = await self._opened(context, stack)
            whole = await self._with_workspace(context, stack)
            for name, output in odd_values():
                score = await self._score(scorer, replace(whole, execution=_odd(context.execution, output)), name)
                passed = score.status is ScoreStatus.PASSED
                wrong = f"Scorer.score of {name} in place of a failing output must not give passed: {_described(score)}"
                require(may_pass or not passed, wrong)

    async def _opened(self, context: ScoreContext, stack: AsyncExitStack) -> Scorer:
        """A scorer as a run uses it: between `open` and `close`, if it has them."""
        scorer: Any = self.make(context.check.options)
        if hasattr(scorer, "open") or hasattr(scorer, "close"):
            contexts = (
                iscoroutinefunction(getattr(scorer, "open", None)),
                iscoroutinefunction(getattr(scorer, "close", None)),
            )
            require(all(contexts), "Scorer.open and Scorer.close go together, and both must be `async def`")
            await answered("Scorer.open", self.patience_s, scorer.open)
            stack.push_async_callback(answered, "Scorer.close", self.patience_s, scorer.close)
        opened: Scorer = scorer
        return opened

    async def _between_others(self, scorer: Scorer, context: ScoreContext, first: Score, subject: str) -> None:
        """Other inputs, before and at the same time, must leave no trace: scorers are stateless."""
        others = [
            replace(context, execution=_odd(context.execution, output))
            for name, output in odd_values()
            if "1 MB" not in name
        ]
        for other_context in others:
            await self._score(scorer, other_context)
        after = await self._score(scorer, context)
        self._require_same(f"{subject} must be the same after other inputs, for scorers are stateless", first, after)
        mixed = [one for other_context in others[:_AT_ONCE] for one in (context, other_context)]
        scores = await asyncio.gather(*(self._score(scorer, one) for one in mixed))
        for score in scores[::2]:
            self._require_same(f"{subject} must be the same while other inputs are scored", first, score)

    async def _without_surroundings(self, scorer: Scorer, context: ScoreContext, first: Score, subject: str) -> None:
        """A stored execution is graded again without workspace and judge: then it may only become ungraded."""
        score = await self._score(scorer, replace(context, workspace=None, judge=None))
        fits = score.status in (first.status, ScoreStatus.UNGRADED)
        require(
            fits,
            f"{subject}, without workspace and judge, must stay {first.status} or be ungraded: {_described(score)}",
        )

    async def _with_workspace(self, context: ScoreContext, stack: AsyncExitStack) -> ScoreContext:
        if self.sandbox is None:
            return context
        workspace = await stack.enter_async_context(self.sandbox.open(SandboxSpec(label="contract")))
        await workspace.put((*context.case.files, *context.case.grader_files))
        return replace(context, workspace=workspace)

    async def _score(self, scorer: Scorer, context: ScoreContext, name: str = "") -> Score:
        call = f"Scorer.score of {name or shown(context.execution.output)}"
        score = await answered(call, self.patience_s, scorer.score, context)
        require(isinstance(score, Score), f"{call} must give a Score, not {shown(score)}")
        valued = (score.value is None) is (score.status is ScoreStatus.UNGRADED)
        require(valued, f"{call}: exactly an ungraded score must have no value: {_described(score)}")
        reasoned = score.status is ScoreStatus.PASSED or score.reason.strip()
        require(reasoned, f"{call}: a score that is not passed must have a reason: {_described(score)}")
        long = (
            f"{call}: a reason is a sentence for people, of at most {_REASON_LENGTH:,} characters: {_described(score)}"
        )
        require(len(score.reason) <= _REASON_LENGTH, long)
        require_travels(score, call)
        return score

    def _require_same(self, clause: str, first: Score, second: Score) -> None:
        same = (first.status, first.value) == (second.status, second.value)
        if self.sandbox is None:  # what a command said may differ from time to time
            same = same and (first.reason, first.evidence) == (second.reason, second.evidence)
        require(same, f"{clause}: {_described(first)}; then {_described(second)}")


def _require_verdict(subject: str, score: Score, status: ScoreStatus) -> None:
    require(score.status is status, f"{subject} must give {status}: {_described(score)}")
    if status is ScoreStatus.PASSED:
        require(score.value == 1, f"{subject} must give value 1: {_described(score)}")
    elif status is ScoreStatus.FAILED:
        require(
            score.value is not None and score.value < 1, f"{subject} must give a value below 1: {_described(score)}"
        )


def _odd(execution: Execution, output: Json) -> Execution:
    """The execution with another answer, wherever a scorer may look for it."""
    text = output if isinstance(output, str) else None
    return execution.model_copy(update={"output": output, "text": text, "stdout": text, "stderr": text})
