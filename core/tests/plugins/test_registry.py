"""The registry: plugins by name, isolated from each other, with errors that say what to do."""

from __future__ import annotations

import asyncio
import itertools
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from skillgauge import __version__
from skillgauge.api import JsonObject, Origin, PlanHead, PluginError, PolicyError, Problem, Trial
from skillgauge.config.trusting import PluginOptions
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import ADAPTERS, EXTENSIONS, KINDS, SCORERS
from skillgauge.plugins.registry import Registry
from skillgauge_testkit.registries import registry_of

HEAD = "from skillgauge.api import *\n"

EXACT = """
class Inner(Frozen):
    depth: int = 1

class Options(Frozen):
    limit: int = 3
    label: str = ""
    inner: Inner = Inner()

class Exact:
    version = "1"
    def __init__(self, options):
        self.options = options

@hookimpl
def skillgauge_scorers():
    yield Provider(name="exact", options=Options, factory=Exact, summary="Equal.")
"""

OWN = EXACT.replace('name="exact"', 'name="own"')

PLAN = PlanHead(plan_id="p", suites=(), trial_count=3, runs=1, seed=0)


class Site:
    """A folder into which tests install plugins."""

    def __init__(self, root: Path) -> None:
        self.root = root / "site"
        self.root.mkdir()
        self._cache = root / "cache"
        self._numbers = itertools.count()

    def module(self, source: str) -> str:
        """Write a module and return its name, which no other test uses."""
        name = f"{self.root.parent.name}_{next(self._numbers)}"
        (self.root / f"{name}.py").write_text(HEAD + textwrap.dedent(source))
        return name

    def install(
        self,
        source: str = EXACT,
        name: str = "exact",
        *,
        kind: str = "scorers",
        aliases: Sequence[str] = (),
        distribution: str = "acme",
        requires: str = "",
    ) -> str:
        """Install a distribution with one plugin and return the name of its module."""
        module = self.module(source)
        self.announce(distribution, {kind: dict.fromkeys((name, *aliases), module)}, requires)
        return module

    def announce(self, distribution: str, points: Mapping[str, Mapping[str, str]], requires: str = "") -> None:
        """Write a distribution's metadata: kind to name to module."""
        folder = self.root / f"{distribution}-1.0.dist-info"
        folder.mkdir(exist_ok=True)
        needs = f"Requires-Dist: {requires}\n" if requires else ""
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n{needs}")
        groups = [
            f"[skillgauge.{kind}]\n" + "\n".join(f"{name} = {module}" for name, module in names.items())
            for kind, names in points.items()
        ]
        (folder / "entry_points.txt").write_text("\n".join(groups) + "\n")

    def index(self) -> PluginIndex:
        """What is installed now."""
        return read_index(path=[str(self.root)], cache_dir=self._cache)

    def registry(self, **settings: object) -> Registry:
        """A registry of what is installed now; `options` as a configuration that its user trusts."""
        if isinstance(options := settings.get("options"), dict):
            settings["options"] = PluginOptions(options, {})
        return cast(Callable[..., Registry], Registry)(self.index(), **settings)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A folder to install into, on the import path."""
    site = Site(tmp_path)
    monkeypatch.syspath_prepend(str(site.root))
    yield site
    for name in [name for name in sys.modules if name.startswith((f"{tmp_path.name}_", "skillgauge_file_"))]:
        del sys.modules[name]


def problem_of(action: Callable[[], object]) -> Problem:
    """The single problem of the `PluginError` that an action raises."""
    with pytest.raises(PluginError) as caught:
        action()
    (problem,) = caught.value.problems
    return problem


class TestResolve:
    """A name becomes a checked provider."""

    def test_by_name(self, site: Site) -> None:
        """What is found carries its own name, its provider and where it came from."""
        site.install()
        found = site.registry().resolve("scorers", "exact")
        assert (found.kind, found.name, found.asked) == ("scorers", "exact", "exact")
        assert (found.distribution, found.version, found.provider.summary) == ("acme", "1.0", "Equal.")

    def test_only_the_named_plugin_is_imported(self, site: Site) -> None:
        """Resolving one plugin leaves the others of its kind alone; looking at names imports nothing."""
        wanted = site.install()
        other = site.install("raise ImportError", "other", distribution="other")
        registry = site.registry()
        assert registry.names("scorers") == ("exact", "other")
        assert wanted not in sys.modules
        registry.resolve("scorers", "exact")
        assert wanted in sys.modules
        assert other not in sys.modules

    def test_asked_once(self, site: Site) -> None:
        """A plugin is imported and its hook called once per run, aliases included."""
        module = site.install(
            EXACT.replace("    yield", "    CALLS.append(1)\n    yield") + "CALLS = []", aliases=["eq"]
        )
        registry = site.registry()
        assert registry.resolve("scorers", "exact") is registry.resolve("scorers", "exact")
        alias = registry.resolve("scorers", "eq")
        assert (alias.name, alias.asked) == ("exact", "eq")
        assert sys.modules[module].CALLS == [1]

    def test_one_of_several_providers(self, site: Site) -> None:
        """A module may announce several plugins; the entry point's name picks one of them."""
        source = """
        @hookimpl
        def skillgauge_scorers():
            return [Provider("a", object, "A."), Provider("b", object, "B.")]
        """
        site.install(source, "a", aliases=["b", "c"])
        registry = site.registry()
        assert [registry.resolve("scorers", name).provider.summary for name in "ab"] == ["A.", "B."]
        assert "announces a, b instead of 'c'" in problem_of(lambda: registry.resolve("scorers", "c")).message

    def test_module_of_several_kinds(self, site: Site) -> None:
        """One module may serve several kinds, and an entry point may name an object in it."""
        source = EXACT + '\n@hookimpl\ndef skillgauge_adapters():\n    yield Provider("call", Exact, "Call.")\n'
        module = site.module(source)
        site.announce("acme", {"scorers": {"exact": module}, "adapters": {"call": module}})
        registry = site.registry()
        assert registry.resolve("scorers", "exact").name == "exact"
        assert registry.resolve("adapters", "call").name == "call"

    def test_full_name_and_preference_settle_a_clash(self, site: Site) -> None:
        """Two distributions of one name are an error that names both; the user picks one."""
        site.install()
        site.install(distribution="Rival-Scorers")
        registry = site.registry()
        problem = problem_of(lambda: registry.resolve("scorers", "exact"))
        assert problem.code == "plugin.ambiguous"
        assert problem.message == "scorer 'exact' is installed by Rival-Scorers 1.0 and acme 1.0"
        assert problem.hint == "name one: Rival-Scorers:exact or acme:exact"
        assert registry.resolve("scorers", "rival_scorers:exact").distribution == "Rival-Scorers"
        assert registry.resolve("scorers", "acme:exact").distribution == "acme"

    def test_not_installed(self, site: Site) -> None:
        """The message lists what there is, the hint is what to type."""
        site.install()
        registry = site.registry()
        problem = problem_of(lambda: registry.resolve("scorers", "exakt"))
        assert problem.code == "plugin.not-installed"
        assert problem.message == "scorer 'exakt' is not installed (did you mean exact?) (installed: exact)"
        assert "pip" not in (problem.hint or "pip")
        none = problem_of(lambda: registry.resolve("engines", "codex"))
        assert none.message == "engine 'codex' is not installed (installed: none)"
        assert none.hint == "pip install skillgauge-engine-codex"
        for name in ("rival-scorers:exact", "rival:exact"):
            full = problem_of(lambda name=name: registry.resolve("scorers", name))  # type: ignore[misc]
            assert "pip" not in (full.hint or "")

    def test_a_variant_is_an_option_that_the_name_gives(self, site: Site) -> None:
        """`NAME:VARIANT` means the plugin of that name if it has variants; a plugin that is called so goes first."""
        many = EXACT.replace('name="exact",', 'name="exact", variants="label",')
        site.announce("acme-exact", {"scorers": {"exact": site.module(many), "own": site.module(OWN)}})
        registry = site.registry(options={"scorers.exact": {"limit": 9}})
        assert options_of(registry.make(SCORERS, "exact:this")) | {"inner": 0} == {
            "limit": 9,
            "label": "this",
            "inner": 0,
        }
        assert registry.resolve("scorers", "exact:own").name == "own"
        assert options_of(registry.make(SCORERS, "exact"))["label"] == ""

    def test_without_variants_a_name_behind_a_colon_is_a_plugin(self, site: Site) -> None:
        """It is not installed, whatever its distribution brings."""
        site.install(distribution="acme-exact")
        assert problem_of(lambda: site.registry().resolve("scorers", "exact:this")).code == "plugin.not-installed"

    def test_incompatible_is_never_imported(self, site: Site) -> None:
        """A plugin for another core gives its reason, and a compatible one of the same name is taken instead."""
        module = site.install(requires="skillgauge-core>=99")
        registry = site.registry()
        problem = problem_of(lambda: registry.resolve("scorers", "exact"))
        assert problem.code == "plugin.incompatible"
        assert problem.message == (f"scorer 'exact' of acme 1.0 needs skillgauge-core >=99, and this is {__version__}")
        assert problem.hint == "pip install --upgrade acme"
        assert registry.names("scorers") == ()
        assert module not in sys.modules
        site.install(distribution="fine")
        assert site.registry().resolve("scorers", "exact").distribution == "fine"


