"""The contracts of engines and judges, as far as they can be checked without knowing the agent or model.

The author brings a script: a stand-in for the agent's program or for the model's server, wired in by `make`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from skillgauge.api import (
    Engine,
    Execution,
    Fact,
    Judge,
    JudgeReply,
    JudgeRequest,
    Limits,
    RunRequest,
    Sandbox,
    SandboxSpec,
    Traits,
    TrajectoryEvent,
    Usage,
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
    require_travels,
    require_usable,
    run,
    shown,
    stops_when_cancelled,
)
from .shapes import require_shape
from .watching import Watched, require_no_leak, require_untold, watched


@dataclass(frozen=True)
class EnginePrompts:
    """Prompts of which the author knows what the agent makes of them."""

    answered: str
    """The agent answers and ends."""
    slow: str
    """It works for at least two seconds."""
    failing: str
    """It does not come to its end."""
    silent: str | None = None
    """It answers and says nothing about tokens and money."""


def check_engine(
    make: Callable[[], Engine],
    traits: Traits,
    prompts: EnginePrompts,
    *,
    model: str | None = None,
    secret: str | None = None,
    sandbox: Sandbox | None = None,
    patience_s: float = PATIENCE_S,
) -> None:
    """Check an engine against a script that plays its agent.

    Example::

        def test_engine(scripted_agent):
            make = Maker(ENGINES, "acme_agent.plugin")
            check_engine(make, TRAITS, EnginePrompts(answered="hello", slow="wait", failing="crash"))

    Args:
        make: makes an engine that drives the scripted agent.
        traits: what the plugin's provider announces.
        prompts: what the agent is asked.
        model: the model to ask for.
        secret: the value of the key that the engine uses; it must not appear in what is recorded.
        sandbox: where the agent runs; default: `TemporarySandbox`.
        patience_s: how long to wait for what should come soon.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    with canary() as bird:
        secrets = (bird, secret) if secret else (bird,)
        runs = _Runs(make, traits, model, secrets, sandbox or TemporarySandbox(), patience_s)
        run(runs.surroundings())
        run(runs.finishes(prompts.answered))
        if prompts.silent is not None:
            run(runs.finishes(prompts.silent, silent=True))
        run(runs.fails(prompts.failing))
        run(runs.stops(prompts.slow))


@dataclass(frozen=True)
class _Runs:
    """Runs sessions as the kernel would."""

    make: Callable[[], Engine]
    traits: Traits
    model: str | None
    secrets: tuple[str, ...]
    sandbox: Sandbox
    patience_s: float

    async def surroundings(self) -> None:
        """Check the questions that are asked before any trial."""
        engine = called("making an engine", self.make)
        require_shape(engine, Engine)
        require_usable("Engine.check", await answered("Engine.check", self.patience_s, engine.check))
        second_engine = called("making an engine", self.make)
        require_identity(
            "Engine.identity", lambda: engine.identity(self.model), lambda: second_engine.identity(self.model)
        )

    async def finishes(self, prompt: str, *, silent: bool = False) -> None:
        """A session that ends well is told in facts; what the engine cannot tell is unknown."""
        call = f"Engine.run of {prompt!r}"
        execution = await self._run(prompt)
        require(execution.failure is None, f"{call} must succeed, but failed: {shown(execution.failure)}")
        require(execution.duration_s is not None, f"{call} must give its duration_s")
        trajectory = execution.trajectory
        require(trajectory is not None, f"{call} must give a trajectory")
        assert trajectory is not None
        facts: tuple[tuple[Fact, str, object], ...] = (
            (Fact.OFFERED, "skills_offered", trajectory.skills_offered),
            (Fact.FIRED, "skills_fired", trajectory.skills_fired),
            (Fact.BLOCKS, "blocked", trajectory.blocked),
            (Fact.USAGE, "usage", execution.usage),
            (Fact.COST, "usage.cost_usd", execution.usage and execution.usage.cost_usd),
        )
        for fact, field, value in facts:
            unknown = value is None or fact in self.traits.tells
            clause = (
                f"{call}: {field} must be None, unknown, because the traits do not tell {fact}; it is {shown(value)}"
            )
            require(unknown, clause)
        require_known_usage(call, execution.usage, silent=silent)

    async def fails(self, prompt: str) -> None:
        """An agent that does not come to its end is a fact too."""
        call = f"Engine.run of {prompt!r}"
        execution = await self._run(prompt)
        failure = execution.failure
        require(failure is not None, f"{call} must give a failure, but gave {shown(execution.text)}")
        assert failure is not None
        require(failure.message.strip(), f"{call} must give its failure a message")
        require_known_usage(call, execution.usage)

    async def stops(self, prompt: str) -> None:
        """Cancelling ends the session."""
        async with self._workspace() as workspace:
            work = called("making an engine", self.make).run(self._request(prompt), workspace, lambda _event: None)
            await stops_when_cancelled("Engine.run", work, after_s=MIDWAY_S, patience_s=self.patience_s)

    async def _run(self, prompt: str) -> Execution:
        call = f"Engine.run of {prompt!r}"
        events: list[TrajectoryEvent | Usage] = []
        engine = called("making an engine", self.make)
        async with self._workspace() as workspace:
            request = self._request(prompt)
            execution = await answered(call, self.patience_s, engine.run, request, workspace, events.append)
        require(isinstance(execution, Execution), f"{call} must return an Execution, not {shown(execution)}")
        require_travels(execution, call)
        for event in events:
            is_known = isinstance(event, TrajectoryEvent | Usage)
            require(is_known, f"{call} must emit TrajectoryEvents, or the Usage so far, not {shown(event)}")
        emitted = [event.all_tokens for event in events if isinstance(event, Usage)]
        require(emitted == sorted(emitted), f"{call} must emit the Usage of the whole session so far, not {emitted}")
        for secret in self.secrets:
            for value in (execution, *events):
                require_untold(secret, value, call, "a secret of the environment")
        return execution

    @asynccontextmanager
    async def _workspace(self) -> AsyncIterator[Watched | FakeWorkspace]:
        async with self.sandbox.open(SandboxSpec(label="contract")) as workspace:
            watcher = watched(workspace)
            yield watcher
            require_no_leak(self.secrets[0], watcher, "Engine.run")

    def _request(self, prompt: str) -> RunRequest:
        return RunRequest(
            trial_id="trial",
            case_id="case",
            prompt=prompt,
            model=self.model,
            limits=Limits(),
            cassette_key=prompt,  # so that an engine that plays recordings tells the sessions apart
        )


