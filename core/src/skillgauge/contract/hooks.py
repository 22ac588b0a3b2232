"""The hook specifications: what a plugin module may implement.

A plugin is a module named by an entry point. The entry point's group says the kind, its name is what the user
types, and the module implements the one collecting hook of that kind with `@hookimpl`. Collecting hooks only
*announce*: they return `Provider`s, quickly and without heavy imports; what makes the object is named in them and
imported when it is made.

Event hooks belong to plugins of the group `skillgauge.extensions`. They run on a thread of their own, in the
order of the events; what they return is ignored, and an exception is logged with the plugin's name and goes no
further, except where the hook says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..types.results.runs import RunInfo
from ..types.results.trials import TrialResult
from ..types.trial import PlanHead, Trial
from .adapters import Adapter
from .engines import Engine
from .executors import Executor
from .formats import SuiteFormat
from .judges import Judge
from .providers import Provider, hookspec
from .reporters import Reporter
from .sandboxes import Sandbox
from .scorers import Scorer
from .stores import Store

if TYPE_CHECKING:
    from ..types.results.summaries import Summary


class Announcements:
    """The collecting hooks: each belongs to plugins of the group that its name ends with."""

    @hookspec
    def skillgauge_formats(self) -> Iterable[Provider[SuiteFormat]]:  # type: ignore[empty-body]  # a specification
        """Announce suite formats.

        Called once per run for every installed format, because a path has to be shown to all of them. Order does
        not matter: two formats that claim one path are an error which asks for `--suite-format`. A hook that raises
        takes its own plugin out of the run and is reported.

        Example::

            @hookimpl
            def skillgauge_formats():
                yield Provider(name="acme", factory="acme.suites:AcmeFormat", summary="Suites of the ACME test bench.")
        """

    @hookspec
    def skillgauge_adapters(self) -> Iterable[Provider[Adapter]]:  # type: ignore[empty-body]  # a specification
        """Announce adapters, which call a skill directly.

        Called at most once per run, only for the plugins that the run's targets name. A hook that raises makes the
        plugin unusable; naming it is then an error that quotes the exception.

        Example::

            @hookimpl
            def skillgauge_adapters():
                yield Provider(name="grpc", factory="acme.grpc:GrpcAdapter", summary="Call a skill over gRPC.")
        """

    @hookspec
    def skillgauge_engines(self) -> Iterable[Provider[Engine]]:  # type: ignore[empty-body]  # a specification
        """Announce engines, which drive an agent.

        Called at most once per run, only for the plugins named by `--engine`, the configuration or a suite.
        `Provider.traits` must say which secrets, login files and model hosts the engine needs and which facts it can
        tell, because that is decided before the factory is called.

        Example::

            @hookimpl
            def skillgauge_engines():
                yield Provider(name="acme-agent", factory="acme.agent:AcmeEngine", summary="The ACME agent.",
                               traits=Traits(secrets=("ACME_API_KEY",), skill_folder=".agents/skills"))
        """

    @hookspec
    def skillgauge_scorers(self) -> Iterable[Provider[Scorer]]:  # type: ignore[empty-body]  # a specification
        """Announce scorers.

        Called at most once per run, only for the plugins that the run's checks name. A scorer is made once for all
        checks that have the same options, before anything runs and on a thread of its own.

        Example::

            @hookimpl
            def skillgauge_scorers():
                yield Provider(name="tone", options=ToneOptions, factory="acme.tone:ToneScorer", summary="A tone.")
        """

    @hookspec
    def skillgauge_judges(self) -> Iterable[Provider[Judge]]:  # type: ignore[empty-body]  # a specification
        """Announce judges, which give scorers access to a model.

        Called at most once per run, only for the judges that the run names. `Provider.traits` says which secret
        authenticates it and which model ids it serves.

        Example::

            @hookimpl
            def skillgauge_judges():
                yield Provider(name="acme", factory="acme.judge:AcmeJudge", summary="ACME's models.", traits=TRAITS)
        """

    @hookspec
    def skillgauge_sandboxes(self) -> Iterable[Provider[Sandbox]]:  # type: ignore[empty-body]  # a specification
        """Announce sandboxes.

        Called once per run: for the one that `--sandbox` names, else for all installed ones, of which the strongest
        usable tier is taken.

        Example::

            @hookimpl
            def skillgauge_sandboxes():
                yield Provider(name="jail", factory="acme.jail:Jail", summary="ACME's jail.")
        """

    @hookspec
    def skillgauge_reporters(self) -> Iterable[Provider[Reporter]]:  # type: ignore[empty-body]  # a specification
        """Announce reporters.

        Called at most once per run, only for the plugins that `--format` names; for all installed ones when a
        document has to be recognised.

        Example::

            @hookimpl
            def skillgauge_reporters():
                yield Provider(name="wiki", factory="acme.wiki:WikiReporter", summary="A page for the team wiki.")
        """

    @hookspec
    def skillgauge_stores(self) -> Iterable[Provider[Store]]:  # type: ignore[empty-body]  # a specification
        """Announce stores.

        Called at most once per run, for the one store that `--store` or the configuration names.

        Example::

            @hookimpl
            def skillgauge_stores():
                yield Provider(name="kv", options=KvOptions, factory="acme.kv:KvStore", summary="ACME's database.")
        """

    @hookspec
    def skillgauge_executors(self) -> Iterable[Provider[Executor]]:  # type: ignore[empty-body]  # a specification
        """Announce executors, which decide where trials run.

        Called at most once per run, for the one executor that the run names; the kernel has its own for this process.

        Example::

            @hookimpl
            def skillgauge_executors():
                yield Provider(name="grid", factory="acme.grid:Grid", summary="ACME's compute grid.")
        """


class ExtensionHooks:
    """Group `skillgauge.extensions`: events, and one question.

    A module implements them, or announces an object of which the methods do, made with the extension's options.
    """

    @hookspec
    def skillgauge_extensions(self) -> Iterable[Provider[object]]:  # type: ignore[empty-body]  # a specification
        """Announce objects that listen, for an extension with options; the module itself does not listen then.

        Called at most once per run. An object implements the other hooks of this group as methods, with `@hookimpl`;
        its options come from `plugins.extensions.<name>.<key>`. One that has nothing to do in this run is best made
        without hooks: every trial is handed to another thread for whoever listens.

        Example::

            @hookimpl
            def skillgauge_extensions():
                yield Provider(name="approval", factory=Approval, options=Limits, summary="Asks before large runs.")
        """

    @hookspec
    def skillgauge_plan_ready(self, plan: PlanHead) -> None:
        """A plan is complete and nothing has run.

        Called once per run, before the first trial, on the calling thread; the run waits. Raising `PolicyError`
        forbids the run: nothing is executed and the exit code is 2. Any other exception is reported and forbids the
        run too, because a policy that crashed has not agreed.

        Example::

            @hookimpl
            def skillgauge_plan_ready(plan):
                if plan.trial_count > 10_000:
                    raise PolicyError("more than 10,000 trials need approval")
        """

    @hookspec
    def skillgauge_trial_started(self, trial: Trial) -> None:
        """A trial is about to execute; called once per trial that this run executes, retries not counted.

        Example::

            @hookimpl
            def skillgauge_trial_started(trial):
                dashboard.begin(trial.trial_id)
        """

    @hookspec
    def skillgauge_trial_finished(self, result: TrialResult) -> None:
        """A trial's result is committed; called once per trial that this run executes, after its start event.

        Example::

            @hookimpl
            def skillgauge_trial_finished(result):
                dashboard.end(result.trial_id, result.verdict)
        """

    @hookspec
    def skillgauge_run_finished(self, run: RunInfo, summary: Summary) -> None:
        """The run has ended, whether complete, interrupted or stopped; called once, after all other events.

        Example::

            @hookimpl
            def skillgauge_run_finished(run, summary):
                chat.post(f"{run.run_id}: {summary.counts.passed} passed")
        """

    @hookspec(firstresult=True)
    def skillgauge_resolve_secret(self, name: str) -> str | None:
        """The value of a secret, or `None` to let the next plugin, and finally the environment, answer.

        Called when a secret is first needed, once per name and run, when a plan is checked at the latest; the first
        value that is not `None` is used, and is kept out of all results. An exception is an error of the run, because
        going on without the key would look like a failure of the skill.

        Example::

            @hookimpl
            def skillgauge_resolve_secret(name):
                return vault.read(f"ci/{name}")
        """