class TestBlocking:
    """The user may leave plugins out."""

    @pytest.mark.parametrize("name", ["exact", "acme", "Acme", "acme:exact"])
    def test_blocked(self, site: Site, name: str) -> None:
        """A blocked plugin is not used, whether its name, its distribution or both were given."""
        module = site.install()
        registry = site.registry(blocked={name})
        problem = problem_of(lambda: registry.resolve("scorers", "exact"))
        assert (problem.code, problem.message) == ("plugin.blocked", "scorer 'exact' of acme 1.0 is blocked")
        assert registry.names("scorers") == ()
        assert registry.load_all("scorers") == ()
        assert registry.failures == {}
        assert module not in sys.modules

    @pytest.mark.parametrize("name", ["exact", "equal", "same", "acme", "acme:equal", "rival:same", "rival"])
    def test_blocked_under_every_alias(self, site: Site, name: str) -> None:
        """Any name of a plugin blocks all of them, also one that another distribution gives to the same module."""
        module = site.install(aliases=["equal"])
        site.announce("rival", {"scorers": {"same": f" {module} "}})
        registry = site.registry(blocked={name})
        for alias in ("exact", "equal", "same", "acme:equal", "rival:same"):
            assert problem_of(lambda alias=alias: registry.resolve("scorers", alias)).code == "plugin.blocked"  # type: ignore[misc]
        assert registry.names("scorers") == ()
        assert registry.load_all("scorers") == ()
        assert registry.failures == {}
        assert module not in sys.modules

    def test_blocked_by_the_name_that_it_announces(self, site: Site) -> None:
        """A plugin is blocked under a name that no entry point has, or that leads to another place in its module."""
        module = site.install(EXACT + "import sys; here = sys.modules[__name__]\n", "eq")
        site.announce("rival", {"scorers": {"exact": f"{module}:here"}})
        registry = site.registry(blocked={"exact"})
        problem = problem_of(lambda: registry.resolve("scorers", "eq"))
        assert (problem.code, problem.message) == ("plugin.blocked", "scorer 'eq' of acme 1.0 is blocked")
        assert registry.load_all("scorers") == ()
        assert registry.failures == {}

    def test_neighbours_are_not_blocked(self, site: Site, tmp_path: Path) -> None:
        """Plugins of one module stay apart where each has an object of its own; so do kinds, and those of one file."""
        source = """
        class Announcement:
            def __init__(self, name):
                self.name = name
            @hookimpl
            def skillgauge_scorers(self):
                yield Provider(self.name, object, "")
            @hookimpl
            def skillgauge_adapters(self):
                yield Provider("call", object, "")
        a, b = Announcement("a"), Announcement("b")
        """
        module = site.module(source)
        site.announce(
            "acme", {"scorers": {"a": f"{module}:a", "b": f"{module}:b"}, "adapters": {"call": f"{module}:a"}}
        )
        file = tmp_path / "two.py"
        providers = "[Provider('c', object, ''), Provider('d', object, '')]"
        file.write_text(f"{HEAD}@hookimpl\ndef skillgauge_scorers(): return {providers}\n")
        registry = site.registry(blocked={"a", "c"}, files=[file])
        assert registry.names("scorers") == ("b", "d")
        assert {found.name for found in registry.load_all("scorers")} == {"b", "d"}
        assert [found.name for found in registry.load_all("adapters")] == ["call"]

    def test_blocking_settles_a_clash(self, site: Site) -> None:
        """With one of two distributions blocked, the name means the other."""
        site.install()
        site.install(distribution="rival")
        assert site.registry(blocked={"acme"}).resolve("scorers", "exact").distribution == "rival"

    def test_allow_list(self, site: Site) -> None:
        """With an allow list, only what it names is used."""
        site.install()
        site.install(name="other", distribution="other")
        registry = site.registry(only={"exact"})
        assert registry.names("scorers") == ("exact",)
        assert problem_of(lambda: registry.resolve("scorers", "other")).code == "plugin.blocked"


