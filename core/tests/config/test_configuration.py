"""Configuration: which of the five sources wins for each key, what is refused, and that all of it is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.config.config_files import PROJECT_FILE, OtherPrograms, load_config, user_path
from skillgauge.config.configuration import (
    KEYS,
    Config,
    Source,
    Value,
    check_value,
    parse_text,
    plugin_assignments,
    variable_name,
)
from skillgauge.errors import Problem, UsageError

quick = settings(max_examples=60, deadline=None)

SPELLINGS = {"llm.model": "judgeModel", "llm.temperature": "judgeTemperature", "theirs.lost": "absent", "runs": "seed"}
"""What plugins announce: two keys, one that means nothing here, and one that is ours already."""


def config(
    cwd: Path,
    *,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    project: str | None = None,
    pyproject: str | None = None,
    user: str | None = None,
    explicit: Path | None = None,
) -> Config:
    """Load configuration from files with these texts."""
    for name, text in ((PROJECT_FILE, project), ("pyproject.toml", pyproject), ("user.yaml", user)):
        if text is not None:
            (cwd / name).write_text(text, encoding="utf-8")
    return load_config(
        cwd=cwd,
        flags=flags or {},
        environ=environ or {},
        explicit=explicit,
        user_file=cwd / "user.yaml",
        others=OtherPrograms((), SPELLINGS),
        trusts=lambda _file, _text: True,
    )


def problems_of(cwd: Path, **sources: Any) -> tuple[Problem, ...]:
    """What is wrong with these sources."""
    with pytest.raises(UsageError) as caught:
        config(cwd, **sources)
    return caught.value.problems


# --- precedence -------------------------------------------------------------------------------------------

SOURCES: dict[Source, dict[str, Any]] = {
    Source.FLAG: {"flags": {"runs": 11}},
    Source.ENVIRONMENT: {"environ": {"SKILLGAUGE_RUNS": "12"}},
    Source.PROJECT: {"project": "runs: 13\n"},
    Source.USER: {"user": "runs: 14\n"},
}
VALUES = {Source.FLAG: 11, Source.ENVIRONMENT: 12, Source.PROJECT: 13, Source.USER: 14, Source.DEFAULT: 1}


@pytest.mark.parametrize(
    "given_",
    [some for size in range(5) for some in combinations(SOURCES, size)],
    ids=lambda some: "+".join(some) or "-",
)
def test_the_strongest_source_wins(tmp_path: Path, given_: tuple[Source, ...]) -> None:
    """Flag, variable, project file, user file, default, in whichever combination they are there."""
    options: dict[str, Any] = {}
    for source in given_:
        options |= SOURCES[source]
    value = config(tmp_path, **options).find("runs")
    winner = given_[0] if given_ else Source.DEFAULT
    assert value is not None
    assert (value.source, value.value) == (winner, VALUES[winner])


def test_each_key_has_its_own_winner(tmp_path: Path) -> None:
    """A stronger source that says nothing about a key leaves it to the next one."""
    found = config(
        tmp_path,
        flags={"runs": 2},
        environ={"SKILLGAUGE_SEED": "3", "SKILLGAUGE_RUNS": "99"},
        project="retries: 4\nseed: 99\n",
        user="engine: codex\nretries: 99\n",
    )
    values = {key: value for key in ("runs", "seed", "retries", "engine", "store") if (value := found.find(key))}
    assert {key: (found.get(key), value.source) for key, value in values.items()} == {
        "runs": (2, Source.FLAG),
        "seed": (3, Source.ENVIRONMENT),
        "retries": (4, Source.PROJECT),
        "engine": ("codex", Source.USER),
        "store": ("./skillgauge.db", Source.DEFAULT),
    }


def test_the_order_of_sources_is_the_documented_one() -> None:
    """Earlier members win."""
    assert [str(source) for source in Source] == ["flag", "environment", "project file", "user file", "default"]


def test_a_value_knows_where_it_was_set(tmp_path: Path) -> None:
    """For people who wonder: the file, the environment or the command line."""
    found = config(
        tmp_path, flags={"runs": 2}, environ={"SKILLGAUGE_SEED": "3"}, project="retries: 4\n", user="engine: codex\n"
    )
    where = {key: value.where for key in ("runs", "seed", "retries", "engine", "store") if (value := found.find(key))}
    assert where == {
        "runs": "command line",
        "seed": "environment",
        "retries": str(tmp_path / PROJECT_FILE),
        "engine": str(tmp_path / "user.yaml"),
        "store": "",
    }


def test_only_what_somebody_set_is_set(tmp_path: Path) -> None:
    """A default is in force but was not chosen; a key that nobody knows has no value at all."""
    found = config(tmp_path, project="seed: 0\n")
    assert found.is_set("seed")
    assert not found.is_set("runs")
    assert not found.is_set("plugins.scorers.exact.x")
    assert (found.get("runs"), found.get("plugins.scorers.exact.x"), found.find("absent")) == (1, None, None)


def test_all_values_in_force_are_listed(tmp_path: Path) -> None:
    """Every known key and every plugin option, once, sorted, with the value that wins."""
    found = config(tmp_path, flags={"seed": 5}, project="seed: 6\nplugins: {scorers: {exact: {strip: true}}}\n")
    items = list(found.items())
    assert [item.key for item in items] == sorted(
        [*KEYS, "llm.model", "llm.temperature", "plugins.scorers.exact.strip"]
    )
    assert {item.key: item.value for item in items if item.source is not Source.DEFAULT} == {
        "seed": 5,
        "plugins.scorers.exact.strip": True,
    }


def test_null_gives_back_the_choice(tmp_path: Path) -> None:
    """A project may say that nothing is set where the user's file sets something."""
    found = config(tmp_path, project="engine: null\n", user="engine: codex\n")
    value = found.find("engine")
    assert value is not None
    assert (value.value, value.source) == (None, Source.PROJECT)


