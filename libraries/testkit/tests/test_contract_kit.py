"""The contract kit passes what keeps a contract, and names the clause that a broken plugin breaks.

For each check there is one good fake and a table of deliberately broken ones, each with the sentence it must get.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

import pytest
from pydantic import BaseModel

from skillgauge.api import (
    Artifact,
    Blame,
    BudgetShare,
    BudgetStanding,
    CallRequest,
    Case,
    CaseHead,
    Check,
    Claim,
    Claimed,
    Command,
    Comparison,
    Dumped,
    Execution,
    Fact,
    Failure,
    FailureClass,
    FileSpec,
    Finished,
    FiredSkill,
    Frozen,
    GivenUp,
    Identity,
    JsonObject,
    JudgeReply,
    JudgeRequest,
    Kept,
    Loaded,
    LoadRequest,
    ModelRoute,
    Origin,
    PackedFile,
    PlanHead,
    Problem,
    Provider,
    ResultOrder,
    RunNotes,
    RunQuery,
    RunRequest,
    SandboxReport,
    SandboxSpec,
    Score,
    ScoreContext,
    ScoreStatus,
    ServiceShare,
    ServiceStanding,
    SharedBudget,
    SharedService,
    Suite,
    SuiteError,
    SuiteHead,
    Target,
    Tier,
    Traits,
    Trajectory,
    Trial,
    TrialNotes,
    TrialResult,
    Unfinished,
    Usage,
    hookimpl,
)
from skillgauge.api.report import (
    Figure,
    GroupKey,
    RunInfo,
    RunState,
    RunView,
    SuiteSummary,
    Summary,
    abridged,
    case_order,
)
from skillgauge.run.keeping.memory import MemoryStore
from skillgauge_processes.workspace import DirectoryWorkspace
from skillgauge_stored_runs import OtherShare, share_after, standing_at, standing_of
from skillgauge_testkit import (
    SCORERS,
    AdapterInputs,
    EnginePrompts,
    FakeSandbox,
    Maker,
    TemporarySandbox,
    check_adapter,
    check_engine,
    check_format,
    check_judge,
    check_light_import,
    check_plugin,
    check_reporter,
    check_sandbox,
    check_scorer,
    check_store,
    contract_views,
    score_context,
)
from skillgauge_testkit.contract.clauses import CANARY, PATIENCE_S

SOON_S = 2.0
"""Patience with fakes that never answer; a busy machine must not make a good one look like that."""


def patience(sentence: str) -> float:
    """How long to wait for a broken fake: short where waiting is what the sentence is about."""
    return SOON_S if re.search("come to|went on|end of a workspace", sentence) else PATIENCE_S


def breaks(sentence: str) -> Any:
    """Expect a broken clause whose sentence matches."""
    return pytest.raises(AssertionError, match=sentence)


def table(*rows: tuple[str, str, Any]) -> Any:
    """Parameters `sentence` and `broken`: an id, what the kit must say, and the fake that breaks a clause."""
    return pytest.mark.parametrize(("sentence", "broken"), [pytest.param(*row[1:], id=row[0]) for row in rows])


# --- announcing -------------------------------------------------------------------------------------------

HOOKS = """
from skillgauge.api import NoOptions, Provider, hookimpl

class Any_:
    version = "1"
    async def score(self, context):
        return None

@hookimpl
def skillgauge_scorers():
    yield Provider(name="acme", factory=Any_, summary="A test scorer.")
"""


@pytest.fixture
def write_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Writes the package `acme_kit` and, if entry points are given, installs it as distribution `acme-kit`."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "heavy_thing.py").write_text("weight = 1\n")

    def write(source: str = HOOKS, points: str | None = None, distribution: str = "acme-kit") -> None:
        (tmp_path / "acme_kit").mkdir(exist_ok=True)
        (tmp_path / "acme_kit/__init__.py").touch()
        (tmp_path / "acme_kit/plugin.py").write_text(source)
        if points is not None:
            info = tmp_path / f"{distribution.replace('-', '_')}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text(f"[skillgauge.scorers]\n{points}\n")

    yield write
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "acme_kit":
            del sys.modules[name]


def test_light_import_passes(write_package: Callable[..., None]) -> None:
    """The standard library, the own package, what the api brings, and what is allowed are all free."""
    write_package("import sqlite3, json\nimport pydantic.json_schema\nimport acme_kit\nimport heavy_thing\n" + HOOKS)
    check_light_import("acme_kit.plugin", allowed=["heavy_thing"])


@table(
    ("at import", "must not import heavy_thing", "import heavy_thing\n" + HOOKS),
    ("when announcing", "must not import heavy_thing", HOOKS.replace("    yield", "    import heavy_thing\n    yield")),
    ("raises", "must be importable on its own: ValueError: no", "raise ValueError('no')"),
    ("exits", "must be importable on its own: it ended the process", "raise SystemExit(3)"),
)
def test_light_import_fails(write_package: Callable[..., None], sentence: str, broken: str) -> None:
    """A hook module that loads something heavy, or does not load, is named with the reason."""
    write_package(broken)
    with breaks(sentence):
        check_light_import("acme_kit.plugin")


class _ToneOptions(Frozen):
    value: str


class _Tone:
    version = "1"

    def __init__(self, options: BaseModel | None = None) -> None:
        self.value = getattr(options, "value", "")

    async def score(self, context: ScoreContext) -> Score:
        given = context.execution.output
        return Score.passed() if given == self.value else Score.failed(f"got {str(given)[:50]!r}", value=0.25)


class _LooseOptions(BaseModel):
    value: str = "x"


def announcing(*providers: object, hook: str = "skillgauge_scorers", **attributes: object) -> ModuleType:
    """A module that announces these."""

    def announce() -> Iterator[object]:
        yield from providers

    module = ModuleType("acme_kit_in_memory")
    vars(module).update({hook: hookimpl(attributes.pop("announce", announce)), **attributes})
    return module


GOOD = Provider(name="acme-tone", factory=_Tone, summary="A test scorer.", options=_ToneOptions)
EXAMPLE = {"acme-tone": {"value": "formal"}}


class _NoVersion:
    async def score(self, context: ScoreContext) -> Score:
        return Score.passed()


class _Unversioned(_NoVersion):
    version = ""


class _Synchronous:
    version = "1"

    def score(self, context: ScoreContext) -> Score:
        return Score.passed()


class _TakesMore:
    version = "1"

    async def score(self, context: ScoreContext, judge: object) -> Score:
        return Score.passed()


async def announce_later() -> list[object]:
    """A hook as no hook may be."""
    return []


def raising(*_: object, **__: object) -> Any:
    """Stands where something should work."""
    raise RuntimeError("out of order")


def test_plugin_passes() -> None:
    """A module with sound providers passes, and so does one whose options all have defaults."""
    check_plugin(announcing(GOOD), "scorers", options=EXAMPLE, installed=False)
    plain = Provider(name="tone", factory=_Tone, summary="A test scorer.", schemas=lambda: {"tone": {"type": "object"}})
    check_plugin(announcing(plain), "scorers", installed=False)
    listening = announcing(hook="skillgauge_run_finished", announce=lambda run, summary: None)
    check_plugin(listening, "extensions", installed=False)


@table(
    (
        "misspelt hook",
        "must keep to the hook specifications.*skillgauge_scorer",
        announcing(GOOD, hook="skillgauge_scorer"),
    ),
    ("async hook", "must keep to the hook specifications.*must not be async", announcing(announce=announce_later)),
    ("other kind", "must implement skillgauge_scorers", announcing(GOOD, hook="skillgauge_judges")),
    ("nothing", "must keep to the hook specifications.*announces nothing", announcing()),
    ("name twice", "must not announce a name twice", announcing(GOOD, GOOD)),
    ("name", "lower-case words joined by hyphens", announcing(replace(GOOD, name="Acme_Tone"))),
    ("summary", "its summary must be one line", announcing(replace(GOOD, summary="two\nlines"))),
    ("long summary", "its summary must have at most 120 characters", announcing(replace(GOOD, summary="x" * 121))),
    ("loose options", "must refuse unknown keys", announcing(replace(GOOD, options=_LooseOptions))),
    ("no model", "its options must be a pydantic model", announcing(replace(GOOD, options=dict))),
    ("factory", "factory must not raise, but raised RuntimeError", announcing(replace(GOOD, factory=raising))),
    (
        "factory that names nothing",
        "provider 'acme-tone': factory must not raise, but raised ImportError: 'json:NoSuchClass' names nothing",
        announcing(replace(GOOD, factory="json:NoSuchClass")),
    ),
    (
        "records",
        "records must not raise.*'no_such:Recorder' names nothing",
        announcing(replace(GOOD, records="no_such:Recorder")),
    ),
    (
        "named schemas",
        "schemas must not raise.*'json:nothing' names nothing",
        announcing(replace(GOOD, schemas="json:nothing")),
    ),
    ("schemas", r"schemas\(\) must not raise", announcing(replace(GOOD, schemas=raising))),
    ("empty attribute", "Scorer.version must be a text", announcing(replace(GOOD, factory=lambda o: _Unversioned()))),
    ("traits", "its traits must be Traits", announcing(replace(GOOD, traits=None))),
    ("attribute", "Scorer.version is missing", announcing(replace(GOOD, factory=lambda o: _NoVersion()))),
    ("method", "Scorer.score is missing", announcing(replace(GOOD, factory=lambda o: object()))),
    ("not async", "Scorer.score must be `async def`", announcing(replace(GOOD, factory=lambda o: _Synchronous()))),
    ("arguments", r"Scorer.score must take \(context", announcing(replace(GOOD, factory=lambda o: _TakesMore()))),
)
def test_plugin_fails(sentence: str, broken: ModuleType) -> None:
    """What a module announces wrongly is named."""
    with breaks(sentence):
        check_plugin(broken, "scorers", options={**EXAMPLE, "Acme_Tone": EXAMPLE["acme-tone"]}, installed=False)


def test_plugin_needs_an_example_of_options() -> None:
    """Where options have no defaults, the author is asked for valid ones."""
    with breaks("options {} are not valid: give valid ones"):
        check_plugin(announcing(GOOD), "scorers", installed=False)


def test_plugin_entry_points_pass(write_package: Callable[..., None]) -> None:
    """A provider's own name and an alias for the only provider are what an installed plugin needs."""
    write_package(points="acme = acme_kit.plugin\nacme_alias = acme_kit.plugin")
    check_plugin("acme_kit.plugin", "scorers")


@table(
    ("absent", "an entry point of group skillgauge.scorers must name acme_kit.plugin", None),
    ("unlisted", "must have an entry point for provider acme", "other = acme_kit.plugin"),
    (
        "attribute",
        "must name the hook module, not 'acme_kit.plugin:skillgauge_scorers'",
        "acme = acme_kit.plugin:skillgauge_scorers",
    ),
    ("alias", "must be one word", "acme = acme_kit.plugin\nac me = acme_kit.plugin"),
)
def test_plugin_entry_points_fail(write_package: Callable[..., None], sentence: str, broken: str | None) -> None:
    """An installed plugin that nobody would find under its name is reported."""
    write_package(points=broken)
    with breaks(sentence):
        check_plugin("acme_kit.plugin", "scorers")


def test_plugin_of_two_distributions_fails(write_package: Callable[..., None]) -> None:
    """A module that two distributions name has an unclear origin."""
    write_package(points="acme = acme_kit.plugin")
    write_package(points="acme = acme_kit.plugin", distribution="acme-again")
    with breaks("must belong to one distribution, not to acme-again, acme-kit"):
        check_plugin("acme_kit.plugin", "scorers")


@table(
    ("from", "plugin.py:1 imports skillgauge.plugins.registry", "from skillgauge.plugins.registry import Registry\n"),
    ("module", "plugin.py:1 imports skillgauge.cli", "import skillgauge.cli\n"),
    ("name", "plugin.py:1 imports skillgauge.types", "from skillgauge import types\n"),
)
def test_plugin_reaching_past_the_api_fails(write_package: Callable[..., None], sentence: str, broken: str) -> None:
    """What is not public may change without notice, so no file of a plugin imports it."""
    write_package(broken + HOOKS)
    with breaks(sentence):
        check_plugin("acme_kit.plugin", "scorers", installed=False)


def test_maker_goes_through_the_registry(write_package: Callable[..., None]) -> None:
    """A maker makes the only provider, and asks which one where there are several."""
    more = '    yield Provider(name="more", factory=Any_, summary="Another one.")\n'
    write_package(HOOKS + more)
    assert Maker(SCORERS, "acme_kit.plugin", "more")().version == "1"
    with pytest.raises(ValueError, match="announces acme, more of scorers: say which one"):
        Maker(SCORERS, "acme_kit.plugin")()


# --- scorers ----------------------------------------------------------------------------------------------


def scorer(kind: type[_Tone]) -> Callable[[JsonObject], Any]:
    """Makes scorers of a class from checked options."""
    return lambda options: kind(_ToneOptions.model_validate(dict(options)))


