"""Which engines and adapters carry a suite out: defaults, matrices, arms, and what cannot be done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import Provider, hookimpl
from skillgauge.contract.engines import Engine
from skillgauge.contract.providers import Fact, Traits
from skillgauge.contract.redirects import Redirect
from skillgauge.errors import Origin, Problem, Severity, UsageError
from skillgauge.plan.adapters import Adapters
from skillgauge.plan.cells import CellMaker
from skillgauge.plan.engines import Engines
from skillgauge.plan.options import EvalOptions, How, What, Who
from skillgauge.plugins.registry import Registry
from skillgauge.types.arms import DIRECT, Arm, ArmKind, Comparison, Install, SkillRef
from skillgauge.types.plan import Cell, Selection
from skillgauge.types.suite import Case, Limits, Suite, SuiteDefaults, Target
from skillgauge.types.trial import Execution, Identity
from skillgauge_documents.frozen import Frozen, JsonObject
from skillgauge_testkit import FakeAdapter, FakeEngine, registries

SKILL = SkillRef(name="pdf", root="/skills/pdf", digest="d")
WITH = Arm(name="with_skill", kind=ArmKind.AGENT, skills=(SKILL,))
WITHOUT = Arm(name="without_skill", kind=ArmKind.AGENT)
FOLDER = Traits(skill_folder=".agents/skills")


class Agent(FakeEngine):
    """An engine with a name and perhaps a model of its own."""

    def __init__(self, name: str, model: str | None = None) -> None:
        super().__init__(lambda _request, _workspace, _emit: Execution(), name=name)
        self._model = model

    def identity(self, model: str | None) -> Identity:
        """With the model that its sessions ask for."""
        return Identity(name=self._name, version="1", model=model or self._model)

    async def check(self) -> tuple[Problem, ...]:
        """Something, so that one sees who was asked."""
        return (Problem("agent.check", f"{self._name} was asked"),)


class Options(Frozen):
    """Options that decide the traits."""

    folder: str | None = None
    key: str = "KEY"
    fails: bool = False


def traits_of(options: Options) -> Traits:
    """What they decide."""
    if options.fails:
        raise RuntimeError("no traits today")
    return Traits(skill_folder=options.folder, secrets=(options.key,), paid=True, tells=frozenset({Fact.USAGE}))


def registry_of(
    *, options: dict[str, JsonObject] | None = None, models: dict[str, str] | None = None, **engines: Traits | None
) -> Registry:
    """A registry of engines; one without traits makes them from its options."""
    module = ModuleType("agents_of_a_test")

    def provider(name: str, traits: Traits | None) -> Provider[Engine]:
        make = lambda *_options: Agent(name, (models or {}).get(name))  # noqa: E731 - a def would say no more
        if traits is None:
            return Provider(name, make, "An agent.", options=Options, traits_with=traits_of)
        return Provider(name, make, "An agent.", traits=traits)

    @hookimpl
    def skillgauge_engines() -> Iterator[Provider[Engine]]:
        yield from (provider(name, traits) for name, traits in engines.items())

    @hookimpl
    def skillgauge_adapters() -> Iterable[Provider[FakeAdapter]]:
        yield Provider("fake", FakeAdapter, "An adapter.")

    vars(module).update(skillgauge_engines=skillgauge_engines, skillgauge_adapters=skillgauge_adapters)
    return registries.registry_of(module, options=options)


def suite(**fields: Any) -> Suite:
    """A suite that compares a skill with no skill."""
    known: dict[str, Any] = {
        "id": "s",
        "format": "f",
        "root": "/s",
        "targets": (Target(id="pdf"),),
        "arms": (WITH, WITHOUT),
        "comparisons": (Comparison(candidate="with_skill", baseline="without_skill"),),
    }
    return Suite.model_validate(known | fields)


Planned = tuple[Engines, tuple[Cell, ...], list[Problem]]


def plan(registry: Registry, one: Suite | None = None, **choice: Any) -> Planned:
    """The cells of a suite, and every problem."""
    problems: list[Problem] = []
    engines = Engines(registry)
    how = {name: choice.pop(name) for name in ("baseline", "direct_timeout_s") if name in choice}
    what = What(selection=Selection(targets=choice.pop("targets", ()), cases=choice.pop("cases", ())))
    options = EvalOptions(Path("/"), what, Who(**choice), How(**how))
    maker = CellMaker(Adapters(registry), engines, options, problems)
    cells = maker.plan(one or suite(), problems).cells
    return engines, cells, problems


NONE = ["with_skill no engine None", "without_skill no engine None"]
"""What stands in a plan for an engine that is missing."""


def shown(cells: Iterable[Cell]) -> list[str]:
    """Arm, engine and model of each cell."""
    return [f"{cell.arm.name} {cell.runner.name} {cell.model}" for cell in cells]


def test_the_only_engine_is_taken() -> None:
    """One that must be named does not count, neither as the one nor as a second."""
    _, cells, problems = plan(registry_of(claude=FOLDER, mock=Traits(only_by_name=True, skill_folder="s")))
    assert shown(cells) == ["with_skill claude None", "without_skill claude None"]
    assert not problems
    _, cells, (problem,) = plan(registry_of(mock=Traits(only_by_name=True, skill_folder="s")))
    assert shown(cells) == NONE
    assert (problem.code, problem.message) == ("engine.none", "suite 's' needs an agent engine, and none is installed")
    assert "pip install" in str(problem)


def test_of_several_engines_one_must_be_named() -> None:
    """They are listed."""
    _, cells, (problem,) = plan(registry_of(claude=FOLDER, codex=FOLDER))
    assert shown(cells) == NONE
    assert "several are installed: claude, codex" in problem.message
    assert "--engine" in str(problem)


def test_the_user_goes_before_the_suite_and_the_suite_before_what_is_installed() -> None:
    """For engines and for models."""
    registry = registry_of(claude=FOLDER, codex=FOLDER)
    one = suite(defaults=SuiteDefaults(engine="codex", model="m0"))
    assert shown(plan(registry, one)[1])[0] == "with_skill codex m0"
    assert shown(plan(registry, one, engines=("claude",))[1])[0] == "with_skill claude m0"
    assert shown(plan(registry, one, models=("m1",))[1])[0] == "with_skill codex m1"


@pytest.mark.requirement("BF-RUN-007")
@pytest.mark.requirement("SE-RUN-003")
def test_the_model_picks_the_engine() -> None:
    """Of several engines, the one that claims the id; each of several models picks its own."""
    one, other = (FOLDER.model_copy(update={"model_patterns": (pattern,)}) for pattern in ("claude*", "gpt-*"))
    hidden = FOLDER.model_copy(update={"model_patterns": ("*",), "only_by_name": True})
    registry = registry_of(claude=one, codex=other, mock=hidden)
    _, cells, problems = plan(registry, models=("gpt-5", "claude-4"))
    assert not problems
    assert list(dict.fromkeys((cell.runner.name, cell.model) for cell in cells)) == [
        ("codex", "gpt-5"),
        ("claude", "claude-4"),
    ]
    _, cells, (problem,) = plan(registry, models=("llama",))
    assert shown(cells) == NONE
    assert "none that is installed serves 'llama'" in problem.message
    assert problem.hint
    assert problem.hint.startswith("Name one with --engine NAME")
    _, _, (problem,) = plan(registry_of(claude=one, api=one), models=("claude-4",))
    assert problem.message.endswith("several serve 'claude-4': api, claude")
    assert problem.hint == "Choose one: --engine api or --engine claude; `plugins doctor` says which work here."
    _, cells, problems = plan(registry_of(api=one, mock=hidden), models=("llama",))
    assert {cell.runner.name for cell in cells} == {"api"}


def combinations(cells: Iterable[Cell]) -> list[tuple[str, str | None]]:
    """Engines with models, each once, in the order of the plan."""
    return list(dict.fromkeys((cell.runner.name, cell.model) for cell in cells))


def test_engines_and_models_make_a_matrix() -> None:
    """Every engine runs with every model; the arms of one combination lie together."""
    registry = registry_of(claude=FOLDER, codex=FOLDER)
    engines = ("codex", "claude")
    assert shown(plan(registry, engines=engines, models=("m1",))[1]) == [
        "with_skill codex m1",
        "without_skill codex m1",
        "with_skill claude m1",
        "without_skill claude m1",
    ]
    _, cells, problems = plan(registry, engines=engines, models=("m1", "m2", "m3"))
    assert combinations(cells) == [(engine, model) for engine in engines for model in ("m1", "m2", "m3")]
    assert not problems
    assert {cell.model for cell in plan(registry, engines=engines)[1]} == {None}


def vendors(**further: Traits) -> Registry:
    """Engines of two vendors, and one that takes any model."""
    claude, codex = (FOLDER.model_copy(update={"model_patterns": (pattern,)}) for pattern in ("claude*", "gpt-*"))
    return registry_of(claude=claude, codex=codex, any=FOLDER, **further)


def test_a_model_of_another_vendor_is_left_out_by_name() -> None:
    """The product holds what fits; the rest is one warning, which tells how to run it all the same."""
    models = ("claude-4", "gpt-5", "own")
    engines = ("claude", "codex", "any")
    _, cells, (problem,) = plan(vendors(), engines=engines, models=models)
    assert combinations(cells) == [
        ("claude", "claude-4"),
        ("claude", "own"),
        ("codex", "gpt-5"),
        ("codex", "own"),
        ("any", "claude-4"),
        ("any", "gpt-5"),
        ("any", "own"),
    ]
    assert (problem.code, problem.severity) == ("engine.left-out", Severity.WARNING)
    assert problem.message.startswith("left out of the combinations, as the engine does not serve the model")
    assert problem.message.endswith(": claude/gpt-5, codex/claude-4")
    assert problem.hint == "To run one all the same, name the pair: --engine claude/gpt-5"


def test_an_address_of_the_user_serves_any_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind it there may be a gateway to all vendors."""
    redirect = Redirect(variable="GATEWAY_URL")
    gateway = FOLDER.model_copy(update={"model_patterns": ("claude*",), "redirects": (redirect,)})
    engines, models = ("codex", "gateway"), ("gpt-5",)
    with pytest.raises(UsageError, match="engine 'gateway' serves none of gpt-5"):
        plan(vendors(gateway=gateway), engines=engines, models=models)
    monkeypatch.setenv("GATEWAY_URL", "http://127.0.0.1:1")
    _, cells, problems = plan(vendors(gateway=gateway), engines=engines, models=models)
    assert combinations(cells) == [("codex", "gpt-5"), ("gateway", "gpt-5")]
    assert not problems


