"""Commands on pages and in help: the program understands each; a block that is to be copied is run, or says why not.

A fenced block `sh` is meant to be copied: each of its commands stands in a script of `tests/journeys`, which a test
runs, or a comment right before the block says why it does not: `<!-- not run: reason -->`. Fenced blocks `console` and
indented lines are examples of single commands; like all others, the program's own parser has to take them.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from members import ROOT
from skillgauge.api.run import GlobalsCommand
from skillgauge.cli.app import app

PAGES = [
    path
    for pattern in ("README.md", "docs/*.md", "plugins/*/*/README.md", "libraries/*/README.md", "examples/**/README.md")
    for path in sorted(ROOT.glob(pattern))
]
_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+) -->\n\n?)?^```sh\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_FENCE = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^ {4}(skillgauge .*)$", re.MULTILINE)
_EXAMPLE = re.compile(r"^(?:\$ |! )?(skillgauge [^\n|`]*)$", re.MULTILINE)
_MENTION = re.compile(r"(?<!`)`(skillgauge [^`\n|]+|plugins list[^`\n|]*)`")
_TOOLS = re.compile(r"[<>\[\]…]|\.\.\.")
"""What stands for something else: such a line says how a command looks."""


def commands(text: str) -> list[str]:
    """The commands of a block, without what is said beside them."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = (line.partition("  #")[0].strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def run_by_journeys() -> set[str]:
    """Every command of every script that a test runs."""
    scripts = [*(ROOT / "tests/journeys").glob("*.sh"), *(ROOT / "examples").glob("*/try.sh")]
    return {line for path in scripts for line in commands(path.read_text())}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_is_to_be_copied_is_run(page: Path) -> None:
    """Every command of a block `sh` is run by a test, or the page says why nobody can."""
    known = run_by_journeys()
    left = [
        command
        for match in _BLOCK.finditer(page.read_text("utf-8"))
        if not match["reason"]
        for command in commands(match["text"])
        if command not in known
    ]
    assert left == [], "add them to a script of tests/journeys, or say why not: <!-- not run: reason -->"


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in (ROOT / "examples").glob("*/try.sh")), ids=lambda folder: folder.name
)
def test_an_example_waits_for_its_services(folder: Path) -> None:
    """F-P1: who copies a block whole must not be faster than the service that it starts, nor leave it running."""
    copied = [one for match in _BLOCK.finditer((folder / "README.md").read_text()) for one in commands(match["text"])]
    played = commands((folder / "try.sh").read_text())
    kept = [one for one in played if one.startswith(("rm -f", "while ", "kill ")) or " & echo $! > " in one]
    assert [one for one in copied if one in kept] == kept
    starts = [copied.index(one) for one in copied if " & echo $! > " in one]
    assert [(copied[at - 1][:5], copied[at + 1][:5]) for at in starts] == [("rm -f", "while")] * len(starts)


def examples(page: Path) -> Iterator[str]:
    """Every command line of ours on a page that is complete."""
    text = page.read_text("utf-8")
    shown = "\n".join([*_FENCE.findall(text), *_INDENTED.findall(text)])
    for match in _EXAMPLE.finditer(re.sub(r"\\\n\s*", "", shown)):
        line = re.split(r"\s{2,}#|\s{3,}", match[1])[0].strip()
        if not _TOOLS.search(re.sub(r"'[^']*'", "", line)):
            yield line


def parsed(line: str) -> None:
    """Let the program's parser take a line, without running it.

    Raises:
        click.UsageError: there is no such command or option, or a value does not fit.
    """
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = app
    context = click.Context(app, info_name="skillgauge", **app.context_settings)
    while isinstance(command, click.Group):
        while words and words[0].startswith("-"):
            if words.pop(0) in ("--version", "--help", "-V", "-h"):
                return
        if not words:
            return
        found = command.get_command(context, words[0])
        if found is None:
            raise click.UsageError(f"no command {words[0]!r}")
        if not isinstance(found, click.Group):
            found.make_context(words[0], words[1:], parent=context)
            return
        command, context = found, click.Context(found, context, info_name=words.pop(0))


def refusals(lines: Iterable[str]) -> list[str]:
    """Return the lines that the parser refuses, each with the reason."""
    refused = []
    for line in lines:
        try:
            parsed(line)
        except click.ClickException as error:
            refused.append(f"{line}: {error.format_message()}")
        except click.exceptions.Exit:
            pass  # --help, --version
    return refused


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_program_understands_every_line(page: Path) -> None:
    """No page shows a command, an option or a value that the parser refuses."""
    assert refusals(examples(page)) == []