def try_scorer(make: Callable[[JsonObject], Any], **more: Any) -> None:
    """Check with the examples that `_Tone` is good at."""
    formal, rude = (score_context(text, {"value": "formal"}) for text in ("formal", "rude"))
    check_scorer(make, **{"passing": [formal], "failing": [rude], **more})


class _Opened(_Tone):
    """Scores between `open` and `close` only."""

    open_now: ClassVar[int] = 0
    is_open = False

    async def open(self) -> None:
        type(self).open_now += 1
        self.is_open = True

    async def close(self) -> None:
        type(self).open_now -= 1
        self.is_open = False

    async def score(self, context: ScoreContext) -> Score:
        assert self.is_open
        return await super().score(context)


class _NeverClosed(_Tone):
    async def open(self) -> None:
        """Open."""


class _PassesAll(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return Score.passed()


class _FailsAll(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return Score.failed("no")


class _HalfPass(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        score = await super().score(context)
        return score.model_copy(update={"value": 0.5}) if score.status is ScoreStatus.PASSED else score


class _FullFail(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return (await super().score(context)).model_copy(update={"value": 1.0})


class _NoReason(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return (await super().score(context)).model_copy(update={"reason": " "})


class _LongReason(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        score = await super().score(context)
        return score.model_copy(update={"reason": f"got {context.execution.output}"})


class _Dice(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return (await super().score(context)).model_copy(update={"reason": f"{random.random()}"})


class _Remembers(_Tone):
    seen = False

    async def score(self, context: ScoreContext) -> Score:
        score = await super().score(context)
        before, self.seen = self.seen, self.seen or context.execution.output == ""
        return score.model_copy(update={"reason": "an empty one came before"}) if before else score


class _Mixes(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        self.context = context
        await asyncio.sleep(0)
        return await super().score(self.context)


class _NeedsText(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        assert isinstance(context.execution.output, str)
        return await super().score(context)


class _NeedsShallow(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        def depth(value: object) -> int:
            if isinstance(value, Mapping):
                return 1 + max(map(depth, value.values()), default=0)
            return 1

        if depth(context.execution.output) > 50:
            raise RecursionError("too deep")
        return await super().score(context)


class _PassesNothing(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return Score.passed() if context.execution.output is None else await super().score(context)


class _Sleeps(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        await asyncio.sleep(60)
        raise AssertionError


class _Bool(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return context.execution.output == self.value  # type: ignore[return-value]  # the fault


class _Valueless(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        return (await super().score(context)).model_copy(update={"value": None})


class _Unpicklable(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        score = await super().score(context)
        return score.model_copy(update={"evidence": lambda: None})


class _LooksAround(_Tone):
    async def score(self, context: ScoreContext) -> Score:
        if context.workspace is None:
            return Score.passed()
        return await super().score(context)


def loosely(options: JsonObject) -> _Tone:
    """A factory that takes whatever it is given."""
    return _Tone(_LooseOptions.model_validate(dict(options)))


def brutally(options: JsonObject) -> _Tone:
    """A factory that dies of an option it does not know."""
    return _Tone(_ToneOptions(value={"value": options["value"]}[next(key for key in reversed(options))]))  # type: ignore[arg-type]


class _FromFile(_Tone):
    """Compares with a file that the graders brought; without a workspace it cannot know."""

    async def score(self, context: ScoreContext) -> Score:
        if context.workspace is None:
            return Score.ungraded("the files are gone")
        wanted = (await context.workspace.collect("wanted.txt", 100)).decode()
        return Score.passed() if wanted == context.execution.output else Score.failed("differs")


def test_scorer_passes() -> None:
    """A sound scorer passes, with ungraded examples, in a workspace, and with credit for what is partly right."""
    try_scorer(scorer(_Tone))
    case = Case(id="case", grader_files=(FileSpec(path="wanted.txt", text="formal"),))
    formal, rude = (score_context(text, {"value": ""}, case=case) for text in ("formal", "rude"))
    try_scorer(scorer(_FromFile), passing=[formal], failing=[rude], sandbox=TemporarySandbox())
    try_scorer(scorer(_FromFile), passing=[formal], failing=[rude], sandbox=FakeSandbox())
    with breaks("that is to be ungraded must give ungraded"):
        try_scorer(scorer(_Tone), ungraded=[score_context("rude", {"value": "formal"})])


@table(
    ("passes all", "'rude'.*that is to be failed must give failed: it gave passed", scorer(_PassesAll)),
    ("fails all", "'formal'.*that is to be passed must give passed: it gave failed", scorer(_FailsAll)),
    ("half a pass", "must give value 1: it gave passed, value 0.5", scorer(_HalfPass)),
    ("a full fail", "must give a value below 1: it gave failed, value 1.0", scorer(_FullFail)),
    ("no reason", "a score that is not passed must have a reason", scorer(_NoReason)),
    ("long reason", "a reason is a sentence for people, of at most 10,000 characters", scorer(_LongReason)),
    ("dice", "must be the same every time", scorer(_Dice)),
    ("remembers", "must be the same after other inputs, for scorers are stateless", scorer(_Remembers)),
    ("mixes", "must be the same while other inputs are scored", scorer(_Mixes)),
    ("needs text", "must not raise, but raised AssertionError", scorer(_NeedsText)),
    ("needs shallow", "must not raise, but raised RecursionError", scorer(_NeedsShallow)),
    ("passes nothing", "of nothing in place of a failing output must not give passed", scorer(_PassesNothing)),
    ("sleeps", "Scorer.score of 'formal' must come to an end, but did not within 2 s", scorer(_Sleeps)),
    ("a truth value", "must give a Score, not True", scorer(_Bool)),
    ("no value", "exactly an ungraded score must have no value", scorer(_Valueless)),
    ("unpicklable", "writing Score as JSON, or reading it back, must not raise", scorer(_Unpicklable)),
    ("never closed", "Scorer.open and Scorer.close go together", scorer(_NeverClosed)),
    ("unknown option", "an unknown option must be refused by the options model, but a scorer was made", loosely),
    ("brutal", "an unknown option must be refused by the options model, but making it raised KeyError", brutally),
)
def test_scorer_fails(sentence: str, broken: Callable[[JsonObject], Any]) -> None:
    """Each way of being a bad scorer gets its sentence."""
    with breaks(sentence):
        try_scorer(broken, patience_s=patience(sentence))


def test_scorer_is_opened_and_closed() -> None:
    """A scorer with a connection is tried as a run uses it, and nothing stays open."""
    try_scorer(scorer(_Opened))
    assert _Opened.open_now == 0


def test_scorer_that_guesses_without_workspace_fails() -> None:
    """Grading a stored execution again may give less, never something else."""
    with breaks("without workspace and judge, must stay failed or be ungraded: it gave passed"):
        try_scorer(scorer(_LooksAround), sandbox=FakeSandbox())


def test_scorer_that_passes_odd_output_says_so() -> None:
    """A check that forbids something holds for most outputs; its author declares it."""
    try_scorer(scorer(_PassesNothing), passes_odd_output=True)


# --- adapters ---------------------------------------------------------------------------------------------


class _Session:
    """Answers in this process, except that it starts a process to tell its environment."""

    def __init__(self, workspace: Any) -> None:
        self.workspace = workspace

    async def call(self, request: CallRequest) -> Execution:
        started = time.monotonic()
        execution = await self.answer(request)
        return execution.model_copy(update={"duration_s": time.monotonic() - started})

    async def answer(self, request: CallRequest) -> Execution:
        match request.input:
            case "crash":
                return failed(FailureClass.CRASH, "killed by a signal")
            case "wait":
                try:
                    async with asyncio.timeout(request.limits.timeout_s):
                        await asyncio.sleep(60)
                except TimeoutError:
                    return failed(FailureClass.TIMEOUT, "no answer in time")
            case "env":
                running = await self.workspace.start(Command(argv=("env",)))
                return Execution(output=(await running.wait()).stdout.decode())
        return await self.echo(request)

    async def echo(self, request: CallRequest) -> Execution:
        await asyncio.sleep(0)
        return Execution(output={"echo": request.input})

    async def close(self) -> None:
        pass


def failed(kind: FailureClass, message: str, blame: Blame = Blame.TARGET) -> Execution:
    """An execution that failed."""
    return Execution(failure=Failure(failure_class=kind, blame=blame, message=message))


class _Adapter:
    session: type[_Session] = _Session

    async def check(self) -> tuple[Problem, ...]:
        return ()

    def check_target(self, target: Target) -> tuple[Problem, ...]:
        return (Problem("adapter.entrypoint", "there is no entrypoint"),) if target.id == "wrong" else ()

    def identity(self, target: Target) -> Identity:
        return Identity(name="fake", settings={"target": target.id})

    async def open(self, target: Target, workspace: Any) -> _Session:
        return self.session(workspace)


def with_session(**methods: Any) -> type[_Adapter]:
    """An adapter whose session has other methods."""
    return type("Adapter", (_Adapter,), {"session": type("Session", (_Session,), methods)})


INPUTS = AdapterInputs(good="a", other="b", slow="wait", failing=["crash"], environment="env")


def try_adapter(make: Callable[[], Any], inputs: AdapterInputs = INPUTS, **more: Any) -> None:
    """Check with the inputs that `_Session` understands."""
    check_adapter(make, Target(id="echo"), inputs, **{"wrong_targets": [Target(id="wrong")], **more})


def test_adapter_passes() -> None:
    """A sound adapter passes with real processes."""
    try_adapter(_Adapter)


def test_adapter_passes_with_a_fake_workspace() -> None:
    """So it does with a fake workspace, where no process can tell its environment."""
    try_adapter(_Adapter, replace(INPUTS, environment=None), sandbox=FakeSandbox())


async def _raises(self: _Session, request: CallRequest) -> Execution:
    if request.input == "crash":
        raise ConnectionError("gone")
    return await _Session.call(self, request)


async def _accuses(self: _Session, request: CallRequest) -> Execution:
    if request.input == "crash":
        return failed(FailureClass.CRASH, "killed", Blame.INFRASTRUCTURE).model_copy(update={"duration_s": 1.0})
    return await _Session.call(self, request)


async def _shrugs(self: _Session, request: CallRequest) -> Execution:
    return await _Session.call(self, request.model_copy(update={"input": "a"} if request.input == "crash" else {}))


async def _breaks_down(self: _Session, request: CallRequest) -> Execution:
    self.down = request.input == "crash" or getattr(self, "down", False)  # type: ignore[attr-defined]
    return await _Session.call(self, request.model_copy(update={"input": "crash"} if self.down else {}))  # type: ignore[attr-defined]


async def _mixes(self: _Session, request: CallRequest) -> Execution:
    self.request = request  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    return Execution(output={"echo": self.request.input})  # type: ignore[attr-defined]


async def _chokes(self: _Session, request: CallRequest) -> Execution:
    if isinstance(request.input, str):
        request.input.encode("latin-1")
    return await _Session.call(self, request)


async def _patient(self: _Session, request: CallRequest) -> Execution:
    return await _Session.call(
        self, request.model_copy(update={"limits": request.limits.model_copy(update={"timeout_s": None})})
    )


async def _stubborn(self: _Session, request: CallRequest) -> Execution:
    if request.input == "wait" and not request.limits.timeout_s:
        until = time.monotonic() + 2 * SOON_S
        while time.monotonic() < until:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
    return await _Session.call(self, request)


async def _swallows(self: _Session, request: CallRequest) -> Execution:
    try:
        return await _Session.call(self, request)
    except asyncio.CancelledError:
        return failed(FailureClass.KILLED, "cancelled")


async def _hurries(self: _Session, request: CallRequest) -> Execution:
    if request.input == "wait" and not request.limits.timeout_s:
        return Execution(output="done", duration_s=0.0)
    return await _Session.call(self, request)


async def _timeless(self: _Session, request: CallRequest) -> Execution:
    return await self.answer(request)


async def _gossips(self: _Session, request: CallRequest) -> Execution:
    execution = await _Session.call(self, request)
    return execution.model_copy(update={"notes": (os.environ[CANARY],)})


async def _hands_over(self: _Session, request: CallRequest) -> Execution:
    await (await self.workspace.start(Command(argv=("true",), env=dict(os.environ)))).wait()
    return await _Session.call(self, request)


async def _goes_around(self: _Session, request: CallRequest) -> Execution:
    if request.input == "env":
        return Execution(
            output=subprocess.run(["env"], capture_output=True, text=True, check=True).stdout, duration_s=0.0
        )
    return await _Session.call(self, request)


async def _misnames(self: _Session, request: CallRequest) -> Execution:
    execution = await _Session.call(self, request)
    if request.limits.timeout_s is None:
        return execution
    return failed(FailureClass.CRASH, "killed").model_copy(update={"duration_s": execution.duration_s})


async def _mumbles(self: _Session, request: CallRequest) -> Execution:
    return await _Session.call(
        self, request.model_copy(update={"input": "e" if request.input == "env" else request.input})
    )


async def _repeats(self: _Session, request: CallRequest) -> Execution:
    return Execution(output="always the same")


async def _answers_raw(self: _Session, request: CallRequest) -> Any:
    return (await _Session.call(self, request)).output


async def _fails_mutely(self: _Session, request: CallRequest) -> Execution:
    execution = await _Session.call(self, request)
    if execution.failure is None:
        return execution
    return execution.model_copy(update={"failure": execution.failure.model_copy(update={"message": ""})})


async def _once(self: _Session) -> None:
    del self.workspace


def _unstable(self: _Adapter, target: Target) -> Identity:
    return Identity(name="fake", version=str(random.random()))


def _nameless(self: _Adapter, target: Target) -> Identity:
    return Identity(name="")


async def _careless_check(self: _Adapter) -> Any:
    return ["something is wrong"]


def _lenient(self: _Adapter, target: Target) -> tuple[Problem, ...]:
    return ()


async def _unready(self: _Adapter) -> tuple[Problem, ...]:
    return (Problem("adapter.program", "the program is absent"),)


async def _refuses(self: _Adapter, target: Target, workspace: Any) -> _Session:
    raise ConnectionError("nobody there")


@pytest.mark.slow
@table(
    ("raises", "Session.call of 'crash' must not raise, but raised ConnectionError", with_session(call=_raises)),
    ("blames others", "'crash' must blame the target, not infrastructure", with_session(call=_accuses)),
    ("no failure", "'crash' must give a failure", with_session(call=_shrugs)),
    ("unusable after", "'a' after a failure must succeed", with_session(call=_breaks_down)),
    ("mixes", "must not mix answers of calls at once", with_session(echo=_mixes)),
    (
        "chokes",
        "Session.call of right-to-left text must not raise|line breaks must not raise",
        with_session(call=_chokes),
    ),
    ("no time limit", "'wait' must come to an end", with_session(call=_patient)),
    ("stubborn", "must stop when it is cancelled, but went on", with_session(call=_stubborn)),
    ("swallows", "must let asyncio.CancelledError through, but returned Execution", with_session(call=_swallows)),
    ("hurries", "was to be cancelled while it works, but returned Execution", with_session(call=_hurries)),
    ("no duration", "'a' must give its duration_s, not None", with_session(call=_timeless)),
    ("tells a secret", f"must never show the value of {CANARY}", with_session(call=_gossips)),
    ("hands a secret over", f"must not hand {CANARY}.*to the process 'true'", with_session(call=_hands_over)),
    ("goes around", f"must never show the value of {CANARY}", with_session(call=_goes_around)),
    ("misnames", "must fail with class timeout, not crash", with_session(call=_misnames)),
    ("mumbles", "needs an input `environment` whose answer names PATH", with_session(call=_mumbles)),
    ("repeats", "needs inputs with different answers", with_session(echo=_repeats)),
    ("answers raw", "'a' must return an Execution, not", with_session(call=_answers_raw)),
    ("fails mutely", "'crash' must give its failure a message", with_session(call=_fails_mutely)),
    ("closes once", "Session.close, called again, must not raise", with_session(close=_once)),
    ("unstable", "Adapter.identity must be stable", type("A", (_Adapter,), {"identity": _unstable})),
    (
        "lenient",
        "must report an error for the wrong target 'wrong'",
        type("A", (_Adapter,), {"check_target": _lenient}),
    ),
    ("unready", "can only be checked where the plugin works.*absent", type("A", (_Adapter,), {"check": _unready})),
    ("refuses", "Adapter.open must not raise", type("A", (_Adapter,), {"open": _refuses})),
    (
        "not a session",
        "Session.call is missing",
        type("A", (_Adapter,), {"session": lambda _self, _workspace: object()}),
    ),
)
def test_adapter_fails(sentence: str, broken: type[_Adapter]) -> None:
    """Each way of being a bad adapter gets its sentence."""
    with breaks(sentence):
        try_adapter(broken, patience_s=patience(sentence))


def test_adapter_fails_on_failing_targets() -> None:
    """A target that cannot be reached is the target's failure, found out by the call."""

    class Selective(_Adapter):
        async def open(self, target: Target, workspace: Any) -> _Session:
            session = _Session(workspace)
            if target.id == "down":
                session.answer = lambda request: self.refused(target)  # type: ignore[assignment, return-value, method-assign]
            return session

        async def refused(self, target: Target) -> Execution:
            return failed(FailureClass.NETWORK, "refused", self.blame)

        blame = Blame.TARGET

    try_adapter(Selective, failing_targets=[Target(id="down")])
    Selective.blame = Blame.INFRASTRUCTURE
    with breaks("failing target 'down' must blame the target"):
        try_adapter(Selective, failing_targets=[Target(id="down")])
    with breaks("needs a failing input or a failing target"):
        try_adapter(_Adapter, replace(INPUTS, failing=[]))


# --- engines and judges -----------------------------------------------------------------------------------

TRAITS = Traits(tells=frozenset({Fact.OFFERED, Fact.USAGE}))


class _Engine:
    """Plays a script; `facts` is what it adds to an execution."""

    facts: Mapping[str, Any] = {}
    trajectory = Trajectory(skills_offered=("demo",), turns=1)

    async def check(self) -> tuple[Problem, ...]:
        return ()

    def identity(self, model: str | None) -> Identity:
        return Identity(name="fake-agent", version="1", settings={"model": model})

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        return ()

    async def run(self, request: RunRequest, workspace: Any, emit: Any) -> Execution:
        if request.prompt == "wait":
            await asyncio.sleep(60)
        if request.prompt == "crash":
            return failed(FailureClass.CRASH, "it died", Blame.INFRASTRUCTURE)
        usage = Usage(input_tokens=10, output_tokens=2) if request.prompt == "hello" else None
        return Execution(
            **{"text": "hi", "duration_s": 0.1, "trajectory": self.trajectory, "usage": usage, **self.facts}
        )


def engine(**facts: Any) -> type[_Engine]:
    """An engine that reports other facts."""
    return type("Engine", (_Engine,), {"facts": facts})


def try_engine(make: Callable[[], Any]) -> None:
    """Check with the prompts that `_Engine` understands."""
    prompts = EnginePrompts(answered="hello", silent="hush", slow="wait", failing="crash")
    check_engine(make, TRAITS, prompts, secret="key-in-use", sandbox=FakeSandbox())


def test_engine_passes() -> None:
    """A sound engine passes."""
    try_engine(_Engine)


async def _leaky(self: _Engine, request: RunRequest, workspace: Any, emit: Any) -> Execution:
    await workspace.start(Command(argv=("agent",), env={"KEY": os.environ[CANARY]}))
    return await _Engine.run(self, request, workspace, emit)


async def _deaf(self: _Engine, request: RunRequest, workspace: Any, emit: Any) -> Execution:
    with suppress(asyncio.CancelledError):
        return await _Engine.run(self, request, workspace, emit)
    return Execution(text="never mind")


async def _survives_all(self: _Engine, request: RunRequest, workspace: Any, emit: Any) -> Execution:
    prompt = "hello" if request.prompt == "crash" else request.prompt
    return await _Engine.run(self, request.model_copy(update={"prompt": prompt}), workspace, emit)


async def _emits_text(self: _Engine, request: RunRequest, workspace: Any, emit: Any) -> Execution:
    emit(request.prompt)
    return await _Engine.run(self, request, workspace, emit)


async def _crashes(self: _Engine, request: RunRequest, workspace: Any, emit: Any) -> Execution:
    if request.prompt == "crash":
        raise OSError("it died")
    return await _Engine.run(self, request, workspace, emit)


@table(
    (
        "claims no skill fired",
        "skills_fired must be None.*do not tell fired",
        engine(trajectory=Trajectory(skills_fired=())),
    ),
    (
        "claims to be free",
        "usage.cost_usd must be None.*do not tell cost",
        engine(usage=Usage(input_tokens=5, cost_usd=0.0, cost_basis="free")),
    ),
    ("claims blocks", "blocked must be None.*do not tell blocks", engine(trajectory=Trajectory(blocked=()))),
    (
        "usage 0",
        "usage must be None where it is unknown, never 0",
        engine(usage=Usage(input_tokens=0, output_tokens=0)),
    ),
    ("invents usage", "says nothing about usage, so input_tokens must be None", engine(usage=Usage(input_tokens=5))),
    ("fails", "'hello' must succeed, but failed", engine(failure=failed(FailureClass.CRASH, "x").failure)),
    ("no duration", "'hello' must give its duration_s", engine(duration_s=None)),
    ("survives", "'crash' must give a failure, but gave 'hi'", type("E", (_Engine,), {"run": _survives_all})),
    (
        "emits text",
        "or the Usage so far, not 'hello'",
        type("E", (_Engine,), {"run": _emits_text}),
    ),
    ("no trajectory", "must give a trajectory", engine(trajectory=None)),
    ("shows its key", "must never show the value of a secret", engine(stderr="using key-in-use")),
    ("hands a secret over", f"must not hand {CANARY}", type("E", (_Engine,), {"run": _leaky})),
    ("deaf", "Engine.run must let asyncio.CancelledError through", type("E", (_Engine,), {"run": _deaf})),
    ("raises", "Engine.run of 'crash' must not raise", type("E", (_Engine,), {"run": _crashes})),
    ("unstable", "Engine.identity must be stable", type("E", (_Engine,), {"identity": _unstable})),
)
def test_engine_fails(sentence: str, broken: type[_Engine]) -> None:
    """Each way of being a bad engine gets its sentence."""
    with breaks(sentence):
        try_engine(broken)


def test_engine_may_tell_what_its_traits_say() -> None:
    """A fact that the traits announce may be reported, also as none."""
    traits = Traits(tells=frozenset(Fact))
    made = engine(trajectory=Trajectory(skills_fired=(FiredSkill(name="demo", how="read"),), blocked=()))
    check_engine(
        made,
        traits,
        EnginePrompts(answered="hello", slow="wait", failing="crash"),
        sandbox=FakeSandbox(),
    )


class _Judge:
    changes: Mapping[str, Any] = {}

    async def check(self) -> tuple[Problem, ...]:
        return ()

    def identity(self, model: str | None) -> Identity:
        return Identity(name="fake-judge", settings={"model": model})

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        if request.user == "wait":
            await asyncio.sleep(60)
        if request.user == "refuse":
            return JudgeReply(**{"text": None, "error": "401", **self.changes})
        usage = Usage(input_tokens=9, output_tokens=1) if request.user == "hello" else None
        return JudgeReply(**{"text": "yes", "usage": usage, **self.changes})


async def _asks_rudely(self: _Judge, request: JudgeRequest) -> JudgeReply:
    if request.user == "refuse":
        raise PermissionError("401")
    return await _Judge.ask(self, request)


async def _asks_deaf(self: _Judge, request: JudgeRequest) -> JudgeReply:
    with suppress(asyncio.CancelledError):
        return await _Judge.ask(self, request)
    return JudgeReply(text="too late")


def try_judge(make: Callable[[], Any]) -> None:
    """Check with the questions that `_Judge` understands."""
    words = {"good": "hello", "silent": "hush", "failing": "refuse", "slow": "wait"}
    questions = {name: JudgeRequest(system="Grade.", user=word) for name, word in words.items()}
    check_judge(make, **questions, secret="key-in-use")


def judge(**changes: Any) -> type[_Judge]:
    """A judge that replies otherwise."""
    return type("Judge", (_Judge,), {"changes": changes})


def test_judge_passes() -> None:
    """A sound judge passes."""
    try_judge(_Judge)


@table(
    ("usage 0", "usage must be None where it is unknown, never 0", judge(usage=Usage(total_tokens=0))),
    ("invents usage", "so output_tokens must be None", judge(usage=Usage(output_tokens=1))),
    ("both", "must give either a text or an error", judge(text="yes", error="no")),
    ("answers all", "'refuse' must give an error", judge(text="yes", error=None)),
    ("shows its key", "must never show the value of a secret", judge(model="key-in-use")),
    ("raises", "Judge.ask of 'refuse' must not raise", type("J", (_Judge,), {"ask": _asks_rudely})),
    ("deaf", "Judge.ask must let asyncio.CancelledError through", type("J", (_Judge,), {"ask": _asks_deaf})),
)
def test_judge_fails(sentence: str, broken: type[_Judge]) -> None:
    """Each way of being a bad judge gets its sentence."""
    with breaks(sentence):
        try_judge(broken)


# --- formats ----------------------------------------------------------------------------------------------


class _Format:
    """JSON objects with the key `acme`, whose value is a list of cases."""

    def claim(self, path: Path) -> Claim | None:
        try:
            value = json.loads(path.read_bytes()) if path.is_file() else None
        except (OSError, ValueError, RecursionError):
            return None
        return Claim("acme") if isinstance(value, dict) and "acme" in value else None

    def load(self, request: LoadRequest) -> Loaded:
        suites = [self.suite(Path(path)) for path in request.paths]
        problems: list[Problem] = []
        for path in request.searched:
            try:
                suites.append(self.suite(Path(path)))
            except SuiteError as error:
                problems.extend(error.problems)
        return Loaded(tuple(suites), tuple(problems))

    def suite(self, path: Path) -> Suite:
        value = self.read(path)
        cases = value.get("acme") if isinstance(value, Mapping) else None
        if not isinstance(cases, tuple):
            raise SuiteError(Problem("acme.shape", "is no list of cases", Origin(str(path), ("acme",))))
        made = tuple(self.case(path, n, case) for n, case in enumerate(cases))
        return Suite(id=path.stem, format="acme", root=str(path), targets=(Target(id="t"),), cases=made)

    def read(self, path: Path) -> Any:
        from skillgauge.config.documents import read_document  # noqa: PLC0415 - what a plugin gets from its api

        return read_document(path).value

    def case(self, path: Path, n: int, case: Any) -> Case:
        origin = Origin(str(path), ("acme", n))
        check = Check(id="equals", scorer="exact", options={"value": case["out"]}, origin=origin)
        return Case(id=case["id"], input=case["in"], checks=(check,), origin=origin)

    def dump(self, suite: Suite) -> Dumped:
        cases = [{"id": one.id, "in": one.input, "out": one.checks[0].options["value"]} for one in suite.cases]
        return Dumped((("suite.json", json.dumps({"acme": cases}).encode()),))

    def figures(self, summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        return {group.key: () for group in summary.groups}


HEADLINE = Figure(name="balanced", label="Balanced", value=None, is_headline=True)
SUITE = {"acme": [{"id": "sum", "in": [1, 2], "out": 3}, {"id": "שלום", "in": None, "out": "x"}]}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A sample of `_Format` and a file of somebody else."""
    found = {"sample": tmp_path / "sample.json", "foreign": tmp_path / "foreign.json"}
    found["sample"].write_text(json.dumps(SUITE, ensure_ascii=False, indent=1), encoding="utf-8")
    found["foreign"].write_text('{"acme2": []}')
    return found


def try_format(make: Callable[[], Any], files: dict[str, Path], **more: Any) -> None:
    """Check with these files."""
    check_format(make, samples=[files["sample"]], foreign=[files["foreign"]], **more)


def test_format_passes(files: dict[str, Path]) -> None:
    """A sound format passes, with files and with folders."""
    try_format(_Format, files)

    class Folders(_Format):
        def claim(self, path: Path) -> Claim | None:
            return super().claim(path / "sample.json") or super().claim(path)

        def suite(self, path: Path) -> Suite:
            return super().suite(path / "sample.json" if path.is_dir() else path)

    folder = files["sample"].parent / "folder"
    folder.mkdir()
    files["sample"].rename(folder / "sample.json")
    check_format(Folders, samples=[folder], foreign=[files["foreign"]])


def test_format_with_headlines_passes(files: dict[str, Path]) -> None:
    """One that says which suites have a figure in place of the pass rate."""

    class Rated(_Format):
        def figures(self, summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
            return {group.key: (HEADLINE,) for group in summary.groups}

        def has_headline(self, suite: SuiteHead) -> bool:
            return suite.format == "acme"

    try_format(Rated, files)


def format_with(**methods: Any) -> type[_Format]:
    """A format with other methods."""
    return type("Format", (_Format,), methods)


class _Fresh:
    """Cases that differ each time."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.cases = tuple(cases)
        self.numbers = count()

    def __iter__(self) -> Iterator[Case]:
        number = next(self.numbers)
        return (case.model_copy(update={"description": str(number)}) for case in self.cases)


def changed(**changes: Callable[[Suite], Any]) -> type[_Format]:
    """A format whose suites are changed."""

    def suite(self: _Format, path: Path) -> Suite:
        made = _Format.suite(self, path)
        return made.model_copy(update={name: change(made) for name, change in changes.items()})

    return format_with(suite=suite)


def each_case(**changes: Any) -> type[_Format]:
    """A format whose cases are changed."""
    return changed(cases=lambda suite: tuple(case.model_copy(update=changes) for case in suite.cases))


def reading_with(read: Callable[[Path], Any]) -> type[_Format]:
    """A format that reads files otherwise."""
    return format_with(read=lambda self, path: read(path))


def careless_read(path: Path) -> Any:
    """Read without catching anything."""
    from skillgauge.api import freeze  # noqa: PLC0415 - only here

    return freeze(json.loads(path.read_bytes()))


def forgiving_read(path: Path) -> Any:
    """Read as if broken files were empty ones."""
    try:
        return careless_read(path)
    except (OSError, ValueError, RecursionError):
        return {"acme": ()}


def placeless_read(path: Path) -> Any:
    """Read and complain without saying where."""
    try:
        return careless_read(path)
    except (OSError, ValueError, RecursionError):
        raise SuiteError(Problem("acme.broken", "is broken")) from None


def lineless_read(path: Path) -> Any:
    """Read and complain about a file as a whole."""
    from skillgauge.api import SourceSpan  # noqa: PLC0415 - only here

    try:
        return careless_read(path)
    except (OSError, ValueError, RecursionError):
        raise SuiteError(Problem("acme.broken", "is broken", span=SourceSpan(str(path)))) from None


def _divides(self: _Format, summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
    rates = ((group.key, group.counts.passed / group.counts.total) for group in summary.groups)
    return {key: (Figure(name="rate", label="Rate", value=rate),) for key, rate in rates}


NO_ARMS = Comparison(candidate="a", baseline="b")


def _claims_all(self: _Format, path: Path) -> Claim | None:
    return Claim("any")


def _claims_json(self: _Format, path: Path) -> Claim | None:
    return Claim("any") if path.suffix == ".json" else None


def _claims_none(self: _Format, path: Path) -> Claim | None:
    return None


def _claims_rashly(self: _Format, path: Path) -> Claim | None:
    return Claim("acme") if b'"acme"' in path.read_bytes() else None


def _claims_and_writes(self: _Format, path: Path) -> Claim | None:
    if path.name == "sample.json":
        path.write_bytes(path.read_bytes() + b"\n")
    return _Format.claim(self, path)


def _loads_all_or_nothing(self: _Format, request: LoadRequest) -> Loaded:
    return Loaded(tuple(self.suite(Path(path)) for path in (*request.paths, *request.searched)))


def _loads_what_is_not_there(self: _Format, request: LoadRequest) -> Loaded:
    if not all(Path(path).exists() for path in request.paths):
        return Loaded(())
    return _Format.load(self, request)


def _loads_with_complaints(self: _Format, request: LoadRequest) -> Loaded:
    complaint = Problem("acme.taste", "could be nicer", Origin(request.paths[0]))
    return Loaded(_Format.load(self, request).suites, (complaint,))


def _loads_silently(self: _Format, request: LoadRequest) -> Loaded:
    return Loaded(_Format.load(self, request).suites)


def _dumps(content: bytes, path: str = "suite.json", **more: Any) -> Callable[..., Dumped]:
    return lambda self, suite: Dumped(((path, content),), **more)


def _suite_text(**changes: Any) -> bytes:
    return json.dumps({"acme": [{**case, **changes} for case in SUITE["acme"]]}).encode()


@table(
    ("claims all", "of .*foreign.json'.*, which is foreign, must be None", format_with(claim=_claims_all)),
    ("claims by name", "of .*foreign.json'.*, which is foreign, must be None", format_with(claim=_claims_json)),
    ("claims nothing", "must claim the sample sample.json", format_with(claim=_claims_none)),
    ("claims rashly", "claim of .* must not raise, but raised", format_with(claim=_claims_rashly)),
    ("writes", "must not change sample.json", format_with(claim=_claims_and_writes)),
    ("careless", "must raise nothing but SuiteError, but raised JSONDecodeError", reading_with(careless_read)),
    ("forgiving", "sample.json, cut off after 25%, must raise SuiteError, but gave", reading_with(forgiving_read)),
    ("placeless", "must say where each problem is", reading_with(placeless_read)),
    ("lineless", "must give the line of each problem", reading_with(lineless_read)),
    ("all or nothing", "must report a bad file among the searched ones", format_with(load=_loads_all_or_nothing)),
    ("silent", "must report a bad file among the searched ones.*reported nothing", format_with(load=_loads_silently)),
    ("changing cases", "can be iterated more than once, with equal cases", changed(cases=lambda s: _Fresh(s.cases))),
    ("no cases", "must have cases", changed(cases=lambda s: ())),
    ("same ids", "case ids must be unique", each_case(id="same")),
    ("same checks", "check ids of case 'sum' must be unique", each_case(checks=(Check(id="c", scorer="x"),) * 2)),
    ("unknown target", "must name targets of its suite, not \\['nobody'\\]", each_case(targets=("nobody",))),
    ("no origin", "case 'sum' must have an origin", each_case(origin=None)),
    ("wrong origin", "origin in a file that is there", each_case(origin=Origin("absent.json"))),
    ("check origin", "check 'c' of case 'sum' must have an origin", each_case(checks=(Check(id="c", scorer="x"),))),
    ("relative root", "must name its format and its absolute root", changed(root=lambda s: "here")),
    (
        "arms",
        "must compare arms that it has",
        changed(comparisons=lambda s: (NO_ARMS,)),
    ),
    ("never absent", "file that is absent must raise SuiteError", format_with(load=_loads_what_is_not_there)),
    ("with problems", "must give suites without problems", format_with(load=_loads_with_complaints)),
    ("claims texts", "must return a Claim or None, not ''", format_with(claim=lambda self, path: "")),
    ("no dump", "SuiteFormat.dump must give at least one file", format_with(dump=lambda self, suite: Dumped(()))),
    ("figures", "figures of a group without results must not raise", format_with(figures=_divides)),
    ("figure texts", "must return a mapping by key of a group", format_with(figures=lambda self, summary: "1")),
    ("figures of nobody", "must return a mapping by key of a group", format_with(figures=lambda self, one: {"a": ()})),
    (
        "no figures",
        "must return tuples of Figure, not",
        format_with(figures=lambda self, summary: {summary.groups[0].key: "1"}),
    ),
    (
        "secret headline",
        "has_headline must be True of a suite with such a figure",
        format_with(figures=lambda self, summary: {summary.groups[0].key: (HEADLINE,)}),
    ),
    (
        "empty headline",
        "has_headline must be False of a suite without such a figure",
        format_with(has_headline=lambda self, suite: True),
    ),
    ("no format", "must name its format and its absolute root", changed(format=lambda s: "")),
    ("random suites", "must give the same suites every time", changed(digest=lambda s: str(random.random()))),
    ("dump raises", "SuiteFormat.dump must not raise", format_with(dump=raising)),
    ("dump of something else", "must claim what SuiteFormat.dump wrote", format_with(dump=_dumps(b"{}"))),
    ("dump escapes", "relative paths, with slashes, not '../x.json'", format_with(dump=_dumps(b"{}", "../x.json"))),
    ("dump loses a case", "must keep case 'sum', but it is not", format_with(dump=_dumps(b'{"acme": []}'))),
    ("dump changes a case", "must keep case 'sum' as it is, or say", format_with(dump=_dumps(_suite_text(out=0)))),
)
def test_format_fails(files: dict[str, Path], sentence: str, broken: type[_Format]) -> None:
    """Each way of being a bad format gets its sentence."""
    with breaks(sentence):
        try_format(broken, files)


def test_format_with_a_lost_origin_fails(files: dict[str, Path]) -> None:
    """An origin that points at nothing would show people the wrong line."""

    def case(self: _Format, path: Path, n: int, value: Any) -> Case:
        return _Format.case(self, path, n, value).model_copy(update={"origin": Origin(str(path), ("acme", n + 2))})

    with breaks("origin that can be found: .* is not in"):
        try_format(format_with(case=case), files)


def test_format_may_lose_what_it_says_it_loses(files: dict[str, Path]) -> None:
    """A loss that is declared is none that the kit complains about; a format without `dump` says so."""
    loss = Problem("acme.loss", "answers are not kept")
    try_format(format_with(dump=_dumps(_suite_text(out=0), losses=(loss,))), files)
    try_format(format_with(dump=raising), files, round_trip=False)


# --- reporters --------------------------------------------------------------------------------------------


class _Reporter:
    """Summary and results as JSON."""

    suffix = "acme.json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        yield Artifact(chunks=self.chunks(view))

    def chunks(self, view: RunView) -> Iterator[bytes]:
        yield b'{"acme": 1, "run": %s, "head": %s, "summary": %s, "results": [' % tuple(
            part.model_dump_json().encode() for part in (view.run, view.head, view.summary)
        )
        for n, result in enumerate(view.results()):
            yield (b"," if n else b"") + result.model_dump_json().encode()
        yield b"]}"

    def read(self, path: Path) -> RunView | None:
        try:
            value = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(value, dict) or value.get("acme") != 1:
            return None
        results = [TrialResult.model_validate(one) for one in value["results"]]
        run, head, summary = RunInfo(**value["run"]), PlanHead(**value["head"]), Summary(**value["summary"])
        return RunView(run, head, summary, Kept(lambda: results))


def reporter(suffix: str = "json", **methods: Any) -> type[_Reporter]:
    """A reporter with other methods."""
    return type("Reporter", (_Reporter,), {"suffix": suffix, **methods})


def writing(suffix: str, text: Callable[[RunView], str]) -> type[_Reporter]:
    """A reporter that writes a text and reads nothing."""
    chunks = lambda self, view: iter([text(view).encode()])  # noqa: E731 - a method in a table
    return reporter(suffix, chunks=chunks, read=lambda self, path: None)


def ids(view: RunView) -> list[str]:
    """Case ids of a run."""
    return [result.case_id for result in view.results()]


def test_reporter_passes() -> None:
    """A sound reporter passes, whether it reads back or not, and so do careful writers of other syntaxes."""
    check_reporter(_Reporter, reads_back=True)
    escape = {"<": "&lt;", "&": "&amp;", '"': "&quot;", "\n": " ", "\x07": "", "\x1b": "", "\x7f": ""}
    safe = lambda view: "".join(escape.get(character, character) for name in ids(view) for character in name)  # noqa: E731
    for suffix, frame in (("html", "<p title='{}'>{}</p>"), ("xml", "<r>{}{}</r>"), ("md", "# Report\n{}{}\n")):
        text = lambda view, frame=frame: frame.format("", safe(view))  # noqa: E731
        check_reporter(writing(suffix, text), reads_back=False)
    check_reporter(_Reporter, reads_back=True, adapt=lambda view: view, keeps=lambda view: view.summary.counts)


def _asks_often(self: _Reporter, view: RunView) -> Iterator[bytes]:
    yield json.dumps([ids(view) for _ in range(3)]).encode()


def _two_files(self: _Reporter, view: RunView) -> Iterable[Artifact]:
    yield Artifact(chunks=[b"{}"])
    yield Artifact(chunks=[b"{}"])


def _file_per_case(self: _Reporter, view: RunView) -> Iterable[Artifact]:
    yield Artifact(chunks=[b"{}"])
    for name in dict.fromkeys(ids(view)):
        yield Artifact(path=f"cases/{name}.json", chunks=[b"{}"])


def _reads_all(self: _Reporter, path: Path) -> RunView | None:
    return _Reporter.read(self, path) or contract_views()[0][1]


def _reads_rashly(self: _Reporter, path: Path) -> RunView | None:
    json.loads(path.read_bytes())
    return None


def _forgets(self: _Reporter, path: Path) -> RunView | None:
    view = _Reporter.read(self, path)
    return view and replace(view, summary=Summary.empty())


def _reads_once(self: _Reporter, path: Path) -> RunView | None:
    view = _Reporter.read(self, path)
    if view is None:
        return None
    return replace(view, source=once(view))


def once(view: RunView) -> Kept:
    """A source that gives the results of a run only once."""
    left = list(view.results())

    class Once(Kept):
        def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
            while left:
                yield left.pop(0)

    return Once(lambda: (), view.cases())


@table(
    ("raises", "render of a run without suites must not raise", reporter(render=raising)),
    ("raises while written", "render of a run without suites must not raise", reporter(chunks=raising)),
    ("needs results", "render of a run without suites must not raise", writing("txt", lambda view: ids(view)[0])),
    (
        "needs values",
        "render of a run with errors must not raise",
        writing("txt", lambda view: str(sum(r.value for r in view.results()))),
    ),  # type: ignore[misc]
    ("clock", "must give the same bytes every time", writing("txt", lambda view: str(time.perf_counter_ns()))),
    ("no file", "must give at least one file", reporter(render=lambda self, view: ())),
    (
        "same file twice",
        "must not give a file twice",
        reporter(render=_two_files),
    ),
    ("file names", "relative paths that stay in the reporter's folder", reporter(render=_file_per_case)),
    ("asks often", "must read each result at most 2 times", reporter(chunks=_asks_often)),
    ("encoding", "must be UTF-8", reporter(chunks=lambda self, view: [b"\xff"])),
    ("json", "must be a well-formed .json file", writing("json", lambda view: '{"value": NaN}')),
    ("json lines", "must be a well-formed .jsonl file", writing("jsonl", lambda view: "\n".join(ids(view)))),
    (
        "csv",
        "must be a well-formed .csv file",
        writing("csv", lambda view: "a,b\n" + "".join(f"{i},1\n" for i in ids(view))),
    ),
    ("xml", "must be a well-formed .xml file", writing("xml", lambda view: f"<r>{''.join(ids(view))}</r>")),
    ("html", "a text became a script", writing("html", lambda view: f"<p>{' '.join(ids(view))}</p>")),
    (
        "attribute",
        "a text became an attribute",
        writing("html", lambda view: "".join(f'<p title="{i}">' for i in ids(view) if "<" not in i)),
    ),
    (
        "heading",
        "a line break in a text begins a line",
        writing("md", lambda view: "\n".join(i for i in ids(view) if "<" not in i)),
    ),
    (
        "markup",
        "markup in a text is markup of the report",
        writing("md", lambda view: " ".join(i.replace("\n", " ") for i in ids(view))),
    ),
    ("reads all", "read of nothing must give None", reporter(read=_reads_all)),
    ("reads rashly", "must not raise, but raised", reporter(read=_reads_rashly)),
    ("suffix", "must be an ending without its dot", reporter(".json")),
)
def test_reporter_fails(sentence: str, broken: type[_Reporter]) -> None:
    """Each way of being a bad reporter gets its sentence."""
    with breaks(sentence):
        check_reporter(broken, reads_back=False)


@table(
    ("unread", "must recognise it", reporter(read=lambda self, path: None)),
    ("forgets", "must keep what it tells: Summary", reporter(read=_forgets)),
    ("once", "must give results as often as they are asked for", reporter(read=_reads_once)),
)
def test_reporter_reading_back_fails(sentence: str, broken: type[_Reporter]) -> None:
    """A document that claims to hold a run gives the run back."""
    with breaks(sentence):
        check_reporter(broken, reads_back=True)


# --- sandboxes --------------------------------------------------------------------------------------------


def sandbox(kind: Callable[..., Any] = DirectoryWorkspace, tier: str = "fake/none", **methods: Any) -> type:
    """A sandbox whose workspaces are of a changed class."""

    class Sandbox:
        async def check(self) -> SandboxReport:
            return SandboxReport(Tier.NONE)

        def open(self, spec: SandboxSpec) -> Any:
            return type("Workspace", (kind,), methods)(spec, os.environ, tier=tier)  # type: ignore[call-overload]

    return Sandbox


def open_with(make: Callable[..., Any]) -> type:
    """A sandbox whose workspaces are made by a function."""
    return type("Sandbox", (sandbox(),), {"open": lambda self, spec: make(spec, os.environ, tier="fake/none")})


def test_sandbox_passes() -> None:
    """The sandbox that the kit brings for tests keeps the contract."""
    check_sandbox(TemporarySandbox)


class _Elsewhere(TemporarySandbox):
    """Plays a sandbox whose workspaces are on another machine: it lets nothing be written to a folder of this one."""

    async def check(self) -> SandboxReport:
        return SandboxReport(Tier.NONE, is_remote=True)

    def open(self, spec: SandboxSpec) -> Any:
        return super().open(spec.model_copy(update={"writable": ()}))


def test_a_remote_sandbox_passes() -> None:
    """What its processes leave is looked for in the workspace, where the test says that it lies."""
    looked_at: list[Path] = []

    def where(path: Path) -> Path:
        looked_at.append(path)
        return path

    check_sandbox(_Elsewhere, where=where)
    assert {path.suffix for path in looked_at} == {".beat"}


def test_a_sandbox_says_whether_it_is_remote() -> None:
    """One that is remote and is checked like one of this machine, and the other way round."""
    with breaks("SandboxReport.is_remote must be False"):
        check_sandbox(_Elsewhere)
    with breaks("SandboxReport.is_remote must be True"):
        check_sandbox(TemporarySandbox, where=lambda path: path)


class _Naive:
    """A process without any of the care that the kernel takes: only its own end is seen to."""

    started: ClassVar[list[int]] = []

    def __init__(self, command: Command, cwd: Path, env: Mapping[str, str]) -> None:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command.argv, cwd=cwd, env=env, start_new_session=True, **streams)
        self.started.append(self.process.pid)
        self.timeout_s = command.timeout_s

    async def wait(self) -> Finished:
        try:
            await asyncio.to_thread(self.process.wait, self.timeout_s)
        except subprocess.TimeoutExpired:
            await self.stop()
        return Finished(None, 9, b"", b"", 1.0, timed_out=True)

    async def stop(self) -> None:
        self.process.kill()
        self.process.wait()


async def _put_naively(self: Any, files: Sequence[FileSpec], *, anew: bool = False) -> None:
    for file in files:
        path = self.root / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(Path(file.source).read_bytes() if file.source else (file.text or "").encode())
        path.chmod(0o755 if file.executable else 0o644)


async def _collect_naively(self: Any, path: str, limit: int) -> bytes:
    return bytes((self.root / path).read_bytes()[:limit])


async def _collect_whole(self: Any, path: str, limit: int) -> bytes:
    return await DirectoryWorkspace.collect(self, path, 10**9)


async def _snapshot_names(self: Any) -> Mapping[str, str]:
    return dict.fromkeys(await DirectoryWorkspace.snapshot(self), "same")


async def _start_uncapped(self: Any, command: Command) -> Any:
    return await DirectoryWorkspace.start(self, command.model_copy(update={"output_bytes": 10**9}))


async def _start_with_everything(self: Any, command: Command) -> Any:
    env = {**os.environ, **command.env, "HOME": str(self.home), "TMPDIR": str(self.tmp)}
    return await DirectoryWorkspace.start(self, command.model_copy(update={"env": env}))


async def _start_at_home(self: Any, command: Command) -> Any:
    shared = {"HOME": str(Path(os.environ["SHARED_BY_A_TEST"]))}
    return await DirectoryWorkspace.start(self, command.model_copy(update={"env": {**shared, **command.env}}))


async def _start_naively(self: Any, command: Command) -> Any:
    if not command.timeout_s:
        return await DirectoryWorkspace.start(self, command)
    return _Naive(command, self.root, self.env)


async def _start_anything(self: Any, command: Command) -> Any:
    if command.argv[0] == "no-such-program-anywhere":
        command = command.model_copy(update={"argv": ("true",)})
    return await DirectoryWorkspace.start(self, command)


async def _start_and_shout(self: Any, command: Command) -> Any:
    try:
        return await DirectoryWorkspace.start(self, command)
    except OSError as error:
        raise RuntimeError(str(error)) from error


async def _start_mute(self: Any, command: Command) -> Any:
    return await DirectoryWorkspace.start(self, command.model_copy(update={"stdin": b""}))


class _Altered:
    """A process of which something else is told."""

    def __init__(self, running: Any, end: bytes, **changes: Any) -> None:
        self.running = running
        self.end = end
        self.changes = changes

    async def wait(self) -> Finished:
        return replace(await self.running.wait(), **self.changes)

    async def write(self, data: bytes) -> None:
        await self.running.write(data)

    async def lines(self) -> AsyncIterator[bytes]:
        async for line in self.running.lines():
            yield line + self.end

    async def stop(self) -> Finished:
        return replace(await self.running.stop(), **self.changes)


def altered(end: bytes = b"", **changes: Any) -> type:
    """A sandbox whose processes tell something else."""

    async def start(self: Any, command: Command) -> _Altered:
        return _Altered(await DirectoryWorkspace.start(self, command), end, **changes)

    return sandbox(start=start)


def starting(**changes: Any) -> type:
    """A sandbox that starts other commands."""

    async def start(self: Any, command: Command) -> Any:
        made = {key: change(self, command) for key, change in changes.items()}
        return await DirectoryWorkspace.start(self, command.model_copy(update=made))

    return sandbox(start=start)


def specified(**changes: Any) -> Callable[..., Any]:
    """A workspace that is made to another specification."""
    return lambda spec, environ, tier: DirectoryWorkspace(spec.model_copy(update=changes), environ, tier=tier)


def putting(**changes: Any) -> type:
    """A sandbox that puts other files."""

    async def put(self: Any, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        return await DirectoryWorkspace.put(self, [file.model_copy(update=changes) for file in files], anew=anew)

    return sandbox(put=put)


def putting_text() -> type:
    """A sandbox that takes every file for a text."""

    async def put(self: Any, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        texts = [file.model_copy(update={"source": None, "text": file.text or "?"}) for file in files]
        return await DirectoryWorkspace.put(self, texts, anew=anew)

    return sandbox(put=put)


async def _put_and_regret(self: Any, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
    try:
        return await DirectoryWorkspace.put(self, files, anew=anew)
    except ValueError:
        await _put_naively(self, files)
        raise


async def _put_as_ever(self: Any, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
    return await DirectoryWorkspace.put(self, files, anew=False)


async def _snapshot_once(self: Any) -> Mapping[str, str]:
    self.first = getattr(self, "first", None) or await DirectoryWorkspace.snapshot(self)
    return dict(self.first)


async def _snapshot_beyond(self: Any) -> Mapping[str, str]:
    linked = {f"{path.name}/{one.name}": "x" for path in self.root.glob("folder") for one in path.iterdir()}
    return {**linked, **await DirectoryWorkspace.snapshot(self)}


async def _start_stickily(self: Any, command: Command) -> Any:
    self._env = {**self._env, **command.env}
    return await DirectoryWorkspace.start(self, command)


async def _start_elsewhere(self: Any, command: Command) -> Any:
    homes = self.__dict__.setdefault("homes", count())
    home = self.folder / f"home-{next(homes)}"
    home.mkdir()
    given = command.model_copy(update={"env": {"HOME": str(home), **command.env}})
    return await DirectoryWorkspace.start(self, given)


def packing(change: Callable[[PackedFile], PackedFile | None]) -> type:
    """A sandbox whose workspaces tell other files than those that are there."""

    async def packed(self: Any, limit: int) -> tuple[PackedFile, ...]:
        files = map(change, await DirectoryWorkspace.packed(self, limit))
        return tuple(file for file in files if file)

    return sandbox(packed=packed)


def without(kind: str) -> Callable[[PackedFile], PackedFile | None]:
    """Leave out files of a kind."""
    return lambda file: None if file.kind == kind else file


def _through_links(file: PackedFile) -> PackedFile:
    return file if file.kind != "link" else file._replace(kind="file", content=b"what it leads to", target="")


async def _pack_once(self: Any, limit: int) -> tuple[PackedFile, ...]:
    if not hasattr(self, "packed_before"):
        self.packed_before = await DirectoryWorkspace.packed(self, limit)
    return cast("tuple[PackedFile, ...]", self.packed_before)


async def _pack_paths(_self: Any, _limit: int) -> tuple[str, ...]:
    return (".",)


async def _pack_all(self: Any, _limit: int) -> tuple[PackedFile, ...]:
    return await DirectoryWorkspace.packed(self, 10**9)


async def _leave(self: Any, *_: object) -> None:
    self._folder = None


@pytest.mark.slow
@table(
    ("no check", "Sandbox.check is missing", FakeSandbox.__mro__[1]),
    ("tier", "must be sandbox and reported tier", sandbox(tier="fake/strict")),
    ("stdin", "a process must get its stdin", sandbox(start=_start_mute)),
    (
        "launches anything",
        "Workspace.start of an absent program must raise LaunchError",
        sandbox(start=_start_anything),
    ),
    ("shouts", "an absent program must raise LaunchError, but raised RuntimeError", sandbox(start=_start_and_shout)),
    ("puts outside", "Workspace.put to 'folder/new.txt' must raise ValueError", sandbox(put=_put_naively)),
    ("collects outside", "Workspace.collect of 'folder/hidden.txt' must be refused", sandbox(collect=_collect_naively)),
    ("collects all", "Workspace.collect must give at most `limit` bytes", sandbox(collect=_collect_whole)),
    ("snapshot", "Workspace.snapshot must change for run.sh only", sandbox(snapshot=_snapshot_names)),
    ("uncapped", "Command.output_bytes must bound each stream to 1000 bytes", sandbox(start=_start_uncapped)),
    ("environment", f"a process must not see {CANARY}", sandbox(start=_start_with_everything)),
    ("grandchildren", "exceeded its timeout_s must kill grandchildren too", sandbox(start=_start_naively)),
    ("shared home", r"two workspaces must not share \$HOME", sandbox(start=_start_at_home)),
    ("root", "a process must start in Workspace.root", starting(cwd=lambda self, _: str(self.home))),
    ("exit code", "Finished must tell the exit code", altered(exit_code=0)),
    ("lines", "must give lines without their ends", altered(b"\n")),
    ("uncounted", "Finished must count the dropped bytes", altered(stdout_dropped=0)),
    ("timed out", "Finished.timed_out must tell", altered(timed_out=False)),
    ("folder", "Command.cwd must be relative to the workspace root", starting(cwd=lambda self, _: str(self.root))),
    ("no bytes", "Workspace.put must copy a source file", putting_text()),
    ("not executable", "a process must be able to run './run.sh'", putting(executable=False)),
    ("stale home", "a HOME and a TMPDIR that nothing in the workspace has seen", starting(fresh=lambda _w, _c: False)),
    ("nothing anew", "Workspace.put", sandbox(put=_put_as_ever)),
    ("stale snapshot", "must see the files that processes make", sandbox(snapshot=_snapshot_once)),
    ("snapshot follows", "Workspace.snapshot must follow no link, but names", sandbox(snapshot=_snapshot_beyond)),
    ("packs paths", "packed must return a tuple of PackedFiles", sandbox(packed=_pack_paths)),
    ("packs no files", "packed must tell what was put", packing(without("file"))),
    ("packs modes wrongly", "packed must tell what can be executed", packing(lambda one: one._replace(mode=0o777))),
    ("packs once", "packed must tell every folder", sandbox(packed=_pack_once)),
    ("packs no folders", "packed must tell every folder", packing(without("folder"))),
    ("packs what links lead to", "packed must tell links as they are", packing(_through_links)),
    ("packs no pipes", "packed must tell what is no file", packing(without("other"))),
    ("packs no times", "packed must tell modes and times", packing(lambda one: one._replace(mtime=1))),
    ("packs all", "packed must read little more than its limit", sandbox(packed=_pack_all)),
    ("regrets", "Workspace.put must write nothing outside", sandbox(put=_put_and_regret)),
    ("no command env", "Command.env must be added", starting(env=lambda self, _: {})),
    ("sticky env", "Command.env must not reach other processes", sandbox(start=_start_stickily)),
    ("no passed env", "SandboxSpec.pass_env and SandboxSpec.env must reach", open_with(specified(pass_env=()))),
    ("no own env", "SandboxSpec.pass_env and SandboxSpec.env must reach", open_with(specified(env={}))),
    ("moves", "HOME and TMPDIR must stay as they are", sandbox(start=_start_elsewhere)),
    ("endless", "exceeded its timeout_s must come to its end", starting(timeout_s=lambda self, _: None)),
    ("keeps", "a workspace must be removed at its end, but .* is still there", open_with(specified(keep=True))),
    ("stays", "a workspace must be removed at its end|end of a workspace must", sandbox(__aexit__=_leave)),
)
def test_sandbox_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentence: str, broken: type) -> None:
    """Each way of being a bad sandbox gets its sentence."""
    monkeypatch.setenv("SHARED_BY_A_TEST", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    try:
        with breaks(sentence):
            check_sandbox(broken, patience_s=patience(sentence))
    finally:
        while _Naive.started:
            with suppress(ProcessLookupError):
                os.killpg(_Naive.started.pop(), signal.SIGKILL)


# --- stores -----------------------------------------------------------------------------------------------


def in_order(
    results: Iterable[TrialResult], order: ResultOrder, group: GroupKey | None = None
) -> Iterator[TrialResult]:
    """Results as a log has to give them."""
    found = [result for result in results if group in (None, result.group)]
    by_place = (lambda one: one.ordinal) if order is ResultOrder.PLAN else case_order
    return iter(sorted(found, key=by_place))


class _Log:
    """A run in a file of JSON lines: head first, then whatever happened."""

    def __init__(self, path: Path, info: RunInfo) -> None:
        self.path = path
        self.info = info

    def write(self, *events: tuple[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)

    def events(self, kind: str) -> list[Any]:
        with self.path.open(encoding="utf-8") as file:  # megabytes of results need no look where others are meant
            return [json.loads(line)[1] for line in file if line.startswith(f'["{kind}", ')]

    def all_results(self) -> dict[str, TrialResult]:
        results = [TrialResult.model_validate(value) for value in self.events("result")]
        return {result.trial_id: result for result in results}

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        self.write(*(("case", case.model_dump(mode="json")) for case in cases))
        done = frozenset(trial.trial_id for trial in trials) & self.all_results().keys()
        self.write(*(("claim", trial.trial_id) for trial in trials if trial.trial_id not in done))
        claims = self.events("claim")
        attempts = {t.trial_id: claims.count(t.trial_id) for t in trials if t.trial_id not in done}
        cut_off: dict[str, tuple[GivenUp, ...]] = {}
        for one in self.unfinished():
            if one.trial_id in attempts:
                cut_off[one.trial_id] = (*cut_off.get(one.trial_id, ()), *one.attempts)
        return Claimed(done, attempts, cut_off)

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        self.write(*(("spent", one.model_dump(mode="json")) for one in unfinished))

    def unfinished(self) -> Iterator[Unfinished]:
        spent = [Unfinished.model_validate(value) for value in self.events("spent")]
        newest = {(one.ordinal, one.claim): one for one in spent}
        done = self.all_results()
        return iter([one for _, one in sorted(newest.items()) if one.trial_id not in done])

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        self.write(*(("result", result.model_dump(mode="json")) for result in results))

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return in_order(self.all_results().values(), order, group)

    def cases(self) -> Iterator[CaseHead]:
        heads = [CaseHead.model_validate(value) for value in self.events("case")]
        known = {(head.suite_id, head.index): head for head in heads}
        return (known[place] for place in sorted(known))

    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        self.info = self.info.model_copy(update={"state": state, "finished_at": time.time()})
        self.write(
            ("summary", summary and summary.model_dump(mode="json")), ("info", self.info.model_dump(mode="json"))
        )
        self.path.with_suffix(".owner").unlink()
        return self.info


class _Store:
    """A folder of such files; whoever works on a run is named beside it."""

    durable = True
    log: type[_Log] = _Log

    def __init__(self, options: JsonObject) -> None:
        self.folder = Path(str(options["location"]))
        self.open: list[Path] = []

    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        self.folder.mkdir(exist_ok=True)
        for path in self.paths():
            log = self.log(path, self.info(path))
            unfinished = log.info.state is not RunState.FINISHED and not self.is_owned(path)
            if unfinished and not fresh and PlanHead(**log.events("head")[0]) == head:
                log.info = log.info.model_copy(update={"state": RunState.RUNNING, "resumed": True})
                return self.own(log)
        run_id = f"run-{len(self.paths()):04}"
        info = RunInfo(run_id=run_id, state=RunState.RUNNING, started_at=time.time())
        log = self.log(self.folder / f"{run_id}.jsonl", info)
        log.write(("head", head.model_dump(mode="json")), ("info", info.model_dump(mode="json")))
        return self.own(log)

    def paths(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"), reverse=True)

    def info(self, path: Path) -> RunInfo:
        return RunInfo(**self.log(path, None).events("info")[-1])  # type: ignore[arg-type]

    def own(self, log: _Log) -> _Log:
        owner = log.path.with_suffix(".owner")
        owner.write_text(str(os.getpid()))
        self.open.append(owner)
        return log

    def is_owned(self, path: Path) -> bool:
        try:
            os.kill(int(path.with_suffix(".owner").read_text()), 0)
        except OSError:
            return False
        return True

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return iter([view for view in self.views() if matches(view, query)][: query.limit])

    def views(self) -> Iterator[RunView]:
        for path in self.paths():
            log = self.log(path, self.info(path))
            summaries = [Summary(**value) for value in log.events("summary") if value]
            head = PlanHead(**log.events("head")[0])
            yield RunView(log.info, head, (summaries or [Summary.empty()])[-1], log)

    async def close(self) -> None:
        for owner in self.open:
            owner.unlink(missing_ok=True)


def matches(view: RunView, query: RunQuery) -> bool:
    """Whether a run is asked for."""
    suites = [suite for suite in view.head.suites if query.suite_id in (None, suite.id)]
    targets = [target.id for suite in suites for target in suite.targets]
    return (
        bool(suites)
        and query.plan_id in (None, view.head.plan_id)
        and query.target_id in (None, *targets)
        and query.names(view.run.run_id)
    )


class ByPath:
    """Makes a store of this file, in another process too, where this module has no name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, options: JsonObject) -> Any:
        """A store."""
        return globals()[self.name](options)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, (f"__import__('runpy').run_path({__file__!r})[{self.name!r}]",)


def try_store(name: str, tmp_path: Path) -> None:
    """Check a store of this module."""
    numbers = count()
    check_store(ByPath(name), lambda: str(tmp_path / str(next(numbers))))


def test_store_passes(tmp_path: Path) -> None:
    """A sound store passes, the killed process included."""
    try_store("_Store", tmp_path)


def test_memory_store_keeps_the_contract() -> None:
    """The kernel's own store, which outlives nothing, keeps what is left of the contract."""
    check_store(lambda options: MemoryStore(), lambda: "memory")


class _Forgetful(_Log):
    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        await super().commit([one for one in results if one.ordinal != 4], paid=paid)


class _Shortening(_Log):
    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        cut = [one.model_copy(update={"case_id": one.case_id[:255]}) for one in results]
        await super().commit(cut, paid=paid)


class _Appending(_Log):
    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return in_order([TrialResult.model_validate(value) for value in self.events("result")], order, group)


class _FirstWins(_Log):
    def all_results(self) -> dict[str, TrialResult]:
        results = [TrialResult.model_validate(value) for value in reversed(self.events("result"))]
        return {result.trial_id: result for result in results}


class _AsCommitted(_Log):
    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return iter(self.all_results().values())


class _NoGroups(_Log):
    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return super().results(order)


class _CaseAgain(_Log):
    def cases(self) -> Iterator[CaseHead]:
        return (CaseHead.model_validate(value) for value in self.events("case"))


class _OnlyPlanOrder(_Log):
    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return super().results(ResultOrder.PLAN, group)


class _Uncounting(_Log):
    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        return replace(claimed, attempts=dict.fromkeys(claimed.attempts, 1))


class _Spendthrift(_Log):
    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        pass


class _AddingUp(_Log):
    def unfinished(self) -> Iterator[Unfinished]:
        spent = [Unfinished.model_validate(value) for value in self.events("spent")]
        return iter([one for one in spent if one.trial_id not in self.all_results()])


class _StillUnfinished(_Log):
    def unfinished(self) -> Iterator[Unfinished]:
        spent = [Unfinished.model_validate(value) for value in self.events("spent")]
        return iter([one for _, one in sorted({(one.ordinal, one.claim): one for one in spent}.items())])


class _Careless(_Log):
    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        return Claimed(claimed.done, claimed.attempts)


class _LastClaimOnly(_Log):
    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        return Claimed(claimed.done, claimed.attempts, {name: told[-1:] for name, told in claimed.cut_off.items()})


class _OwnSpending(_Log):
    spenders: ClassVar[WeakKeyDictionary[_Log, list[Unfinished]]] = WeakKeyDictionary()

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        await super().spend(unfinished)
        self.spenders.setdefault(self, []).extend(unfinished)

    def unfinished(self) -> Iterator[Unfinished]:
        return (one for one in super().unfinished() if one in self.spenders.get(self, []))


class _NeverDone(_Log):
    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        return Claimed(frozenset(), {trial.trial_id: claimed.attempts.get(trial.trial_id, 1) for trial in trials})


class _Endless(_Log):
    async def finish(self, state: RunState, summary: Summary | None) -> RunInfo:
        await super().finish(state, summary)
        return self.info.model_copy(update={"finished_at": None})


class _Buffering(_Log):
    buffered: ClassVar[dict[Path, list[TrialResult]]] = {}

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        self.buffered.setdefault(self.path, []).extend(results)

    def all_results(self) -> dict[str, TrialResult]:
        return {**super().all_results(), **{one.trial_id: one for one in self.buffered.get(self.path, [])}}


class _ByRepeat(_Log):
    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        results = super().results(order, group)
        if order is ResultOrder.PLAN:
            return results
        return iter(sorted(results, key=lambda one: (one.suite_id, one.case_index, one.repeat, *case_order(one))))


class _Impatient(_Log):
    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        return replace(claimed, attempts={name: number + 1 for name, number in claimed.attempts.items()})


class _Unclaiming(_Log):
    claims: ClassVar[WeakKeyDictionary[_Log, Counter[str]]] = WeakKeyDictionary()

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        claimed = await super().claim(trials, cases)
        mine = self.claims.setdefault(self, Counter())
        mine.update(claimed.attempts.keys())
        return replace(claimed, attempts={name: mine[name] for name in claimed.attempts})


class _StoreByRepeat(_Store):
    log = _ByRepeat


class _StoreImpatient(_Store):
    log = _Impatient


class _StoreUnclaiming(_Store):
    log = _Unclaiming


class _StoreLeaking(_Store):
    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        log = await super().begin(head, fresh=fresh)
        for path in self.paths():
            log.write(*(("result", value) for value in self.log(path, log.info).events("result")))
        return log


class _StoreRunningOnly(_Store):
    def is_owned(self, path: Path) -> bool:
        return self.info(path).state is RunState.INTERRUPTED or super().is_owned(path)


class _StoreHeadless(_Store):
    def views(self) -> Iterator[RunView]:
        return (replace(view, head=view.head.model_copy(update={"seed": 99})) for view in super().views())


class _StoreAlwaysResumed(_Store):
    def own(self, log: _Log) -> _Log:
        log.info = log.info.model_copy(update={"resumed": True})
        return super().own(log)


class _StoreForgetful(_Store):
    log = _Forgetful


class _StoreShortening(_Store):
    log = _Shortening


class _StoreAppending(_Store):
    log = _Appending


class _StoreFirstWins(_Store):
    log = _FirstWins


class _StoreAsCommitted(_Store):
    log = _AsCommitted


class _StoreNoGroups(_Store):
    log = _NoGroups


class _StoreCaseAgain(_Store):
    log = _CaseAgain


class _StoreOnlyPlanOrder(_Store):
    log = _OnlyPlanOrder


class _StoreUncounting(_Store):
    log = _Uncounting


class _StoreSpendthrift(_Store):
    log = _Spendthrift


class _StoreAddingUp(_Store):
    log = _AddingUp


class _StoreStillUnfinished(_Store):
    log = _StillUnfinished


class _StoreCareless(_Store):
    log = _Careless


class _StoreLastClaimOnly(_Store):
    log = _LastClaimOnly


class _StoreOwnSpending(_Store):
    log = _OwnSpending


class _StoreNeverDone(_Store):
    log = _NeverDone


class _StoreEndless(_Store):
    log = _Endless


class _StoreBuffering(_Store):
    log = _Buffering


class _StoreClutching(_Store):
    def info(self, path: Path) -> RunInfo:
        return super().info(path).model_copy(update={"state": RunState.INTERRUPTED})


class _StoreStale(_Store):
    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        return await super().begin(head, fresh=False)


class _StoreGreedy(_Store):
    def is_owned(self, path: Path) -> bool:
        return False


class _StoreNeverResumes(_Store):
    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        return await super().begin(head, fresh=True)


class _StoreBlocked(_Store):
    def is_owned(self, path: Path) -> bool:
        return path.with_suffix(".owner").exists()


class _StoreOldestFirst(_Store):
    def views(self) -> Iterator[RunView]:
        return reversed(list(super().views()))


class _StoreUnfiltered(_Store):
    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return iter(list(self.views())[: query.limit])


class _StoreWithAll(_Store):
    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return super().scan(query.model_copy(update={"without": frozenset()}))


class _StoreUnsummed(_Store):
    def views(self) -> Iterator[RunView]:
        return (replace(view, summary=Summary.empty()) for view in super().views())


class _StoreOnce(_Store):
    def views(self) -> Iterator[RunView]:
        for view in super().views():
            yield replace(view, source=once(view))


class _Unsigned(_Log):
    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        await super().commit([one.model_copy(update={"signature": ""}) for one in results], paid=paid)


class _StoreUnsigned(_Store):
    log = _Unsigned


class _StoreOfAllPlans(_Store):
    def scan(self, query: RunQuery) -> Iterator[RunView]:
        return super().scan(query.model_copy(update={"plan_id": None}))


class _StoreOfAllSigners(_Store):
    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        return await super().begin(head.model_copy(update={"signer": head.signer and "any"}), fresh=fresh)

    def views(self) -> Iterator[RunView]:
        for view in super().views():
            signer = "a key" if view.head.signer else ""
            yield replace(view, head=view.head.model_copy(update={"signer": signer}))


class _StoreNoting(_Store):
    """Keeps what people say in a file beside the runs."""

    def notes(self) -> Mapping[str, RunNotes]:
        said = {run_id: RunNotes(**value) for run_id, value in self.said().items()}
        return {run_id: notes for run_id, notes in said.items() if notes != RunNotes()}

    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        if run_id not in [path.stem for path in self.paths()]:
            return False
        self.file.write_text(json.dumps({**self.said(), run_id: notes.model_dump(mode="json")}))
        return True

    @property
    def file(self) -> Path:
        return self.folder / "notes.json"

    def said(self) -> dict[str, Any]:
        return json.loads(self.file.read_text()) if self.file.exists() else {}


class _StoreNotingAnything(_StoreNoting):
    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        await super().annotate(run_id, notes)
        return True


class _StoreNotingOnce(_StoreNoting):
    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        return await super().annotate(run_id, self.notes().get(run_id, notes))


class _StoreNotingEmptiness(_StoreNoting):
    def notes(self) -> Mapping[str, RunNotes]:
        return {run_id: RunNotes(**value) for run_id, value in self.said().items()}


class _StoreNotingInMemory(_StoreNoting):
    async def close(self) -> None:
        await super().close()
        self.file.unlink(missing_ok=True)


class _StoreNotingTrials(_Store):
    """Keeps what people say of trials in a file beside the runs."""

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes]:
        said = {int(place): TrialNotes(**value) for place, value in self.said().get(run_id, {}).items()}
        return {place: notes for place, notes in said.items() if notes != TrialNotes()}

    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        if ordinal not in self.places(run_id):
            return False
        own = {**self.said().get(run_id, {}), str(ordinal): notes.model_dump(mode="json")}
        self.file.write_text(json.dumps({**self.said(), run_id: own}))
        return True

    def places(self, run_id: str) -> list[int]:
        views = [view for view in self.views() if view.run.run_id == run_id]
        return [result.ordinal for view in views for result in view.results()]

    @property
    def file(self) -> Path:
        return self.folder / "trial-notes.json"

    def said(self) -> dict[str, Any]:
        return json.loads(self.file.read_text()) if self.file.exists() else {}


class _StoreNotingAnyRun(_StoreNotingTrials):
    def places(self, run_id: str) -> list[int]:
        return [0, 1]


class _StoreNotingAnyTrial(_StoreNotingTrials):
    def places(self, run_id: str) -> list[int]:
        return [0, 1, 2] if super().places(run_id) else []


class _StoreNotingATrialOnce(_StoreNotingTrials):
    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        return await super().annotate_trial(run_id, ordinal, self.trial_notes(run_id).get(ordinal, notes))


class _StoreNotingTrialsOfAll(_StoreNotingTrials):
    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        own = [view.run.run_id for view in self.views()]
        return run_id in own and all([await super().annotate_trial(one, ordinal, notes) for one in own])


class _StoreNotingTrialsInMemory(_StoreNotingTrials):
    async def close(self) -> None:
        await super().close()
        self.file.unlink(missing_ok=True)


class _StoreBudgeting(_Store):
    """Keeps shares of budgets in a file beside the runs."""

    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        kept = self.kept(budget)
        others = [
            OtherShare(BudgetShare(**one), self.is_owned(self.folder / f"{name}.jsonl"))
            for name, one in kept.items()
            if name != run_id
        ]
        standing = standing_of(budget, share, others)
        if standing.fits or not must_fit:
            self.put(budget, {**kept, run_id: share.model_dump(mode="json")})
        return standing

    def kept(self, budget: SharedBudget) -> dict[str, Any]:
        file = self.file(budget)
        return json.loads(file.read_text()) if file.exists() else {}

    def put(self, budget: SharedBudget, shares: dict[str, Any]) -> None:
        self.file(budget).write_text(json.dumps(shares))

    def file(self, budget: SharedBudget) -> Path:
        return self.folder / f"{budget.name.replace('/', '-')}.budget"


class _StoreBudgetingAlone(_StoreBudgeting):
    def kept(self, budget: SharedBudget) -> dict[str, Any]:
        return {}


class _StoreBudgetingAnyway(_StoreBudgeting):
    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        return await super().hold(budget, run_id, share, must_fit=False)


class _StoreBudgetingForAll(_StoreBudgeting):
    def file(self, budget: SharedBudget) -> Path:
        return self.folder / "all.budget"


class _StoreBudgetingStrictly(_StoreBudgeting):
    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        return await super().hold(budget, run_id, share, must_fit=True)


class _StoreBudgetingInMemory(_StoreBudgeting):
    async def close(self) -> None:
        await super().close()
        for file in self.folder.glob("*.budget"):
            file.unlink()


class _StoreBudgetingInTwoSteps(_StoreBudgeting):
    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        before = self.kept(budget)
        standing = await super().hold(budget, run_id, share, must_fit=must_fit)
        after = self.kept(budget)
        self.put(budget, before)
        await asyncio.sleep(0.001)
        self.put(budget, {**self.kept(budget), run_id: after.get(run_id, {})} if run_id in after else before)
        return standing


class _StoreLimiting(_Store):
    """Keeps shares of services, and their pauses, in a file beside the runs."""

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        kept, paused_until = self.kept(service)
        now = time.time()
        paused_until = max(paused_until, now + share.pause_s)
        others = [
            ServiceShare(**one)
            for name, one in kept.items()
            if name != run_id and self.is_owned(self.folder / f"{name}.jsonl")
        ]
        standing = standing_at(service, share, others, paused_until - now)
        earlier = ServiceShare(**kept.get(run_id, {}))
        after = share_after(standing, share, earlier, must_fit=must_fit)
        self.put(service, {**kept, run_id: after.model_dump(mode="json")}, paused_until)
        return standing

    def kept(self, service: SharedService) -> tuple[dict[str, Any], float]:
        file = self.file(service)
        return json.loads(file.read_text()) if file.exists() else ({}, 0.0)

    def put(self, service: SharedService, shares: dict[str, Any], paused_until: float) -> None:
        self.file(service).write_text(json.dumps([shares, paused_until]))

    def file(self, service: SharedService) -> Path:
        return self.folder / f"{service.name}.service"


class _StoreLimitingAlone(_StoreLimiting):
    def put(self, service: SharedService, shares: dict[str, Any], paused_until: float) -> None:
        super().put(service, {}, paused_until)


class _StoreLimitingAnyway(_StoreLimiting):
    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        return await super().occupy(service, run_id, share, must_fit=False)


class _StoreLimitingForgetful(_StoreLimiting):
    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        kept = self.kept(service)
        standing = await super().occupy(service, run_id, share, must_fit=must_fit)
        if not standing.fits and must_fit:
            self.put(service, *kept)
        return standing


class _StoreLimitingAll(_StoreLimiting):
    def file(self, service: SharedService) -> Path:
        return self.folder / "all.service"


class _StoreLimitingForTheDead(_StoreLimiting):
    def is_owned(self, path: Path) -> bool:
        return path.exists()


class _StoreLimitingWithoutPauses(_StoreLimiting):
    def put(self, service: SharedService, shares: dict[str, Any], paused_until: float) -> None:
        super().put(service, shares, 0.0)


class _StoreLimitingByTheLastPause(_StoreLimiting):
    def kept(self, service: SharedService) -> tuple[dict[str, Any], float]:
        shares, paused_until = super().kept(service)
        return shares, min(paused_until, time.time() + 60)


class _StoreLimitingInTwoSteps(_StoreLimiting):
    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        before = self.kept(service)
        standing = await super().occupy(service, run_id, share, must_fit=must_fit)
        after, paused_until = self.kept(service)
        self.put(service, *before)
        await asyncio.sleep(0.001)
        self.put(service, {**self.kept(service)[0], run_id: after[run_id]}, paused_until)
        return standing


class _Parts:
    """Picks parts out of the whole."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self.results, self.cases = whole.results, whole.cases

    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return map(abridged, self.whole.results(order, group))

    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        results = self.whole.results(ResultOrder.CASE)
        return (one for one in results if (one.suite_id, one.case_index) == (suite_id, case_index))

    def of_trial(self, ordinal: int) -> TrialResult | None:
        return next((one for one in self.whole.results(ResultOrder.PLAN) if one.ordinal == ordinal), None)


class _WholeParts(_Parts):
    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return self.whole.results(order, group)


class _PartsOfAllGroups(_Parts):
    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return super().abridged(order)


class _PartsInPlanOrder(_Parts):
    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return super().abridged(ResultOrder.PLAN, group)


class _PartsOfAllSuites(_Parts):
    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        return (one for one in self.whole.results(ResultOrder.CASE) if one.case_index == case_index)


class _PartsOfCasesAbridged(_Parts):
    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        return map(abridged, super().of_case(suite_id, case_index))


class _PartsAtTheNextPlace(_Parts):
    def of_trial(self, ordinal: int) -> TrialResult | None:
        return next((one for one in self.whole.results(ResultOrder.PLAN) if one.ordinal >= ordinal), None)


class _StoreParting(_Store):
    """Gives parts of its runs."""

    parts = _Parts

    def views(self) -> Iterator[RunView]:
        return (replace(view, source=self.parts(view.source)) for view in super().views())


class _StoreOfWholeParts(_StoreParting):
    parts = _WholeParts


class _StoreOfPartsOfAllGroups(_StoreParting):
    parts = _PartsOfAllGroups


class _StoreOfPartsInPlanOrder(_StoreParting):
    parts = _PartsInPlanOrder


class _StoreOfPartsOfAllSuites(_StoreParting):
    parts = _PartsOfAllSuites


class _StoreOfPartsOfCasesAbridged(_StoreParting):
    parts = _PartsOfCasesAbridged


class _StoreOfPartsAtTheNextPlace(_StoreParting):
    parts = _PartsAtTheNextPlace


@pytest.mark.parametrize("sound", ["_StoreBudgeting", "_StoreLimiting", "_StoreParting"])
def test_a_store_that_does_more_passes(tmp_path: Path, sound: str) -> None:
    """So does one that also keeps what runs spend together or have under way at once, or gives parts of them."""
    try_store(sound, tmp_path)


@pytest.mark.parametrize("sound", ["_StoreNoting", "_StoreNotingTrials"])
def test_a_store_that_keeps_notes_passes(tmp_path: Path, sound: str) -> None:
    """A sound store that also keeps what people say of runs, or of trials, passes."""
    try_store(sound, tmp_path)


class _StoreRaising(_Store):
    async def begin(self, head: PlanHead, *, fresh: bool) -> _Log:
        raise PermissionError("read only")


@pytest.mark.slow
@table(
    ("raises", "Store.begin must not raise, but raised PermissionError", "_StoreRaising"),
    ("forgetful", "must give what was committed: ordinals", "_StoreForgetful"),
    ("shortening", "must give what was committed, unchanged", "_StoreShortening"),
    ("appending", "one result per trial", "_StoreAppending"),
    ("first wins", "one result per trial, the one committed last", "_StoreFirstWins"),
    ("as committed", "results in plan order, by ordinal", "_StoreAsCommitted"),
    ("only plan order", "in case order must be by suite, case", "_StoreOnlyPlanOrder"),
    ("no groups", "must give those of one group, in plan order", "_StoreNoGroups"),
    ("a case again", "must give each case once", "_StoreCaseAgain"),
    ("uncounting", "must count every claim", "_StoreUncounting"),
    ("spendthrift", "must give what was spent on trials without a result", "_StoreSpendthrift"),
    ("adding up", "must give what was spent on trials without a result", "_StoreAddingUp"),
    ("still unfinished", "must give what was spent on trials without a result", "_StoreStillUnfinished"),
    ("careless", "must give what earlier claims have used", "_StoreCareless"),
    ("last claim only", "in the order of their claims", "_StoreLastClaimOnly"),
    ("own spending", "must keep what was spent on trials without a result", "_StoreOwnSpending"),
    ("never done", "must name the committed trial as done", "_StoreNeverDone"),
    ("endless", "must return the run as finished, with its end", "_StoreEndless"),
    ("clutching", "after the plan's run has finished must begin a new run", "_StoreClutching"),
    ("stale", "with fresh must begin a new run", "_StoreStale"),
    ("greedy", "must not hand out a run that somebody else is working on", "_StoreGreedy"),
    ("never resumes", "must resume the unfinished run whose store was closed", "_StoreNeverResumes"),
    ("blocked", "must resume the unfinished run whose process was killed", "_StoreBlocked"),
    ("buffering", "whose process was killed must keep what was committed", "_StoreBuffering"),
    ("oldest first", "must give every run, newest first", "_StoreOldestFirst"),
    ("unfiltered", r"Store.scan of RunQuery\(run_ids", "_StoreUnfiltered"),
    ("with all", r"Store.scan of RunQuery\(.*without=frozenset", "_StoreWithAll"),
    ("unsummed", "must give the summary as it was finished", "_StoreUnsummed"),
    ("by repeat", "in case order must be by suite, case", "_StoreByRepeat"),
    ("impatient", "of new trials must count one attempt each", "_StoreImpatient"),
    ("unclaiming", "must keep the claims of trials without a result", "_StoreUnclaiming"),
    ("unsigned", "must give signed values to the letter", "_StoreUnsigned"),
    ("of all plans", "must heed RunQuery.plan_id", "_StoreOfAllPlans"),
    ("noting anything", "must be false of a run that is not there", "_StoreNotingAnything"),
    ("noting once", "NotedStore.notes must give", "_StoreNotingOnce"),
    ("noting emptiness", "NotedStore.notes must give", "_StoreNotingEmptiness"),
    ("noting in memory", "NotedStore.notes must give", "_StoreNotingInMemory"),
    ("noting any run", "annotate_trial must be false of a run that is not there", "_StoreNotingAnyRun"),
    ("noting any trial", "annotate_trial must be false of a trial that is not there", "_StoreNotingAnyTrial"),
    ("noting a trial once", "TrialNotedStore.trial_notes must give", "_StoreNotingATrialOnce"),
    ("noting trials of all", "TrialNotedStore", "_StoreNotingTrialsOfAll"),
    ("noting trials in memory", "TrialNotedStore.trial_notes must give", "_StoreNotingTrialsInMemory"),
    ("budgets of one run", "hold must refuse a trial beside one of unknown cost", "_StoreBudgetingAlone"),
    ("budgets anyway", "must give room to the share that a run has", "_StoreBudgetingAnyway"),
    ("one budget for all", "must give room to trials of another budget", "_StoreBudgetingForAll"),
    ("only what fits", "must answer BudgetStanding.* when opened again", "_StoreBudgetingStrictly"),
    ("budgets in memory", "must answer BudgetStanding.* when opened again", "_StoreBudgetingInMemory"),
    ("in two steps", "of 8 runs at once, 4 must get a share", "_StoreBudgetingInTwoSteps"),
    ("sessions of one run", "occupy must refuse a fourth session of three", "_StoreLimitingAlone"),
    ("sessions anyway", "must give room to a session where one was given back", "_StoreLimitingAnyway"),
    ("who waits is forgotten", "must refuse a session that would leave none", "_StoreLimitingForgetful"),
    ("one limit for all", "must give room to sessions at another service", "_StoreLimitingAll"),
    ("sessions of the dead", "must give room to sessions where nobody works", "_StoreLimitingForTheDead"),
    ("no pauses", "must refuse a session at a service that has asked another", "_StoreLimitingWithoutPauses"),
    ("the last pause", "must tell the rest of the longest pause", "_StoreLimitingByTheLastPause"),
    ("sessions in two steps", "of 8 runs at once, 4 must get a session", "_StoreLimitingInTwoSteps"),
    ("whole parts", "Parted.abridged.*'plan', 'no group'.* must give", "_StoreOfWholeParts"),
    ("parts of all groups", "Parted.abridged.*'plan', 'with'.* must give", "_StoreOfPartsOfAllGroups"),
    ("parts in plan order", "Parted.abridged.*'case', 'no group'.* must give", "_StoreOfPartsInPlanOrder"),
    ("parts of all suites", "of a suite that the run does not have must give", "_StoreOfPartsOfAllSuites"),
    ("abridged cases", "Parted.of_case.*1.* must give", "_StoreOfPartsOfCasesAbridged"),
    ("the next trial", "Parted.of_trial.*-1.* must give None", "_StoreOfPartsAtTheNextPlace"),
    ("of all signers", "must not resume the unfinished run of another signer", "_StoreOfAllSigners"),
    ("leaking", "a new run must not hold results of an earlier one", "_StoreLeaking"),
    ("running only", "must resume a run that was interrupted", "_StoreRunningOnly"),
    ("headless", "must give the plan's head as it was begun", "_StoreHeadless"),
    ("always resumed", "at an empty place must begin a new run", "_StoreAlwaysResumed"),
    ("once", "the results of a scanned run, as often as asked", "_StoreOnce"),
)
def test_store_fails(tmp_path: Path, sentence: str, broken: str) -> None:
    """Each way of being a bad store gets its sentence."""
    with breaks(sentence):
        try_store(broken, tmp_path)


def test_store_that_cannot_be_sent_fails(tmp_path: Path) -> None:
    """Surviving a killed process cannot be checked without one, and is not passed over in silence."""
    numbers = count()
    with breaks("must be able to pickle `make`"):
        check_store(lambda options: _Store(options), lambda: str(tmp_path / str(next(numbers))))


# --- the kit itself ---------------------------------------------------------------------------------------


def test_kit_needs_no_test_framework() -> None:
    """Authors may use another framework than ours, or none."""
    code = "import sys, skillgauge_testkit; print([name for name in ('pytest', 'hypothesis') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_kit_leaves_the_environment_alone() -> None:
    """The canary is gone after a check, a failed one too."""
    with suppress(AssertionError):
        try_adapter(with_session(call=_raises))
    assert CANARY not in os.environ


def test_every_check_is_exported_and_explained() -> None:
    """Each public name of the kit has a docstring, and each check shows an example."""
    import skillgauge_testkit as kit  # noqa: PLC0415 - as a whole only here

    for name in kit.__all__:
        thing = getattr(kit, name)
        if name.startswith("check_"):
            assert "Example::" in thing.__doc__, name
            assert "AssertionError: " in thing.__doc__, name
        elif not name.isupper():
            assert thing.__doc__, name