# --- files ------------------------------------------------------------------------------------------------


def test_a_project_may_keep_its_configuration_in_pyproject(tmp_path: Path) -> None:
    """The table `tool.skillgauge`, nested or dotted; other tables are not ours."""
    found = config(
        tmp_path,
        pyproject='[project]\nname = "x"\n[tool.other]\nruns = 9\n[tool.skillgauge]\nruns = 2\nllm.model = "m"\n'
        "[tool.skillgauge.plugins.scorers.exact]\nstrip = true\n",
    )
    assert (found.get("runs"), found.get("llm.model"), found.get("plugins.scorers.exact.strip")) == (2, "m", True)
    value = found.find("runs")
    assert value is not None
    assert (value.source, value.where) == (Source.PROJECT, str(tmp_path / "pyproject.toml"))


def test_the_own_file_goes_before_pyproject(tmp_path: Path) -> None:
    """Only one of the two is read, so that no value has two homes in a project."""
    found = config(tmp_path, project="runs: 3\n", pyproject="[tool.skillgauge]\nruns = 2\nseed = 9\n")
    assert (found.get("runs"), found.get("seed")) == (3, 0)


@pytest.mark.parametrize("text", ["", '[project]\nname = "x"\n', "[tool.other]\n"])
def test_a_pyproject_without_our_table_says_nothing(tmp_path: Path, text: str) -> None:
    """Most projects have one for other reasons."""
    assert not any(value.source is Source.PROJECT for value in config(tmp_path, pyproject=text).items())


def test_a_named_file_takes_the_place_of_the_project_file(tmp_path: Path) -> None:
    """The user file still counts below it."""
    other = tmp_path / "other.yaml"
    other.write_text("runs: 5\n")
    found = config(tmp_path, project="runs: 3\nseed: 3\n", user="retries: 4\n", explicit=other)
    assert (found.get("runs"), found.get("seed"), found.get("retries")) == (5, 0, 4)


