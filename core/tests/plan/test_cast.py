"""All that takes part in a run: every question of `plan/checks` is asked, in order, of what was asked for and found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from skillgauge.contract.engines import Engine
from skillgauge.contract.judges import Judge, JudgeReply, JudgeRequest
from skillgauge.contract.providers import Fact, Provider, Traits, hookimpl
from skillgauge.contract.sandboxes import Finished, ImagePlan, Sandbox, SandboxReport, SandboxSpec, Tier
from skillgauge.contract.scorers import ScoreContext, Scorer
from skillgauge.errors import PluginError, Problem, Severity
from skillgauge.plan.cast import Cast, find_cast
from skillgauge.plan.options import EvalOptions, How, Who
from skillgauge.plan.suites import Suites
from skillgauge.plan.survey import survey
from skillgauge.plugins.registry import Registry
from skillgauge.run.budget import BudgetLimits
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.inputs import FileSpec, HostVariable
from skillgauge.types.plan import Selection
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, SimulatedUser, Suite, Target
from skillgauge.types.trial import Execution, Identity
from skillgauge_testkit import FakeEngine, FakeSandbox
from skillgauge_testkit.registries import registry_of

AGENT = Arm(name="alone", kind=ArmKind.AGENT)
ALL_FACTS = frozenset({Fact.USAGE, Fact.COST})
PLAIN, ASKING = Check(id="k", scorer="plain"), Check(id="j", scorer="asking")
IMAGE = (FileSpec(path="Dockerfile", text="FROM scratch"),)
NOTICE = Problem("sandbox.notice", "it leaks", severity=Severity.WARNING)
PATIENCE_S = 10.0


class Agent(FakeEngine):
    """An engine with a name; `keyless` does not work here."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda _request, _workspace, _emit: Execution(), name=name)

    async def check(self) -> tuple[Problem, ...]:
        """Return what is missing."""
        return (Problem("engine.key", "no key"),) if self._name == "keyless" else ()


class Grader:
    """A scorer."""

    version = "1"

    async def score(self, _context: ScoreContext) -> Score:
        """Pass everything."""
        return Score.passed()


