"""The guard around calls into plugins' objects: what passes, what is turned into a problem, and what has to end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillgauge.contract.adapters import Adapter, Session
from skillgauge.contract.engines import Recorder
from skillgauge.contract.executors import Results
from skillgauge.contract.formats import Claim, FormatWithHeadlines, SuiteFormat
from skillgauge.contract.providers import Provider, Traits
from skillgauge.contract.reporters import Artifact
from skillgauge.contract.sandboxes import Running, SandboxReport, Workspace
from skillgauge.contract.scorers import Scorer
from skillgauge.contract.stores import Archive, RunLog
from skillgauge.errors import ExitCode, PluginError, Problem, SkillgaugeError, StoreError, SuiteError
from skillgauge.plugins.calls import Call, call_of, members_of
from skillgauge.plugins.guard import Guard, Guarded, guarded
from skillgauge.plugins.kinds import KINDS, Resolved
from skillgauge.types.score import Score
from skillgauge.types.trial import Execution

PASSED = Score.passed()
CONTRACTS = [kind.contract for kind in KINDS.values() if kind.contract is not object]
OPENED: dict[str, type] = {"sessions": Session, "run logs": RunLog}


class Guards:
    """Puts methods behind a guard and keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[Problem] = []

    def __call__(
        self, kind: str, *, named: bool = True, granted_s: float = 0.0, asks_judge: bool = False, **methods: object
    ) -> Any:
        """An object of a kind, or of what one opens, with these methods."""
        traits = Traits(asks_judge=asks_judge)
        provider: Provider[object] = Provider("acme", lambda _options: None, "", traits=traits)
        plugin = Resolved(
            kind if kind in ("scorers", "formats", "executors") else "stores",
            "acme",
            provider,
            "acme-dist",
            "2",
            "acme",
        )
        made = SimpleNamespace(**methods)
        if kind in OPENED:
            return Guarded(made, Guard(plugin, self.notes.append, named=named, granted_s=granted_s), OPENED[kind])
        return guarded(KINDS[kind], made, plugin, self.notes.append, named=named, granted_s=granted_s)


@pytest.fixture
def guard() -> Guards:
    """Makes guarded objects."""
    return Guards()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines that a test can wait for."""
    short = {(SuiteFormat, "claim"), (Adapter, "check"), (Scorer, "score")}

    def shortened(contract: type, name: str) -> Call:
        call = call_of(contract, name)
        return replace(call, rule=replace(call.rule, deadline_s=0.05)) if (contract, name) in short else call

    monkeypatch.setattr("skillgauge.plugins.guard.call_of", shortened)
    monkeypatch.setattr("skillgauge.plugins.guard.GRACE_S", 0.05)


def raising(error: BaseException) -> Callable[..., Any]:
    """A method that raises."""

    def method(*_args: object, **_kwargs: object) -> object:
        raise error

    return method


def awaited(body: Callable[[], Any]) -> Callable[..., Any]:
    """An asynchronous method that does something."""

    async def method(*_args: object, **_kwargs: object) -> object:
        found = body()
        return await found if asyncio.iscoroutine(found) or asyncio.isfuture(found) else found

    return method


def test_every_kind_but_one_is_guarded(guard: Guards) -> None:
    """Events of extensions have a guard of their own."""
    guarded_kinds = {kind for kind in KINDS if type(guard(kind, version="1", suffix="txt")) is Guarded}
    assert set(KINDS) - guarded_kinds == {"extensions"}
    assert {name for name, kind in KINDS.items() if kind.contract is object} == {"extensions"}


@pytest.mark.parametrize(
    "contract",
    [*CONTRACTS, Session, RunLog, Workspace, Running, Recorder, Results],
)
def test_every_answer_of_every_contract_has_a_type(contract: type) -> None:
    """Nothing in a contract lets through whatever comes, but what opens another contract."""
    for name in members_of(contract):
        call = call_of(contract, name)
        hint = getattr(vars(contract).get(name), "__annotations__", {}).get("return")
        assert call.opens or call.answers != (object,) or hint == "None", name


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(4), AssertionError("boom")])
def test_what_a_method_raises_names_the_plugin(guard: Guards, error: BaseException) -> None:
    """Plugin, distribution, version, method and exception are told, and the exception is the cause."""
    with pytest.raises(PluginError) as caught:
        guard("formats", load=raising(error)).load(None)
    (problem,) = caught.value.problems
    told = f"{type(error).__name__}: {error}"
    assert problem.message == f"format 'acme' of acme-dist 2 failed in load: {told}"
    assert problem.code == "plugin.broken"
    assert caught.value.__cause__ is error


def test_a_method_that_cannot_be_looked_up_names_the_plugin(guard: Guards) -> None:
    """It fails when it is called, as one that raises."""

    class Unready:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(f"no {name} yet")

    unready = guard("formats")
    unready._made = Unready()
    with pytest.raises(PluginError, match="failed in load: RuntimeError: no load yet"):
        unready.load(None)


def test_what_a_format_can_do_beyond_its_contract_is_guarded_as_well(guard: Guards) -> None:
    """Only a format that tells of headlines passes for one that does."""
    assert not isinstance(guard("formats"), FormatWithHeadlines)
    rated = guard("formats", has_headline=lambda suite: suite)
    assert isinstance(rated, FormatWithHeadlines)
    with pytest.raises(PluginError, match="failed in has_headline: TypeError: answered with str instead of bool"):
        rated.has_headline("yes")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit(), SuiteError(Problem("a.b", "bad file"))])
def test_what_is_nobodys_fault_passes(guard: Guards, error: BaseException) -> None:
    """Ctrl-C, the end of a generator and what the contract allows go through unchanged."""
    with pytest.raises(type(error)) as caught:
        guard("formats", load=raising(error)).load(None)
    assert caught.value is error


def test_a_store_that_fails_in_a_run(guard: Guards) -> None:
    """Results cannot be kept, which is not the user's usage."""
    with pytest.raises(StoreError, match="failed in commit: OSError: disk full"):
        asyncio.run(guard("run logs", commit=raising(OSError("disk full"))).commit([], paid=True))


