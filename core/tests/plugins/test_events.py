"""Events reach every extension, in order, and no extension can hurt a run that it has not forbidden."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import cast

import pytest

from skillgauge.api import PlanHead, PluginError, PolicyError, Problem, Trial, TrialResult
from skillgauge.api.report import RunInfo, Summary
from skillgauge.plugins.events import Events, Failed, Listener, isolated

PLAN = PlanHead(plan_id="p", suites=(), trial_count=1, runs=1, seed=0)
TRIAL, RESULT = cast(Trial, "a trial"), cast(TrialResult, "a result")
RUN, SUMMARY = cast(RunInfo, "a run"), cast(Summary, "a summary")


class Notes:
    """Keeps what extensions did wrong."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Problem]] = []

    def __call__(self, name: str, problem: Problem) -> None:
        """Keep one."""
        self.kept.append((name, problem))


@pytest.fixture
def notes() -> Notes:
    """A place for failures."""
    return Notes()


def raising(error: BaseException) -> Callable[..., object]:
    """A listener that fails."""

    def listener(**_facts: object) -> None:
        raise error

    return listener


class TestIsolated:
    """Whatever a plugin raises becomes one line of text."""

    @pytest.mark.parametrize(
        ("error", "text"),
        [
            (ValueError("first\n  second"), "ValueError: first second"),
            (ValueError("x" * 1000), f"ValueError: {'x' * 288}..."),
            (SystemExit(3), "SystemExit: 3"),
            (AssertionError(), "AssertionError"),
            (GeneratorExit("odd"), "GeneratorExit: odd"),
        ],
    )
    def test_turned_into_text(self, error: BaseException, text: str) -> None:
        """Type and text are kept on one line of bounded length, the exception is the cause."""
        with pytest.raises(Failed) as caught, isolated():
            raise error
        assert str(caught.value) == text
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), Failed("known"), KeyError("wanted")])
    def test_passes(self, error: BaseException) -> None:
        """Ctrl-C, a known failure and what the caller wants to see go through unchanged."""
        with pytest.raises(type(error)) as caught, isolated(KeyError):
            raise error
        assert caught.value is error


class TestPlanReady:
    """An extension may forbid a run, and one that crashed has not agreed."""

    def test_on_the_callers_thread(self, notes: Notes) -> None:
        """Every extension sees the plan before the call returns, on the same thread."""
        seen: list[object] = []
        listener = ("a", lambda plan: seen.append((plan, threading.current_thread())))
        Events({"skillgauge_plan_ready": [listener]}, notes).plan_ready(PLAN)
        assert seen == [(PLAN, threading.current_thread())]

    def test_all_objections_at_once(self, notes: Notes) -> None:
        """Refusals keep their own words, a crash names the extension and how to leave it out."""
        listeners: list[Listener] = [
            ("strict", raising(PolicyError("too many trials"))),
            ("broken", raising(SystemExit("vault is away"))),
        ]
        with pytest.raises(PolicyError) as caught:
            Events({"skillgauge_plan_ready": listeners}, notes).plan_ready(PLAN)
        refused, crashed = caught.value.problems
        assert (refused.code, refused.message) == ("policy.refused", "too many trials")
        assert crashed.code == "policy.crashed"
        assert "'broken' failed" in crashed.message
        assert "SystemExit: vault is away" in crashed.message
        assert crashed.hint == "leave it out: --no-plugin broken"

    def test_nobody_listens(self, notes: Notes) -> None:
        """Without extensions nothing happens and no thread is started."""
        threads = set(threading.enumerate())
        events = Events({}, notes)
        events.plan_ready(PLAN)
        events.trial_started(TRIAL)
        assert events.resolve_secret("KEY") is None
        assert not set(threading.enumerate()) - threads
        events.close()


