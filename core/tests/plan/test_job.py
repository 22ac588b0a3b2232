"""The job of a run: which sessions may come from earlier runs, and what is kept out of results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from skillgauge.contract.engines import Engine
from skillgauge.contract.providers import Clean, Provider, Traits, hookimpl
from skillgauge.contract.sandboxes import Finished, Sandbox, SandboxReport, Tier, Workspace
from skillgauge.plan.cast import find_cast
from skillgauge.plan.checks.secrets import find_secrets
from skillgauge.plan.job import make_job
from skillgauge.plan.options import EvalOptions, Who
from skillgauge.plan.suites import Suites
from skillgauge.plan.survey import survey
from skillgauge.plugins.registry import Registry
from skillgauge.run.agents import AgentStages
from skillgauge.run.pipeline import Job
from skillgauge.types.arms import Arm, ArmKind, Comparison
from skillgauge.types.plan import Selection
from skillgauge.types.suite import Case, Suite, SuiteDefaults, Target
from skillgauge.types.trial import Execution, Trial
from skillgauge_testkit import FakeEngine, FakeSandbox
from skillgauge_testkit.registries import registry_of

FOLDER = Path("sessions")
WITH, WITHOUT = Arm(name="with", kind=ArmKind.AGENT), Arm(name="without", kind=ArmKind.AGENT)


class PlayerOptions(BaseModel):
    """Where the recordings are."""

    model_config = ConfigDict(extra="forbid")
    folder: str = ""


class Kept:
    """A recorder and a cache that keep nothing."""

    def __init__(self, _folder: Path, _clean: Clean) -> None:
        pass

    async def find(self, _trial: Trial, _workspace: Workspace) -> Execution | None:
        """Find nothing."""

    async def record(self, _trial: Trial, _execution: Execution, _workspace: Workspace) -> None:
        """Keep nothing."""


class Box(FakeSandbox):
    """A sandbox that works."""

    async def check(self) -> SandboxReport:
        """Return that it confines strictly."""
        return SandboxReport(Tier.STRICT)


def engine(name: str) -> FakeEngine:
    """Return an engine that does nothing."""
    return FakeEngine(lambda _request, _workspace, _emit: Execution(), name=name)


def registry() -> Registry:
    """Return a registry of an engine with a login, a player of recordings and a sandbox."""
    module = ModuleType("job_of_a_test")

    @hookimpl
    def skillgauge_engines() -> Iterator[Provider[Engine]]:
        yield Provider("agent", lambda: engine("agent"), "", traits=Traits(login_files=("agent/login.json",)))
        yield Provider(
            "player",
            lambda _options: engine("player"),
            "",
            options=PlayerOptions,
            traits=Traits(plays="folder", only_by_name=True),
            records=Kept,
            caches=Kept,
        )

    @hookimpl
    def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
        yield Provider("box", lambda: Box(lambda _command, _workspace: Finished(0, None, b"", b"", 0.1)), "")

    vars(module).update({hook.__name__: hook for hook in (skillgauge_engines, skillgauge_sandboxes)})
    return registry_of(module)


def job_of(*, cache_baseline: bool = False, **who: Any) -> Job:
    """Return the job of a suite that compares an arm with another one."""
    suite = Suite(
        id="s",
        format="f",
        root="/s",
        targets=(Target(id="t"),),
        arms=(WITH, WITHOUT),
        cases=(Case(id="c"),),
        comparisons=(Comparison(candidate="with", baseline="without"),),
        defaults=SuiteDefaults(cache_baseline=cache_baseline),
    )
    options = EvalOptions(Path("/"), who=Who(**{"engines": ("agent",), **who}))
    suites, plugins = Suites({}, (suite,), ()), registry()
    cast = asyncio.run(find_cast(options, suites, [survey(suite, Selection())], plugins))
    redactor, _ = find_secrets(suites.suites, cast.passed, cast.engines.login_files(), None, plugins)
    return make_job(options, suites, cast, plugins, redactor)


def agents_of(job: Job) -> AgentStages:
    """Return where its agents run."""
    stages = job.stages[ArmKind.AGENT]
    assert isinstance(stages, AgentStages)
    return stages


def test_sessions_of_a_mere_baseline_may_come_from_earlier_runs() -> None:
    """Those of the arm that is compared with it are what the run is about, so they are always new."""
    stages = agents_of(job_of(cache=FOLDER, cache_baseline=True))
    assert stages.cache is not None
    assert stages.cached == {("s", "without")}


@pytest.mark.parametrize(
    "who",
    [{}, {"cache": FOLDER, "record": FOLDER}, {"cache": FOLDER, "replay": FOLDER}],
    ids=["no folder", "recorded", "played back"],
)
def test_no_session_comes_from_earlier_runs(who: dict[str, Any]) -> None:
    """A recording is of this run, what is played back is known already, and a cache needs a folder."""
    assert agents_of(job_of(cache_baseline=True, **who)).cache is None


def test_a_suite_decides_whether_its_sessions_may_come_from_earlier_runs() -> None:
    """A folder alone makes no cache."""
    assert agents_of(job_of(cache=FOLDER)).cache is None


def test_a_login_of_the_user_is_kept_out_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent may print the credential file that it works with."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "agent").mkdir()
    token = "t0k3n-of-a-login-that-nobody-may-see"
    (tmp_path / "agent" / "login.json").write_text(json.dumps({"token": token}), encoding="utf-8")
    clean = job_of().clean
    assert clean is not None
    assert token not in clean(f"it says {token}")