@pytest.mark.parametrize(
    ("kind", "method", "answer", "told"),
    [
        ("formats", "load", None, "NoneType instead of Loaded"),
        ("formats", "claim", "yes", "str instead of Claim or None"),
        ("engines", "routes", None, "NoneType instead of ModelRoute"),
        ("engines", "routes", ["https://x"], "str instead of ModelRoute"),
        ("reporters", "read", {}, "dict instead of RunView or None"),
    ],
)
def test_an_answer_of_the_wrong_type(guard: Guards, kind: str, method: str, answer: object, told: str) -> None:
    """It fails where it was given, and not somewhere in the kernel."""
    with pytest.raises(PluginError, match=f"failed in {method}: TypeError: answered with {told}"):
        getattr(guard(kind, suffix="md", **{method: lambda _given: answer}), method)(None)


def test_an_answer_to_await_where_none_is_awaited(guard: Guards) -> None:
    """An `async def` in place of a `def` is told as such, without a warning about what was never awaited."""
    with pytest.raises(PluginError, match="coroutine instead of Identity"):
        guard("engines", identity=awaited(lambda: None)).identity(None)


def test_a_method_that_is_missing(guard: Guards) -> None:
    """An object without a method of its kind fails when the method is needed."""
    (problem,) = asyncio.run(guard("adapters").check())
    assert problem.message.endswith("failed in check: AttributeError: SimpleNamespace has no check")


def test_a_list_is_as_good_as_a_tuple(guard: Guards) -> None:
    """Problems may come in a list; they arrive as the contract says."""
    one = Problem("a.b", "no program", hint="pip install it")
    assert asyncio.run(guard("adapters", check=awaited(lambda: [one])).check()) == (one,)


def test_one_that_nobody_named_is_passed_over_and_asked_no_more(guard: Guards) -> None:
    """The first failure is noted; a format that cannot look at one path is not shown the next."""
    asked = []

    def claim(path: Path) -> Claim:
        asked.append(path)
        raise RuntimeError("boom")

    one = guard("formats", named=False, claim=claim)
    assert [one.claim(Path("a")), one.claim(Path("b"))] == [None, None]
    assert (asked, len(guard.notes)) == ([Path("a")], 1)


def test_a_check_that_fails_is_what_is_wrong(guard: Guards) -> None:
    """A named one is a problem among the others; one that nobody named is noted, too."""
    for named, notes in ((True, 0), (False, 1)):
        report = asyncio.run(guard("sandboxes", named=named, check=raising(SystemExit(4))).check())
        assert isinstance(report, SandboxReport)
        assert not report.is_usable
        assert len(guard.notes) == notes


def test_attributes(guard: Guards) -> None:
    """A version is read once and must be a text; what no contract knows is handed through."""
    assert (guard("scorers", version="3", extra=7).version, guard("scorers", version="3", extra=7).extra) == ("3", 7)
    with pytest.raises(PluginError, match="failed in version: TypeError: answered with int instead of str"):
        guard("scorers", version=3)


def test_an_archive_is_still_one(guard: Guards) -> None:
    """What a store may be beside its contract is found through the guard; what it is not, is not."""
    assert isinstance(guard("stores", keep=awaited(lambda: True)), Archive)
    assert not isinstance(guard("stores"), Archive)


