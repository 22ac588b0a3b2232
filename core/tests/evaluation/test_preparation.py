"""Preparing an evaluation once more, in a process of an executor."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from skillgauge.errors import SuiteError
from skillgauge.evaluation.preparation import recipe_of, worker
from skillgauge.plan.options import EvalOptions, How, What
from skillgauge.plan.preparing import prepare
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.registry import Registry
from skillgauge.types.result import TrialResult, Verdict
from skillgauge_testkit.contract.executors import parts


@pytest.fixture
def options(tmp_path: Path) -> EvalOptions:
    """An evaluation of one case."""
    suite = tmp_path / f"suite{parts.SUFFIX}"
    suite.touch()
    return EvalOptions(cwd=tmp_path, what=What(paths=(suite,)), how=How(retries=3))


def registry() -> Registry:
    """The plugins of it."""
    return Registry(PluginIndex(), files=[Path(parts.__file__)])


async def made_again(options: EvalOptions, recipe_options: EvalOptions | None = None) -> TrialResult:
    """The result of its trial, from what another process makes of its recipe."""
    prepared = await prepare(options, registry())
    recipe = recipe_of(recipe_options or options, prepared, registry)
    (trial,) = prepared.plan.trials()
    async with worker(recipe, 2) as run_trial:
        return await run_trial(trial)


def test_worker_makes_the_attempt(options: EvalOptions) -> None:
    """A recipe is all that it takes to run and grade a trial of the plan."""
    result = asyncio.run(made_again(options))
    assert (result.verdict, result.execution.output) == (Verdict.PASS, "case")


def test_plan_must_be_the_same(options: EvalOptions) -> None:
    """What has become another plan is refused, since its results would stand under the old one's name."""
    changed = replace(options, how=replace(options.how, runs=2))
    with pytest.raises(SuiteError, match="has changed since the run began"):
        asyncio.run(made_again(options, changed))


def test_worker_has_the_sandbox_of_the_run(options: EvalOptions) -> None:
    """Workers are told the sandbox that was chosen and neither executor nor store, which are not theirs."""
    who = replace(options.who, store="runs.db", store_given=True, executor="processes")
    prepared = asyncio.run(prepare(options, registry()))
    theirs = pickle.loads(recipe_of(replace(options, who=who), prepared, registry)).options.who
    assert (theirs.sandbox, theirs.executor, theirs.store, theirs.store_given) == ("contract", None, None, False)
