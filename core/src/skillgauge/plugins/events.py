"""Calls into plugins that must not take the run down, and the events that extensions listen to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from queue import Full, Queue
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

from ..errors import PluginError, PolicyError, Problem
from ..log import one_line
from ..types.results.runs import RunInfo
from ..types.results.trials import TrialResult
from ..types.trial import PlanHead, Trial
from .kinds import Resolved, broken

if TYPE_CHECKING:
    from ..types.results.summaries import Summary

Listener: TypeAlias = tuple[str, Callable[..., object]]
"""An extension's name and its implementation of one hook."""


class Failed(Exception):  # noqa: N818 - not an error to report, but the reason for one
    """A plugin's code raised; the text says what, in one line."""


class _Passing:
    """A context that passes some exceptions on and turns every other one into another.

    A class, since most of what it guards takes less time than a generator.

    Args:
        through: what passes.
        turned: makes the exception that is raised in place of one.
    """

    __slots__ = ("_through", "_turned")

    def __init__(
        self, through: tuple[type[BaseException], ...], turned: Callable[[BaseException], BaseException]
    ) -> None:
        self._through = through
        self._turned = turned

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None and not isinstance(error, self._through):
            raise self._turned(error) from error


def isolated(*passing: type[Exception]) -> AbstractContextManager[None]:
    """Turn whatever a plugin's code raises into `Failed`; only Ctrl-C and `passing` get through.

    Not only `Exception`, because plugins call `sys.exit` and test libraries raise a `BaseException` at import.
    """
    return _Passing((KeyboardInterrupt, Failed, *passing), lambda error: Failed(one_line(error)))


def failing_as(plugin: Resolved, how: str, *passing: type[Exception]) -> AbstractContextManager[None]:
    """Turn whatever a plugin's code raises into a problem of that plugin, which says how it failed."""
    return _Passing(
        (KeyboardInterrupt, *passing), lambda error: PluginError(broken(plugin, f"{how}: {one_line(error)}"))
    )


class Events:
    """Tells extensions what happens in a run. Without extensions every method returns at once.

    Trials and the end of the run are told on one thread of its own, in order, so that no extension slows a trial.

    Args:
        listeners: extensions by the hook they implement, in calling order.
        note: keeps an extension's failure by the extension's name; called from the other thread too.
        waiting: events that may wait for slow extensions; more are dropped and counted, because a run must neither
            wait for them nor fill memory with them.
    """

    def __init__(
        self, listeners: Mapping[str, Sequence[Listener]], note: Callable[[str, Problem], object], waiting: int = 10_000
    ) -> None:
        self._listeners = listeners
        self._note = note
        self._queue: Queue[tuple[str, dict[str, object]] | None] = Queue(waiting)
        self._thread: Thread | None = None
        self._posted = self._told = 0
        self._secrets: dict[str, str | None] = {}
        self._lent: list[tuple[str, str]] = []
        self._learn: Callable[[str, str], None] = lambda _name, _value: None

    def plan_ready(self, plan: PlanHead) -> None:
        """Ask every extension, on this thread, whether the plan may run.

        Raises:
            PolicyError: with the objections of all extensions; one that crashed has not agreed.
        """
        problems: list[Problem] = []
        for name, call in self._listeners.get("skillgauge_plan_ready", ()):
            try:
                with isolated(PolicyError):
                    call(plan=plan)
            except PolicyError as refusal:
                problems += refusal.problems
            except Failed as failure:
                text = f"extension '{name}' failed when it was asked about the plan: {failure}"
                problems.append(Problem("policy.crashed", text, hint=f"leave it out: --no-plugin {name}"))
        PolicyError.raise_for(problems)

    def trial_started(self, trial: Trial) -> None:
        """A trial is about to execute."""
        self._post("skillgauge_trial_started", trial=trial)

    def trial_finished(self, result: TrialResult) -> None:
        """A trial's result is committed."""
        self._post("skillgauge_trial_finished", result=result)

    def run_finished(self, run: RunInfo, summary: Summary) -> None:
        """The run has ended; the last event."""
        self._post("skillgauge_run_finished", run=run, summary=summary)

    def resolve_secret(self, name: str) -> str | None:
        """The value that the first extension to know a secret gives, asked once per name; `None` if none knows.

        Raises:
            PluginError: an extension failed.
        """
        if name not in self._secrets:
            value = self._secrets[name] = self._ask_for_secret(name)
            if value:
                self._learn(name, value)
        return self._secrets[name]

    def keep_secret(self, name: str, value: str) -> None:
        """Tell a secret that nobody asked for, because a plugin was lent it."""
        self._lent.append((name, value))
        self._learn(name, value)

    def tell_secrets(self, learn: Callable[[str, str], None]) -> None:
        """Tell name and value of every secret that an extension gave or will give, or that a plugin was lent."""
        self._learn = learn
        for name, value in (*self._secrets.items(), *self._lent):
            if value:
                learn(name, value)

    def close(self, timeout_s: float = 30.0) -> None:
        """Wait until every event was told, at most about `timeout_s` seconds."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        with suppress(Full):
            self._queue.put(None, timeout=timeout_s)
        thread.join(timeout_s)
        if lost := self._posted - self._told:
            text = f"extensions were too slow: {lost} events of this run were not told to all of them"
            self._note("events", Problem("plugin.slow", text, hint="The results are unaffected."))

    def _ask_for_secret(self, name: str) -> str | None:
        for extension, call in self._listeners.get("skillgauge_resolve_secret", ()):
            try:
                with isolated():
                    value = call(name=name)
            except Failed as failure:
                # Only the exception's type: what a vault's client says may hold the secret.
                kind = type(failure.__cause__).__name__
                text = f"extension '{extension}' failed to resolve secret {name}: {kind}"
                raise PluginError(Problem("plugin.broken", text)) from failure
            if isinstance(value, str):
                return value
            if value is not None:
                text = f"extension '{extension}' gave secret {name} as {type(value).__name__}, not as a text"
                raise PluginError(Problem("plugin.broken", text))
        return None

    def _post(self, hook: str, **facts: object) -> None:
        if not self._listeners.get(hook):
            return
        if self._thread is None:
            self._thread = Thread(target=self._tell, name="skillgauge-events", daemon=True)
            self._thread.start()
        self._posted += 1
        with suppress(Full):
            self._queue.put_nowait((hook, facts))

    def _tell(self) -> None:
        for hook, facts in iter(self._queue.get, None):
            for name, call in self._listeners[hook]:
                try:
                    with isolated():
                        call(**facts)
                except Failed as failure:
                    self._note(name, Problem("plugin.broken", f"extension '{name}' failed in {hook}: {failure}"))
            self._told += 1