def test_a_named_file_may_be_toml(tmp_path: Path) -> None:
    """The ending decides how it is read."""
    other = tmp_path / "other.toml"
    other.write_text("[tool.skillgauge]\nruns = 5\n")
    assert config(tmp_path, explicit=other).get("runs") == 5


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Nobody wants to run with other settings than those he named, silently."""
    (problem,) = problems_of(tmp_path, explicit=tmp_path / "absent.yaml", project="runs: 3\n")
    assert problem.code == "config.missing"
    assert str(tmp_path / "absent.yaml") in problem.message


@pytest.mark.parametrize("text", ["", "# only a comment\n", "null\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str) -> None:
    """It is no error to have nothing to say."""
    assert not any(value.source is Source.PROJECT for value in config(tmp_path, project=text).items())


def test_a_file_that_is_no_mapping_is_an_error(tmp_path: Path) -> None:
    """A list or a text configures nothing."""
    (problem,) = problems_of(tmp_path, project="- runs\n- 3\n")
    assert problem.code == "config.shape"
    assert problem.origin is not None
    assert problem.origin.file == str(tmp_path / PROJECT_FILE)


@pytest.mark.parametrize("text", ["[tool]\nskillgauge = 3\n", "tool = 3\n", "[[tool.skillgauge]]\nruns = 3\n"])
def test_a_table_that_is_none_is_an_error(tmp_path: Path, text: str) -> None:
    """In pyproject too only a table configures anything; what else stands there is named, not stumbled over."""
    (problem,) = problems_of(tmp_path, pyproject=text)
    assert problem.code == "config.shape"


def test_a_pyproject_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """With the file and the parser's reason."""
    (problem,) = problems_of(tmp_path, pyproject="[tool\n")
    assert problem.code == "config.syntax"
    assert problem.origin is not None
    assert problem.origin.file == str(tmp_path / "pyproject.toml")