def test_pairs_are_exceptions_from_the_product() -> None:
    """A pair runs as it is named, whatever its vendor; models are for the engines without one of their own."""
    engines = ("claude/gpt-5", "any", "codex/openai/gpt-5", "any/own")
    _, cells, problems = plan(vendors(), engines=engines, models=("claude-4", "gpt-5"))
    assert combinations(cells) == [
        ("claude", "gpt-5"),
        ("any", "claude-4"),
        ("any", "gpt-5"),
        ("codex", "openai/gpt-5"),
        ("any", "own"),
    ]
    assert not problems
    assert combinations(plan(vendors(), engines=("claude/gpt-5",), models=("configured",))[1]) == [("claude", "gpt-5")]


def test_an_engine_or_model_without_any_combination_is_refused() -> None:
    """Both are named, with the pair that would run."""
    with pytest.raises(UsageError) as refused:
        plan(
            vendors(other=FOLDER.model_copy(update={"model_patterns": ("x",)})),
            engines=("claude", "other"),
            models=("gpt-5", "claude-4"),
        )
    assert [(problem.message, problem.hint) for problem in refused.value.problems] == [
        ("engine 'other' serves none of gpt-5, claude-4", "Name its own: --engine other/MODEL"),
        ("none of claude, other serves 'gpt-5'", "Pair it: --engine NAME/gpt-5"),
    ]


