"""The contract of adapters and their sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from skillgauge.api import (
    Adapter,
    Blame,
    CallRequest,
    Execution,
    FailureClass,
    Json,
    Limits,
    Sandbox,
    SandboxSpec,
    Session,
    Severity,
    Target,
)

from ..fakes import FakeWorkspace
from ..temporary import TemporarySandbox
from .clauses import (
    MIDWAY_S,
    PATIENCE_S,
    answered,
    called,
    canary,
    require,
    require_identity,
    require_problems,
    require_travels,
    require_usable,
    run,
    shown,
    stops_when_cancelled,
)
from .samples import odd_values
from .shapes import require_shape
from .watching import Watched, require_no_leak, require_untold, watched

_TIMEOUT_S = 0.5
_AT_ONCE = 8


@dataclass(frozen=True)
class AdapterInputs:
    """Inputs of which the author knows what the target makes of them."""

    good: Json
    """Answered at once."""
    other: Json
    """Answered at once and differently."""
    slow: Json
    """Worked on for at least two seconds."""
    failing: Sequence[Json] = ()
    """The target crashes, breaks its protocol or says that it cannot."""
    environment: Json = None
    """Makes the target tell all environment variables that it sees, where it is a process."""


def check_adapter(
    make: Callable[[], Adapter],
    target: Target,
    inputs: AdapterInputs,
    *,
    failing_targets: Sequence[Target] = (),
    wrong_targets: Sequence[Target] = (),
    sandbox: Sandbox | None = None,
    patience_s: float = PATIENCE_S,
) -> None:
    """Check an adapter by calls of a target that the author made for it.

    Example::

        def test_adapter():
            make = Maker(ADAPTERS, "acme_grpc.plugin")
            check_adapter(make, TARGET, AdapterInputs(good="a", other="b", slow="wait", failing=["crash"]))

    Args:
        make: makes an adapter.
        target: what is called.
        inputs: what it is called with.
        failing_targets: targets that fail on the good input; there must be one, or a failing input.
        wrong_targets: targets whose entrypoint or configuration `check_target` has to object to.
        sandbox: where its processes run; default: `TemporarySandbox`.
        patience_s: how long to wait for what should come at once.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    require(inputs.failing or failing_targets, "check_adapter needs a failing input or a failing target")
    with canary() as secret:
        calls = _Calls(make, sandbox or TemporarySandbox(), secret, patience_s)
        run(calls.surroundings(target, wrong_targets))
        run(calls.good_calls(target, inputs.good, inputs.other))
        run(calls.failing_inputs(target, inputs.good, inputs.failing))
        for failing in failing_targets:
            run(calls.failing_target(failing, inputs.good))
        run(calls.timeout(target, inputs.slow, inputs.good))
        for after_s in (0.0, MIDWAY_S):
            run(calls.cancelling(target, inputs.slow, inputs.good, after_s))
        if inputs.environment is not None:
            run(calls.environment(target, inputs.environment))


@dataclass(frozen=True)
class _Open:
    session: Session
    workspace: Watched | FakeWorkspace