class Expert:
    """A judge with a name; `mute` does not work here."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def check(self) -> tuple[Problem, ...]:
        """Return what is missing."""
        return (Problem("judge.key", "no key"),) if self._name == "mute" else ()

    def identity(self, model: str | None) -> Identity:
        """Return name and model."""
        return Identity(name=self._name, model=model)

    async def ask(self, _request: JudgeRequest) -> JudgeReply:
        """Answer nothing."""
        return JudgeReply(text="")


class Box(FakeSandbox):
    """A sandbox with a report, in which no process ends well."""

    def __init__(self, report: SandboxReport) -> None:
        super().__init__(lambda _command, _workspace: Finished(1, None, b"", b"no libc", 0.1))
        self._report = report

    async def check(self) -> SandboxReport:
        """Return the report."""
        return self._report


class ImageBox(Box):
    """A sandbox that says what it would build."""

    async def image(self, spec: SandboxSpec) -> ImagePlan:
        """Return the image; that of case `bad` is refused."""
        problems = (Problem("image.refused", "no such base"),) if spec.label == "bad" else ()
        return ImagePlan(f"image-{spec.label}", "Dockerfile", is_there=False, problems=problems)


ENGINES = {
    "agent": Traits(paid=True, tells=ALL_FACTS),
    "keyless": Traits(),
    "silent": Traits(paid=True),
    "remote": Traits(remote=True),
    "started": Traits(program=("agent", "--version")),
}
JUDGES = {"dear": Traits(paid=True, tells=ALL_FACTS), "free": Traits(), "silent": Traits(paid=True), "mute": Traits()}
BOXES: dict[str, Box] = {
    "strong": Box(SandboxReport(Tier.STRICT)),
    "weak": Box(SandboxReport(Tier.PARTIAL, (NOTICE,))),
    "far": Box(SandboxReport(Tier.STRICT, is_remote=True)),
    "images": ImageBox(SandboxReport(Tier.STRICT, runs_images=True)),
    "broken": Box(SandboxReport(Tier.STRICT, (Problem("sandbox.broken", "no daemon"),))),
    "reticent": Box(SandboxReport(Tier.STRICT, runs_images=True)),
}


def registry() -> Registry:
    """Return a registry of all of them; only the sandbox `strong` is taken without its name."""
    module = ModuleType("cast_of_a_test")

    @hookimpl
    def skillgauge_engines() -> Iterator[Provider[Engine]]:
        for name, traits in ENGINES.items():
            yield Provider(name, lambda name=name: Agent(name), "", traits=traits)

    @hookimpl
    def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
        yield Provider("plain", Grader, "")
        yield Provider("asking", Grader, "", traits=Traits(asks_judge=True))

    @hookimpl
    def skillgauge_judges() -> Iterator[Provider[Judge]]:
        for name, traits in JUDGES.items():
            yield Provider(name, lambda name=name: Expert(name), "", traits=traits)

    @hookimpl
    def skillgauge_sandboxes() -> Iterator[Provider[Sandbox]]:
        for name, box in BOXES.items():
            yield Provider(name, lambda box=box: box, "", traits=Traits(only_by_name=name != "strong"))

    hooks = (skillgauge_engines, skillgauge_scorers, skillgauge_judges, skillgauge_sandboxes)
    vars(module).update({hook.__name__: hook for hook in hooks})
    return registry_of(module)


def cast_of(*, who: dict[str, Any] | None = None, how: dict[str, Any] | None = None, **case_and_target: Any) -> Cast:
    """Return the cast of a suite with one case and one target, carried out by the engine `agent`."""
    target = Target(id="t", pass_env=case_and_target.pop("target_env", ()))
    case = Case.model_validate({"id": "c", "checks": (PLAIN,)} | case_and_target)
    suite = Suite(id="s", format="f", root="/s", targets=(target,), arms=(AGENT,), cases=(case,))
    options = EvalOptions(Path("/"), who=Who(**({"engines": ("agent",)} | (who or {}))), how=How(**(how or {})))
    surveys = [survey(suite, Selection())]
    return asyncio.run(find_cast(options, Suites({}, (suite,), ()), surveys, registry()))


def codes(cast: Cast) -> list[str]:
    """Return the code of each problem, with a mark at those that are warnings."""
    return [
        problem.code if problem.severity is Severity.ERROR else f"{problem.code} (warning)" for problem in cast.problems
    ]


VARIABLE = HostVariable(name="ABSENT", host="SKILLGAUGE_TEST_ABSENT")
USER = SimulatedUser(check=Check(id="u", scorer="gone"))
TOKENS, DOLLARS = BudgetLimits(tokens=1), BudgetLimits(cost_usd=1)
UNTRUSTED, DRY = {"untrusted": True}, {"dry_run": True}
ONLY_SUITES = {"dry_run": True, "only_suites": True}
Row = tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]
ROWS: dict[str, Row] = {
    "nothing": ({}, {}, {}, []),
    "bare time limit": ({}, {"timeout_s": 0.3, "timeout_is_bare": True}, {}, ["usage.timeout"]),
    "bare time limit of no agent": ({"executes": False}, {"timeout_s": 0.3, "timeout_is_bare": True}, {}, []),
    "variable of a target": ({}, {}, {"target_env": ("X",)}, []),
    "withheld of a target": ({}, UNTRUSTED, {"target_env": ("X",)}, ["sandbox.pass-env"]),
    "unset variable": ({}, {}, {"pass_env": (VARIABLE,)}, ["suite.variable"]),
    "unset variable, dry run": ({}, DRY, {"pass_env": (VARIABLE,)}, ["suite.variable (warning)"]),
    "withheld of a case": ({}, UNTRUSTED, {"pass_env": (VARIABLE,)}, ["sandbox.pass-env", "suite.variable"]),
    "nothing asserted": ({}, {}, {"checks": ()}, ["suite.no-check"]),
    "scorers absent": (
        {},
        {},
        {"checks": (Check(id="a", scorer="gone"), Check(id="b", scorer="gone", options={"x": 1}))},
        ["plugin.not-installed"],
    ),
    "user who cannot be asked": ({}, {}, {"user": USER}, ["plugin.not-installed", "engine.no-conversations"]),
    "user whom nobody asks": ({"executes": False}, {}, {"user": USER}, []),
    "no judge is named": ({"judges": ("gone",)}, {}, {"checks": (ASKING,)}, ["plugin.not-installed"]),
    "judge that nothing needs": ({"judges": ("mute",)}, {}, {}, []),
    "judge that the user requires": ({"judges": ("mute",), "judge_required": True}, {}, {}, ["judge.key"]),
    "even panel, dry run": ({"judges": ("dear", "free")}, DRY, {"checks": (ASKING,)}, ["usage.judges"]),
    "engine without a key": ({"engines": ("keyless",)}, {}, {}, ["engine.key"]),
    "engine without a key, dry run": ({"engines": ("keyless",)}, DRY, {}, ["engine.key (warning)"]),
    "cost not reported": ({"engines": ("silent",)}, {"budget": DOLLARS}, {}, ["usage.budget"]),
    "tokens not reported": ({"engines": ("silent",)}, {"budget": TOKENS}, {}, ["usage.budget"]),
    "cost of a judge": ({"judges": ("silent",)}, {"budget": DOLLARS}, {"checks": (ASKING,)}, ["usage.budget"]),
    "tokens of a free judge": ({"judges": ("free",)}, {"budget": TOKENS}, {"checks": (ASKING,)}, []),
    "sandbox with a notice": ({"sandbox": "weak"}, {}, {}, ["sandbox.notice (warning)"]),
    "sandbox too weak": ({"sandbox": "weak"}, UNTRUSTED, {}, ["sandbox.too-weak"]),
    "sandbox strict": ({"sandbox": "strong"}, UNTRUSTED, {}, []),
    "sandbox elsewhere": ({"sandbox": "far"}, {}, {}, ["sandbox.remote"]),
    "sandbox elsewhere, dry run": ({"sandbox": "far"}, DRY, {}, ["sandbox.remote (warning)"]),
    "engine elsewhere": ({"sandbox": "far", "engines": ("remote",)}, {}, {}, []),
    "no images": ({}, {}, {"image_files": IMAGE}, ["sandbox.image"]),
    "no images, nothing runs": ({"executes": False}, {}, {"image_files": IMAGE}, []),
    "image": ({"sandbox": "images"}, {}, {"image_files": IMAGE}, []),
    "image refused": ({"sandbox": "images"}, {}, {"image_files": IMAGE, "id": "bad"}, ["image.refused"]),
    "image unknown": ({"sandbox": "reticent"}, {}, {"image_files": IMAGE}, []),
    "image unknown, untrusted": (
        {"sandbox": "reticent"},
        UNTRUSTED,
        {"image_files": IMAGE},
        ["sandbox.untrusted-image"],
    ),
    "program in image": (
        {"sandbox": "images", "engines": ("started",)},
        {},
        {"image_files": IMAGE},
        ["engine.not-in-image"],
    ),
    "program not tried in a dry run": (
        {"sandbox": "images", "engines": ("started",)},
        DRY,
        {"image_files": IMAGE},
        [],
    ),
    "program not tried in a refused image": (
        {"sandbox": "images", "engines": ("started",)},
        {},
        {"image_files": IMAGE, "id": "bad"},
        ["image.refused"],
    ),
    "program not tried after an error": (
        {"sandbox": "images", "engines": ("started",)},
        {},
        {"image_files": IMAGE, "checks": ()},
        ["suite.no-check"],
    ),
    "no store": ({"store": "/runs.db"}, {}, {}, ["store.none (warning)"]),
    "no store in the place chosen": ({"store": "/runs.db", "store_given": True}, {}, {}, ["plugin.not-installed"]),
    "no store where none is needed": (
        {"store": "/runs.db", "store_given": True},
        ONLY_SUITES,
        {},
        ["plugin.not-installed (warning)"],
    ),
    "executor absent": ({"executor": "gone"}, {}, {}, ["plugin.not-installed"]),
    "sandbox absent": ({"sandbox": "gone"}, {}, {}, ["plugin.not-installed"]),
    "sandbox absent, dry run": ({"sandbox": "gone"}, DRY, {}, ["plugin.not-installed"]),
    "sandbox absent where none is needed": ({"sandbox": "gone"}, ONLY_SUITES, {}, ["plugin.not-installed (warning)"]),
    "sandbox broken": ({"sandbox": "broken"}, {}, {}, ["sandbox.broken"]),
    "sandbox broken, dry run": ({"sandbox": "broken"}, DRY, {}, ["sandbox.broken"]),
    "sandbox broken where none is needed": ({"sandbox": "broken"}, ONLY_SUITES, {}, ["sandbox.broken (warning)"]),
    "sandbox broken where only an image needs it": (
        {"sandbox": "broken"},
        ONLY_SUITES | {"tries_sandbox": False},
        {"image_files": IMAGE},
        ["sandbox.broken (warning)"],
    ),
    "all at once, in order": (
        {"engines": ("keyless",), "judges": ("mute",), "sandbox": "weak", "store": "/runs.db", "executor": "gone"},
        {"timeout_s": 0.3, "timeout_is_bare": True, "untrusted": True, "budget": TOKENS},
        {"target_env": ("X",), "pass_env": (VARIABLE,), "checks": (ASKING, Check(id="a", scorer="gone"))},
        [
            "usage.timeout",
            "sandbox.pass-env",
            "sandbox.pass-env",
            "plugin.not-installed",
            "suite.variable",
            "engine.key",
            "judge.key",
            "usage.budget",
            "sandbox.too-weak",
            "store.none (warning)",
            "plugin.not-installed",
        ],
    ),
    "all of a sandbox at once": (
        {"sandbox": "far"},
        {},
        {"image_files": IMAGE},
        ["sandbox.remote", "sandbox.image"],
    ),
}


@pytest.mark.parametrize(("who", "how", "case", "expected"), ROWS.values(), ids=ROWS)
def test_every_question_is_asked(
    who: dict[str, Any], how: dict[str, Any], case: dict[str, Any], expected: list[str]
) -> None:
    """What was asked for and what was found decide which problems there are, and in which order they are reported."""
    assert codes(cast_of(who=who, how=how, **case)) == expected


@pytest.mark.parametrize(
    ("judges", "checks", "paid"),
    [
        (("dear",), (ASKING, PLAIN), {"asking"}),
        (("free",), (ASKING, PLAIN), set()),
        (("free", "dear", "silent"), (ASKING,), {"asking"}),
        (("dear",), (PLAIN,), set()),
    ],
    ids=["paid", "free", "panel", "no check asks"],
)
def test_a_check_costs_money_if_a_paid_judge_decides_it(
    judges: tuple[str, ...], checks: tuple[Check, ...], paid: set[str]
) -> None:
    """Those checks are counted by the budget, other checks never."""
    cast = cast_of(who={"judges": judges}, checks=checks)
    assert codes(cast) == []
    assert cast.paid_scorers == paid


def test_the_cast_has_what_was_found() -> None:
    """The strongest sandbox, what it would build, what spends money, and which variables are handed on."""
    cast = cast_of(who={"judges": ("dear",), "sandbox": "images"}, checks=(ASKING,), image_files=IMAGE)
    assert cast.sandbox is not None
    assert (cast.sandbox.name, [image.plan.name for image in cast.images]) == ("images", ["image-c"])
    assert dict(cast.spenders) == {"engine 'agent'": ENGINES["agent"], "judge 'dear'": JUDGES["dear"]}
    assert (cast.executor, cast.passed, cast.store is not None) == (None, frozenset(), True)
    assert [(cell.arm.name, cell.runner.name) for plan in cast.suites for cell in plan.cells] == [("alone", "agent")]


def test_a_weak_sandbox_is_no_part_of_the_cast_of_what_is_not_trusted() -> None:
    """Without the strict one nothing can run."""
    assert cast_of(who={"sandbox": "weak"}, how=UNTRUSTED).sandbox is None


@pytest.mark.parametrize(
    ("who", "how", "case", "found"),
    [
        ({}, {}, {}, None),
        ({"sandbox": "weak"}, {}, {}, None),
        ({}, UNTRUSTED, {}, None),
        ({}, {}, {"image_files": IMAGE}, "strong"),
        ({"executes": False}, {}, {"image_files": IMAGE}, None),
    ],
    ids=["not asked for", "named", "must be strict", "runs images", "runs nothing"],
)
def test_a_sandbox_is_tried_for_those_who_ask_about_it(
    who: dict[str, Any], how: dict[str, Any], case: dict[str, Any], found: str | None
) -> None:
    """To try one starts a process, which is of no use to somebody who only wants to know whether a suite is right."""
    cast = cast_of(who=who, how=DRY | how | {"tries_sandbox": False}, **case)
    assert (cast.sandbox.name if cast.sandbox else None) == found


def test_variables_of_cases_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is set is no problem, and its value will be kept out of results."""
    monkeypatch.setenv(VARIABLE.host, "value")
    cast = cast_of(pass_env=(VARIABLE,))
    assert (codes(cast), cast.passed) == ([], {VARIABLE.host})