def test_what_is_rendered_is_guarded_to_its_last_chunk(guard: Guards) -> None:
    """Files and their content are made while they are written, and may break there."""

    def chunks() -> Iterator[bytes]:
        yield b"a"
        raise RuntimeError("boom")

    (artifact,) = guard("reporters", suffix="md", render=lambda _view: [Artifact(chunks())]).render(None)
    content = iter(artifact.chunks)
    assert next(content) == b"a"
    with pytest.raises(PluginError, match="failed in render: RuntimeError: boom"):
        next(content)


@pytest.mark.parametrize("when", ["open", "close"])
def test_a_workspace_that_cannot_be_opened_or_closed(guard: Guards, when: str) -> None:
    """Without one nothing runs; when it cannot be removed, what ran in it has run."""

    @asynccontextmanager
    async def opened(_spec: object) -> AsyncIterator[object]:
        if when == "open":
            raise SystemExit(4)
        yield SimpleNamespace(put=awaited(lambda: 1 / 0))
        raise RuntimeError("boom")

    async def use() -> None:
        async with guard("sandboxes", open=opened).open(None) as workspace:
            with pytest.raises(PluginError, match="failed in put: ZeroDivisionError"):
                await workspace.put([])

    if when == "open":
        with pytest.raises(PluginError, match="failed in open: SystemExit: 4"):
            asyncio.run(use())
    else:
        asyncio.run(use())
        assert guard.notes[0].message.endswith("failed in open: RuntimeError: boom")


class Reraising:
    """A context that raises whatever ends its body again, as one does that cleans up in `except` or `finally`."""

    async def __aenter__(self) -> object:
        return SimpleNamespace()

    async def __aexit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error:
            raise error


@pytest.mark.parametrize("error", [ValueError("mine"), asyncio.CancelledError(), KeyboardInterrupt()])
def test_a_workspace_that_raises_the_error_of_its_body_again(guard: Guards, error: BaseException) -> None:
    """That error is none of the plugin's: it goes through, and no failure of the plugin is noted."""

    async def use() -> None:
        async with guard("sandboxes", open=lambda _spec: Reraising()).open(None):
            raise error

    using = use()
    with pytest.raises(type(error)) as caught:
        using.send(None)
    assert caught.value is error
    assert guard.notes == []


class TestExecutors:
    """What decides where trials run is guarded from its call to its last result."""

    @pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(4)])
    def test_one_that_does_not_begin(self, guard: Guards, error: BaseException) -> None:
        """Nothing has run then."""
        with pytest.raises(PluginError, match="executor 'acme' of acme-dist 2 failed in run: ") as caught:
            guard("executors", run=raising(error)).run(None, None)
        assert caught.value.exit_code is ExitCode.USAGE

    @pytest.mark.parametrize(
        ("item", "told"),
        [
            (RuntimeError("boom"), "RuntimeError: boom"),
            (SystemExit(4), "SystemExit: 4"),
            ("a text", "TypeError: answered with str instead of TrialResult"),
        ],
    )
    def test_one_that_breaks_midway(self, guard: Guards, item: object, told: str) -> None:
        """What has run has run, and the run is not complete: no usage of the user's, and nobody's trial."""

        async def results() -> AsyncIterator[object]:
            if isinstance(item, BaseException):
                raise item
            yield item

        async def read() -> None:
            async for _ in guard("executors", run=lambda *_: results()).run(None, None):
                raise AssertionError

        with pytest.raises(SkillgaugeError, match=f"failed in run: {told}") as caught:
            asyncio.run(read())
        assert caught.value.exit_code is ExitCode.INVALID_RUN

    def test_one_that_answers_with_something_else(self, guard: Guards) -> None:
        """It is told when its results are read."""

        async def read() -> None:
            async for _ in guard("executors", run=lambda *_: None).run(None, None):
                raise AssertionError

        with pytest.raises(SkillgaugeError, match=r"failed in run: TypeError: .* got NoneType"):
            asyncio.run(read())

    def test_whether_it_is_complete_is_asked_at_the_end(self, guard: Guards) -> None:
        """It changes while results are read; what is no answer to that is told."""
        made = SimpleNamespace(complete=False)
        results = guard("executors", run=lambda *_: made).run(None, None)
        assert results.complete is False
        made.complete = True
        assert results.complete is True
        made.complete = "yes"
        with pytest.raises(SkillgaugeError, match="failed in complete: TypeError: answered with str instead of bool"):
            _ = results.complete

    def test_one_that_cannot_be_ended(self, guard: Guards) -> None:
        """It is noted; the run ends as it would."""
        made = SimpleNamespace(stop=raising(RuntimeError("boom")), aclose=awaited(raising(RuntimeError("boom"))))
        results = guard("executors", run=lambda *_: made).run(None, None)
        results.stop()
        asyncio.run(results.aclose())
        assert [note.message.rpartition("failed in ")[2] for note in guard.notes] == [
            "stop: RuntimeError: boom",
            "aclose: RuntimeError: boom",
        ]

    def test_what_the_kernel_raises_passes(self, guard: Guards) -> None:
        """A ledger that cannot claim is no fault of the executor that draws from it."""
        lost = StoreError(Problem("store.lost", "disk full"))

        async def results() -> AsyncIterator[object]:
            raise lost
            yield

        async def read() -> None:
            async for _ in guard("executors", run=lambda *_: results()).run(None, None):
                raise AssertionError

        with pytest.raises(StoreError) as caught:
            asyncio.run(read())
        assert caught.value is lost