@dataclass(frozen=True)
class _Calls:
    """Calls targets as the kernel would."""

    make: Callable[[], Adapter]
    sandbox: Sandbox
    secret: str
    patience_s: float

    async def surroundings(self, target: Target, wrong: Sequence[Target]) -> None:
        """Check the questions that are asked before any trial."""
        adapter = called("making an adapter", self.make)
        require_shape(adapter, Adapter)
        require_usable("Adapter.check", await answered("Adapter.check", self.patience_s, adapter.check))
        require_usable("Adapter.check_target", called("Adapter.check_target", adapter.check_target, target))
        for one in wrong:
            problems = called(f"Adapter.check_target of a wrong target {one.id!r}", adapter.check_target, one)
            require_problems("Adapter.check_target", problems)
            has_error = any(problem.severity is Severity.ERROR for problem in problems)
            require(has_error, f"Adapter.check_target must report an error for the wrong target {one.id!r}")
        second_adapter = called("making an adapter", self.make)
        require_identity("Adapter.identity", lambda: adapter.identity(target), lambda: second_adapter.identity(target))

    async def good_calls(self, target: Target, good: Json, second: Json) -> None:
        """Answers come with a duration and reach who asked."""
        async with self._open(target) as opened:
            alone = [await self._good(opened, value) for value in (good, second)]
            require(_answer(alone[0]) != _answer(alone[1]), "check_adapter needs inputs with different answers")
            mixed = [good, second] * (_AT_ONCE // 2)
            answers = await asyncio.gather(*(self._good(opened, value) for value in mixed))
            for value, answer, expected in zip(mixed, answers, alone * (_AT_ONCE // 2), strict=True):
                difference = f"input {shown(value)} got {shown(_answer(answer))} instead of {shown(_answer(expected))}"
                require(
                    _answer(answer) == _answer(expected),
                    f"Session.call must not mix answers of calls at once: {difference}",
                )
            for name, value in odd_values():
                await self._call(opened, value, name)

    async def failing_inputs(self, target: Target, good: Json, inputs: Sequence[Json]) -> None:
        """A target's failure is a fact about it, and not the end of the session."""
        async with self._open(target) as opened:
            for value in inputs:
                self._require_blamed(await self._call(opened, value), f"Session.call of {shown(value)}")
            await self._good(opened, good, " after a failure")

    async def failing_target(self, target: Target, good: Json) -> None:
        """Check that a target which does not work is found out by a call, as the target's fault."""
        async with self._open(target) as opened:
            self._require_blamed(await self._call(opened, good), f"Session.call of the failing target {target.id!r}")

    async def timeout(self, target: Target, slow: Json, good: Json) -> None:
        """The limit of a call is kept by the adapter, which can still tell what the target said."""
        async with self._open(target) as opened:
            execution = await self._call(opened, slow, limits=Limits(timeout_s=_TIMEOUT_S))
            call = f"Session.call of {shown(slow)} with a time limit of {_TIMEOUT_S} s"
            self._require_blamed(execution, call)
            assert execution.failure is not None
            right = execution.failure.failure_class is FailureClass.TIMEOUT
            require(right, f"{call} must fail with class timeout, not {execution.failure.failure_class}")
            await self._good(opened, good, " after a timeout")

    async def cancelling(self, target: Target, slow: Json, good: Json, after_s: float) -> None:
        """A call that is cancelled stops; the next one works."""
        async with self._open(target) as opened:
            work = opened.session.call(_request(slow))
            await stops_when_cancelled("Session.call", work, after_s=after_s, patience_s=self.patience_s)
            await self._good(opened, good, " after a cancelled call")

    async def environment(self, target: Target, tell: Json) -> None:
        """A process that tells what it sees was not given what nobody passed."""
        async with self._open(target) as opened:
            execution = await self._good(opened, tell)
            answer_text = f"answered {shown(_answer(execution))}"
            clause = f"check_adapter needs an input `environment` whose answer names PATH, but the target {answer_text}"
            require("PATH" in execution.model_dump_json(), clause)

    @asynccontextmanager
    async def _open(self, target: Target) -> AsyncIterator[_Open]:
        adapter = called("making an adapter", self.make)
        readable = (target.root,) if target.root else ()
        spec = SandboxSpec(label="contract", readable=readable, pass_env=target.pass_env)
        async with self.sandbox.open(spec) as workspace:
            watcher = watched(workspace)
            session = await answered("Adapter.open", self.patience_s, adapter.open, target, watcher)
            require_shape(session, Session)
            yield _Open(session, watcher)
            require_no_leak(self.secret, watcher, "Session.call")
            await answered("Session.close", self.patience_s, session.close)
            await answered("Session.close, called again,", self.patience_s, session.close)

    async def _call(self, opened: _Open, value: Json, name: str = "", limits: Limits | None = None) -> Execution:
        call = f"Session.call of {name or shown(value)}"
        request = _request(value, limits)
        execution = await answered(call, self.patience_s, opened.session.call, request)
        require(isinstance(execution, Execution), f"{call} must return an Execution, not {shown(execution)}")
        require_travels(execution, call)
        require_untold(self.secret, execution, call)
        return execution

    async def _good(self, opened: _Open, value: Json, when: str = "") -> Execution:
        execution = await self._call(opened, value)
        call = f"Session.call of {shown(value)}{when}"
        require(execution.failure is None, f"{call} must succeed, but failed: {shown(execution.failure)}")
        _require_duration(execution, call)
        return execution

    def _require_blamed(self, execution: Execution, call: str) -> None:
        failure = execution.failure
        require(failure is not None, f"{call} must give a failure, but gave {shown(_answer(execution))}")
        assert failure is not None
        failure_text = f"not {failure.blame} ({failure.failure_class}: {failure.message})"
        require(failure.blame is Blame.TARGET, f"{call} must blame the target, {failure_text}")
        require(failure.message.strip(), f"{call} must give its failure a message")
        _require_duration(execution, call)


def _request(value: Json, limits: Limits | None = None) -> CallRequest:
    return CallRequest(trial_id="trial", case_id="case", input=value, limits=limits or Limits())


def _answer(execution: Execution) -> Json:
    return execution.output if execution.output is not None else execution.text


def _require_duration(execution: Execution, call: str) -> None:
    measured = execution.duration_s is not None and execution.duration_s >= 0
    require(measured, f"{call} must give its duration_s, not {execution.duration_s}")
