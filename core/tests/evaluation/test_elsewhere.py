"""An evaluation in another process: its recipe, and who may follow it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.config.chosen_plugins import ChosenPlugins
from skillgauge.config.trusting import PluginOptions
from skillgauge.contract.sandboxes import Tier
from skillgauge.errors import PluginError, SkillgaugeError, SuiteError
from skillgauge.evaluation.added_checks import read_overlay
from skillgauge.evaluation.elsewhere.places import Place
from skillgauge.evaluation.elsewhere.recipes import options_of, read_recipe, recipe_of
from skillgauge.evaluation.elsewhere.worker import worker
from skillgauge.plan.options import EvalOptions, How, What
from skillgauge.plan.preparing import prepare
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge_testkit.contract.executors import parts

SECRET = "made-up-value-4711"


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalOptions:
    """An evaluation of one case, in the folder where it is wishes for."""
    monkeypatch.chdir(tmp_path)
    suite = tmp_path / f"suite{parts.SUFFIX}"
    suite.touch()
    (tmp_path / "mine.py").write_bytes(Path(parts.__file__).read_bytes())
    return EvalOptions(cwd=tmp_path, what=What(paths=(suite,)), how=How(retries=3))


def chosen(**options: dict[str, object]) -> ChosenPlugins:
    """The plugins of it, in a file of the folder."""
    named = {name.replace("__", "."): values for name, values in options.items()}
    return ChosenPlugins(only=frozenset(), files=(Path("mine.py"),), options=PluginOptions(named, {}))


def written(options: EvalOptions, plugins: ChosenPlugins | None = None) -> bytes:
    """The recipe of it."""
    plugins = plugins or chosen()
    registry = plugins.registry()
    return recipe_of(options, asyncio.run(prepare(options, registry)), plugins, registry)


def made(recipe: bytes, options: EvalOptions) -> TrialResult:
    """The result of its trial in a worker, which is in the folder that is current now."""

    async def attempt() -> TrialResult:
        (trial,) = (await prepare(options, chosen().registry())).plan.trials()
        async with worker(recipe, 2) as run_trial:
            return await run_trial(trial)

    return asyncio.run(attempt())


def changed(recipe: bytes, change: Callable[[Any], None]) -> bytes:
    """A recipe in which something else stands."""
    document = json.loads(recipe)
    change(document)
    return json.dumps(document).encode()


def refusal(recipe: bytes, options: EvalOptions) -> list[str]:
    """The ids of the reasons why no worker here takes it."""
    with pytest.raises(SkillgaugeError) as caught:
        made(recipe, options)
    return [problem.code for problem in caught.value.problems]


def test_worker_makes_the_attempt(options: EvalOptions) -> None:
    """A recipe is all that it takes to run and grade a trial of the plan."""
    result = made(written(options), options)
    assert (result.verdict, result.execution.output) == (Verdict.PASS, "case")


def test_plan_must_be_the_same(options: EvalOptions) -> None:
    """Another plan is refused, since its results would stand under the old one's name."""
    recipe = changed(written(options), lambda one: one["how"].update(runs=2))
    with pytest.raises(SuiteError, match="has changed since the run began"):
        made(recipe, options)


def test_worker_has_the_sandbox_of_the_run(options: EvalOptions) -> None:
    """Workers are told the sandbox that was chosen and neither executor nor store, which are not theirs."""
    registry = chosen().registry()
    prepared = asyncio.run(prepare(options, registry))
    who = replace(options.who, store="runs.db", store_given=True, executor="processes")
    theirs = json.loads(recipe_of(replace(options, who=who), prepared, chosen(), registry))["who"]
    assert (theirs["sandbox"], theirs["executor"], theirs["store"], theirs["store_given"]) == (
        "contract",
        None,
        None,
        False,
    )