class TestCancelling:
    """A cancellation of ours ends a call; one that a plugin raises by itself is its fault."""

    @pytest.mark.parametrize("kind", ["sessions", "scorers"])
    def test_ours(self, guard: Guards, kind: str) -> None:
        """It goes through, whether the call has a deadline or not."""
        method = {"sessions": "call", "scorers": "score"}[kind]

        async def run() -> None:
            one = guard(kind, version="1", **{method: awaited(lambda: asyncio.sleep(60))})
            task = asyncio.create_task(getattr(one, method)(None))
            await asyncio.sleep(0.01)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run())

    @pytest.mark.parametrize("kind", ["sessions", "scorers"])
    def test_its_own(self, guard: Guards, kind: str) -> None:
        """It is an exception like any other."""
        method = {"sessions": "call", "scorers": "score"}[kind]
        one = guard(kind, version="1", **{method: raising(asyncio.CancelledError())})
        with pytest.raises(PluginError, match=f"failed in {method}: CancelledError"):
            asyncio.run(getattr(one, method)(None))


@pytest.mark.usefixtures("short")
class TestDeadlines:
    """A call that does not end is ended."""

    @pytest.mark.parametrize("body", [lambda: time.sleep(60), lambda: [None for _ in iter(int, 1)]])
    def test_a_claim_that_is_stuck(self, guard: Guards, body: Callable[[], object]) -> None:
        """It sleeps, or works for ever; nobody else waits for it."""
        one = guard("formats", named=False, claim=lambda _path: body())
        assert one.claim(Path("a")) is None
        assert guard.notes[0].message.endswith("failed in claim: Overdue: no end after 0.05 s")

    @pytest.mark.parametrize("body", [lambda: asyncio.sleep(60), lambda: time.sleep(60)])
    def test_a_check_that_never_returns(self, guard: Guards, body: Callable[[], Any]) -> None:
        """It waits, or blocks the event loop, so that no timer of the loop could end it."""
        (problem,) = asyncio.run(guard("adapters", check=awaited(body)).check())
        assert problem.message.endswith("failed in check: Overdue: no end after 0.05 s")

    def test_a_score_that_never_returns(self, guard: Guards) -> None:
        """The next check can be made; options of the scorer may grant it more time."""
        never = awaited(lambda: asyncio.Event().wait())
        with pytest.raises(PluginError, match=r"failed in score: Overdue: no end after 0\.06 s"):
            asyncio.run(guard("scorers", version="1", score=never, granted_s=0.01).score(None))

    def test_who_asks_a_judge_has_more_time(self, guard: Guards) -> None:
        """The judge's service may have everybody wait."""
        slow = awaited(lambda: asyncio.sleep(0.2, PASSED))
        one = guard("scorers", version="1", asks_judge=True, score=slow)
        assert asyncio.run(one.score(None)) is PASSED

    def test_a_time_out_of_its_own(self, guard: Guards) -> None:
        """A `TimeoutError` that the plugin raises early is told as what it is."""

        async def score(_context: object) -> Score:
            async with asyncio.timeout(0):
                await asyncio.sleep(60)
            return PASSED

        with pytest.raises(PluginError, match="failed in score: TimeoutError"):
            asyncio.run(guard("scorers", version="1", score=score).score(None))


def test_a_call_that_waits_goes_on_where_it_was(guard: Guards) -> None:
    """Values and exceptions reach a coroutine whose first step ran before there was a timer."""

    async def score(_context: object) -> Score:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_soon(future.set_exception, KeyError("first"))
        with pytest.raises(KeyError, match="first"):
            await future
        assert await asyncio.to_thread(lambda: 7) == 7
        return PASSED

    assert asyncio.run(guard("scorers", version="1", score=score).score(None)) is PASSED


def test_the_answer_itself_arrives(guard: Guards) -> None:
    """Nothing is copied on the way."""
    execution = Execution()
    assert asyncio.run(guard("sessions", call=awaited(lambda: execution)).call(None)) is execution
