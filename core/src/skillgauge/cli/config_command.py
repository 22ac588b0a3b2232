"""`config`: show values with their origin, and change the user's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from skillgauge_documents import thaw

from ..config.arguments import OWN_DOCUMENT, words
from ..config.config_files import project_files, text_of, user_path
from ..config.configuration import Config, Key, Source, Value, check_value, parse_text, unknown_key
from ..config.whole_files import write_whole
from ..environment import host_environment
from ..errors import ExitCode, Problem, UsageError, did_you_mean
from ..evaluation.invocation import Invocation, invocation, trusted_files
from ..plan.options import PAIRED
from ..plugins.installed import read_index
from .options import GlobalsCommand, GlobalsGroup

command = GlobalsGroup("config", help="Show and change configuration.")


@command.command(
    "list", cls=GlobalsCommand, examples=("skillgauge config list --origin",), help="Show all values in force."
)
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.pass_context
def list_values(ctx: click.Context, *, origin: bool) -> int:
    """Show all values in force."""
    call = invocation(ctx.obj)
    if origin:
        values = list(call.config.items())
        call.output.document([_document(value) for value in values])
        rows = [[value.key, _text(value.value), f"{value.source} {value.where}".strip()] for value in values]
        call.output.table(["Key", "Value", "Origin"], rows)
    else:
        tree = _tree(call.config)
        call.output.document(tree)
        call.output.line(json.dumps(tree, indent=2, ensure_ascii=False))
    call.output.problems(call.held_back())
    return ExitCode.OK


@command.command(
    "get",
    cls=GlobalsCommand,
    examples=("skillgauge config get engine",),
    help="Print one value; dots reach into groups, as in plugins.block.",
)
@click.argument("key")
@click.pass_context
def get_value(ctx: click.Context, key: str) -> int:
    """Print one value."""
    call = invocation(ctx.obj)
    value = call.config.find(key)
    if value is None:
        _require_known(key, call.config.keys)
        value = Value(key, None, Source.DEFAULT)
    call.output.document(_document(value))
    call.output.line(_text(value.value))
    return ExitCode.OK


@command.command(
    "set",
    cls=GlobalsCommand,
    examples=(
        "skillgauge config set engine claude-code",
        "skillgauge config set defaultFormats json,html",
    ),
    help="Set a value in the user's own configuration file.",
)
@click.argument("key")
@click.argument("value")
@click.pass_context
def set_value(ctx: click.Context, key: str, value: str) -> int:
    """Set a value in the user file."""
    call = invocation(ctx.obj)
    parsed = parse_text(key, value, call.config.keys)
    problem = check_value(key, parsed, call.config.keys)
    if problem:
        raise UsageError(problem)
    path = user_path(host_environment())
    if path is None:
        raise UsageError(Problem("config.no-home", "there is no home folder to keep a user configuration in"))
    if path.is_file():
        settings = {}
    else:
        settings = call.config.of(Source.USER)
    _write(path, settings | {key: parsed})
    call.output.document({"key": key, "value": parsed, "file": str(path)})
    call.output.line(f"{key} = {_text(parsed)} in {path}")
    if settings:
        read = ", ".join(sorted(settings))
        call.output.notice(f"it now also holds what was read from another program's file: {read}")
    for notice in _names_nothing(key, parsed):
        call.output.notice(notice)
    before = call.config.overridden(key, Source.USER)
    if before:
        call.output.notice(f"{key} stays {_text(before.value)} here: {before.source} {before.where} goes before")
    return ExitCode.OK


_KIND_OF = {"engine": "engines", "sandbox": "sandboxes", "defaultFormats": "reporters"}
"""The kind of plugins that the value of a key names."""
_BUILT_IN = {"reporters": (OWN_DOCUMENT,)}
"""Names of a kind that no plugin has to bring."""


def _names_nothing(key: str, value: Any) -> Iterator[str]:
    """Yield a notice for each name in a value that no installed plugin has; it may be installed later."""
    kind = _KIND_OF.get(key)
    if kind is None:
        return
    index = read_index()
    installed = sorted({*_BUILT_IN.get(kind, ()), *(entry.name for entry in index.entries(kind))})
    for word in words(value if isinstance(value, list) else [value]):
        name = word.partition(PAIRED)[0].partition("+")[0]
        if name not in installed and not index.find(kind, name):
            yield f"nothing called {name!r} is installed{did_you_mean(name, installed)}: {', '.join(installed)}"


@command.command(
    "unset",
    cls=GlobalsCommand,
    examples=("skillgauge config unset judgeModel",),
    help="Remove a value from the user's own configuration file.",
)
@click.argument("key")
@click.pass_context
def unset_value(ctx: click.Context, key: str) -> int:
    """Remove a value from the user file."""
    call = invocation(ctx.obj)
    _require_known(key, call.config.keys)
    path = user_path(host_environment())
    removed = path is not None and path.is_file() and _remove(path, key)
    call.output.document({"key": key, "removed": removed, "file": str(path) if path else None})
    if removed:
        call.output.line(f"{key} is removed from {path}")
    else:
        call.output.notice(f"{key} is not set in {path}")
    value = invocation(ctx.obj).config.find(key)
    if value:
        call.output.line(f"{key} is now {_text(value.value)} ({f'{value.source} {value.where}'.strip()})")
    return ExitCode.OK


@command.command(
    "trust",
    cls=GlobalsCommand,
    examples=(
        "skillgauge config trust",
        "skillgauge config trust --list",
    ),
    help="Trust the configuration file found here, as it is now.",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--list", "listed", is_flag=True, help="Show the files that you trust.")
@click.option("--remove", is_flag=True, help="Stop trusting these files.")
@click.pass_context
def trust(ctx: click.Context, files: tuple[Path, ...], *, listed: bool, remove: bool) -> int:
    """Trust files of folders, until their content changes."""
    call = invocation(ctx.obj)
    kept = trusted_files()
    if not listed:
        chosen = files or project_files(call.cwd, call.others.files)
        if not chosen:
            hint = "Go to its folder, or name it: skillgauge config trust FILE."
            raise UsageError(Problem("config.trust", "no configuration file is in force here", hint=hint))
        _change_trust(call, chosen, remove=remove)
    names = sorted(kept.listed())
    call.output.document({"schema_version": "1.0", "trusted": names})
    if listed:
        for name in names:
            call.output.line(name)
    return ExitCode.OK


def _change_trust(call: Invocation, files: Sequence[Path], *, remove: bool) -> None:
    if remove:
        gone = trusted_files().remove(files)
        call.output.line("\n".join(f"no longer trusted: {name}" for name in gone) or "none of them was trusted")
        return
    trusted_files().add({file: text_of(file) for file in files})
    for held in call.config.held:
        call.output.line(f"from now on: {held.key} = {_text(held.value)}")
    call.output.line("\n".join(f"trusted until it changes: {file}" for file in files))


def _require_known(key: str, keys: Mapping[str, Key]) -> None:
    if key not in keys:
        raise UsageError(unknown_key(key, key, tuple(keys)))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _document(value: Value) -> dict[str, object]:
    return {"key": value.key, "value": value.value, "source": str(value.source), "where": value.where}


def _tree(config: Config) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for value in config.items():
        _put(tree, value.key, value.value)
    return tree


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    """Set a key; what stands in the place of one of its groups goes."""
    *groups, last = key.split(".")
    for group in groups:
        tree[group] = _as_dict(tree.get(group))
        tree = tree[group]
    tree[last] = value


def _as_dict(value: object) -> dict[str, Any]:
    """Return a mapping as a dictionary; an empty one for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    return {}


def _write(path: Path, values: Mapping[str, object]) -> None:
    """Set these keys and keep the others."""
    tree = _read_tree(path)
    for key, value in values.items():
        _put(tree, key, value)
    _write_tree(path, tree)


def _remove(path: Path, key: str) -> bool:
    """Remove a key, with groups that are empty then; tell whether it was there."""
    tree = _read_tree(path)
    *groups, last = key.split(".")
    places = [tree]
    for group in groups:
        inner = places[-1].get(group)
        if not isinstance(inner, dict):
            return False
        places.append(inner)
    if last not in places[-1]:
        return False
    del places[-1][last]
    for place, group in reversed(list(zip(places, groups, strict=False))):
        if not place[group]:
            del place[group]
    _write_tree(path, tree)
    return True


def _read_tree(path: Path) -> dict[str, Any]:
    from ..config.documents import read_document  # noqa: PLC0415 - slow, and only changes need it

    if not path.is_file():
        return {}
    return _as_dict(thaw(read_document(path).value))


def _write_tree(path: Path, tree: Mapping[str, Any]) -> None:
    import yaml  # noqa: PLC0415 - slow, and only changes write YAML

    write_whole(path, [yaml.safe_dump(dict(tree), sort_keys=True, allow_unicode=True).encode()])
