"""Configuration: every value in force, and where it comes from.

Order, per key: command-line flag, `SKILLGAUGE_*` variable, project file in the current folder, user file, default.
Keys are dotted. A plugin announces how its own program spells one of them; that is a key, too, and counts where ours
is not set. Keys below `plugins.` belong to plugins and are checked by their options models; any other unknown key is an
error with a near match.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import Origin, Problem, SuiteError, UsageError, did_you_mean
from .judged_gates import JudgedGates

PROJECT_FILE = "skillgauge.config.yaml"
PREFIX = "SKILLGAUGE_"
CHILD_PREFIX = "SKILLGAUGE_CHILD_"
"""Variables that skillgauge sets for the processes it starts; never configuration."""


class Source(StrEnum):
    """Where a value comes from; earlier members win."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project file"
    USER = "user file"
    DEFAULT = "default"


@dataclass(frozen=True)
class Key:
    """A configuration key that skillgauge knows."""

    name: str
    kind: type
    default: Any
    help: str
    least: float | None = None
    stands_for: str = ""
    """The key that another program's spelling means; empty for skillgauge's own."""
    choices: tuple[str, ...] = ()


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("concurrency", int, 4, "Trials under way at once.", 1),
        Key("timeoutMs", int, 30_000, "Time limit of one direct call, where the case has none.", 1),
        Key("outputDir", str, "./reports", "Folder that reports are written to."),
        Key("defaultFormats", list, ["json", "markdown"], "Reporters used without --format."),
        Key("runs", int, 1, "Repeats of every case, where neither user nor suite says.", 1),
        Key("retries", int, 0, "Further attempts after a failure that may pass.", 0),
        Key("seed", int, 0, "Seed of everything random."),
        Key("store", str, "./skillgauge.db", "Where runs are kept."),
        Key("sandbox", str, None, "Sandbox to use; default: the strongest installed one that works."),
        Key("engine", str, None, "Engine for suites that name none."),
        Key("model", str, None, "Model for engines."),
        Key("judge", str, None, "Judge for rubric checks; several make a panel."),
        Key("judgeModel", str, None, "Model of the judge; of several, one for each."),
        Key("judgeTemperature", float, None, "Temperature of the judge.", 0),
        Key("judgedGates", str, "always", "When a gate on judged checks counts.", choices=tuple(JudgedGates)),
        Key("checks", dict, [], "Further checks for cases of any suite; see `overlay`."),
        Key("plugins.block", list, [], "Plugins that are never loaded."),
        Key("plugins.only", list, None, "If set, the only plugins that may be loaded."),
    )
}
PLUGIN_PREFIX = "plugins."


def keys_with(spellings: Mapping[str, str]) -> dict[str, Key]:
    """All keys, with those that installed plugins announce as other spellings.

    Args:
        spellings: what another program calls a key, and which of ours it means.
    """
    return KEYS | {
        name: replace(KEYS[own], name=name, default=None, help=f"Another spelling of {own}.", stands_for=own)
        for name, own in spellings.items()
        if own in KEYS and name not in KEYS
    }


@dataclass(frozen=True)
class Value:
    """A value in force and where it was set."""

    key: str
    value: Any
    source: Source
    where: str = ""
    """File or variable, for people."""


class Config:
    """Values in force, each with its source.

    Args:
        layers: from strongest to weakest: source, place for people, dotted key to value.
        notices: what the user should know about where values come from.
        keys: all that may be set, those of plugins apart.
    """

    def __init__(
        self,
        layers: Sequence[tuple[Source, str, Mapping[str, Any]]],
        notices: Sequence[str] = (),
        keys: Mapping[str, Key] = KEYS,
    ) -> None:
        self.notices = tuple(notices)
        self.keys = keys
        self._layers = [*layers, (Source.DEFAULT, "", {name: key.default for name, key in keys.items()})]

    def find(self, key: str) -> Value | None:
        """The value in force, or `None` if nobody sets the key."""
        for source, where, values in self._layers:
            if key in values:
                return Value(key, values[key], source, where)
        return None

    def get(self, key: str) -> Any:
        """The value in force, in whichever spelling it is set, our own first; `None` if nobody sets the key."""
        spellings = (key, *(name for name, one in self.keys.items() if one.stands_for == key))
        found = (value.value for value in map(self.find, spellings) if value)
        return next((value for value in found if value is not None), None)

    def is_set(self, key: str) -> bool:
        """Whether anything but the default sets the key."""
        value = self.find(key)
        return value is not None and value.source is not Source.DEFAULT

    def items(self) -> Iterator[Value]:
        """All values in force, sorted by key."""
        for key in sorted({key for _, _, values in self._layers for key in values}):
            value = self.find(key)
            if value is not None:
                yield value

    def plugin_options(self) -> dict[str, dict[str, Any]]:
        """Options of plugins by `<kind>.<name>`, from the weakest layer to the strongest."""
        options: dict[str, dict[str, Any]] = {}
        for value in self.items():
            parts = value.key.split(".", 3)
            if parts[0] == "plugins" and len(parts) == 4:
                options.setdefault(f"{parts[1]}.{parts[2]}", {})[parts[3]] = value.value
        return options