def check_judge(
    make: Callable[[], Judge],
    *,
    good: JudgeRequest,
    silent: JudgeRequest | None = None,
    failing: JudgeRequest,
    slow: JudgeRequest,
    secret: str | None = None,
    patience_s: float = PATIENCE_S,
) -> None:
    """Check a judge against a script that plays its model.

    Example::

        def test_judge(scripted_server):
            make = lambda: AcmeJudge(AcmeOptions(url=scripted_server.url))
            check_judge(make, good=question("hello"), failing=question("refuse"), slow=question("wait"))

    Args:
        make: makes a judge that asks the scripted model.
        good: is answered.
        silent: is answered without a word about tokens and money.
        failing: is refused, or answered with an error.
        slow: is worked on for at least two seconds.
        secret: the value of the key that the judge uses; no reply may hold it.
        patience_s: how long to wait for what should come soon.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    with canary() as bird:
        secrets = (bird, secret) if secret else (bird,)
        run(_check_judge(make, (good, silent, failing, slow), secrets, patience_s))


async def _check_judge(
    make: Callable[[], Judge],
    requests: tuple[JudgeRequest, JudgeRequest | None, JudgeRequest, JudgeRequest],
    secrets: tuple[str, ...],
    patience_s: float,
) -> None:
    good, silent, failing, slow = requests
    judge, second = called("making a judge", make), called("making a judge", make)
    require_shape(judge, Judge)
    require_usable("Judge.check", await answered("Judge.check", patience_s, judge.check))
    require_identity("Judge.identity", lambda: judge.identity(good.model), lambda: second.identity(good.model))
    for request in (good, silent, failing):
        if request is None:
            continue
        call = f"Judge.ask of {shown(request.user)}"
        reply = await answered(call, patience_s, judge.ask, request)
        require(isinstance(reply, JudgeReply), f"{call} must return a JudgeReply, not {shown(reply)}")
        require((reply.text is None) is not (reply.error is None), f"{call} must give either a text or an error")
        failed = reply.error is not None
        status = "an error" if request is failing else "a text"
        require(failed is (request is failing), f"{call} must give {status}, but gave {shown(reply)}")
        require_known_usage(call, reply.usage, silent=request is silent)
        require_travels(reply, call)
        for secret in secrets:
            require_untold(secret, reply, call, "a secret of the environment")
    await stops_when_cancelled("Judge.ask", judge.ask(slow), after_s=MIDWAY_S, patience_s=patience_s)


def require_known_usage(call: str, usage: Usage | None, *, silent: bool = False) -> None:
    """Unknown usage is `None`, never 0: nobody answers without reading a token."""
    if usage is None:
        return
    message = f"{call}: usage must be None where it is unknown, never 0; it is {shown(usage)}"
    require((usage.input_tokens, usage.output_tokens) != (0, 0), message)
    require(usage.total_tokens != 0, message)
    if silent:
        reported = [name for name, value in usage.model_dump().items() if isinstance(value, int | float)]
        require(not reported, f"{call}: the script says nothing about usage, so {', '.join(reported)} must be None")