def test_it_names_no_absolute_path(
    options: EvalOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Paths are those of the folder, or of whoever's home; in another one with equal files it is the same plan."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    who = replace(options.who, cache=home / "sessions", replay=tmp_path / "recorded")
    recipe = written(replace(options, who=who), replace(chosen(), files=(tmp_path / "mine.py",)))
    assert str(tmp_path) not in recipe.decode()
    assert str(home) not in recipe.decode()
    document = json.loads(recipe)
    assert (document["who"]["cache"], document["who"]["replay"]) == ("~/sessions", "recorded")
    assert (document["what"]["paths"], list(document["plugin_files"])) == ([f"suite{parts.SUFFIX}"], ["mine.py"])
    other, other_home = tmp_path_factory.mktemp("other"), tmp_path_factory.mktemp("other-home")
    monkeypatch.setenv("HOME", str(other_home))
    wishes, plugins = options_of(read_recipe(recipe), Place(other))
    assert wishes.what.paths == (other / f"suite{parts.SUFFIX}",)
    assert wishes.who.cache == other_home / "sessions"
    assert plugins.files == (other / "mine.py",)


def test_another_folder_makes_the_same_plan(
    options: EvalOptions, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A worker whose files are the same takes it, wherever they lie."""
    recipe = written(options)
    other = tmp_path_factory.mktemp("other")
    for name in ("mine.py", f"suite{parts.SUFFIX}"):
        (other / name).write_bytes((options.cwd / name).read_bytes())
    monkeypatch.chdir(other)
    assert made(recipe, options).verdict is Verdict.PASS


def test_secrets_go_by_name(options: EvalOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is known as a secret stands in no recipe; the worker looks it up, and says so if it is not there."""
    monkeypatch.setenv("ACME_API_KEY", SECRET)
    recipe = written(options, chosen(engines__acme={"headers": [f"Bearer {SECRET}"]}))
    assert SECRET not in recipe.decode()
    assert json.loads(recipe)["secrets"] == ["ACME_API_KEY"]
    assert read_recipe(recipe).options["engines.acme"] == {"headers": (f"Bearer {SECRET}",)}
    monkeypatch.delenv("ACME_API_KEY")
    assert refusal(recipe, options) == ["worker.no-secret"]


def test_secret_in_disguise_is_refused(options: EvalOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that could be put back only wrongly does not go out at all."""
    monkeypatch.setenv("ACME_API_KEY", SECRET)
    with pytest.raises(PluginError, match="holds a secret") as caught:
        written(options, chosen(engines__acme={"key": SECRET.encode().hex()}))
    assert SECRET.encode().hex() not in str(caught.value)


def test_checks_that_were_added_go_along(options: EvalOptions) -> None:
    """The worker grades with the checks of `--check`, too."""
    overlay = read_overlay((), "", ["contract"])
    recipe = written(replace(options, what=replace(options.what, revise=overlay)))
    wishes, _ = options_of(read_recipe(recipe), Place(options.cwd))
    assert wishes.what.revise == overlay


def test_revision_of_a_stranger(options: EvalOptions) -> None:
    """A recipe makes objects of the core and of plugins, and imports nothing else."""
    recipe = changed(written(options), lambda one: one.update(revision={"made_by": "subprocess:Popen", "state": {}}))
    assert refusal(recipe, options) == ["worker.revision"]


def test_other_installations_are_refused(options: EvalOptions) -> None:
    """Every difference is told at once."""

    def differ(recipe: Any) -> None:
        recipe["python"] = "2.7"
        recipe["versions"] |= {"skillgauge-core": "0.0.1", "acme-nowhere": "1"}

    recipe = changed(written(options), differ)
    assert refusal(recipe, options) == ["worker.python", "worker.version", "worker.no-distribution"]


def test_other_files_are_refused(options: EvalOptions) -> None:
    """A plugin file that is another one, or not there, is named."""
    recipe, plugin = written(options), options.cwd / "mine.py"
    kept = plugin.read_bytes()
    plugin.write_bytes(kept + b"\n")
    assert refusal(recipe, options) == ["worker.other-file"]
    recipe = changed(recipe, lambda one: one.update(plugin_files={"gone.py": "0"}, python="2.7"))
    assert refusal(recipe, options) == ["worker.python", "worker.no-file"]


def test_weaker_sandbox_is_refused(options: EvalOptions) -> None:
    """A worker confines as strongly as the process that began the run, or makes nothing."""
    recipe = changed(written(options), lambda one: one.update(tier=Tier.STRICT))
    assert json.loads(written(options))["tier"] != Tier.STRICT
    assert refusal(recipe, options) == ["worker.sandbox"]


def test_every_reason_is_told_at_once(options: EvalOptions) -> None:
    """A worker that lacks several things is refused once, so that its owner mends all of them at once."""
    recipe = changed(written(options), lacking)
    assert refusal(recipe, options) == [
        "worker.no-secret",
        "worker.python",
        "worker.version",
        "worker.sandbox",
        "contract.no-login",
    ]


def test_a_revision_that_is_missing_hides_no_other_reason(options: EvalOptions) -> None:
    """Versions are told with it."""
    stranger = {"made_by": "subprocess:Popen", "state": {}}
    recipe = changed(written(options), lambda one: one.update(revision=stranger, python="2.7"))
    assert refusal(recipe, options) == ["worker.python", "worker.revision"]


def lacking(recipe: Any) -> None:
    """Ask for everything that no worker of these tests has."""
    recipe["secrets"] = ["SKILLGAUGE_ABSENT_SECRET"]
    recipe["python"] = "2.7"
    recipe["versions"]["skillgauge-core"] = "0.0.1"
    recipe["tier"] = Tier.STRICT
    recipe["options"]["adapters.contract"] = {"login": False}


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"[]", b'{"schema_version": "2.0"}'])
def test_what_is_no_recipe(content: bytes) -> None:
    """It is refused as such; a pickle is none."""
    with pytest.raises(PluginError, match="no recipe") as caught:
        read_recipe(content)
    assert [problem.code for problem in caught.value.problems] == ["worker.recipe"]
