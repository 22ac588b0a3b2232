"""The job of a run: everybody of the cast in the place where they work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from skillgauge_documents.frozen import EMPTY
from skillgauge_documents.redaction import Redactor

from ..contract.engines import SessionCache
from ..contract.formats import SuiteFormat
from ..contract.sandboxes import Sandbox
from ..contract.stores import Store
from ..environment import credentials, host_environment, secret
from ..errors import Problem, Severity
from ..log import keep_out
from ..plugins.registry import Registry
from ..report.summary import FigureSource
from ..run.agents import AgentStages, OnStep, files_of_skill
from ..run.direct import DirectStages
from ..run.grading import Grading
from ..run.judges import GuardedJudge
from ..run.pipeline import Job
from ..run.services import Services
from ..run.trials import RetryPolicy
from ..types.arms import ArmKind, SkillRole
from ..types.comparison import GroupKey
from ..types.result import Figure, SuiteSummary
from ..types.suite import Suite
from .cast import Cast
from .options import EvalOptions, Who
from .suites import Suites


def make_job(options: EvalOptions, suites: Suites, cast: Cast, registry: Registry) -> tuple[Job, tuple[Problem, ...]]:
    """Everything that carries a plan out.

    Args:
        options: what the user asks for.
        suites: what was loaded.
        cast: who takes part; without an error among its problems.
        registry: the run's plugins, of which the extensions listen.

    Returns:
        The job, and a warning for each secret that is too short to be kept out of results.
    """
    sandbox, store = _present(cast)
    short: list[Problem] = []
    events = registry.events()
    redactor = _redactor(suites, cast, short)
    registry.tell_secrets(lambda name: _learn(redactor, short, name, host_environment().get(name, "")))
    _learn(redactor, short, "store", urlsplit(options.who.store or "").password or "")
    events.tell_secrets(partial(_learn, redactor, short))
    keep_out(redactor.redact)
    services = Services(options.how.concurrency)
    direct, agents = _stages(options, suites, cast, sandbox, redactor)
    grading = Grading(
        cast.scorers,
        {suite.id: suite.on_agent_limit for suite in suites.suites},
        tuple(GuardedJudge(one.judge, redactor.redact, services) for one in cast.judging.found),
        cast.judging.digest,
        redactor.redact,
    )

    def watch(on_step: OnStep) -> None:
        agents.on_step = lambda trial, event: on_step(trial, redactor.redact(event))

    job = Job(
        stages={ArmKind.DIRECT: direct, ArmKind.AGENT: agents},
        grading=grading,
        figures=figure_source(suites.formats),
        store=store,
        executor=cast.executor,
        concurrency=options.how.concurrency,
        retry=RetryPolicy(options.how.retries),
        services=services,
        budget=options.how.budget,
        events=events,
        fresh=options.how.fresh,
        clean=redactor.redact,
        close=direct.close,
        watch_agents=watch,
    )
    return job, tuple(short)


def _present(cast: Cast) -> tuple[Sandbox, Store]:
    if cast.sandbox is None or cast.store is None:
        raise ValueError("a cast without sandbox or store has a problem that says so")
    return cast.sandbox.sandbox, cast.store


def _stages(
    options: EvalOptions, suites: Suites, cast: Cast, sandbox: Sandbox, redactor: Redactor
) -> tuple[DirectStages, AgentStages]:
    """Return where direct calls run, and where agents do."""
    keep, folder = options.how.keep_workspaces, options.who.record
    conceal = redactor.values if keep else EMPTY
    recorder = cast.engines.recorder(folder, redactor.redact) if folder else None
    cached = frozenset((suite.id, arm) for suite in suites.suites for arm in _cached_arms(suite))
    cache = _session_cache(options.who, cast, redactor) if cached else None
    direct = DirectStages(cast.adapters.of, sandbox, trusted=not options.how.untrusted, keep=keep, conceal=conceal)
    agents = AgentStages(
        cast.engines.setups,
        sandbox,
        files_of_skill,
        {suite.id: _skills_under_test(suite) for suite in suites.suites},
        recorder,
        cache=cache,
        cached=cached,
        untrusted=options.how.untrusted,
        keep=keep,
        conceal=conceal,
    )
    return direct, agents


def _session_cache(who: Who, cast: Cast, redactor: Redactor) -> SessionCache | None:
    """Return the cache of sessions; `None` where they are recorded or played back, or the user wants no cache."""
    if who.cache is None or who.replay or who.record:
        return None
    return cast.engines.cache(who.cache, redactor.redact)


def _skills_under_test(suite: Suite) -> frozenset[str]:
    skills = [skill for arm in suite.arms for skill in arm.skills]
    return frozenset(skill.name for skill in skills if skill.role is not SkillRole.DISTRACTOR)


def _cached_arms(suite: Suite) -> set[str]:
    """Return the arms whose sessions may be taken from a cache: others are only compared with them."""
    if not suite.defaults.cache_baseline:
        return set()
    return suite.mere_baselines


def _redactor(suites: Suites, cast: Cast, short: list[Problem]) -> Redactor:
    """Return one that has learned what cases, targets and a login hand on, and what else is a secret here.

    A word that the suites say themselves, such as `production`, is none. Plugins add theirs later.
    """
    redactor = Redactor()
    for name, value in credentials():
        _learn(redactor, [], name, value)
    passed = {name for target in suites.targets for name in target.pass_env}
    for name in sorted(passed | cast.passed):
        value = secret(name) or ""
        if not (value.isalpha() and any(re.search(rf"\b{value}\b", one.model_dump_json()) for one in suites.suites)):
            _learn(redactor, short, name, value)
    _learn_logins(redactor, cast.engines.login_files())
    return redactor


def _learn_logins(redactor: Redactor, files: Iterable[str]) -> None:
    """Learn what these files hold, as far as they are in the user's home."""
    if home := host_environment().get("HOME"):
        for file in files:
            _learn_document(redactor, Path(home, file))


def _learn_document(redactor: Redactor, path: Path) -> None:
    with suppress(OSError):
        redactor.register_document(path.name, path.read_bytes())


def _learn(redactor: Redactor, short: list[Problem], name: str, value: str) -> None:
    try:
        redactor.register(name, value)
    except ValueError as error:
        if value:
            short.append(Problem("secrets.short", str(error), severity=Severity.WARNING))


def figure_source(formats: Mapping[str, SuiteFormat]) -> FigureSource:
    """Asks the format of a suite for its figures."""

    def figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        one = formats.get(summary.suite.format)
        return one.figures(summary) if one else {}

    return figures
