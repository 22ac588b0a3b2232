"""Options of plugins in a recipe: paths that belong to the run, places of a machine, and secrets."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillgauge.config.chosen_plugins import ChosenPlugins
from skillgauge.config.trusting import PluginOptions
from skillgauge.contract.executors import RunFiles
from skillgauge.errors import PluginError
from skillgauge.evaluation.added_checks import read_overlay
from skillgauge.evaluation.elsewhere.files import files_of
from skillgauge.evaluation.elsewhere.places import Place
from skillgauge.evaluation.elsewhere.recipes import options_of, read_recipe, recipe_of
from skillgauge.plan.options import EvalOptions, What
from skillgauge.plan.preparing import prepare
from skillgauge_testkit.contract.executors import parts

KEY = "made-up-4711-value"
PLUGIN = """
from pydantic import BaseModel, Field, SecretStr
from skillgauge.api import MACHINE_PLACE, RUN_PLACE, Provider, Score, hookimpl


class Options(BaseModel):
    file: str | None = Field(default=None, json_schema_extra=RUN_PLACE)
    folders: tuple[str, ...] = Field(default=(), json_schema_extra=RUN_PLACE)
    program: str | None = Field(default=None, json_schema_extra=MACHINE_PLACE)
    text: str = ""
    locked: SecretStr | None = None
    headers: dict[str, str] = {}
    api_key: str = ""
    apiKey: str = ""
    token: str = ""
    stop_token: str = ""
    password_secret: str = ""
    answer_key: str = ""
    address: str = ""


class Placed:
    version = "1"

    def __init__(self, options):
        pass

    async def score(self, context):
        return Score.passed()


@hookimpl
def skillgauge_scorers():
    yield Provider(name="placed", factory=Placed, options=Options, summary="Has places.")
"""


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalOptions:
    """An evaluation in a folder, beside the home of its user."""
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    suite = folder / f"suite{parts.SUFFIX}"
    suite.touch()
    (folder / "mine.py").write_bytes(Path(parts.__file__).read_bytes())
    (folder / "placed.py").write_text(PLUGIN)
    return EvalOptions(cwd=folder, what=What(paths=(suite,)))


def chosen(options: dict[str, dict[str, Any]]) -> ChosenPlugins:
    """The plugins of the folder, set so."""
    files = (Path("mine.py"), Path("placed.py"))
    return ChosenPlugins(only=frozenset(), files=files, options=PluginOptions(options, {}))


def elsewhere(options: EvalOptions, plugins: ChosenPlugins) -> tuple[bytes, RunFiles]:
    """The recipe and the files of the run."""
    registry = plugins.registry()
    run = options, asyncio.run(prepare(options, registry)), plugins, registry
    return recipe_of(*run), files_of(*run)


def refused(options: EvalOptions, **values: Any) -> tuple[str, str]:
    """The code and the message of the refusal of a run whose plugin is set so."""
    with pytest.raises(PluginError) as caught:
        elsewhere(options, chosen({"scorers.placed": values}))
    (problem,) = caught.value.problems
    return problem.code, problem.message


def test_declared_paths_are_those_of_the_worker(options: EvalOptions, tmp_path: Path) -> None:
    """Below the folder, below the home and beside both: named without the first machine, and found at another place."""
    inside, own, beside = options.cwd / "a.txt", tmp_path / "home/b.txt", tmp_path / "shared"
    inside.touch()
    own.touch()
    beside.mkdir()
    values = {"file": str(inside), "folders": [str(own), str(beside)]}
    recipe, files = elsewhere(options, chosen({"scorers.placed": values}))
    assert str(tmp_path) not in recipe.decode()
    assert json.loads(recipe)["options"]["scorers.placed"] == {"file": "a.txt", "folders": ["~/b.txt", "../shared"]}
    assert {"a.txt", "~/b.txt", "../shared"} <= files.roots.keys()
    place = Place(Path("/other/run"), Path("/other/home"))
    _, plugins = options_of(read_recipe(recipe), place)
    assert plugins.options.chosen["scorers.placed"] == {"file": "a.txt", "folders": ["/other/home/b.txt", "../shared"]}


def test_paths_of_added_checks(options: EvalOptions) -> None:
    """Ids have them as they stand, so that an absolute one would make another plan at a worker; a relative one goes."""
    (options.cwd / "grade.py").touch()

    def checked(path: str) -> EvalOptions:
        overlay = read_overlay([{"scorer": "placed", "options": {"file": path}}], "config.yaml", ())
        return replace(options, what=replace(options.what, revise=overlay))

    _, files = elsewhere(checked("grade.py"), chosen({}))
    assert "grade.py" in files.roots
    with pytest.raises(PluginError, match=r"option 'file' of scorers\.placed is /"):
        elsewhere(checked(str(options.cwd / "grade.py")), chosen({}))


def test_places_of_each_machine_stay(options: EvalOptions) -> None:
    """A program is where it is on every machine."""
    program = options.cwd / "program"
    program.touch()
    recipe, files = elsewhere(options, chosen({"scorers.placed": {"program": str(program)}}))
    assert json.loads(recipe)["options"]["scorers.placed"]["program"] == str(program)
    assert "program" not in files.roots


def test_what_workers_would_not_have_is_named(options: EvalOptions, tmp_path: Path) -> None:
    """An absolute path of the run's folder or the home of which no plugin says anything, and which is there."""
    for place, hint in (("run/a.txt", "as a.txt"), ("home/a.txt", "below this folder")):
        path = tmp_path / place
        path.touch()
        with pytest.raises(PluginError, match=rf"option 'text' of scorers\.placed is {path}") as caught:
            elsewhere(options, chosen({"scorers.placed": {"text": str(path)}}))
        (problem,) = caught.value.problems
        assert problem.code == "executor.path"
        assert hint in str(problem.hint)