BROKEN = {
    "import": ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "assertion": ("assert False, 'no\\nsecond line'", "AssertionError: no second line"),
    "base": ("class Odd(BaseException): pass\nraise Odd", "Odd"),
    "misspelt": ("@hookimpl\ndef skillgauge_scorer(): pass", "unknown hook 'skillgauge_scorer'"),
    "argument": ("@hookimpl\ndef skillgauge_scorers(config): pass", "{'config'} are declared in the hookimpl"),
    "async": ("@hookimpl\nasync def skillgauge_scorers(): pass", "TypeError: skillgauge_scorers must not be async"),
    "silent": ("", "TypeError: does not implement skillgauge_scorers"),
    "none": ("@hookimpl\ndef skillgauge_scorers(): pass", "TypeError: announces nothing instead of 'exact'"),
    "type": (
        "@hookimpl\ndef skillgauge_scorers(): yield {'name': 'exact'}",
        "TypeError: announces a dict where a Provider belongs",
    ),
    "lone": (
        "@hookimpl\ndef skillgauge_scorers(): return Provider('exact', object, '')",
        "TypeError: 'Provider' object is not iterable",
    ),
    "hook": ("@hookimpl\ndef skillgauge_scorers(): yield 1 / 0", "ZeroDivisionError: division by zero"),
    "hook-exit": ("@hookimpl\ndef skillgauge_scorers(): raise SystemExit", "SystemExit"),
}