def test_a_pyproject_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are a problem of the file, not an exception."""
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.skillgauge]\nstore = '\xff'\n")
    (problem,) = problems_of(tmp_path)
    assert problem.code == "document.encoding"


def test_a_file_with_broken_syntax_does_not_hide_other_problems(tmp_path: Path) -> None:
    """A file that cannot be read is one problem among all that are told."""
    problems = problems_of(tmp_path, project="runs: [1\n", user="unknown: 1\n", environ={"SKILLGAUGE_SEED": "many"})
    codes = [problem.code for problem in problems]
    assert "config.wrong-type" in codes
    assert "config.unknown-key" in codes
    assert len(codes) == 3


# --- the user's file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x/skillgauge/config.yaml")),
        ({"HOME": "/h"}, Path("/h/.config/skillgauge/config.yaml")),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, Path("/h/.config/skillgauge/config.yaml")),
        ({"USERPROFILE": "/u"}, Path("/u/.config/skillgauge/config.yaml")),
        ({}, None),
    ],
)
def test_the_users_file_lies_where_the_system_says(environ: dict[str, str], expected: Path | None) -> None:
    """Found from the environment that was given, and nowhere without a home."""
    assert user_path(environ) == expected


def test_the_users_file_is_found_through_the_environment(tmp_path: Path) -> None:
    """Without another one being named."""
    folder = tmp_path / "xdg" / "skillgauge"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("runs: 6\n")
    found = load_config(cwd=tmp_path, flags={}, environ={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    value = found.find("runs")
    assert value is not None
    assert (value.value, value.source) == (6, Source.USER)


def test_a_machine_without_home_has_defaults(tmp_path: Path) -> None:
    """Nothing is looked for where nothing can be."""
    assert load_config(cwd=tmp_path, flags={}, environ={}).get("runs") == 1


# --- what is refused --------------------------------------------------------------------------------------


def test_every_problem_of_every_source_is_told(tmp_path: Path) -> None:
    """Variables first, then the project's file, then the user's; each with its place, nothing loaded."""
    problems = problems_of(
        tmp_path,
        environ={"SKILLGAUGE_RUNS": "many", "SKILLGAUGE_RUNZ": "1"},
        project="concurency: 3\nseed: x\n",
        user="llm: {modell: m}\nretries: -1\n",
    )
    assert [problem.code for problem in problems] == [
        "config.wrong-type",
        "config.unknown-key",
        "config.unknown-key",
        "config.wrong-type",
        "config.unknown-key",
        "config.out-of-range",
    ]
    assert "SKILLGAUGE_RUNS" in problems[0].message
    places = [(problem.span.file, problem.span.line, problem.span.column) for problem in problems[2:] if problem.span]
    assert places == [
        (str(tmp_path / PROJECT_FILE), 1, 1),
        (str(tmp_path / PROJECT_FILE), 2, 1),
        (str(tmp_path / "user.yaml"), 1, 7),
        (str(tmp_path / "user.yaml"), 2, 1),
    ]


def test_a_value_that_is_none_of_a_few() -> None:
    """A word that decides nothing must not be taken for one that does."""
    assert check_value("judgedGates", "calibrated") is None
    problem = check_value("judgedGates", "sometimes")
    assert problem is not None
    told = "judgedGates must be always or calibrated or corrected or never, not 'sometimes'"
    assert (problem.code, problem.message) == ("config.wrong-value", told)


@pytest.mark.parametrize(
    ("text", "name", "near"),
    [
        ("concurency: 3", "concurency", "concurrency"),
        ("timeout_ms: 3", "timeout_ms", "timeoutMs"),
        ("llm: {modle: m}", "llm.modle", "llm.model"),
        ("plugins: {blok: [a]}", "plugins.blok", "block"),
    ],
)
def test_an_unknown_key_is_an_error_with_a_near_match(tmp_path: Path, text: str, name: str, near: str) -> None:
    """A typing error is never silently without effect."""
    (problem,) = problems_of(tmp_path, project=text)
    assert problem.code == "config.unknown-key"
    assert f"unknown key {name!r}" in problem.message
    assert f"did you mean {near}" in problem.message
    assert problem.hint is not None


@pytest.mark.parametrize(
    "text", ["zzzz: 1", "plugins: {scorers: {exact: 3}}", "plugins: {scorers: 3}", "llm: 3", "a: {b: {c: {d: 1}}}"]
)
def test_any_other_key_is_an_error_too(tmp_path: Path, text: str) -> None:
    """Also parts of a plugin's key, and keys that resemble nothing."""
    (problem,) = problems_of(tmp_path, project=text)
    assert problem.code == "config.unknown-key"


WRONG: list[tuple[str, object, str]] = [
    ("runs", "3", "a whole number"),
    ("runs", 3.0, "a whole number"),
    ("runs", True, "a whole number"),
    ("runs", None, "a whole number"),
    ("runs", [3], "a whole number"),
    ("runs", {"a": 1}, "a whole number"),
    ("store", 3, "a string"),
    ("engine", ["codex"], "a string"),
    ("defaultFormats", "json", "a list of strings"),
    ("defaultFormats", [1], "a list of strings"),
    ("defaultFormats", {"json": True}, "a list of strings"),
    ("judgeTemperature", "hot", "a number"),
    ("judgeTemperature", False, "a number"),
]