def commands_of(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Every command of the program that is no group, with the words that call it."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None, name
        inner = click.Context(found, context, info_name=name)
        if isinstance(found, click.Group):
            yield from commands_of(found, inner)
        else:
            yield inner.command_path, found


EVERY = dict(commands_of(app, click.Context(app, info_name="skillgauge", **app.context_settings)))


@pytest.mark.parametrize("called", EVERY)
def test_the_help_of_every_command_has_an_example(called: str) -> None:
    """F-O9: at least one line that is of this command, and that the parser takes."""
    command = EVERY[called]
    assert isinstance(command, GlobalsCommand)
    assert command.examples, f"{called}: give it examples="
    for line in command.examples:
        assert called in line, line
        ours = re.search(r"\bskillgauge [^)]*", line)
        assert ours, line
        with suppress(click.exceptions.Exit):
            parsed(ours[0])


def texts_of(file: Path) -> Iterator[str]:
    """Every text in a module but its docstrings, with `1` where an expression stands."""
    tree = ast.parse(file.read_text("utf-8"))
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.add(id(node.value))  # a docstring
        elif isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def mentioned(text: str) -> Iterator[str]:
    """Every command line of ours between backticks, but those with a word that stands for a value."""
    for match in _MENTION.finditer(text):
        line = match[1] if match[1].startswith("skillgauge ") else f"skillgauge {match[1]}"
        if not _TOOLS.search(line) and not re.search(r"\b[A-Z]{2,}\b", line):
            yield line


def misnamed(texts: Iterable[str]) -> list[str]:
    """Return the lines that texts mention and the parser refuses; a sentence need not name what a command requires."""
    lines = (line for text in texts for line in mentioned(text))
    return [refusal for refusal in refusals(lines) if ": Missing " not in refusal]


def help_texts(command: click.Command) -> Iterator[str]:
    """Every text that `--help` of a command shows."""
    yield command.help or ""
    yield command.epilog or ""
    yield from (str(getattr(parameter, "help", None) or "") for parameter in command.params)


def test_commands_that_help_texts_name_run(tmp_path: Path) -> None:
    """A complete command that the help of another one names ends without an error, in an empty folder as well."""
    named = {line for command in EVERY.values() for text in help_texts(command) for line in mentioned(text)}
    complete = sorted(line for line in named if not any(": Missing " in refusal for refusal in refusals([line])))
    assert "skillgauge plugins list --kind formats" in complete
    environment = {**os.environ, "HOME": str(tmp_path)}
    for line in complete:
        program = [sys.executable, "-m", "skillgauge", *shlex.split(line)[1:]]
        run = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{line}: {run.stderr}"


SOURCES = [
    path for pattern in ("core/src", "plugins/*/*/src", "libraries/*/src") for path in sorted(ROOT.glob(pattern))
]


@pytest.mark.parametrize("folder", SOURCES, ids=lambda folder: folder.parent.relative_to(ROOT).as_posix())
def test_lines_that_the_program_prints_are_understood(folder: Path) -> None:
    """Help texts and hints name no command line that the parser refuses."""
    assert misnamed(text for file in sorted(folder.rglob("*.py")) for text in texts_of(file)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_of_pages_are_understood(page: Path) -> None:
    """No sentence of a page names a command line that the parser refuses."""
    assert misnamed([page.read_text("utf-8")]) == []


def test_a_wrong_line_is_found_where_it_is_mentioned(tmp_path: Path) -> None:
    """A line that takes no argument is refused in a text and in one with a value to be filled in."""
    file = tmp_path / "hints.py"
    file.write_text('kind = "x"\nhint = f"See `skillgauge plugins list {kind}`."\nhelp = "`plugins list formats`"\n')
    assert len(misnamed(texts_of(file))) == 2
    file.write_text('kind = "x"\nhint = f"See `skillgauge plugins list --kind {kind}`, or `skillgauge convert`."\n')
    assert misnamed(texts_of(file)) == []


def test_a_line_that_is_wrong_is_found() -> None:
    """A misspelt option, a missing command and a bad value are refused."""
    for line in ("skillgauge eval x --runz 3", "skillgauge evl x", "skillgauge eval x --concurrency none"):
        with pytest.raises(click.UsageError):
            parsed(line)
    parsed("skillgauge eval ./my-skill --engine mock --runs 3")


def test_lines_are_looked_at() -> None:
    """The patterns find what the pages have."""
    assert sum(len(list(examples(page))) for page in PAGES) > 80
    assert sum(len(_BLOCK.findall(page.read_text("utf-8"))) for page in PAGES) > 20