class TestBroken:
    """A broken plugin harms itself only."""

    @pytest.mark.parametrize("case", BROKEN)
    def test_reason_and_isolation(self, site: Site, case: str) -> None:
        """The error says what failed, in which distribution, and what to do; other plugins work on."""
        source, reason = BROKEN[case]
        site.install(source)
        site.install(EXACT.replace('"exact"', '"good"'), "good", distribution="good")
        registry = site.registry()
        problem = problem_of(lambda: registry.resolve("scorers", "exact"))
        assert problem.code == "plugin.broken"
        assert problem.message.startswith("scorer 'exact' of acme 1.0 is broken: ")
        assert reason in problem.message
        assert "\n" not in problem.message
        assert problem.hint == "skillgauge plugins doctor"
        assert registry.resolve("scorers", "good").name == "good"
        assert registry.provenance() == {"skillgauge-core": __version__, "good": "1.0"}

    def test_tried_once_per_run(self, site: Site) -> None:
        """Asking again gives the same answer without importing again."""
        site.install("import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\nraise ImportError('no')")
        registry = site.registry()
        first, second = (problem_of(lambda: registry.resolve("scorers", "exact")) for _ in range(2))
        assert first == second
        assert vars(sys).pop("tries") == 1

    def test_ctrl_c_passes(self, site: Site) -> None:
        """The user can interrupt a plugin that hangs at import."""
        site.install("raise KeyboardInterrupt")
        with pytest.raises(KeyboardInterrupt):
            site.registry().resolve("scorers", "exact")

    def test_failure_is_remembered_until_it_is_mended(self, site: Site) -> None:
        """The index tells the last failure in later processes, and forgets it after a good load."""
        module = site.install("raise ImportError('no')")
        problem_of(lambda: site.registry().resolve("scorers", "exact"))
        assert list(site.index().recorded_failures().values()) == ["ImportError: no"]
        (site.root / f"{module}.py").write_text(HEAD + EXACT + "\n# mended, and of another size\n")
        site.registry().resolve("scorers", "exact")
        assert site.index().recorded_failures() == {}

    def test_nothing_half_registered(self, site: Site) -> None:
        """A plugin that was refused does not listen, and can be loaded after all for what it does well."""
        source = "@hookimpl\ndef skillgauge_adapters():\n    yield Provider('call', object, '')\n"
        module = site.module(source + "@hookimpl\ndef skillgauge_plan_ready(plan): raise PolicyError('no')")
        site.announce("acme", {"scorers": {"exact": module}, "adapters": {"call": module}})
        registry = site.registry()
        assert "does not implement" in problem_of(lambda: registry.resolve("scorers", "exact")).message
        registry.events().plan_ready(PLAN)
        assert registry.resolve("adapters", "call").name == "call"


