"""Pages of reference, made from the program as it is installed: commands, options of plugins, schemas, exit codes.

They are made when the site is made and never committed, so they cannot differ from the code.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import click

from skillgauge import errors
from skillgauge.cli.app import app
from skillgauge.cli.options import Globals
from skillgauge.cli.schema_command import published_schemas
from skillgauge.config.arguments import OPTIONS, declared
from skillgauge.config.configuration import KEYS, variable_name
from skillgauge.evaluation.invocation import Invocation, invocation
from skillgauge.plugins.index import IndexEntry
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import KINDS


def cell(text: object) -> str:
    """A text as it may stand in a cell of a table."""
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").replace("<", "&lt;").strip()


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table; nothing without rows."""
    if not rows:
        return ""
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


@dataclass(frozen=True)
class Command:
    """One command with the words that call it."""

    words: tuple[str, ...]
    context: click.Context
    command: click.Command

    @property
    def name(self) -> str:
        """As a user types it."""
        return " ".join(("skillgauge", *self.words))

    def options(self) -> list[click.Option]:
        """Its options, those that formats bring to it included."""
        return [one for one in self.command.get_params(self.context) if isinstance(one, click.Option)]


def commands() -> list[Command]:
    """Every command that can be run, built in or of a plugin."""
    return list(_below(app, click.Context(app, info_name="skillgauge", **app.context_settings), ()))


def _below(group: click.Group, context: click.Context, words: tuple[str, ...]) -> Iterator[Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        if isinstance(command, click.Group):
            yield from _below(command, inner, (*words, name))
        else:
            yield Command((*words, name), inner, command)


def _option(one: click.Option, context: click.Context) -> tuple[str, str]:
    said, text = one.get_help_record(context) or ("", "")
    return "`" + cell(said).replace("`", "") + "`", cell(text)


def common_options(found: list[Command]) -> set[str]:
    """Names of the options that every command has."""
    return set.intersection(*({str(one.name) for one in command.options()} for command in found))


def commands_page() -> str:
    """Every command with its arguments and options."""
    found = commands()
    common = common_options(found)
    text = (
        "# Commands and options\n\nMade from the program: what `--help` says, of every command in this repository. "
        "[Command line](../cli.md) and [Commands that come as plugins](../commands.md) explain.\n\n"
        "## On every command\n\n"
    )
    first = found[0]
    text += table(
        ("option", "what it does"), [_option(one, first.context) for one in first.options() if one.name in common]
    )
    for command in found:
        own = [one for one in command.options() if one.name not in common and not one.hidden]
        usage = command.command.get_usage(command.context).removeprefix("Usage: ")
        text += f"## {command.name}\n\n{_paragraphs(command.command.help)}\n\n    {' '.join(usage.split())}\n\n"
        text += table(("option", "what it does"), [_option(one, command.context) for one in own])
        if examples := getattr(command.command, "examples", ()):
            text += "\nFor example:\n\n" + "".join(f"    {line}\n" for line in examples) + "\n"
    return text


def completed(page: str) -> str:
    """A page whose marked tables have a row for whatever of the program the page does not name itself.

    A mark stands below the last row of a table: `<!-- and of the program: options of eval -->`. So a new option needs
    a row only where its help does not say enough.
    """
    return _MARK.sub(lambda mark: "".join(f"| {row[0]} | {row[1]} |\n" for row in _REST[mark[1]](page)), page)


_MARK = re.compile(r"<!-- and of the program: ([^\n]*) -->\n")


def _rest_of_options(page: str) -> Iterator[tuple[str, str]]:
    (command,) = (one for one in commands() if one.words == ("eval",))
    own = {option.value_name for option in declared()}
    for option in command.options():
        if option.name in own and not any(f"`{flag}" in page for flag in option.opts):
            yield _option(option, command.context)


def _rest_of_keys(page: str) -> Iterator[tuple[str, str]]:
    for key in KEYS.values():
        if f"`{key.name}`" not in page:
            default = "" if key.default is None else json.dumps(key.default)
            yield f"`{key.name}`", f"{cell(default)} | `{variable_name(key.name)}`; {cell(key.help)}"


def _rest_of_gates(page: str) -> Iterator[tuple[str, str]]:
    for option in OPTIONS["Gates"]:
        name = option.value_name
        if f"`{name}=" not in page and f" `{name}=" not in page and f"--{name.replace('_', '-')}`" not in page:
            yield f"`{name}`", cell(option.help)


_REST: Mapping[str, Callable[[str], Iterator[tuple[str, str]]]] = {
    "options of eval": _rest_of_options,
    "configuration keys": _rest_of_keys,
    "gates of Python": _rest_of_gates,
}


def _paragraphs(text: str | None) -> str:
    """A help text without click's marks, and with nothing in it that Markdown would take for its own."""
    return inspect.cleandoc(text or "").replace("\b", "").replace("<", "&lt;")


def plugins() -> list[IndexEntry]:
    """Every plugin that has options or could have them: one for each kind and name."""
    return [one for one in read_index().entries() if one.kind in KINDS and not one.problem]


@cache
def _call() -> Invocation:
    return invocation(Globals())


def described(kind: str, name: str) -> dict[str, Any]:
    """The schema of a plugin's options."""
    found: dict[str, Any] = _call().registry.resolve(kind, name).provider.options.model_json_schema()
    return found


def _kind_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """The type of a value in a word or two."""
    if reference := schema.get("$ref"):
        return _kind_of(definitions[str(reference).rpartition("/")[2]], definitions)
    if choices := schema.get("enum"):
        return ", ".join(f"`{one}`" for one in choices)
    if "const" in schema:
        return f"`{schema['const']}`"
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_kind_of(one, definitions) for one in several if one.get("type") != "null"))
    match schema.get("type"):
        case "array":
            return _kind_with("list", schema.get("items"), definitions)
        case "object":
            return _kind_with("object", schema.get("additionalProperties"), definitions)
        case str(name):
            return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(name, name)
        case _:
            return "any value"