@pytest.mark.parametrize(("name", "value", "kind"), WRONG, ids=lambda part: str(part))
def test_a_value_of_the_wrong_type_is_an_error(name: str, value: object, kind: str) -> None:
    """The message says what is expected and what was found; nothing is converted."""
    problem = check_value(name, value)
    assert problem is not None
    assert (problem.code, problem.message) == ("config.wrong-type", f"{name} must be {kind}, not {value!r}")


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("runs", 0, "1"),
        ("concurrency", 0, "1"),
        ("timeoutMs", 0, "1"),
        ("retries", -1, "0"),
        ("judgeTemperature", -0.1, "0"),
    ],
)
def test_a_value_out_of_range_is_an_error(name: str, value: object, least: str) -> None:
    """The message names the bound, which itself is accepted."""
    problem = check_value(name, value)
    assert problem is not None
    assert (problem.code, problem.message) == ("config.out-of-range", f"{name} must be at least {least}, not {value!r}")
    assert check_value(name, type(value)(least)) is None  # type: ignore[call-arg]  # int or float


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_an_error(tmp_path: Path, text: str) -> None:
    """Python reads these words as numbers; they are none that a model's temperature could be."""
    (problem,) = problems_of(tmp_path, environ={"SKILLGAUGE_LLM_TEMPERATURE": text})
    assert problem.code in ("config.wrong-type", "config.out-of-range")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runs", 3),
        ("seed", -7),
        ("judgeTemperature", 0),
        ("judgeTemperature", 0.5),
        ("judgeTemperature", None),
        ("engine", None),
        ("plugins.only", None),
        ("plugins.only", []),
        ("defaultFormats", ["json"]),
        ("defaultFormats", ("json",)),
        ("plugins.scorers.exact.anything", {"any": ["thing"]}),
        ("plugins.scorers.exact.deep.er", None),
    ],
    ids=str,
)
def test_a_fitting_value_is_accepted(name: str, value: object) -> None:
    """Whole numbers are numbers; null is accepted where it is the default; options of plugins are theirs to check."""
    assert check_value(name, value) is None


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.name)
def test_every_default_is_accepted(key: Any) -> None:
    """What holds if nobody says anything must itself be allowed, and every key explains itself."""
    assert check_value(key.name, key.default) is None
    assert key.help.endswith(".")


PUBLISHED: dict[str, object] = {
    "concurrency": 4,
    "timeoutMs": 30_000,
    "agentTimeoutMs": 600_000,
    "outputDir": "./reports",
    "defaultFormats": ["json", "markdown"],
    "runs": 1,
    "retries": 0,
    "seed": 0,
    "store": "./skillgauge.db",
    "cacheDir": None,
    "sandbox": None,
    "engine": None,
    "model": None,
    "judge": None,
    "judgeModel": None,
    "judgeTemperature": None,
    "judgedGates": "always",
    "checks": [],
    "lints": [],
    "quarantine": [],
    "plugins.block": [],
    "plugins.only": None,
}

VARIABLES = {
    "concurrency": "SKILLGAUGE_CONCURRENCY",
    "timeoutMs": "SKILLGAUGE_TIMEOUT_MS",
    "agentTimeoutMs": "SKILLGAUGE_AGENT_TIMEOUT_MS",
    "outputDir": "SKILLGAUGE_OUTPUT_DIR",
    "defaultFormats": "SKILLGAUGE_DEFAULT_FORMATS",
    "runs": "SKILLGAUGE_RUNS",
    "retries": "SKILLGAUGE_RETRIES",
    "seed": "SKILLGAUGE_SEED",
    "store": "SKILLGAUGE_STORE",
    "cacheDir": "SKILLGAUGE_CACHE_DIR",
    "sandbox": "SKILLGAUGE_SANDBOX",
    "engine": "SKILLGAUGE_ENGINE",
    "model": "SKILLGAUGE_MODEL",
    "judge": "SKILLGAUGE_JUDGE",
    "judgeModel": "SKILLGAUGE_JUDGE_MODEL",
    "judgeTemperature": "SKILLGAUGE_JUDGE_TEMPERATURE",
    "judgedGates": "SKILLGAUGE_JUDGED_GATES",
    "checks": "SKILLGAUGE_CHECKS",
    "lints": "SKILLGAUGE_LINTS",
    "quarantine": "SKILLGAUGE_QUARANTINE",
    "plugins.block": "SKILLGAUGE_PLUGINS_BLOCK",
    "plugins.only": "SKILLGAUGE_PLUGINS_ONLY",
}


def test_the_defaults_are_published() -> None:
    """The documents promise them, so none changes; half of them come from eval-skills."""
    assert {name: KEYS[name].default for name in PUBLISHED} == PUBLISHED