class TestFactories:
    """What makes an object is named by its announcement and imported when the object is made."""

    def test_imported_when_made(self, site: Site) -> None:
        """Finding a plugin does not import its class; making it does, with the validated options."""
        heavy = site.module("class Scorer:\n    version = '1'\n    def __init__(self, options): self.options = options")
        site.install(EXACT.replace("factory=Exact", f"factory='{heavy}:Scorer'"))
        registry = site.registry()
        found = registry.resolve("scorers", "exact")
        assert heavy not in sys.modules
        made: Any = registry.make(SCORERS, found, {"limit": 5})
        assert heavy in sys.modules
        assert (made.options.limit, made.options.inner.depth) == (5, 1)

    def test_without_options(self, site: Site) -> None:
        """Where there is no model of options, the class is called with nothing."""
        site.install(EXACT.replace("options=Options, factory=Exact", "factory=lambda: Exact(Options())"))
        assert site.registry().make(SCORERS, "exact").version

    @pytest.mark.parametrize("factory", ["no_such_module:Exact", "json:Exact", "not a name", "json", ""])
    def test_names_nothing(self, site: Site, factory: str) -> None:
        """A text that names nothing is said, with the plugin and the text."""
        site.install(EXACT.replace("factory=Exact", f"factory={factory!r}"))
        problem = problem_of(lambda: site.registry().make(SCORERS, "exact"))
        assert problem.message.startswith(
            f"scorer 'exact' of acme 1.0 could not be made: ImportError: {factory!r} names"
        )


class TestLoadAll:
    """Every plugin of a kind that works."""

    def test_failures_are_kept(self, site: Site) -> None:
        """Broken, incompatible and doubled plugins are passed over and told; aliases do not double."""
        site.install(aliases=["eq"])
        site.install("1 / 0", "broken", distribution="broken")
        site.install(name="far", distribution="far", requires="skillgauge-core>=99")
        site.install(name="twice", distribution="one")
        site.install(name="twice", distribution="two")
        registry = site.registry()
        assert [found.name for found in registry.load_all("scorers")] == ["exact"]
        assert {name: problem.code for name, problem in registry.failures.items()} == {
            "scorers.broken": "plugin.broken",
            "scorers.far": "plugin.incompatible",
            "scorers.twice": "plugin.ambiguous",
        }

    def test_each(self, site: Site) -> None:
        """Objects of all plugins that can be made; a factory that fails takes only its own plugin out."""
        site.install()
        failing = EXACT.replace("self.options = options", "raise OSError('no display')")
        site.install(failing.replace('"exact"', '"shy"'), "shy", distribution="shy")
        registry = site.registry()
        made = dict(registry.each(SCORERS))
        assert {name: scorer.version for name, scorer in made.items()} == {"exact": "1"}
        assert "could not be made: OSError: no display" in registry.failures["scorers.shy"].message

    def test_each_with_wrong_options(self, site: Site) -> None:
        """Wrong options in the configuration are the user's to mend, so they are no failure to pass over."""
        site.install()
        registry = site.registry(options={"scorers.exact": {"limit": "many"}})
        assert problem_of(lambda: dict(registry.each(SCORERS))).code == "plugin.options"


def options_of(made: object) -> dict[str, object]:
    """Options that the sample scorer was made with."""
    return cast(dict[str, object], cast(Any, made).options.model_dump())