def _kind_with(container: str, inner: object, definitions: Mapping[str, Any]) -> str:
    """The type of a container, with that of its values if the schema says it."""
    if isinstance(inner, dict) and inner:
        return f"{container} of {_kind_of(inner, definitions)}"
    return container


def options_table(schema: Mapping[str, Any]) -> str:
    """The options that a schema describes: name, type, default, meaning."""
    definitions, required = schema.get("$defs", {}), set(schema.get("required", ()))
    rows = []
    for name, one in schema.get("properties", {}).items():
        default = "required" if name in required else f"`{json.dumps(one.get('default'), ensure_ascii=False)}`"
        if default == "`null`":
            default = ""
        rows.append((f"`{name}`", cell(_kind_of(one, definitions)), cell(default), cell(one.get("description", ""))))
    return table(("option", "type", "default", "meaning"), rows)


def options_section(entries: list[IndexEntry]) -> str:
    """Options of the plugins of one distribution; names that stand for the same plugin appear once."""
    text, seen = "", set[str]()
    for entry in entries:
        options = options_table(described(entry.kind, f"{entry.distribution}:{entry.name}"))
        if not options or options in seen:
            continue
        seen.add(options)
        text += f"### `{entry.name}` ({entry.kind})\n\n{options}"
    if not text:
        return ""
    return f"\n\n## Every option\n\nMade from the program.\n\n{text}"


def plugins_page() -> str:
    """Every plugin of this repository by kind, with the page that describes it."""
    text = (
        "# Plugins\n\nMade from the program: every plugin of this repository. Each is a distribution of its own; "
        "its page has all of its options, which are set by `plugins.<kind>.<name>.<key>` in the configuration or by "
        "`--set <kind>.<name>.<key>=VALUE`.\n\n"
    )
    everything = [one for one in read_index().entries() if one.kind in (*KINDS, "commands")]
    for kind in sorted({one.kind for one in everything}):
        text += f"## {kind}\n\n"
        rows = [
            (f"`{cell(one.name)}`", f"[{one.distribution}]({page_of(one.distribution)})", cell(one.summary or ""))
            for one in everything
            if one.kind == kind
        ]
        text += table(("name", "distribution", "what it does"), rows)
    return text


def page_of(distribution: str) -> str:
    """The page of a distribution, as seen from the other pages of reference."""
    return f"../packages/{distribution}.md"


def schemas() -> dict[str, dict[str, Any]]:
    """Every document that has a schema."""
    return {name: make() for name, make in sorted(published_schemas(_call()).items())}


def schemas_page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Every schema with its fields; the files lie beside the page."""
    text = (
        "# Schemas\n\nMade from the program. `skillgauge schema NAME` prints one; the files here are the same. What "
        "a command prints with `--json` is named after the command.\n\n"
    )
    for name, schema in found.items():
        summary = cell(str(schema.get("description", "")).partition("\n\n")[0])
        text += f"## {name}\n\n{summary}\n\n[{name}.schema.json](schemas/{name}.schema.json)\n\n{options_table(schema)}"
    return text


def exit_codes() -> dict[int, tuple[str, str]]:
    """Name and meaning of every exit code, the meaning from the text below each in the source."""
    (node,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(errors.ExitCode))).body
    assert isinstance(node, ast.ClassDef)
    found = {}
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            meaning = str(after.value.value) if is_text else ""
            found[int(errors.ExitCode[name])] = (name, " ".join(meaning.split()))
    return found


def exit_codes_page() -> str:
    """The exit codes."""
    rows = [(f"`{code}`", f"`{name}`", cell(meaning)) for code, (name, meaning) in exit_codes().items()]
    return (
        "# Exit codes\n\nMade from the program; every command uses the same ones. The name is that of "
        "`skillgauge.api.ExitCode`.\n\n" + table(("code", "name", "meaning"), rows)
    )