@given(
    st.lists(st.sampled_from(["claude", "codex", "any", "any/x", "claude/gpt-5"]), min_size=1, max_size=5),
    st.lists(st.sampled_from(["claude-4", "gpt-5", "own", "m"]), min_size=1, max_size=4),
)
def test_every_combination_runs_once_or_is_named(engines: list[str], models: list[str]) -> None:
    """Nothing of a product is lost in silence, and nothing runs twice."""
    try:
        _, cells, problems = plan(vendors(), engines=tuple(engines), models=tuple(models))
    except UsageError:
        return
    made = combinations(cells)
    assert len(made) == len(set(made))
    left_out = {name for problem in problems for name in problem.message.rpartition(": ")[2].split(", ")}
    product = {f"{engine}/{model}" for engine in engines if "/" not in engine for model in models}
    pairs = {engine for engine in engines if "/" in engine}
    assert {f"{engine}/{model}" for engine, model in made} == (product - left_out) | pairs


def test_one_engine_takes_all_models() -> None:
    """Its arms lie together model by model; what is named twice is one cell."""
    registry = registry_of(claude=FOLDER, codex=FOLDER)
    wanted = ["with_skill codex m1", "without_skill codex m1", "with_skill codex m2", "without_skill codex m2"]
    assert shown(plan(registry, engines=("codex",), models=("m1", "m2"))[1]) == wanted
    assert shown(plan(registry, engines=("codex",), models=("m1", "m2", "m1"))[1]) == wanted
    assert shown(plan(registry, engines=("codex", "codex"), models=("m1",))[1]) == wanted[:2]


