"""The documents agree with the program."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click
import pytest

import reference
from skillgauge.cli.app import BUILT_IN, app
from skillgauge.config.configuration import KEYS, STORE_KEY, variable_name
from skillgauge.contract.hooks import Announcements, ExtensionHooks
from skillgauge.plugins.installed import read_index

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOOKS = [
    (name, hook)
    for hooks in (Announcements, ExtensionHooks)
    for name, hook in vars(hooks).items()
    if name.startswith("skillgauge_")
]


def test_hooks_begin_with_a_table() -> None:
    """F-W3: who looks for one finds it without reading all of them."""
    table = re.findall(r"^\| \[`(\w+)\(.*\| `skillgauge\.\w+` \|", (DOCS / "hooks.md").read_text(), re.MULTILINE)
    assert table == [name for name, _ in HOOKS]


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_tables_hold_no_paragraphs(page: Path) -> None:
    """F-W3: what takes more than fifty words is no cell."""
    rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
    assert not [cell for row in rows for cell in row.split("|") if len(cell.split()) > 50]


@pytest.mark.parametrize(("name", "hook"), HOOKS, ids=[name for name, _ in HOOKS])
def test_every_hook_is_documented_with_its_arguments(name: str, hook: object) -> None:
    """docs/hooks.md has the signature and the text of each hook specification."""
    assert callable(hook)
    parameters = ", ".join(parameter for parameter in inspect.signature(hook).parameters if parameter != "self")
    page = (DOCS / "hooks.md").read_text()
    assert f"### `{name}({parameters})`" in page
    text = (inspect.getdoc(hook) or "").partition("Example::")[0].strip()
    assert text in page, f"docs/hooks.md differs from the docstring of {name}"


def options_of(name: str) -> set[str]:
    """Long options of a command, those that formats bring included."""
    context = click.Context(app, **app.context_settings)
    command = app.get_command(context, name)
    assert command
    command.make_context(name, [], resilient_parsing=True)
    return {flag for param in command.params for flag in param.opts if flag.startswith("--")}


@pytest.mark.requirement("ES-DEFECT-27")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_option_is_documented(name: str) -> None:
    """docs/cli.md, or the page of the format that brings it, names every option of every command."""
    names = ("cli.md", "eval-skills.md", "agent-skills.md", "benchflow.md", "linting.md")
    pages = "".join(reference.completed((DOCS / page).read_text()) for page in names)
    assert f"skillgauge {name}" in pages
    missing = {flag for flag in options_of(name) if f"`{flag}" not in pages and f" {flag}" not in pages}
    assert not missing


def command_of(*words: str) -> click.Command:
    """The command that these words call."""
    found: click.Command = app
    context = click.Context(app, info_name="skillgauge", **app.context_settings)
    for word in words:
        assert isinstance(found, click.Group)
        inner = found.get_command(context, word)
        assert inner
        found, context = inner, click.Context(inner, context, info_name=word)
    return found


def options_below(command: click.Command, words: tuple[str, ...]) -> dict[tuple[str, ...], set[str]]:
    """Long options of a command and of the commands inside it, by their words."""
    if isinstance(command, click.Group):
        inner = [options_below(one, (*words, name)) for name, one in command.commands.items()]
        return {path: options for found in inner for path, options in found.items()}
    return {words: {flag for param in command.params for flag in param.opts if flag.startswith("--")}}


@pytest.mark.parametrize("name", sorted({entry.name for entry in read_index().entries("commands")}))
def test_every_option_of_a_plugins_command_is_documented(name: str) -> None:
    """docs/commands.md has a section for each command that comes as a plugin, with every option of its own."""
    page = (DOCS / "commands.md").read_text()
    *groups, name = name.split(".")
    title = " ".join((*groups, name))
    assert f"## {title}\n" in page
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    everywhere = "".join(one.read_text() for one in DOCS.glob("*.md"))  # options of formats come to whoever evaluates
    command = command_of(*groups, name)
    for words, options in options_below(command, (name,)).items():
        missing = {flag for flag in options if flag not in section and f"`{flag}" not in everywhere}
        assert not missing, words


def test_every_configuration_key_is_documented() -> None:
    """docs/cli.md names every key and the variable of each that has a row of its own."""
    page = reference.completed((DOCS / "cli.md").read_text())
    for key in KEYS:
        assert f"`{key}`" in page, key
    for variable in re.findall(r"SKILLGAUGE_[A-Z_]+", page):
        if not variable.endswith("_"):
            assert variable in {STORE_KEY, *map(variable_name, KEYS)}, variable


@pytest.mark.parametrize(
    ("page", "row", "words"),
    [
        ("cli.md", "| `--fresh`", ("`--fresh`", "Do not resume an unfinished run.")),
        ("cli.md", "| `seed`", ("`seed`", "0", "`SKILLGAUGE_SEED`", "Seed of everything random.")),
        ("python.md", '| `gate_scope="new"`', ("`gate_scope`", "Ask gates of these cases")),
    ],
)
def test_a_table_is_completed_from_the_program(page: str, row: str, words: tuple[str, ...]) -> None:
    """The site has a row for what the page leaves out, and no second one for what it has."""
    text = (DOCS / page).read_text()
    whole = reference.completed(text)
    assert "<!-- and of the program" not in whole
    without = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(row))
    (added,) = set(reference.completed(without).splitlines()) - set(whole.splitlines())
    assert added.startswith("| ")
    assert all(word in added for word in words)


def test_links_between_documents_lead_somewhere() -> None:
    """No document points at a file that does not exist."""
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