def test_the_names_of_variables_are_published() -> None:
    """Derived from the keys; a script's variable must never change its name."""
    assert {name: variable_name(name) for name in VARIABLES} == VARIABLES


# --- variables --------------------------------------------------------------------------------------------


# --- variables --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("SKILLGAUGE_RUNS", "5", "runs", 5),
        ("SKILLGAUGE_STORE", "5", "store", "5"),
        ("SKILLGAUGE_ENGINE", "null", "engine", "null"),
        ("SKILLGAUGE_DEFAULT_FORMATS", "json, html ,", "defaultFormats", ["json", "html"]),
        ("SKILLGAUGE_DEFAULT_FORMATS", '["json"]', "defaultFormats", ["json"]),
        ("SKILLGAUGE_DEFAULT_FORMATS", "", "defaultFormats", []),
        ("SKILLGAUGE_LLM_TEMPERATURE", "0.5", "llm.temperature", 0.5),
        ("SKILLGAUGE_LLM_TEMPERATURE", "1", "llm.temperature", 1),
    ],
)
def test_a_variable_is_read_as_its_key_wants_it(
    tmp_path: Path, variable: str, text: str, key: str, value: object
) -> None:
    """Numbers are numbers, text stays text even if it looks like a number, lists are comma-separated or JSON."""
    assert config(tmp_path, environ={variable: text}).get(key) == value


@pytest.mark.parametrize("text", ["", "many", "1e3", "0x10", "[3", "true"])
def test_a_variable_with_a_wrong_value_is_an_error(tmp_path: Path, text: str) -> None:
    """Named, because the user did not write it into any file."""
    (problem,) = problems_of(tmp_path, environ={"SKILLGAUGE_RUNS": text})
    assert problem.code == "config.wrong-type"
    assert problem.message.startswith("variable SKILLGAUGE_RUNS: runs must be a whole number")


def test_an_unknown_variable_is_an_error_with_a_near_match(tmp_path: Path) -> None:
    """As with keys: it would be silently without effect."""
    (problem,) = problems_of(tmp_path, environ={"SKILLGAUGE_CONCURENCY": "3"})
    assert problem.code == "config.unknown-key"
    assert "unknown variable SKILLGAUGE_CONCURENCY (did you mean SKILLGAUGE_CONCURRENCY" in problem.message


def test_variables_of_others_are_none_of_ours(tmp_path: Path) -> None:
    """Neither those without our prefix nor those that we set for our own child processes."""
    environ = {"PATH": "/bin", "RUNS": "3", "SKILLGAUGERUNS": "3", "SKILLGAUGE_CHILD_ANYTHING": "3"}
    found = config(tmp_path, environ=environ)
    assert not any(value.source is Source.ENVIRONMENT for value in found.items())


# --- options of plugins -----------------------------------------------------------------------------------


def test_options_of_plugins_are_collected_from_all_sources(tmp_path: Path) -> None:
    """By kind and name, key by key the strongest; an option may itself be a mapping and stays one."""
    found = config(
        tmp_path,
        flags=plugin_assignments(["scorers.exact.strip=false"]),
        project="plugins:\n  scorers:\n    exact: {strip: true, case: {fold: true}}\n  block: [x]\n",
        user="plugins:\n  scorers:\n    exact: {case: 1, other: 2}\n  judges:\n    anthropic: {url: u}\n",
    )
    assert found.plugin_options() == {
        "scorers.exact": {"strip": False, "case": {"fold": True}, "other": 2},
        "judges.anthropic": {"url": "u"},
    }
    assert found.get("plugins.block") == ["x"]


def test_an_option_may_have_a_dotted_name(tmp_path: Path) -> None:
    """What follows the plugin's name is the option's, however many dots there are in it."""
    found = config(tmp_path, flags=plugin_assignments(["scorers.exact.case.fold=true"]))
    assert found.plugin_options() == {"scorers.exact": {"case.fold": True}}