def load_config(
    *,
    cwd: Path,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    explicit: Path | None = None,
    user_file: Path | None = None,
    foreign: Sequence[str] = (),
    spellings: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """Collect the layers.

    Args:
        cwd: folder searched for the project file.
        flags: values given on the command line, unset ones absent.
        environ: environment variables.
        explicit: the file named by `--config`; it takes the place of the project file.
        user_file: the user's own file; default below the home folder.
        foreign: names of other programs' configuration files, read where ours is absent: in `cwd`, or below the home
            folder if they begin with `~/`.
        spellings: keys as other programs spell them, each with the one of ours that it means.

    Raises:
        UsageError: a file cannot be read or holds an unknown key or a value of the wrong type; all of them.
    """
    problems: list[Problem] = []
    keys = keys_with(spellings)
    layers: list[tuple[Source, str, Mapping[str, Any]]] = [(Source.FLAG, "command line", dict(flags))]
    layers.append((Source.ENVIRONMENT, "environment", _from_environment(environ, keys, problems)))
    if explicit is not None and not explicit.is_file():
        problems.append(Problem("config.missing", f"configuration file {str(explicit)!r} does not exist"))
    notices: list[str] = []
    home = environ.get("HOME") or environ.get("USERPROFILE")
    for source, path, others in (
        (Source.PROJECT, explicit or _project_file(cwd), () if explicit else _foreign_files(foreign, "", cwd)),
        (Source.USER, user_file or user_path(environ), _foreign_files(foreign, "~/", Path(home)) if home else ()),
    ):
        if path is not None and path.is_file():
            values = _read_layer(path, keys, problems)
            layers.append((source, str(path), values))
            if values or path.suffix != ".toml":
                continue  # else it is a pyproject.toml that says nothing about skillgauge
        for other in others:
            layers.append((source, str(other), _read_foreign(other, keys, problems, notices)))
    if problems:
        raise UsageError(problems)
    return Config(layers, notices, keys)


def user_path(environ: Mapping[str, str]) -> Path | None:
    """The user's own configuration file, whether it exists or not; `None` without a home."""
    base = environ.get("XDG_CONFIG_HOME")
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if base:
        return Path(base) / "skillgauge" / "config.yaml"
    return Path(home) / ".config" / "skillgauge" / "config.yaml" if home else None


def _project_file(cwd: Path) -> Path | None:
    path = cwd / PROJECT_FILE
    if path.is_file():
        return path
    pyproject = cwd / "pyproject.toml"
    return pyproject if pyproject.is_file() else None


def _foreign_files(names: Sequence[str], prefix: str, folder: Path) -> tuple[Path, ...]:
    """Those of the other programs' files that are there and belong to this folder."""
    here = (name.removeprefix(prefix) for name in names if name.startswith("~/") == bool(prefix))
    return tuple(path for name in here if (path := folder / name).is_file())


def _read_foreign(path: Path, keys: Mapping[str, Key], problems: list[Problem], notices: list[str]) -> dict[str, Any]:
    """What another program's file sets; keys that mean nothing here are only mentioned."""
    found: list[Problem] = []
    values = _read_layer(path, keys, found)
    unknown = [problem for problem in found if problem.code == "config.unknown-key"]
    problems.extend(problem for problem in found if problem.code != "config.unknown-key")
    notices.append(f"configuration is read from {path}, because there is no file of skillgauge's own beside it")
    notices.extend(f"{path}: {problem.message}; it is ignored" for problem in unknown)
    return values


def _read_layer(path: Path, keys: Mapping[str, Key], problems: list[Problem]) -> dict[str, Any]:
    if path.suffix == ".toml":
        return _read_toml(path, keys, problems)
    from ..reading.documents import locate, read_document  # noqa: PLC0415 - needless without a file

    try:
        document = read_document(path)
    except SuiteError as error:
        problems.extend(error.problems)
        return {}
    if document.value is None:
        return {}
    if not isinstance(document.value, Mapping):
        problems.append(Problem("config.shape", "must be a mapping of keys to values", origin=document.origin()))
        return {}
    found: list[Problem] = []
    values = _checked(document.value, keys, found, file=document.file)
    problems.extend(problem.at(locate(problem.origin)) if problem.origin else problem for problem in found)
    return values


def _read_toml(path: Path, keys: Mapping[str, Key], problems: list[Problem]) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - needless without a pyproject.toml

    try:
        table: object = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("config.syntax", str(error), origin=Origin(str(path))))
        return {}
    for name in ("tool", "skillgauge"):
        table = table.get(name, {}) if isinstance(table, dict) else table
    if not isinstance(table, dict):
        problems.append(Problem("config.shape", "[tool.skillgauge] must be a table", origin=Origin(str(path))))
        return {}
    return _checked(table, keys, problems, file=str(path))