class TestTrialEvents:
    """Told on one thread, in order, whatever an extension does."""

    def test_order_and_thread(self, notes: Notes) -> None:
        """Events arrive in the order in which they happened, on one other thread, and close waits for them."""
        seen: list[tuple[object, ...]] = []

        def listener(**facts: object) -> None:
            seen.append((*facts.items(), threading.current_thread().name))

        hooks = ("skillgauge_trial_started", "skillgauge_trial_finished", "skillgauge_run_finished")
        events = Events({hook: [("a", listener)] for hook in hooks}, notes)
        events.trial_started(TRIAL)
        events.trial_finished(RESULT)
        events.run_finished(RUN, SUMMARY)
        events.close()
        assert seen == [
            (("trial", TRIAL), "skillgauge-events"),
            (("result", RESULT), "skillgauge-events"),
            (("run", RUN), ("summary", SUMMARY), "skillgauge-events"),
        ]
        assert notes.kept == []

    def test_failure_goes_no_further(self, notes: Notes) -> None:
        """An extension that raises, or exits, is noted; the others are still told, and so is the next event."""
        seen: list[object] = []
        listeners: list[Listener] = [
            ("bad", raising(RuntimeError("offline"))),
            ("worse", raising(SystemExit(1))),
            ("good", lambda result: seen.append(result)),
        ]
        events = Events({"skillgauge_trial_finished": listeners}, notes)
        events.trial_finished(RESULT)
        events.trial_finished(RESULT)
        events.close()
        assert seen == [RESULT, RESULT]
        assert [name for name, _ in notes.kept] == ["bad", "worse"] * 2
        assert notes.kept[0][1].code == "plugin.broken"
        assert "failed in skillgauge_trial_finished: RuntimeError: offline" in notes.kept[0][1].message

    def test_slow_extension_does_not_slow_the_run(self, notes: Notes) -> None:
        """A hanging extension costs its own events, which are counted, and neither memory nor time."""
        gate = threading.Event()
        events = Events({"skillgauge_trial_started": [("slow", lambda trial: gate.wait(60))]}, notes, waiting=2)
        for _ in range(10):
            events.trial_started(TRIAL)
        events.close(timeout_s=0.05)
        gate.set()
        ((name, problem),) = notes.kept
        assert (name, problem.code) == ("events", "plugin.slow")
        assert ": 10 events" in problem.message

    def test_reusable_after_close(self, notes: Notes) -> None:
        """Closing twice is harmless, and an event after closing is still told."""
        seen: list[object] = []
        events = Events({"skillgauge_trial_started": [("a", lambda trial: seen.append(trial))]}, notes)
        for _ in range(2):
            events.trial_started(TRIAL)
            events.close()
        events.close()
        assert seen == [TRIAL, TRIAL]


class TestResolveSecret:
    """The first answer counts, and no failure is taken for "unknown"."""

    def test_first_answer(self, notes: Notes) -> None:
        """Extensions are asked in order until one knows, once per name."""
        asked: list[str] = []

        def vault(name: str) -> str | None:
            asked.append(name)
            return "s3cret" if name == "KEY" else None

        listeners: list[Listener] = [("none", lambda name: None), ("vault", vault), ("late", raising(KeyError()))]
        events = Events({"skillgauge_resolve_secret": listeners[:2]}, notes)
        assert [events.resolve_secret(name) for name in ("KEY", "KEY", "OTHER", "OTHER")] == [
            "s3cret",
            "s3cret",
            None,
            None,
        ]
        assert asked == ["KEY", "OTHER"]
        assert Events({"skillgauge_resolve_secret": listeners}, notes).resolve_secret("KEY") == "s3cret"

    def test_what_a_plugin_was_lent_is_told_too(self, notes: Notes) -> None:
        """Before and after somebody wants to know; it is no answer to who asks for a secret of that name."""
        events, told = Events({}, notes), list[tuple[str, str]]()
        events.keep_secret("TOKEN", "lent-at-first")
        events.tell_secrets(lambda name, value: told.append((name, value)))
        events.keep_secret("TOKEN", "lent-anew")
        assert told == [("TOKEN", "lent-at-first"), ("TOKEN", "lent-anew")]
        assert events.resolve_secret("TOKEN") is None

    @pytest.mark.parametrize(
        ("listener", "text"),
        [
            (raising(ConnectionError("token s3cret was refused")), "failed to resolve secret KEY: ConnectionError"),
            (lambda name: b"s3cret", "gave secret KEY as bytes, not as a text"),
        ],
    )
    def test_failure_is_loud_and_tells_no_secret(
        self, notes: Notes, listener: Callable[..., object], text: str
    ) -> None:
        """A failing vault stops the run, without repeating what its client said."""
        with pytest.raises(PluginError) as caught:
            Events({"skillgauge_resolve_secret": [("vault", listener)]}, notes).resolve_secret("KEY")
        assert str(caught.value) == f"error[plugin.broken]: extension 'vault' {text}"