def test_no_options_of_plugins_is_nothing(tmp_path: Path) -> None:
    """The keys below `plugins` that are ours are not options."""
    assert config(tmp_path, project="plugins: {block: [a], only: [b]}\n").plugin_options() == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("scorers.exact.x=1", 1),
        ("scorers.exact.x=1.5", 1.5),
        ("scorers.exact.x=true", True),
        ("scorers.exact.x=null", None),
        ('scorers.exact.x={"a": [1]}', {"a": [1]}),
        ("scorers.exact.x=plain text", "plain text"),
        ("scorers.exact.x=", ""),
        ("scorers.exact.x=a=b", "a=b"),
        ('scorers.exact.x="1"', "1"),
    ],
)
def test_an_assignment_is_json_if_it_can_be(text: str, value: object) -> None:
    """Everything else is text, the first equals sign divides."""
    assert plugin_assignments([text]) == {"plugins.scorers.exact.x": value}


def test_the_last_assignment_wins() -> None:
    """As with every option of a command line."""
    assert plugin_assignments(["a.b.c=1", "a.b.c=2", "a.b.d.e=3"]) == {"plugins.a.b.c": 2, "plugins.a.b.d.e": 3}


@pytest.mark.parametrize(
    "text", ["scorers.exact.x", "scorers.exact=1", "x=1", "=1", "", "scorers..x=1", "scorers.exact.=1", ".exact.x=1"]
)
def test_an_assignment_that_names_no_option_is_an_error(text: str) -> None:
    """The message shows it and how it should look."""
    with pytest.raises(UsageError) as caught:
        plugin_assignments(["scorers.exact.x=1", text])
    (problem,) = caught.value.problems
    assert problem.code == "usage.set"
    assert repr(text) in problem.message
    assert problem.hint is not None


def test_all_wrong_assignments_are_told() -> None:
    """Not only the first."""
    with pytest.raises(UsageError) as caught:
        plugin_assignments(["a", "b.c.d=1", "e=2"])
    assert len(caught.value.problems) == 2


# --- text -------------------------------------------------------------------------------------------------


@quick
@given(st.sampled_from([key.name for key in KEYS.values() if key.kind is str]), st.text())
def test_text_for_a_text_key_is_itself(name: str, text: str) -> None:
    """A model called `null` or `007` keeps its name."""
    assert parse_text(name, text) == text