def test_an_engine_may_know_its_model() -> None:
    """What its identity says is in plan and results, also where the user names none."""
    registry = registry_of(claude=FOLDER, models={"claude": "own"})
    assert shown(plan(registry)[1]) == ["with_skill claude own", "without_skill claude own"]
    assert shown(plan(registry, models=("m1",))[1])[0] == "with_skill claude m1"


@pytest.mark.requirement("BF-RUN-006")
@pytest.mark.parametrize(
    ("asked", "default", "arms"),
    [
        (None, True, {"with_skill", "without_skill"}),
        (None, False, {"with_skill"}),
        (False, True, {"with_skill"}),
        (True, False, {"with_skill", "without_skill"}),
    ],
)
def test_baselines_run_or_not(asked: bool | None, default: bool, arms: set[str]) -> None:
    """As the user says, else as the suite does; the arm under test always runs."""
    one = suite(defaults=SuiteDefaults(baseline=default))
    assert {cell.arm.name for cell in plan(registry_of(claude=FOLDER), one, baseline=asked)[1]} == arms


def test_an_arm_that_is_candidate_and_baseline_is_no_spare() -> None:
    """What one comparison measures against may be what another one is about."""
    previous = Arm(name="previous_skill", kind=ArmKind.AGENT)
    pairs = (
        Comparison(candidate="with_skill", baseline="previous_skill"),
        Comparison(candidate="previous_skill", baseline="without_skill"),
    )
    one = suite(arms=(WITH, previous, WITHOUT), comparisons=pairs)
    _, cells, _ = plan(registry_of(claude=FOLDER), one, baseline=False)
    assert [cell.arm.name for cell in cells] == ["with_skill", "previous_skill"]


def test_unknown_engines_are_all_listed() -> None:
    """With what is installed; the known ones are planned nevertheless, so that their problems are known as well."""
    _, cells, problems = plan(registry_of(claude=FOLDER), engines=("claud", "claude", "gone"))
    assert [problem.code for problem in problems] == ["plugin.not-installed"] * 2
    assert "did you mean claude" in problems[0].message
    assert {cell.runner.name for cell in cells} == {"claude", "no engine"}