def test_other_absolute_paths_are_no_trouble(options: EvalOptions) -> None:
    """Those of the system, those that are not there, parts of a text, and those of plugins that do not take part."""
    (options.cwd / "a.txt").touch()
    for text in ("/usr/bin/env", f"{options.cwd}/gone.txt", f"look into {options.cwd}/a.txt"):
        elsewhere(options, chosen({"scorers.placed": {"text": text}}))
    elsewhere(options, chosen({"engines.absent": {"text": f"{options.cwd}/a.txt"}}))


def test_files_of_other_options_go_along_by_a_relative_path(options: EvalOptions) -> None:
    """As they did before any plugin declared its paths."""
    (options.cwd / "a.txt").touch()
    _, files = elsewhere(options, chosen({"scorers.placed": {"text": "a.txt"}}))
    assert "a.txt" in files.roots


def test_options_that_no_worker_needs_stay(options: EvalOptions) -> None:
    """Executors and stores work in the first process, and their keys are its own."""
    (options.cwd / "key.pem").touch()
    values = {"executors.acme": {"tls_key": "key.pem"}, "stores.acme": {"api_key": KEY}, "reporters.acme": {"a": "b"}}
    recipe, files = elsewhere(options, chosen(values))
    assert json.loads(recipe)["options"] == {}
    assert "key.pem" not in files.roots


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("locked", "short"),
        ("api_key", KEY),
        ("apiKey", KEY),
        ("token", KEY),
        ("headers", {"Authorization": f"Bearer {KEY}"}),
        ("headers", {"X-Api-Key": KEY}),
        ("address", "https://user:word@gateway.example/v1"),
    ],
)
def test_typed_secrets_are_refused(options: EvalOptions, name: str, value: Any) -> None:
    """By the declared type, the name or the form of an address; the message names the option and not the value."""
    code, message = refused(options, **{name: value})
    assert code == "executor.secret"
    assert f"scorers.placed.{name}" in message
    assert not any(secret in message for secret in ("short", KEY, "word"))


def test_typed_secrets_of_plugins_that_are_not_here(options: EvalOptions) -> None:
    """The name of the option is enough."""
    with pytest.raises(PluginError, match=r"engines\.absent\.api_key"):
        elsewhere(options, chosen({"engines.absent": {"api_key": KEY}}))


def test_the_way_out_is_a_variable(options: EvalOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same value in it the recipe has its name, of a declared secret as of any."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    values = {"api_key": KEY, "locked": KEY, "headers": {"Authorization": f"Bearer {KEY}"}}
    recipe, _ = elsewhere(options, chosen({"scorers.placed": {**values, "address": f"https://me:{KEY}@gateway"}}))
    assert KEY not in recipe.decode()
    assert json.loads(recipe)["secrets"] == ["ACME_API_KEY"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password_secret", "EVALS_DB_PASSWORD"),
        ("api_key", "{secret:ACME_API_KEY}"),
        ("api_key", "${ACME_API_KEY}"),
        ("token", "none"),
        ("token", "the word at the end of a line"),
        ("stop_token", "<|end_of_text|>"),
        ("answer_key", "choices.0.message.content"),
        ("address", "https://gateway.example:8443/v1"),
        ("text", KEY),
    ],
)
def test_no_false_alarm(options: EvalOptions, name: str, value: str) -> None:
    """Names of variables, placeholders, phrases, short words and markers of models are no secrets."""
    recipe, _ = elsewhere(options, chosen({"scorers.placed": {name: value}}))
    assert json.loads(recipe)["options"]["scorers.placed"] == {name: value}


def test_a_file_of_a_token_is_no_secret(options: EvalOptions) -> None:
    """The option names it; what it holds goes nowhere."""
    file = options.cwd.parent / "token-of-acme"
    file.touch()
    elsewhere(options, chosen({"scorers.placed": {"token": str(file)}}))