class TestMake:
    """Options are checked, then the object is made."""

    def test_options_of_the_call_before_configuration_before_defaults(self, site: Site) -> None:
        """Each key is taken from the nearest source; an alias adds options of its own."""
        site.install(aliases=["eq"])
        registry = site.registry(
            options={"scorers.exact": {"limit": 5, "label": "set"}, "scorers.eq": {"label": "alias"}}
        )
        inner = {"depth": 1}
        assert options_of(registry.make(SCORERS, "exact")) == {"limit": 5, "label": "set", "inner": inner}
        made = registry.make(SCORERS, "exact", {"limit": 7})
        assert options_of(made) == {"limit": 7, "label": "set", "inner": inner}
        assert options_of(registry.make(SCORERS, "eq")) == {"limit": 5, "label": "alias", "inner": inner}
        found = registry.resolve("scorers", "acme:exact")
        assert options_of(registry.make(SCORERS, found))["limit"] == 5

    def test_a_plugin_that_uses_others(self, site: Site) -> None:
        """It gets guarded objects of those that may be used, with what is configured for them."""
        using = """
class Using:
    version = "1"
    def __init__(self, peers):
        self.peers = peers

@hookimpl
def skillgauge_adapters():
    yield Provider(name="using", factory=Using, summary="Uses scorers.", uses="scorers")
"""
        site.install(EXACT, aliases=["eq"])
        broken = site.module(HEAD + EXACT.replace("self.options = options", "sys.exit()").replace("exact", "broken"))
        blocked = site.module(HEAD + EXACT.replace('name="exact"', 'name="blocked"'))
        site.announce("acme-more", {"scorers": {"broken": broken, "blocked": blocked}})
        site.announce("acme-using", {"adapters": {"using": site.module(HEAD + using)}})
        registry = site.registry(options={"scorers.exact": {"limit": 7}}, blocked=["blocked"])
        peers = cast(Any, registry.make(ADAPTERS, "using")).peers
        assert peers.names() == ("broken", "eq", "exact")
        assert list(peers.announced()) == ["broken", "exact"]
        made = peers.make("eq", {"label": "own"})
        assert (made.options.limit, made.options.label) == (7, "own")
        assert peers.traits("exact") == registry.resolve("scorers", "exact").provider.traits
        assert problem_of(lambda: asyncio.run(made.score(None))).code == "plugin.broken"
        assert problem_of(lambda: peers.make("broken")).code == "plugin.broken"
        assert problem_of(lambda: peers.make("blocked")).code == "plugin.blocked"

    def test_every_wrong_option_is_told(self, site: Site) -> None:
        """Each problem has the dotted key, its place in the file, and a near name for an unknown key."""
        site.install()
        registry = site.registry(options={"scorers.exact": {"label": 4}})
        given: JsonObject = {"limt": 1, "limit": "many", "inner": {"deep": 2}}
        origin = Origin("suite.yaml", ("cases", 0))
        with pytest.raises(PluginError) as caught:
            registry.validated_options(registry.resolve("scorers", "exact"), given, origin)
        told = {problem.message: problem.origin and problem.origin.pointer for problem in caught.value.problems}
        assert told == {
            "scorers.exact.limit: Input should be a valid integer, unable to parse string as an integer": (
                "cases",
                0,
                "limit",
            ),
            "scorers.exact.label: Input should be a valid string": ("cases", 0),
            "scorers.exact.inner.deep: unknown option": ("cases", 0, "inner", "deep"),
            "scorers.exact.limt: unknown option (did you mean limit?)": ("cases", 0, "limt"),
        }
        assert {problem.code for problem in caught.value.problems} == {"plugin.options"}

    def test_plugin_without_options(self, site: Site) -> None:
        """A plugin that declares no options refuses all of them."""
        site.install(EXACT.replace("options=Options, ", ""))
        problem = problem_of(lambda: site.registry().make(SCORERS, "exact", {"limit": 1}))
        assert (problem.message, problem.origin) == ("scorers.exact.limit: unknown option", None)

    def test_options_model_that_crashes(self, site: Site) -> None:
        """A validator that fails is the plugin's fault, not the user's."""
        crash = "inner: Inner = Inner()\n    def model_post_init(self, _context): sys.exit('lost')"
        site.install("import sys\n" + EXACT.replace("inner: Inner = Inner()", crash))
        problem = problem_of(lambda: site.registry().make(SCORERS, "exact"))
        assert problem.code == "plugin.broken"
        assert "could not check its options: SystemExit: lost" in problem.message

    def test_factory_that_fails(self, site: Site) -> None:
        """An exception names the plugin; a `PluginError` of the factory keeps its own words."""
        site.install(EXACT.replace("self.options = options", "import not_there_at_all"))
        error = "raise PluginError(Problem('acme.license', 'no license'))"
        site.install(EXACT.replace("self.options = options", error), distribution="other")
        registry = site.registry()
        problem = problem_of(lambda: registry.make(SCORERS, "acme:exact"))
        assert problem.code == "plugin.broken"
        assert "scorer 'exact' of acme 1.0 could not be made: ModuleNotFoundError" in problem.message
        assert problem_of(lambda: registry.make(SCORERS, "other:exact")).code == "acme.license"