def test_an_engine_that_cannot_use_skills_is_refused_for_a_suite_about_one() -> None:
    """For a suite without skills it will do."""
    registry = registry_of(plain=Traits())
    _, _, (problem,) = plan(registry)
    assert (problem.code, "'plain' cannot use skills" in problem.message) == ("engine.no-skills", True)
    assert "skillgauge plugins info engines plain" in str(problem.hint)
    _, cells, problems = plan(registry, suite(arms=(WITHOUT,), comparisons=()))
    assert (shown(cells), problems) == (["without_skill plain None"], [])


def test_an_engine_that_cannot_place_what_an_arm_installs_is_refused() -> None:
    """Once, however many arms and targets want it; one that can place every kind will do."""
    rule, hooks = (Install(kind=kind, name="n") for kind in ("rule", "hooks"))
    full = WITHOUT.model_copy(update={"installs": (rule, hooks)})
    wanting = suite(arms=(full,), comparisons=())
    some = Traits(skill_folder="skills", installs=frozenset({"rule"}))
    _, _, (problem,) = plan(registry_of(some=some), wanting)
    assert problem.code == "engine.no-installs"
    assert "engine 'some' cannot install hooks of suite" in problem.message
    _, _, problems = plan(registry_of(every=some.model_copy(update={"installs": {"rule", "hooks"}})), wanting)
    assert problems == []


def test_an_engine_that_cannot_place_what_a_case_installs_is_refused() -> None:
    """It is told with the place of the case, unless that is not selected; a recording is played without any of it."""
    server = Install(kind="servers", name="depth")
    cases = (Case(id="a", installs=(server,), origin=Origin("s.json", ("a",))), Case(id="b"))
    wanting = suite(arms=(WITHOUT,), comparisons=(), cases=cases)
    plain = Traits(skill_folder="skills")
    _, _, (problem,) = plan(registry_of(plain=plain), wanting)
    assert problem.message == "engine 'plain' cannot install servers of case 'a'"
    assert problem.origin == cases[0].origin
    _, _, problems = plan(registry_of(plain=plain), wanting, cases=("b",))
    assert problems == []
    _, _, problems = plan(registry_of(plain=plain.model_copy(update={"plays": "folder"})), wanting)
    assert problems == []


def test_limits_of_agents_are_theirs() -> None:
    """Target before suite before what holds for agents; direct calls have limits of their own."""
    registry = registry_of(claude=FOLDER)
    arms = (WITHOUT, DIRECT)
    limited = Target(id="pdf", adapter="fake", limits=Limits(max_turns=5))
    one = suite(arms=arms, comparisons=(), targets=(limited,), defaults=SuiteDefaults(limits=Limits(timeout_s=9)))
    choice = {"direct_timeout_s": 30}
    _, cells, problems = plan(registry, one, **choice)
    assert not problems
    limits = {cell.arm.name: (cell.limits.timeout_s, cell.limits.max_turns) for cell in cells}
    assert limits == {"without_skill": (9, 5), "direct": (9, 5)}
    both = limited.model_copy(update={"limits": Limits(timeout_s=5)})
    _, cells, _ = plan(registry, one.model_copy(update={"targets": (both,)}), **choice)
    assert {cell.arm.name: cell.limits.timeout_s for cell in cells} == {"without_skill": 5, "direct": 5}
    bare = suite(arms=arms, comparisons=(), targets=(Target(id="pdf", adapter="fake"),))
    _, cells, _ = plan(registry, bare, **choice)
    assert {cell.arm.name: cell.limits.timeout_s for cell in cells} == {"without_skill": 600, "direct": 30}


