"""Clauses about admission: a worker that lacks what a run needs gets no trial, and every reason is told.

The recipe asks for what no worker has, in place of a worker that lacks it. So the clauses need no second installation,
and hold wherever workers are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from skillgauge.api import PluginError, Results, TrialResult

from ..clauses import answered, called, require, shown
from .bench import Bench, ChangeRecipe, each, require_all_passed
from .parts import NAME, NO_LOGIN
from .workers import FindWorkers

TRIALS = 30
ABSENT_SECRET = "SKILLGAUGE_CONTRACT_ABSENT_SECRET"
ABSENT_DISTRIBUTION = "skillgauge-contract-absent"


def _differ(recipe: dict[str, Any]) -> None:
    """Ask for another version, a distribution and a secret that are absent, a strict sandbox, and a login."""
    recipe["versions"]["skillgauge-core"] = "0.0.1"
    recipe["versions"][ABSENT_DISTRIBUTION] = "1.0"
    recipe["secrets"] = [ABSENT_SECRET]
    recipe["tier"] = "strict"
    recipe["options"][f"adapters.{NAME}"] = {"login": False}


def _other_file(recipe: dict[str, Any]) -> None:
    """Ask for a plugin with other content."""
    recipe["plugin_files"] = dict.fromkeys(recipe["plugin_files"], "0" * 64)


def _other_plan(recipe: dict[str, Any]) -> None:
    """Ask for a suite with other content."""
    recipe["plan_id"] = "0" * 32


def _changed(change: Callable[[dict[str, Any]], None], recipe: bytes) -> bytes:
    document = json.loads(recipe)
    change(document)
    return json.dumps(document).encode()


DIFFERS: ChangeRecipe = partial(_changed, _differ)
REFUSALS: tuple[tuple[str, ChangeRecipe, frozenset[str]], ...] = (
    (
        "another version, an absent distribution, an absent secret, a weaker sandbox and no login",
        DIFFERS,
        frozenset({"worker.version", "worker.no-distribution", "worker.no-secret", "worker.sandbox", NO_LOGIN}),
    ),
    ("another plugin file", partial(_changed, _other_file), frozenset({"worker.other-file"})),
    ("another suite", partial(_changed, _other_plan), frozenset({"suite.changed"})),
)
"""The difference of every worker, the recipe that makes it, and the codes of all reasons."""


@dataclass(frozen=True)
class AdmissionClauses:
    """The clauses, on a bench."""

    bench: Bench
    find: FindWorkers

    async def one_lacks_something(self) -> None:
        """One worker of several lacks all that a run may need: the others make the trials, at the first attempt."""
        executor = self.bench.executor(3)
        workers = called("finding the workers", self.find, executor)
        if not called("Workers.mislead_one", workers.mislead_one, DIFFERS):
            return
        results, _ = await self.bench.run(3, each(await self.bench.trials(range(TRIALS))), executor=executor)
        when = "when one worker of several lacks what the run needs"
        require_all_passed(await self.bench.all_of(results, f"{when}, "), TRIALS, when)
        await self.bench.close(results)

    async def all_lack_something(self) -> None:
        """Every worker is refused: the run ends with a `PluginError` of all reasons, and no trial has a result."""
        for difference, recipe, codes in REFUSALS:
            executor = self.bench.executor(2)
            called("finding the workers", self.find, executor)
            trials = each(await self.bench.trials(range(4)))
            results, _ = await self.bench.run(2, trials, executor=executor, recipe=recipe)
            when = f"when every worker has {difference}"
            came: list[TrialResult] = []
            reading = partial(_error_of, results, came)
            error = await answered(f"{when}, iterating Results", self.bench.patience_s, reading)
            reported = {problem.code for problem in error.problems} if isinstance(error, PluginError) else set()
            absent = sorted(codes - reported)
            require(not absent, f"{when}, a PluginError must tell {absent}, but there was {shown(error)}")
            require(not came, f"{when}, no trial must have a result, but there came {shown(came)}")
            require(not results.complete, f"{when}, Results.complete must be False")
            await self.bench.close(results)


async def _error_of(results: Results, came: list[TrialResult]) -> Exception | None:
    try:
        async for result in results:
            came.append(result)
    except Exception as error:  # noqa: BLE001 - what it is decides
        return error
    return None