def test_everybody_is_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines and judges start programs to check them, and none waits for another; what is found stays in order."""
    begun, all_have = list[str](), asyncio.Event()

    async def check(self: Any) -> tuple[Problem, ...]:
        begun.append(self._name)
        if len(begun) == 3:
            all_have.set()
        async with asyncio.timeout(PATIENCE_S):
            await all_have.wait()
        return (Problem("check", self._name),)

    for kind in (Agent, Expert):
        monkeypatch.setattr(kind, "check", check)
    cast = cast_of(who={"engines": ("agent", "silent"), "judges": ("dear",)}, checks=(ASKING,))
    assert [problem.message for problem in cast.problems] == ["agent", "silent", "dear"]


def test_the_store_is_found_while_the_sandbox_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox is tried with a process, beside which what keeps the run is imported; its problems come first."""
    found = asyncio.Event()

    async def check(_self: Box) -> SandboxReport:
        async with asyncio.timeout(PATIENCE_S):
            await found.wait()
        return SandboxReport(Tier.STRICT, (NOTICE,))

    def choose_store(_location: str | None, _registry: Registry, *, is_explicit: bool) -> None:
        found.set()
        raise PluginError(Problem("store.absent", f"asked for: {is_explicit}"))

    monkeypatch.setattr(Box, "check", check)
    monkeypatch.setattr("skillgauge.plan.cast.choose_store", choose_store)
    assert codes(cast_of()) == ["sandbox.notice (warning)", "store.absent"]
