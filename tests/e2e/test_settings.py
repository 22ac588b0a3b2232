"""Settings that have no effect say so, and setting one does not lose others.

Findings: P-S5, P-S6, P-S9, P-S10.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge import __version__
from skillgauge.plugins.installed import read_index
from skillgauge_testkit.program import Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]


@pytest.mark.e2e
def test_setting_a_value_keeps_what_was_migrated(program: Program, environment: dict[str, str]) -> None:
    """P-S5: what another program's file of the user sets still counts after the first `config set`; this is told."""
    old = Path(environment["HOME"], ".eval-skills/config.yaml")
    old.parent.mkdir()
    old.write_text("concurrency: 7\nllm:\n  model: gpt-4o\n")
    done = program("config", "set", "concurrency", "9")
    assert done.code == 0
    assert "llm.model" in done.stderr
    assert program("config", "get", "llm.model").stdout == "gpt-4o\n"
    assert program("config", "get", "concurrency").stdout == "9\n"
    assert "llm.model" not in program("config", "set", "concurrency", "8").stderr
    assert program("config", "get", "llm.model").stdout == "gpt-4o\n"


@pytest.mark.e2e
def test_a_value_that_is_overridden_says_by_what(program: Program, work: Path) -> None:
    """P-S6: `config set` writes the user's file, and names the file of the folder that goes before."""
    (work / "skillgauge.config.yaml").write_text("concurrency: 4\n")
    done = program("config", "set", "concurrency", "8")
    assert done.code == 0
    assert f"concurrency stays 4 here: project file {work / 'skillgauge.config.yaml'} goes before" in done.stderr
    assert "stays" not in program("config", "set", "seed", "8").stderr


@pytest.mark.e2e
@pytest.mark.requirement("ES-GLOBAL-001")
def test_every_command_tells_the_version(program: Program) -> None:
    """P-S9: built-in commands, those of plugins, and those inside of groups."""
    ours = [["eval"], ["validate"], ["config", "set"], ["plugins", "list"], ["report", "show"]]
    for words in [*ours, *(entry.name.split(".") for entry in read_index().entries("commands"))]:
        done = program(*words, "--version")
        assert (done.code, done.stdout, done.stderr) == (0, f"skillgauge {__version__}\n", ""), words


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--set", "scorers.exct.case_sensitive=false"), "no plugin of that name is installed (did you mean exact?)"),
        (("--set", "scorer.exact.case_sensitive=false"), "'scorer' is no kind of plugin (did you mean scorers"),
        (("--engine", "nonsense"), "engine 'nonsense' is not installed"),
    ],
)
def test_names_that_nobody_has_are_refused(
    program: Program, make_skill: MakeSkill, tasks: Tasks, words: tuple[str, str], told: str
) -> None:
    """P-S10: an option of a plugin that does not exist, and an engine that nothing here needs anyway."""
    done = program("eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x")), "--dry-run", *words)
    assert done.code == 2
    assert told in done.stderr


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("plugins: {enginez: {a: 1}}\n", "unknown key 'plugins.enginez.a' (did you mean engines?)"),
        ("plugins: {onyl: [x]}\n", "unknown key 'plugins.onyl' (did you mean only?)"),
        ("plugins: {zzz: {a: 1}}\n", "unknown key 'plugins.zzz.a'\n"),
        ("plugins: {engines: {mock: 1}}\n", "is written plugins.engines.PLUGIN.OPTION."),
    ],
)
def test_a_kind_that_is_misspelt_is_guessed(program: Program, work: Path, text: str, told: str) -> None:
    """F-K12: a near kind, one of the few keys that are no kind, or no guess; what they begin with makes none near."""
    (work / "skillgauge.config.yaml").write_text(text)
    done = program("config", "list")
    assert done.code == 2
    assert told in done.stderr


@pytest.mark.e2e
def test_settings_without_effect_are_told(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """P-S10: an engine or recordings for what is called directly; options in a file, of plugins that nobody has."""
    command = ("eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x")), "--dry-run")
    for words in (("--engine", "mock"), ("--replay", ".")):
        done = program(*command, *words)
        assert done.code == 0
        assert f"{words[0]} has no effect" in done.stderr
    (work / "skillgauge.config.yaml").write_text("engine: mock\nplugins: {stores: {postgres-of-acme: {pool: 2}}}\n")
    done = program(*command, "--trust-config")
    assert done.code == 2
    assert "error[usage.set]: stores.postgres-of-acme.pool" in done.stderr
    assert "name it in plugins.block" in done.stderr
    text = "engine: mock\nplugins: {block: [postgres-of-acme], stores: {postgres-of-acme: {pool: 2}}}\n"
    (work / "skillgauge.config.yaml").write_text(text)
    done = program(*command, "--trust-config")
    assert done.code == 0
    assert "has no effect" not in done.stderr
    assert "usage.set" not in done.stderr
    (work / "skillgauge.config.yaml").write_text("plugins: {scorers: {exct: {case_sensitive: true}}}\n")
    done = program(*command, "--trust-config")
    assert done.code == 2
    assert "(did you mean exact?)" in done.stderr
    (work / "skillgauge.config.yaml").write_text("plugins: {scorer: {exact: {case_sensitive: true}}}\n")
    assert program(*command, "--trust-config").code == 2


@pytest.mark.e2e
def test_a_command_that_is_blocked_is_not_run(program: Program, work: Path) -> None:
    """`plugins.block` holds for commands: by the name of the command or of its distribution, wherever it is set."""
    own = work / "own.yaml"
    for name in ("find", "skillgauge-command-find"):
        own.write_text(f"plugins: {{block: [{name}]}}\n")
        for words in (("-c", own, "find"), ("find", "-c", own), ("-c", own, "find", "--help")):
            done = program(*words)
            assert done.code == 2, words
            assert "the command 'find' of skillgauge-command-find is left out by plugins.block" in done.stderr
    assert program("-c", own, "plugins", "list").code == 0
    assert "left out" not in program("find").stderr


def test_a_name_that_nothing_has_is_told(program: Program) -> None:
    """It is kept, since it may be installed later; settings of an engine and a reporter are known by their names."""
    done = program("config", "set", "engine", "mockk")
    assert done.code == 0
    assert "nothing called 'mockk' is installed (did you mean mock?): " in done.stderr
    assert "nothing called 'htm' is installed" in program("config", "set", "defaultFormats", "json,htm").stderr
    for key, value in (("engine", "mock+slow"), ("defaultFormats", "json,html"), ("sandbox", "local")):
        assert "is installed" not in program("config", "set", key, value).stderr