def test_only_selected_targets_are_planned() -> None:
    """Each target has cells of its own."""
    one = suite(targets=(Target(id="a"), Target(id="b")))
    registry = registry_of(claude=FOLDER)
    assert len(plan(registry, one)[1]) == 4
    cells = plan(registry, one, targets=("b",))[1]
    assert {cell.target.id for cell in cells if cell.target} == {"b"}


def told_by(registry: Registry) -> list[str]:
    """The variables of secrets that its plugins announce."""
    told: list[str] = []
    registry.tell_secrets(told.append)
    return told


def test_what_traits_say_reaches_the_run() -> None:
    """Folder, what must not be inherited, hosts, cost, facts and secrets; every engine is asked once."""
    rich = Traits(
        skill_folder=".x/skills",
        inherited=("X.md",),
        model_hosts=("x.test",),
        paid=True,
        tells=frozenset({Fact.USAGE}),
        secrets=("X_KEY",),
    )
    registry = registry_of(x=rich, y=FOLDER)
    engines, cells, _ = plan(registry, engines=("x", "y"))
    setup = engines.setups[cells[0].runner.digest]
    assert setup.traits == rich
    assert {cell.runner.name: cell.paid for cell in cells} == {"x": True, "y": False}
    assert engines.traits() == {"x": rich, "y": FOLDER}
    assert told_by(registry) == ["X_KEY"]
    problems = asyncio.run(engines.problems())
    assert [problem.message for problem in problems] == ["x was asked", "y was asked"]


def test_options_may_decide_the_traits() -> None:
    """As the configuration says; an engine that cannot tell them is a broken plugin, and others go on."""
    options = {"engines.agent": {"folder": "skills", "key": "MY_KEY"}}
    registry = registry_of(options=options, agent=None)
    engines, cells, problems = plan(registry)
    assert not problems
    assert engines.setups[cells[0].runner.digest].traits.skill_folder == "skills"
    assert told_by(registry) == ["MY_KEY"]
    assert all(cell.paid for cell in cells)
    assert engines.traits()["agent"].tells == {Fact.USAGE}
    _, _, (problem,) = plan(registry_of(agent=None))
    assert problem.code == "engine.no-skills"
    broken = {"engines.agent": {"fails": True}}
    _, cells, (problem,) = plan(registry_of(options=broken, agent=None))
    assert shown(cells) == NONE
    assert problem.code == "plugin.broken"
    assert "no traits today" in problem.message


def test_a_suite_may_set_options_of_an_engine() -> None:
    """They hold for it and that engine, under a setting of it, too, and what the user configures goes before."""
    mine = SuiteDefaults(engine_options=(("agent", {"folder": "theirs", "key": "THEIRS"}),))
    others = SuiteDefaults(engine_options=(("x", {"folder": "x"}),))
    asking, other = suite(defaults=mine), suite(id="t", defaults=others)
    registry = registry_of(options={"engines.agent": {"key": "MINE"}, "engines.agent+b": {"folder": "b"}}, agent=None)
    engines, problems = Engines(registry), list[Problem]()
    found = {one.id: engines.find("agent", problems, one) for one in (asking, other)}
    assert {name: setup.traits.skill_folder for name, setup in found.items() if setup} == {"s": "theirs", "t": None}
    assert {setup.traits.secrets for setup in found.values() if setup} == {("MINE",)}
    set_otherwise = engines.find("agent+b", problems, asking)
    assert set_otherwise
    assert set_otherwise.traits.skill_folder == "b"
    assert not problems
    assert [one.message for one in asyncio.run(engines.problems())] == ["agent was asked"]


def test_options_of_a_suite_that_an_engine_does_not_know() -> None:
    """Refused before anything runs, in the suite."""
    wrong = suite(defaults=SuiteDefaults(engine_options=(("agent", {"colour": "red"}),)), origin=Origin("eval.yaml"))
    _, _, problems = plan(registry_of(agent=None), wrong)
    assert [(one.code, one.origin) for one in problems if one.code == "plugin.options"] == [
        ("plugin.options", Origin("eval.yaml"))
    ]