class TestFiles:
    """`--plugin FILE.py`: no installation, the same rights."""

    def test_any_kind(self, site: Site, tmp_path: Path) -> None:
        """A file announces plugins of several kinds, which resolve, and listen, like installed ones."""
        file = tmp_path / "mine.py"
        source = EXACT + "\n@hookimpl\ndef skillgauge_plan_ready(plan): raise PolicyError('not today')\n"
        file.write_text(HEAD + source)
        registry = Registry(PluginIndex(), files=[file], only={"nothing"})
        found = registry.resolve("scorers", "exact")
        assert (found.distribution, found.version.partition(":")[0]) == (str(file), "sha256")
        assert registry.make(SCORERS, "exact").version == "1"
        with pytest.raises(PolicyError, match="not today"):
            registry.events().plan_ready(PLAN)
        assert registry.provenance()[file.name] == found.version

    def test_clash_with_an_installed_plugin(self, site: Site, tmp_path: Path) -> None:
        """A file has no advantage: the name is ambiguous, and either can be picked."""
        site.install()
        file = tmp_path / "mine.py"
        file.write_text(HEAD + EXACT)
        registry = site.registry(files=[file])
        problem = problem_of(lambda: registry.resolve("scorers", "exact"))
        assert problem.code == "plugin.ambiguous"
        assert str(file) in problem.message
        assert registry.resolve("scorers", f"{file}:exact").distribution == str(file)
        assert registry.resolve("scorers", "acme:exact").distribution == "acme"

    def test_equal_file_names(self, tmp_path: Path) -> None:
        """Two files of one name in different folders are two modules, with what dataclasses need."""
        files = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            files.append(tmp_path / name / "plugin.py")
            imports = f"from __future__ import annotations\nfrom dataclasses import dataclass\n{HEAD}"
            data = "\n@dataclass\nclass Data:\n    values: tuple[int, ...] = ()\n"
            files[-1].write_text(imports + data + EXACT.replace('"exact"', f'"{name}"'))
        registry = Registry(PluginIndex(), files=files)
        assert registry.names("scorers") == ("one", "two")
        modules = {registry.resolve("scorers", name).provider.factory.__module__ for name in ("one", "two")}
        assert len(modules) == 2
        assert modules <= set(sys.modules)
        for module in modules:
            del sys.modules[module]

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            (None, "FileNotFoundError"),
            ("def", "SyntaxError"),
            ("raise SystemExit(1)", "SystemExit: 1"),
            ("x = 1", "TypeError: announces nothing"),
            ("from skillgauge.api import *\n@hookimpl\ndef skillgauge_scorer(): pass", "unknown hook"),
        ],
    )
    def test_file_that_cannot_be_used(self, tmp_path: Path, source: str | None, reason: str) -> None:
        """A file is named by the user, so a bad one is an error at once."""
        file = tmp_path / "mine.py"
        if source is not None:
            file.write_text(source)
        before = set(sys.modules)
        problem = problem_of(lambda: Registry(PluginIndex(), files=[file]))
        assert problem.code == "plugin.broken"
        assert problem.message.startswith(f"plugin {file} is broken: ")
        assert reason in problem.message
        left = {name for name in set(sys.modules) - before if name.startswith("skillgauge_file_")}
        assert left == ({name for name in left if reason.startswith(("TypeError", "unknown"))})


def module_of(source: str, name: str = "acme.sample") -> ModuleType:
    """A module that is not installed anywhere."""
    module = ModuleType(name)
    exec(compile(HEAD + textwrap.dedent(source), name, "exec", dont_inherit=True), vars(module))
    return module


class TestOfModules:
    """Tests of plugins need no installation."""

    def test_of(self) -> None:
        """A registry of modules resolves and makes like any other."""
        registry = registry_of(module_of(EXACT), options={"scorers.exact": {"limit": 9}})
        assert options_of(registry.make(SCORERS, "exact"))["limit"] == 9
        assert registry.provenance() == {"skillgauge-core": __version__, "acme.sample": "0"}

    def test_of_a_bad_module(self) -> None:
        """A module that is no plugin is refused."""
        assert "plugin acme.sample is broken" in problem_of(lambda: registry_of(module_of(""))).message