def _checked(tree: Mapping[str, Any], keys: Mapping[str, Key], problems: list[Problem], *, file: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pointer, name, value in _flatten(tree, keys):
        origin = Origin(file, pointer)
        problem = check_value(name, value, keys)
        if problem is None:
            values[name] = list(value) if isinstance(value, tuple) else value
        else:
            problems.append(Problem(problem.code, problem.message, origin=origin, hint=problem.hint))
    return values


def _flatten(
    tree: Mapping[str, Any], keys: Mapping[str, Key], pointer: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    for key, value in tree.items():
        here = (*pointer, key)
        name = ".".join(here)
        nested = isinstance(value, Mapping) and name not in keys
        if nested and not (here[0] == "plugins" and len(here) >= 4):
            yield from _flatten(value, keys, here)
        else:
            yield here, name, value


def check_value(name: str, value: object, keys: Mapping[str, Key] = KEYS) -> Problem | None:
    """What is wrong with a key or its value, if anything."""
    key = keys.get(name)
    if key is None:
        if name.startswith(PLUGIN_PREFIX) and name.count(".") >= 3:
            return None
        return Problem(
            "config.unknown-key",
            f"unknown key {name!r}{did_you_mean(name, tuple(keys))}",
            hint="Run `skillgauge config list` for all keys.",
        )
    if value is None and key.default is None:
        return None
    several: dict[type, tuple[type, ...]] = {float: (int, float), list: (list, tuple), dict: (list, tuple)}
    accepted = several.get(key.kind, (key.kind,))
    is_one = isinstance(value, accepted) and not isinstance(value, bool)
    item_type = Mapping if key.kind is dict else str
    items = value if isinstance(value, list | tuple) else ()
    is_one = is_one and (not isinstance(value, float) or math.isfinite(value))
    if not (is_one and all(isinstance(item, item_type) for item in items)):
        return Problem("config.wrong-type", f"{name} must be {_KIND_NAMES[key.kind]}, not {value!r}")
    if key.choices and value not in key.choices:
        return Problem("config.wrong-value", f"{name} must be {' or '.join(key.choices)}, not {value!r}")
    if key.least is not None and isinstance(value, int | float) and value < key.least:
        return Problem("config.out-of-range", f"{name} must be at least {key.least:g}, not {value!r}")
    return None


_KIND_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list of strings",
    dict: "a list of mappings",
}


def variable_name(key: str) -> str:
    """The environment variable of a key: `timeoutMs` is `SKILLGAUGE_TIMEOUT_MS`."""
    snake = "".join(f"_{letter}" if letter.isupper() else letter for letter in key)
    return PREFIX + snake.replace(".", "_").upper()


def _from_environment(environ: Mapping[str, str], keys: Mapping[str, Key], problems: list[Problem]) -> dict[str, Any]:
    names = {variable_name(key): key for key in keys}
    values: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable.startswith(CHILD_PREFIX):
            continue
        key = names.get(variable)
        if key is None:
            known = tuple(names)
            problems.append(
                Problem("config.unknown-key", f"unknown variable {variable}{did_you_mean(variable, known)}")
            )
            continue
        value = parse_text(key, text, keys)
        problem = check_value(key, value, keys)
        if problem is None:
            values[key] = value
        else:
            problems.append(Problem(problem.code, f"variable {variable}: {problem.message}", hint=problem.hint))
    return values


def parse_text(key: str, text: str, keys: Mapping[str, Key] = KEYS) -> Any:
    """Read a value given as text on the command line or in a variable: JSON if it is, else the text itself."""
    known = keys.get(key)
    if known and known.kind is str:
        return text
    if known and known.kind is list and not text.lstrip().startswith("["):
        return [word.strip() for word in text.split(",") if word.strip()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def plugin_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Read `--set <kind>.<name>.<key>=VALUE` into configuration keys.

    Raises:
        UsageError: one has no `=` or names no plugin option; all such ones.
    """
    values: dict[str, Any] = {}
    problems = []
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        parts = key.split(".")
        if not equals or len(parts) < 3 or not all(parts):
            hint = "Write --set <kind>.<name>.<key>=VALUE, for example --set scorers.exact.case_sensitive=false."
            problems.append(Problem("usage.set", f"--set {assignment!r} names no option of a plugin", hint=hint))
        else:
            name = f"{PLUGIN_PREFIX}{key}"
            values[name] = parse_text(name, text)
    if problems:
        raise UsageError(problems)
    return values
