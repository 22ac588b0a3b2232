"""The server: its tools, with their schemas and the words by which an agent chooses them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any, ParamSpec, TypeVar

from anyio import CancelScope
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from skillgauge.api import ExitCode, Frozen

from . import answers
from .answers import EvalList, FailedTrials, RunPlan, RunReport, Validation
from .program import Program
from .runs import Budget, Runs, RunStatus
from .workplace import RefusedError, Workplace

P = ParamSpec("P")
T = TypeVar("T")
_CHARACTERS = 30_000
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_DRAFTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

Where = Annotated[
    str, Field(description="A skill's folder, a suite, or a folder of several; within the server's folders.")
]
Stored = Annotated[str, Field(description="Id of a stored run, 'latest', 'latest~1', a baseline, or a report's path.")]
Arm = Annotated[str | None, Field(description="Only this arm, such as with_skill; null: all.")]
Wait = Annotated[float, Field(ge=0, le=600, description="Seconds to wait for the end before answering.")]


class Selection(Frozen):
    """The evals to run, and the way to run them."""

    path: Where
    engine: tuple[str, ...] = Field(
        default=(), description="Agents to drive, such as claude-code; empty: as the user has configured."
    )
    model: tuple[str, ...] = Field(default=(), description="Models to ask; empty: as the user has configured.")
    repeats: int | None = Field(
        default=None, ge=1, le=1000, description="Repeats of every case; null: as the suite says."
    )
    cases: tuple[str, ...] = Field(default=(), description="Ids of cases, or patterns such as 'csv-*'; empty: all.")
    with_baseline: bool = Field(
        default=True, description="Also run without the skill, which is what tells whether it helps."
    )
    replay: str | None = Field(
        default=None, description="A folder of recordings to play instead of running agents; costs nothing."
    )

    def arguments(self, workplace: Workplace) -> list[str]:
        """Return the arguments of `eval`.

        Raises:
            RefusedError: a path leads out of the folders, or a word could be an option.
        """
        words = [workplace.path(self.path)]
        words += [f"--engine={name}" for name in workplace.words(self.engine, "engine")]
        words += [f"--model={name}" for name in workplace.words(self.model, "model")]
        words += [f"--case={name}" for name in workplace.words(self.cases, "case")]
        words += [f"--runs={self.repeats}"] if self.repeats is not None else []
        words += [f"--replay={workplace.path(self.replay)}"] if self.replay is not None else []
        words += [] if self.with_baseline else ["--no-baseline"]
        return words


def serve(workplace: Workplace, program: Program, budget: Budget | None) -> None:
    """Serve over stdio until the other side closes it; a run under way ends then, too."""
    runs = Runs(program, budget)
    endings: set[asyncio.Task[None]] = set()

    def interrupt() -> None:
        endings.add(asyncio.create_task(_interrupted(runs)))

    @asynccontextmanager
    async def lifespan(_server: MCPServer[None]) -> AsyncIterator[None]:
        for number in (signal.SIGINT, signal.SIGTERM):  # clients that lose patience send one
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
        try:
            yield
        finally:
            with CancelScope(shield=True):
                await runs.close()

    allowed = f"runs are allowed, for {budget.total_usd:g} USD in all" if budget else "runs are not allowed"
    server: MCPServer[None] = MCPServer(
        "skillgauge",
        version=version("skillgauge-core"),
        instructions=f"Evaluate skills of agents. Folders: {workplace.shown}; {allowed}. Usual order: list_evals, "
        "validate_evals, plan_run, run_evals, failing_cases, read_case. Every answer says what to call next.",
        log_level="ERROR",
        lifespan=lifespan,
    )
    _add_suites(server, workplace, program)
    _add_runs(server, workplace, program, runs)
    _add_results(server, workplace, program)
    server.run("stdio")


async def _interrupted(runs: Runs) -> None:
    """End the run that is under way, and the process at once: a thread of the library waits for stdin, unstoppably."""
    await runs.close()
    os._exit(ExitCode.INTERRUPTED)


def _with_refusals(tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Turn a refusal into an error that the agent reads."""

    @wraps(tool)
    async def refusing(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await tool(*args, **kwargs)
        except RefusedError as error:
            raise ToolError(str(error)) from None

    return refusing


def _add_suites(server: MCPServer[None], workplace: Workplace, program: Program) -> None:
    @server.tool(annotations=_READS)
    @_with_refusals
    async def list_evals(path: Where = ".") -> EvalList:
        """List the evals below a path: suites and their cases, with file and line."""
        done = await program.ask("eval", workplace.path(path), "--list", "--json")
        return answers.eval_list(done.document)

    @server.tool(annotations=_READS)
    @_with_refusals
    async def validate_evals(path: Where = ".") -> Validation:
        """Check evals without running anything: what is wrong, what proves less than it seems to, and what mends it."""
        done = await program.ask("validate", workplace.path(path), "--json")
        try:
            problems = done.document.get("problems", [])
        except RefusedError as error:
            return Validation(valid=False, verdict=str(error), findings=(), next="mend it, then call validate_evals")
        findings = answers.findings(problems)
        further = "plan_run says what a run would do" if done.code == 0 else "mend the errors, then call it again"
        return Validation(valid=done.code == 0, verdict=done.verdict, findings=findings, next=further)

    @server.tool(annotations=_DRAFTS)
    @_with_refusals
    async def draft_evals(
        skill: Annotated[str, Field(description="The folder of a skill, which holds SKILL.md.")],
    ) -> str:
        """Write evals/evals.draft.json beside a skill that has no evals: a blank draft for each of its headings.

        No run counts drafts. Fill in prompt and assertions, and move what is finished to evals/evals.json. Nothing that
        is there is changed.
        """
        folder = workplace.path(skill)
        document = (await program.ask("init", "--dir", folder, "--json")).document
        lines = [f"{part['path']}: {part['state']}. {part['note'] or ''}".strip() for part in document["parts"]]
        further = "next: write prompts that a user would write, and assertions that tell good from bad; validate_evals"
        return "\n".join([*(lines or ["nothing to draft"]), further])


def _add_runs(server: MCPServer[None], workplace: Workplace, program: Program, runs: Runs) -> None:
    @server.tool(annotations=_READS)
    @_with_refusals
    async def plan_run(evals: Selection) -> RunPlan:
        """Say what a run would do and what it may cost; nothing runs. Call it before run_evals."""
        document = (await program.ask("eval", *evals.arguments(workplace), "--dry-run", "--json")).document
        return answers.run_plan(document, await _earlier(program))

    @server.tool(annotations=_RUNS)
    @_with_refusals
    async def run_evals(
        evals: Selection,
        max_cost_usd: Annotated[float | None, Field(gt=0, description="Stop this run at this cost.")] = None,
        wait_s: Wait = 45,
    ) -> RunStatus:
        """Run evals, if the user has allowed it, within what he has allowed; answers before the end if that takes long.

        Agents work in sandboxes, with and without the skill, and checks grade what they did.
        """
        runs.allowed()
        return await runs.begin(evals.arguments(workplace), max_cost_usd, wait_s)

    @server.tool(annotations=_READS)
    @_with_refusals
    async def run_status(
        job: Annotated[str, Field(description="As run_evals named it.")], wait_s: Wait = 45
    ) -> RunStatus:
        """Wait for a run that run_evals has begun; answers with its report, or with how far it is."""
        return await runs.status(job, wait_s)

    @server.tool(annotations=_RUNS)
    @_with_refusals
    async def stop_run(job: Annotated[str, Field(description="As run_evals named it.")]) -> RunStatus:
        """End a run that run_evals has begun; what is finished of it is kept."""
        return await runs.stop(job)


def _add_results(server: MCPServer[None], workplace: Workplace, program: Program) -> None:
    @server.tool(annotations=_READS)
    @_with_refusals
    async def read_run(run: Stored = "latest") -> RunReport:
        """Read the result of a run: pass rates, lifts with their intervals, and what they prove."""
        done = await program.ask("report", "show", workplace.run(run), "--json")
        return answers.run_report(done.document, done.verdict)

    @server.tool(annotations=_READS)
    @_with_refusals
    async def failing_cases(
        run: Stored = "latest",
        arm: Arm = None,
        limit: Annotated[int, Field(ge=1, le=200, description="How many to answer with.")] = 20,
    ) -> FailedTrials:
        """List the trials of a run that did not pass, with the reason of each."""
        done = await program.ask("report", "show", workplace.run(run), "--json")
        return answers.failed_trials(done.document, arm, limit)

    @server.tool(annotations=_READS)
    @_with_refusals
    async def read_case(
        case: Annotated[str, Field(description="Id or name of the case.")], run: Stored = "latest", arm: Arm = None
    ) -> str:
        """Show all that happened in a case: what was asked, what the agent did, its files, each check with evidence."""
        (name,) = workplace.words([case], "case")
        words = [f"--arm={one}" for one in workplace.words([arm] if arm else [], "arm")]
        done = await program.ask("report", "show", workplace.run(run), f"--case={name}", *words)
        if done.code:
            raise RefusedError(done.stderr.strip())
        text = done.stdout.decode("utf-8", "replace")
        left_out = len(text) - _CHARACTERS
        return text if left_out <= 0 else f"{text[:_CHARACTERS]}\n({left_out} more characters; name an arm)"

    @server.tool(annotations=_READS)
    @_with_refusals
    async def compare_runs(before: Stored = "latest~1", after: Stored = "latest") -> str:
        """Say what changed from one run to another, case by case, and whether it is beyond chance."""
        done = await program.ask("report", "diff", workplace.run(before), workplace.run(after))
        if done.code:
            raise RefusedError(done.stderr.strip())
        return f"{done.stdout.decode('utf-8', 'replace')[:_CHARACTERS]}\n{done.verdict}"


async def _earlier(program: Program) -> dict[str, Any] | None:
    """Return the last stored run, if there is one."""
    try:
        return (await program.ask("report", "show", "latest", "--json")).document
    except RefusedError:
        return None