class TestEvents:
    """Extensions listen through pluggy, each on its own."""

    def test_nobody(self, site: Site) -> None:
        """Without extensions no event is told, and no thread is started for them."""
        site.install()
        threads = set(threading.enumerate())
        events = site.registry().events()
        events.trial_started(cast(Trial, "t1"))
        assert not set(threading.enumerate()) - threads
        events.close()

    def test_installed_extensions(self, site: Site, tmp_path: Path) -> None:
        """Each extension is called for the hooks it implements, in pluggy's order, one failing alone."""
        log = tmp_path / "log"
        source = """
        @hookimpl{mark}
        def skillgauge_trial_started(trial):
            with open({log!r}, "a") as log:
                print("{name}", trial, file=log)
            {then}
        """
        for name, mark, then in (
            ("aaa", "(trylast=True)", "pass"),
            ("bbb", "", "raise OSError('offline')"),
            ("ccc", "(tryfirst=True)", "pass"),
        ):
            text = textwrap.dedent(source).format(mark=mark, log=str(log), name=name, then=then)
            site.install(text, name, kind="extensions", distribution=name)
        site.install("raise ImportError('gone')", "ddd", kind="extensions", distribution="ddd")
        registry = site.registry()
        events = registry.events()
        events.trial_started(cast(Trial, "t1"))
        events.trial_started(cast(Trial, "t2"))
        events.close()
        assert log.read_text().split("\n")[:-1] == [
            f"{name} {t}" for t in ("t1", "t2") for name in ("ccc", "bbb", "aaa")
        ]
        assert {name: problem.code for name, problem in registry.failures.items()} == {
            "extensions.bbb": "plugin.broken",
            "extensions.ddd": "plugin.broken",
        }

    def test_alias_does_not_listen_twice(self, site: Site) -> None:
        """Two entry points, also of two distributions, on one module are one listener."""
        module = site.install(
            "SEEN = []\n@hookimpl\ndef skillgauge_plan_ready(plan): SEEN.append(plan)",
            "watch",
            kind="extensions",
            aliases=["look"],
        )
        site.announce("other", {"extensions": {"stare": module}})
        site.registry().events().plan_ready(PLAN)
        assert sys.modules[module].SEEN == [PLAN]

    def test_other_kinds_do_not_listen(self, site: Site) -> None:
        """Only what is installed as an extension is told, whenever the others are loaded."""
        veto = "\n@hookimpl\ndef skillgauge_plan_ready(plan): raise PolicyError('no')\n"
        site.install(EXACT + veto)
        watch = "@hookimpl\ndef skillgauge_plan_ready(plan): pass"
        site.install(watch, "watch", kind="extensions", distribution="watch")
        registry = site.registry()
        events = registry.events()
        registry.resolve("scorers", "exact")
        events.plan_ready(PLAN)
        assert registry.make(EXTENSIONS, "watch") is not None

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("", "does not implement skillgauge_extensions or skillgauge_plan_ready or"),
            ("@hookimpl\nasync def skillgauge_plan_ready(plan): pass", "skillgauge_plan_ready must not be async"),
        ],
    )
    def test_extension_that_would_do_nothing(self, site: Site, source: str, reason: str) -> None:
        """An extension without events, or whose events would never run, is broken and not silently idle."""
        site.install(source, "idle", kind="extensions")
        registry = site.registry()
        registry.events()
        assert reason in registry.failures["extensions.idle"].message


def test_one_module_for_every_kind() -> None:
    """The typed constants name the kinds that the hooks know."""
    from skillgauge.plugins import kinds as module  # noqa: PLC0415 - its constants, as a whole
    from skillgauge.plugins.kinds import KINDS  # noqa: PLC0415

    kinds = {value for value in vars(module).values() if isinstance(value, module.Kind)}
    assert kinds == set(KINDS)
    assert ADAPTERS == "adapters"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_secrets_of_every_kind_are_told(kind: str) -> None:
    """P-B2: of plugins that were loaded before anybody asked, and of those that are loaded afterwards."""
    code = f"""
from skillgauge.api import Provider, Traits, hookimpl

@hookimpl
def skillgauge_{kind}():
    for name in ("early", "late"):
        traits = Traits(secrets=(f"{{name}}_key",), passes=("more",))
        yield Provider(name=name, factory=dict, summary="s", traits=traits)
"""
    registry = registry_of(module_of(code))
    registry.resolve(kind, "early")
    told: list[str] = []
    registry.tell_secrets(told.append)
    assert told == ["early_key", "more"]
    registry.resolve(kind, "late")
    assert told[2:] == ["late_key", "more"]
