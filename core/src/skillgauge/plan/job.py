"""The job of a run: everybody of the cast in the place where they work."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from skillgauge_documents.frozen import EMPTY
from skillgauge_documents.redaction import Redactor

from ..contract.engines import SessionCache
from ..contract.sandboxes import Sandbox, Workspace
from ..contract.stores import Store
from ..plugins.registry import Registry
from ..run.agents import AgentStages, OnStep, files_of_skill
from ..run.direct import DirectStages
from ..run.grading import Grading, required_scores, user_score
from ..run.judges import GuardedJudge
from ..run.pipeline import Job
from ..run.services import Services
from ..run.trials import RetryPolicy
from ..types.arms import ArmKind, SkillRole
from ..types.score import Score
from ..types.suite import Suite
from ..types.trial import Execution, Trial
from .cast import Cast
from .options import EvalOptions, Who
from .suites import Suites


def make_job(options: EvalOptions, suites: Suites, cast: Cast, registry: Registry, redactor: Redactor) -> Job:
    """Everything that carries a plan out.

    Args:
        options: what the user asks for.
        suites: what was loaded.
        cast: who takes part; without an error among its problems.
        registry: the run's plugins, of which the extensions listen.
        redactor: takes secrets out of results.
    """
    sandbox, store = _present(cast)
    services = Services(options.how.concurrency, options.how.services)
    direct, agents = _stages(options, suites, cast, sandbox, redactor)
    grading = Grading(
        cast.scorers,
        {suite.id: suite.on_agent_limit for suite in suites.suites},
        tuple(GuardedJudge(one.judge, redactor.redact, services) for one in cast.judging.found),
        cast.judging.digest,
        redactor.redact,
    )

    async def ask_required(trial: Trial, execution: Execution, workspace: Workspace) -> Sequence[Score]:
        return await required_scores(trial, execution, grading, workspace)

    async def ask_user(trial: Trial, execution: Execution, workspace: Workspace) -> Sequence[Score]:
        return (await user_score(trial, execution, grading, workspace),)

    agents.ask_required, agents.ask_user = ask_required, ask_user

    def watch(on_step: OnStep) -> None:
        agents.on_step = lambda trial, event: on_step(trial, redactor.redact(event))

    return Job(
        stages={ArmKind.DIRECT: direct, ArmKind.AGENT: agents},
        grading=grading,
        figures=suites.figures,
        store=store,
        executor=cast.executor,
        concurrency=options.how.concurrency,
        retry=RetryPolicy(options.how.retries),
        services=services,
        budget=options.how.budget,
        events=registry.events(),
        fresh=options.how.fresh,
        clean=redactor.redact,
        close=direct.close,
        watch_agents=watch,
    )


def _present(cast: Cast) -> tuple[Sandbox, Store]:
    if cast.sandbox is None or cast.store is None:
        raise ValueError("a cast without sandbox or store has a problem that says so")
    return cast.sandbox.sandbox, cast.store


def _stages(
    options: EvalOptions, suites: Suites, cast: Cast, sandbox: Sandbox, redactor: Redactor
) -> tuple[DirectStages, AgentStages]:
    """Return where direct calls run, and where agents do."""
    keep = options.how.keep_workspaces
    conceal = redactor.values if keep else EMPTY
    cached = frozenset((suite.id, arm) for suite in suites.suites for arm in _cached_arms(suite))
    direct = DirectStages(cast.adapters.of, sandbox, trusted=not options.how.untrusted, keep=keep, conceal=conceal)
    agents = AgentStages(
        cast.engines.setups,
        sandbox,
        files_of_skill,
        {suite.id: _skills_under_test(suite) for suite in suites.suites},
        cast.engines.recorder(options.who.record, redactor.redact),
        only_missing=options.who.only_missing,
        cache=_session_cache(options.who, cast, redactor, cached),
        cached=cached,
        untrusted=options.how.untrusted,
        keep=keep,
        conceal=conceal,
    )
    return direct, agents


def _session_cache(who: Who, cast: Cast, redactor: Redactor, arms: Collection[object]) -> SessionCache | None:
    """Return the cache of sessions of some arms.

    It is `None` without such an arm, where sessions are recorded or played back, or if the user wants no cache.
    """
    if not arms or who.cache is None or who.replay or who.record:
        return None
    return cast.engines.cache(who.cache, redactor.redact)


def _skills_under_test(suite: Suite) -> frozenset[str]:
    skills = [skill for arm in suite.arms for skill in arm.skills]
    return frozenset(skill.name for skill in skills if skill.role is not SkillRole.DISTRACTOR)


def _cached_arms(suite: Suite) -> frozenset[str]:
    """Return the arms whose sessions may be taken from a cache: others are only compared with them."""
    if not suite.defaults.cache_baseline:
        return frozenset()
    return suite.mere_baselines
