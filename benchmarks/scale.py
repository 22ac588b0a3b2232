"""A million sessions on a thousand workers, in simulated time: the kernel's own scheduler, ledger and budget.

Run, from the root of the repository: python -m benchmarks.scale [TRIALS]

What is real: the pipeline from the plan to the last commit, retries, reservations, places at a service, journal, and
the keeping of executions before they are graded, in the first process and in each worker. What is made up: how long a
session takes (log-normal, some five times as long), when a worker dies (once a day on average), how many sessions the
provider bears, and how long the database takes for a write, of which one connection makes one at a time. Nothing waits
for real time to pass: the clock of the event loop jumps to the next moment at which something is due. Only claims of
trials that cost nothing look at another clock, and there are none. Everything but the clock of the wall is seeded.

"efficiency" is the time of the sessions and gradings that counted, of all the time that the places were there for;
"repeated" counts sessions that had come to their end and were paid for again.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.simulated_cluster import LIMIT_S, Cluster, Databases, Setting, SimulatedLoop, Tally, grading_of, now

from skillgauge.cli.process import GARBAGE_THRESHOLD
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.run.budget import BudgetLimits
from skillgauge.run.pipeline import Job, carry_out
from skillgauge.run.services import Services
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.results.trials import Verdict
from skillgauge.types.suite import Case, Check, Limits, Suite
from skillgauge.types.trial import Identity

CASES = 1_000
WITH = Arm(name="with_skill", kind=ArmKind.AGENT)


def plan_of(setting: Setting) -> Plan:
    """As many paid sessions of an agent as the setting says."""
    count = min(CASES, setting.trials)
    cases = tuple(Case(id=f"case-{at}", prompt=f"{at}", checks=(Check(id="k", scorer="exact"),)) for at in range(count))
    suite = Suite(id="s", format="f", root="/s", cases=cases)
    cell = Cell(WITH, Identity(name="scripted", version="1"), paid=True, limits=Limits(timeout_s=LIMIT_S))
    found = survey(suite, Selection())
    return make_plan([SuitePlan(suite, (cell,))], [found], Terms(runs=setting.trials // count, seed=setting.seed))


def simulate(setting: Setting) -> Tally:
    """Carry a run out, and say what happened."""
    tally = Tally.of(setting)

    async def run() -> None:
        job = Job(
            stages={},
            grading=grading_of(setting),
            figures=lambda summary: {},
            store=Databases(tally),
            executor=Cluster(tally),
            concurrency=setting.workers,
            services=Services(setting.workers),
            budget=BudgetLimits(cost_usd=setting.budget * setting.expected_usd),
        )
        await carry_out(plan_of(setting), job)
        tally.ended_s = now()

    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        runner.run(run())
    return tally


HEADINGS = (
    "what",
    "hours",
    "trials/s",
    "efficiency",
    "writes/s, most in a minute",
    "deaths",
    "refused",
    "errors",
    "repeated",
    "after the last start",
    "spent",
)


def row(tally: Tally) -> str:
    """A line of the table."""
    setting, hours = tally.setting, tally.ended_s / 3_600
    trials, repeated = sum(tally.verdicts.values()), tally.repeated
    lost = f" (${tally.repeated_usd:,.0f})" if repeated else ""
    cells = (
        setting.name,
        f"{hours:.2f}" if hours < 10 else f"{hours:.1f}",
        f"{trials / tally.ended_s:.2f}",
        f"{tally.efficiency:.1%}",
        f"{sum(tally.writes.values()) / tally.ended_s:.1f}, {max(tally.by_minute.values()) / 60:.0f}",
        f"{tally.deaths:,}",
        f"{tally.refused:,}",
        f"{trials - tally.verdicts[Verdict.PASS]:,} of {trials:,}",
        f"{repeated:,}{lost}",
        f"{(tally.ended_s - tally.last_begun_s) / 60:.0f} min",
        f"${tally.spent_usd:,.0f} of ${setting.budget * setting.expected_usd:,.0f}",
    )
    return f"| {' | '.join(cells)} |"


def settings(trials: int) -> Iterator[Setting]:
    """What is printed."""
    yield (large := Setting(f"1,000 workers, {trials:,} trials of 3 min", trials=trials))
    yield replace(large, name="the same, a tenth of the trials", trials=max(CASES, trials // 10))
    small = replace(large, workers=200, trials=max(CASES, trials // 50))
    yield replace(small, name=f"200 workers, {small.trials:,} trials of 3 min")
    yield replace(small, name="the same, executions not kept before grading", keeps=False)
    yield replace(small, name="the same, 100 places at the provider, not told", provider=100)
    yield replace(small, name="the same, told: --concurrency 100", provider=100, workers=100)
    yield replace(small, name="the same, database 20 ms away", write_s=0.02)
    yield replace(small, name="the same, half the money", budget=0.5)
    yield replace(small, name="the same, trials of 20 s", mean_s=20.0, grading_s=2.0)
    yield replace(small, name="trials of 20 s, database 20 ms away", mean_s=20.0, grading_s=2.0, write_s=0.02)


def main() -> None:
    """Simulate and print."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    gc.set_threshold(GARBAGE_THRESHOLD)
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for setting in settings(trials):
        began = time.perf_counter()
        tally = simulate(setting)
        print(row(tally), flush=True)
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{time.perf_counter() - began:.0f} s, peak {rss:.0f} MB RSS, {dict(tally.writes)}", file=sys.stderr)


if __name__ == "__main__":
    main()
