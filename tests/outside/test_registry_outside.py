"""Plugins from outside this workspace are first class, and bad ones harm nothing but themselves."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge import __version__

GOOD = ("scorer", "adapter", "command", "veto")
BAD = ("broken", "exits", "misspelt", "rival", "future")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def good(install: Callable[..., Path]) -> Path:
    """An installation of the private plugins."""
    return install(*GOOD)


@pytest.fixture(scope="session")
def everything(install: Callable[..., Path]) -> Path:
    """An installation of the private plugins with all the bad ones."""
    return install(*GOOD, *BAD)


class TestGood:
    """Nothing that a built-in can do is closed to a private plugin."""

    def test_scorer(self, good: Path, answer: Callable[..., Any]) -> None:
        """A private scorer resolves by its name and by its alias, takes options, and scores."""
        code = """
        found = registry.resolve("scorers", "acme-near")
        scorer = registry.make(SCORERS, "acme-tolerance", {"expected": 10, "tolerance": 0.5})
        check, case = Check(id="c", scorer="acme-tolerance"), Case(id="k")
        def score(output):
            context = ScoreContext(check, case, Execution(output=output), DIRECT)
            return asyncio.run(scorer.score(context)).status
        answer([found.name, found.distribution, found.version, [score(x) for x in (10.4, 11, "10", True)]])
        """
        assert answer(good, textwrap.dedent(code)) == [
            "acme-tolerance",
            "acme-skillgauge-scorer",
            "1.2.0",
            ["passed", "failed", "failed", "failed"],
        ]

    def test_scorer_options(self, good: Path, answer: Callable[..., Any]) -> None:
        """Its options are checked like those of a built-in, before anything runs."""
        code = 'answer(problem(lambda: registry.make(SCORERS, "acme-tolerance", {"tolerence": -1, "tolerance": -1})))'
        kind, text = answer(good, code)
        assert kind == "plugin.options"
        assert "scorers.acme-tolerance.expected: Field required" in text
        assert "scorers.acme-tolerance.tolerance: Input should be greater than or equal to 0" in text
        assert "scorers.acme-tolerance.tolerence: unknown option (did you mean tolerance?)" in text

    def test_adapter(self, good: Path, answer: Callable[..., Any]) -> None:
        """A private adapter opens a session and answers a call."""
        code = """
        adapter = registry.make(ADAPTERS, "acme-echo")
        async def call():
            session = await adapter.open(Target(id="t"), None)
            request = CallRequest(trial_id="t", case_id="c", input={"x": [1]}, limits=Limits())
            return (await session.call(request)).output
        answer([asyncio.run(call()), len(adapter.check_target(Target(id="t", entrypoint="x")))])
        """
        assert answer(good, textwrap.dedent(code)) == [{"x": [1]}, 1]

    def test_command(self, good: Path, answer: Callable[..., Any]) -> None:
        """A private command is listed with its summary before anything of it is imported, and runs."""
        code = """
        from importlib.metadata import EntryPoint
        from click.testing import CliRunner
        (entry,) = index.find("commands", "acme-hello")
        unseen = not any(name.startswith("acme") for name in sys.modules)
        command = EntryPoint(entry.name, entry.module, "skillgauge.commands").load()
        output = CliRunner().invoke(command, ["--name", "you"]).output
        answer([entry.name, entry.module, entry.summary, unseen, output])
        """
        assert answer(good, textwrap.dedent(code)) == [
            "acme-hello",
            "acme_skillgauge_command.command:hello",
            "Command acme-hello: greets ACME's staff.",
            True,
            "Hello, you.\n",
        ]

    def test_veto(self, good: Path, answer: Callable[..., Any]) -> None:
        """A private policy forbids a plan that is too large, and no other."""
        code = """
        events = registry.events()
        def plan(count):
            return PlanHead(plan_id="p", suites=(), trial_count=count, runs=1, seed=0)
        answer([problem(lambda: events.plan_ready(plan(count))) for count in (5, 6)])
        """
        assert answer(good, textwrap.dedent(code), ACME_MAX_TRIALS="5") == [
            None,
            ["policy.refused", "error[policy.refused]: 6 trials, but ACME allows 5"],
        ]

    def test_only_what_is_named_is_imported(self, good: Path, answer: Callable[..., Any]) -> None:
        """Using one plugin imports its announcement, not its work, and no other plugin."""
        code = """
        registry.resolve("scorers", "acme-tolerance")
        answer(sorted(name for name in sys.modules if name.startswith("acme")))
        """
        assert answer(good, textwrap.dedent(code)) == ["acme_skillgauge_scorer", "acme_skillgauge_scorer.plugin"]

    def test_provenance(self, good: Path, answer: Callable[..., Any]) -> None:
        """A run knows which versions of which distributions took part."""
        code = 'registry.resolve("scorers", "acme-near"); answer(registry.provenance())'
        assert answer(good, code) == {"skillgauge-core": __version__, "acme-skillgauge-scorer": "1.2.0"}

    def test_uninstalled(self, install: Callable[..., Path], answer: Callable[..., Any]) -> None:
        """What was removed is gone in the next process, whatever the cache held."""
        site = install("scorer")
        code = 'answer(problem(lambda: registry.resolve("scorers", "acme-tolerance")))'
        assert answer(site, code) is None
        shutil.rmtree(site / "acme_skillgauge_scorer-1.2.0.dist-info")
        kind, text = answer(site, code)
        assert kind == "plugin.not-installed"
        assert "pip install" not in text
        assert "Install the package that brings it" in text


class TestBad:
    """Bad plugins are listed with their reasons, and everything else works."""

    def test_listed_without_importing(self, everything: Path, answer: Callable[..., Any]) -> None:
        """The index knows all nine distributions, and which one is for another core."""
        code = """
        problems = {entry.distribution: entry.problem for entry in index.entries()}
        answer([problems, any(name.startswith("acme") for name in sys.modules)])
        """
        problems, imported = answer(everything, textwrap.dedent(code))
        assert set(problems) >= {f"acme-skillgauge-{name}" for name in GOOD + BAD}
        future = f"needs skillgauge-core >=9, and this is {__version__}"
        assert {name: problem for name, problem in problems.items() if problem} == {"acme-skillgauge-future": future}
        assert not imported

    def test_reasons(self, everything: Path, answer: Callable[..., Any]) -> None:
        """Each bad plugin gives its own reason, and the process that met all of them lives on."""
        code = """
        loaded = [found.name for found in registry.load_all("scorers") if found.name.startswith("acme")]
        messages = {name: problem.message for name, problem in registry.failures.items()}
        answer([loaded, messages, registry.resolve("adapters", "acme-echo").name])
        """
        loaded, messages, adapter = answer(everything, textwrap.dedent(code))
        assert loaded == ["acme-tolerance"]
        assert adapter == "acme-echo"
        expected = {
            "scorers.acme-broken": "ModuleNotFoundError: No module named 'acme_library_that_is_gone'",
            "scorers.acme-exits": "SystemExit: acme-exits needs a license",
            "scorers.acme-misspelt": "unknown hook 'skillgauge_scorer'",
            "scorers.acme-future": "needs skillgauge-core >=9",
            "scorers.acme-tolerance": "acme-skillgauge-rival 1.2.0 and acme-skillgauge-scorer 1.2.0",
        }
        assert set(messages) == set(expected)
        for name, reason in expected.items():
            assert reason in messages[name]

    def test_failures_are_known_to_the_next_process(self, everything: Path, answer: Callable[..., Any]) -> None:
        """What could not be loaded is told by a later process before that one loads anything."""
        code = """
        before = {entry.name: text.partition(":")[0] for entry, text in index.recorded_failures().items()}
        registry.load_all("scorers")
        answer(before)
        """
        assert answer(everything, textwrap.dedent(code)) == {}
        assert answer(everything, textwrap.dedent(code)) == {
            "acme-broken": "ModuleNotFoundError",
            "acme-exits": "SystemExit",
            "acme-misspelt": "PluginValidationError",
        }

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("acme-broken", "plugin.broken"),
            ("acme-exits", "plugin.broken"),
            ("acme-misspelt", "plugin.broken"),
            ("acme-future", "plugin.incompatible"),
            ("acme-tolerance", "plugin.ambiguous"),
        ],
    )
    def test_naming_a_bad_one(self, everything: Path, answer: Callable[..., Any], name: str, code: str) -> None:
        """A run that names a bad plugin fails with the reason and the next step."""
        kind, text = answer(everything, f'answer(problem(lambda: registry.resolve("scorers", {name!r})))')
        assert kind == code
        assert "\n  next: " in text

    @pytest.mark.parametrize(
        ("settings", "name"),
        [
            ({}, "acme-skillgauge-rival:acme-tolerance"),
            ({"blocked": ["acme-skillgauge-scorer"]}, "acme-tolerance"),
        ],
    )
    def test_ways_to_settle_a_clash(
        self, everything: Path, answer: Callable[..., Any], settings: Mapping[str, Any], name: str
    ) -> None:
        """A full name, or blocking the other, picks one of two plugins of a name."""
        code = f'answer(Registry(index, **{settings!r}).resolve("scorers", {name!r}).distribution)'
        assert answer(everything, code) == "acme-skillgauge-rival"


BLOCKER = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {library!r}:
            raise ModuleNotFoundError(f"no {{name}}", name=name)
sys.meta_path.insert(0, Blocker())
from skillgauge.plugins.installed import read_index
print("listed", *(entry.name for entry in read_index().entries("scorers")))
from skillgauge.plugins.registry import Registry
print("resolved", Registry(read_index()).resolve("scorers", "acme-tolerance").name)
"""


@pytest.mark.parametrize("library", ["pluggy", "stevedore"])
def test_neither_library_is_decoration(good: Path, child: Callable[..., Any], library: str) -> None:
    """Without stevedore, and without pluggy, nothing loads by name; listing what is installed needs neither."""
    done = child(good, "-c", BLOCKER.format(library=library))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("listed")
    assert "acme-tolerance" in done.stdout
    assert f"no {library}" in done.stderr.splitlines()[-1]
    assert "resolved acme-tolerance" in child(good, "-c", BLOCKER.format(library="nothing")).stdout