@quick
@given(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_as_text(whole: int, real: float) -> None:
    """What is written as a number is read as the same number."""
    assert parse_text("seed", str(whole)) == whole
    assert parse_text("judgeTemperature", repr(real)) == real


@quick
@given(st.lists(st.text("abc-:.", min_size=1, max_size=5), max_size=4))
def test_lists_survive_as_text(words: list[str]) -> None:
    """Comma-separated, with blanks or without."""
    assert parse_text("defaultFormats", ",".join(words)) == parse_text("defaultFormats", " , ".join(words)) == words


# --- files of other programs ------------------------------------------------------------------------------

FOREIGN = ("other.config.yaml", "~/.other/config.yaml")


def foreign(cwd: Path, home: Path, *, explicit: Path | None = None) -> Config:
    """Load configuration where another program may have left its own."""
    return load_config(
        cwd=cwd,
        flags={},
        environ={"HOME": str(home)},
        explicit=explicit,
        others=OtherPrograms(FOREIGN, SPELLINGS),
    )


@pytest.fixture
def others(tmp_path: Path) -> tuple[Path, Path]:
    """A working folder and a home, each with a file of another program."""
    cwd, home = tmp_path / "cwd", tmp_path / "home"
    cwd.mkdir()
    (home / ".other").mkdir(parents=True)
    (cwd / "other.config.yaml").write_text("concurrency: 7\nunheard: of\n")
    (home / ".other/config.yaml").write_text("concurrency: 9\nllm:\n  model: m\n")
    return cwd, home


@pytest.mark.requirement("ES-CONFIG-008", "ES-CONFIG-009")
def test_files_of_other_programs_are_fallbacks(others: tuple[Path, Path]) -> None:
    """They count key by key like our own files, are announced, and what they say beyond our keys is only mentioned."""
    found = foreign(*others)
    assert (found.get("concurrency"), found.get("llm.model")) == (7, "m")
    assert found.find("concurrency") == Value("concurrency", 7, Source.PROJECT, str(others[0] / "other.config.yaml"))
    told = "\n".join(found.notices)
    assert str(others[0] / "other.config.yaml") in told
    assert str(others[1] / ".other/config.yaml") in told
    assert "'unheard'" in told


@pytest.mark.parametrize("name", ["skillgauge.config.yaml", "pyproject.toml"])
def test_our_own_file_takes_the_place_of_another_programs(others: tuple[Path, Path], name: str) -> None:
    """Two files for the same folder would be a riddle, so ours counts alone; the home has its own answer."""
    cwd, home = others
    (cwd / name).write_text("runs: 2\n" if name.endswith("yaml") else "[tool.skillgauge]\nruns = 2\n")
    found = foreign(cwd, home)
    assert (found.get("runs"), found.get("concurrency")) == (2, 9)


def test_a_pyproject_without_our_table_takes_no_place(others: tuple[Path, Path]) -> None:
    """Most projects have one for other reasons."""
    (others[0] / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert foreign(*others).get("concurrency") == 7


def test_a_named_file_takes_the_place_of_another_programs(others: tuple[Path, Path], tmp_path: Path) -> None:
    """`--config` says which file counts for this folder."""
    named = tmp_path / "named.yaml"
    named.write_text("runs: 3\n")
    assert foreign(*others, explicit=named).get("concurrency") == 9


def test_a_wrong_value_in_another_programs_file_is_an_error(others: tuple[Path, Path]) -> None:
    """What it sets must be right: a limit that is silently dropped would be worse than none."""
    (others[0] / "other.config.yaml").write_text("concurrency: many\n")
    with pytest.raises(UsageError, match="concurrency must be a whole number"):
        foreign(*others)


def test_another_programs_spelling_counts_where_ours_is_not_set(tmp_path: Path) -> None:
    """In any source, by its own name too; a weaker file's own spelling goes before a stronger one's foreign one."""
    found = config(tmp_path, environ={"SKILLGAUGE_LLM_TEMPERATURE": "0.5"}, project="llm: {model: theirs}\n")
    assert (found.get("judgeModel"), found.get("llm.model"), found.get("judgeTemperature")) == ("theirs", "theirs", 0.5)
    found = config(tmp_path, project="llm: {model: theirs}\n", user="judgeModel: ours\n")
    assert (found.get("judgeModel"), found.get("llm.model")) == ("ours", "theirs")


def test_another_programs_spelling_is_as_strict_as_ours(tmp_path: Path) -> None:
    """Its type and bound are those of the key that it means."""
    problems = problems_of(tmp_path, project="llm: {temperature: -1, model: 3}\n")
    assert [problem.message for problem in problems] == [
        "llm.temperature must be at least 0, not -1",
        "llm.model must be a string, not 3",
    ]


def test_a_spelling_is_unknown_where_nobody_announces_it(tmp_path: Path) -> None:
    """Without the plugin of that program; what a plugin says of no key of ours, or of one of ours, changes nothing."""
    (tmp_path / PROJECT_FILE).write_text("llm: {model: m}\n")
    with pytest.raises(UsageError, match=r"unknown key 'llm\.model'"):
        load_config(cwd=tmp_path, flags={}, environ={})
    (problem,) = problems_of(tmp_path, project="theirs: {lost: 1}\nruns: 2\n")
    assert problem.code == "config.unknown-key"


def test_checks_are_mappings(tmp_path: Path) -> None:
    """What each must hold is decided where they are used; anything but mappings is refused at once."""
    assert config(tmp_path, project="checks: [{scorer: exact}]").get("checks") == [{"scorer": "exact"}]
    (problem,) = problems_of(tmp_path, project="checks: [exact]")
    assert problem.message == "checks must be a list of mappings, not ('exact',)"
