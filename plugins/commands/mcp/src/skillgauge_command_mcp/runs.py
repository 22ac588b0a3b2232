"""Runs that an agent has begun: one at a time, and all together within what the user allows."""

from __future__ import annotations

import asyncio
from typing import Any

from skillgauge.api import Frozen

from .answers import RunReport, run_report
from .program import Done, Program, Running, problems_text
from .workplace import RefusedError

NOT_ALLOWED = (
    "runs are not allowed by this server; ask the user to start it with `--allow-runs --max-cost USD`. "
    "Until then plan_run says what a run would do"
)


class Budget:
    """The limit of cost of all runs of a server.

    Args:
        total_usd: the limit.
    """

    def __init__(self, total_usd: float) -> None:
        self.total_usd = total_usd
        self.spent_usd = 0.0

    @property
    def left_usd(self) -> float:
        """The rest of it."""
        return max(0.0, self.total_usd - self.spent_usd)

    def allot(self, wish_usd: float | None) -> float:
        """Return what a run may cost.

        Raises:
            RefusedError: nothing is left.
        """
        if self.left_usd <= 0:
            used = f"the {self.total_usd:g} USD that the user has allowed are used up"
            raise RefusedError(f"{used}; ask the user to start the server anew with another --max-cost")
        return self.left_usd if wish_usd is None else min(wish_usd, self.left_usd)

    def settle(self, allotted_usd: float, document: dict[str, Any] | None) -> None:
        """Count what a run has cost; all that it might have cost, where that is not known."""
        spending = (document or {}).get("summary", {}).get("spending")
        if document is None or (spending and (spending["unknown"] or spending["cut_off"])):
            self.spent_usd += allotted_usd
        elif spending:
            self.spent_usd += spending["cost_usd"]


class RunStatus(Frozen):
    """A run of this server."""

    job: str
    """Names it for run_status and stop_run."""
    state: str
    """`running`, `ended` or `failed`."""
    trials_done: int | None = None
    trials: int | None = None
    budget_left_usd: float
    report: RunReport | None = None
    problem: str | None = None
    next: str


class Runs:
    """Begins runs, and follows the one that is under way.

    Args:
        program: carries them out.
        budget: of all of them; `None` allows none.
    """

    def __init__(self, program: Program, budget: Budget | None) -> None:
        self._program = program
        self._budget = budget
        self._jobs: dict[str, _Job] = {}
        self._starting = asyncio.Lock()

    async def begin(self, arguments: list[str], max_cost_usd: float | None, wait_s: float) -> RunStatus:
        """Begin a run and wait a while for its end.

        Raises:
            RefusedError: runs are not allowed, one is under way, or nothing is left of the budget.
        """
        budget = self.allowed()
        async with self._starting:
            self._require_none_under_way()
            allotted = budget.allot(max_cost_usd)
            plan = (await self._program.ask("eval", *arguments, "--dry-run", "--json")).document
            may_cost = bool(plan["keys"]) or any(arm["paid"] for arm in plan["arms"])
            running = await self._program.start("eval", *arguments, f"--max-cost={allotted:.6f}", "--json")
            name = f"job-{len(self._jobs) + 1}"
            self._jobs[name] = _Job(running, budget, allotted if may_cost else 0.0)
        return await self.status(name, wait_s)

    async def status(self, name: str, wait_s: float) -> RunStatus:
        """Return the state of a run, after waiting a while for its end.

        Raises:
            RefusedError: there is no such run.
        """
        job = self._job(name)
        await asyncio.wait({job.running.done}, timeout=wait_s)
        return job.status(name)

    async def stop(self, name: str) -> RunStatus:
        """End a run; what is finished of it is kept.

        Raises:
            RefusedError: there is no such run.
        """
        job = self._job(name)
        await job.running.stop()
        return job.status(name)

    async def close(self) -> None:
        """End the run that is under way."""
        await asyncio.gather(*(job.running.stop() for job in self._jobs.values() if not job.running.done.done()))

    def allowed(self) -> Budget:
        """Return the budget.

        Raises:
            RefusedError: runs are not allowed.
        """
        if self._budget is None:
            raise RefusedError(NOT_ALLOWED)
        return self._budget

    def _require_none_under_way(self) -> None:
        for name, job in self._jobs.items():
            if not job.running.done.done():
                raise RefusedError(f"run {name} is under way; wait for it with run_status, or end it with stop_run")

    def _job(self, name: str) -> _Job:
        if name not in self._jobs:
            names = ", ".join(self._jobs) or "none yet"
            raise RefusedError(
                f"there is no run {name!r} of this server (its runs: {names}); read_run reads stored ones"
            )
        return self._jobs[name]


class _Job:
    """A run, and the budget that it was begun with."""

    def __init__(self, running: Running, budget: Budget, allotted_usd: float) -> None:
        self.running = running
        self._budget = budget
        self._allotted_usd = allotted_usd
        running.done.add_done_callback(self._settle)

    def status(self, name: str) -> RunStatus:
        """Return its state."""
        done, trials = self.running.progress or (None, None)
        if not self.running.done.done():
            return RunStatus(
                job=name,
                state="running",
                trials_done=done,
                trials=trials,
                budget_left_usd=self._budget.left_usd,
                next=f"call run_status with job {name!r}",
            )
        report, problem = _conclusion(self.running.done.result())
        return RunStatus(
            job=name,
            state="ended" if report else "failed",
            trials_done=done,
            trials=trials,
            budget_left_usd=self._budget.left_usd,
            report=report,
            problem=problem,
            next=report.next if report else "mend what the problem says, then call plan_run",
        )

    def _settle(self, done: asyncio.Task[Done]) -> None:
        """Count its cost, once."""
        document = None
        if not done.cancelled() and done.exception() is None:
            try:
                document = done.result().document
            except RefusedError:
                # Nothing has run where the command line was refused.
                document = {} if done.result().code == 2 else None
        self._budget.settle(self._allotted_usd, document)


def _conclusion(done: Done) -> tuple[RunReport | None, str | None]:
    try:
        document = done.document
    except RefusedError as error:
        return None, str(error)
    if "summary" not in document:
        return None, problems_text(document.get("problems", [])) or done.verdict
    return run_report(document, done.verdict), None
