"""Configuration: every value in force, and where it comes from.

Order, per key: command-line flag, `SKILLGAUGE_*` variable, project file in the current folder, user file, default.
Keys are dotted. A plugin announces how its own program spells one of them; that is a key, too, and counts where ours
is not set. Keys below `plugins.` belong to plugins and are checked by their options models; any other unknown key is an
error with a near match.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from skillgauge_documents.immutables import immutable

from ..contract.shared_options import SHARED
from ..errors import Origin, Problem, Severity, UsageError, did_you_mean
from ..types.judged_gates import JudgedGates
from ..types.usage import BudgetPeriod
from .arguments import declared
from .option import Kind as OptionKind
from .option import Option

PREFIX = "SKILLGAUGE_"
CHILD_PREFIX = "SKILLGAUGE_CHILD_"
STORE_KEY = f"{PREFIX}STORE_KEY"
"""Variable that holds the key with which runs are signed: a secret, and so no key of a configuration file."""
"""Variables that skillgauge sets for the processes it starts; never configuration."""


class Source(StrEnum):
    """The place where a value comes from; earlier members win."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROJECT = "project file"
    USER = "user file"
    DEFAULT = "default"


@immutable
class Key:
    """A configuration key that skillgauge knows."""

    name: str
    kind: type
    default: Any
    help: str
    least: float | None = None
    most: float | None = None
    stands_for: str = ""
    """The key that another program's spelling means; empty for skillgauge's own."""
    choices: tuple[str, ...] = ()
    harmless: bool = False
    """Whether a folder may set it for every user who works there: counts, thresholds, which cases gate, and names of
    what the user has installed. `plugins.block` is not: what it leaves out may be what keeps watch."""


def _key_of(option: Option) -> Key:
    kind = _KINDS.get(option.kind, str)
    key = Key(option.key, kind, option.default, option.help, option.least, option.most, harmless=option.harmless)
    return replace(key, choices=option.choices)


_KINDS: Mapping[OptionKind, type] = {OptionKind.WHOLE: int, OptionKind.RUNS: int, OptionKind.NUMBER: float}

KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        *(_key_of(option) for option in declared() if option.key),
        Key("timeoutMs", int, 30_000, "Time limit of one direct call, where the case has none.", 1, harmless=True),
        Key(
            "agentTimeoutMs",
            int,
            600_000,
            "Time limit of one agent session, where the case has none.",
            1,
            harmless=True,
        ),
        Key("defaultFormats", list, ["json", "markdown"], "Reporters used without --format.", harmless=True),
        Key("cacheDir", str, None, "Folder of sessions that are used again; default: in the user's folder for caches."),
        Key("engine", str, None, "Engine for suites that name none; NAME/MODEL with its model.", harmless=True),
        Key("model", str, None, "Model for engines.", harmless=True),
        Key("judge", str, None, "Judge for rubric checks; several make a panel.", harmless=True),
        Key("judgeModel", str, None, "Model of the judge; of several, one for each.", harmless=True),
        Key("judgeTemperature", float, None, "Temperature of the judge.", 0, harmless=True),
        Key(
            "judgedGates",
            str,
            "always",
            "When a gate on judged checks counts.",
            choices=tuple(JudgedGates),
            harmless=True,
        ),
        Key(
            "budget.usd",
            float,
            None,
            "Dollars that all runs which keep their results in one store may spend together.",
            0,
        ),
        Key("budget.name", str, "team", "Name of that amount; runs that name another spend apart."),
        Key("budget.period", str, BudgetPeriod.MONTH.value, "When it begins anew.", choices=tuple(BudgetPeriod)),
        Key(
            "serviceLimits",
            list,
            [],
            "Sessions at once that a service gets from all runs which keep their results in one store: HOST=NUMBER.",
        ),
        Key("checks", dict, [], "Further checks for cases of any suite; see `overlay`."),
        Key("lints", list, [], "How severe lints of `validate` are: ID=off, ID=warning or ID=error.", harmless=True),
        Key("quarantine", dict, [], "Flaky cases that gate nothing until a date.", harmless=True),
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


@immutable
class Value:
    """A value in force and where it was set."""

    key: str
    value: Any
    source: Source
    where: str = ""
    """File or variable, for people."""


@immutable
class Held:
    """A value that the folder's own configuration asks for, and that waits for the user's trust."""

    key: str
    value: Any
    file: str
    pointer: tuple[str, ...]
    """The keys that lead to it in the file."""

    @property
    def option(self) -> tuple[str, str, str] | None:
        """Kind, name and key of the option of a plugin that it is."""
        return _plugin_option(self.key)

    def problem(self, severity: Severity, *, untrusted: bool = False) -> Problem:
        """The problem to report."""
        message = f"{self.key} is held back: a folder's configuration cannot decide this before you trust the file"
        hint = "Look at the file; then `skillgauge config trust`, or --trust-config for this command."
        if untrusted:
            hint = "To trust it, leave out --untrusted, under which no file is trusted."
        origin = Origin(self.file, self.pointer)
        return Problem("config.held-back", message, origin=origin, hint=hint, severity=severity)


class Config:
    """Values in force, each with its source.

    Args:
        layers: from strongest to weakest: source, place for people, dotted key to value.
        notices: what the user should know about where values come from.
        keys: all that may be set, those of plugins apart.
        held: what a file of the folder asks for beyond what is harmless in itself, where nothing stronger sets it.
    """

    def __init__(
        self,
        layers: Sequence[tuple[Source, str, Mapping[str, Any]]],
        notices: Sequence[str] = (),
        keys: Mapping[str, Key] = KEYS,
        held: Sequence[Held] = (),
    ) -> None:
        self.notices = tuple(notices)
        self.held = tuple(held)
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
        values = (value.value for value in filter(None, map(self.find, spellings)))
        return next((value for value in values if value is not None), None)

    def is_set(self, key: str) -> bool:
        """Tell whether anything but the default sets the key."""
        value = self.find(key)
        return value is not None and value.source is not Source.DEFAULT

    def overridden(self, key: str, source: Source) -> Value | None:
        """The value in force, if its source goes before another."""
        value = self.find(key)
        order = list(Source)
        return value if value and order.index(value.source) < order.index(source) else None

    def of(self, source: Source) -> dict[str, Any]:
        """All that one source sets, by key."""
        return {
            key: value for one, _, values in reversed(self._layers) if one is source for key, value in values.items()
        }

    def items(self) -> Iterator[Value]:
        """All values in force, sorted by key."""
        keys = {key for _, _, values in self._layers for key in values}
        return filter(None, map(self.find, sorted(keys)))

    def plugin_options(self) -> dict[str, dict[str, Any]]:
        """Options of plugins by `<kind>.<name>`, from the weakest layer to the strongest."""
        options: dict[str, dict[str, Any]] = {}
        for value in self.items():
            if option := _plugin_option(value.key):
                kind, name, key = option
                options.setdefault(f"{kind}.{name}", {})[key] = value.value
        return options


def _plugin_option(key: str) -> tuple[str, str, str] | None:
    """Kind, name and key of the option of a plugin that a key of the configuration is."""
    match key.split(".", 3):
        case ["plugins", kind, name, option]:
            return kind, name, option
    return None


def check_value(name: str, value: object, keys: Mapping[str, Key] = KEYS) -> Problem | None:
    """Return what is wrong with a key or its value, if anything."""
    if name in keys:
        return _value_problem(name, value, keys[name])
    if name.startswith(PLUGIN_PREFIX) and name.count(".") >= 3:
        return None  # an option, which only its plugin can check
    return _unknown(name, keys)


def _value_problem(name: str, value: object, key: Key) -> Problem | None:
    if value is None and key.default is None:
        return None
    if not _is_of_kind(value, key.kind):
        return Problem("config.wrong-type", f"{name} must be {_KIND_NAMES[key.kind]}, not {value!r}")
    if key.choices and value not in key.choices:
        return Problem("config.wrong-value", f"{name} must be {' or '.join(key.choices)}, not {value!r}")
    if isinstance(value, int | float):
        return _range_problem(name, value, key)
    return None


def _range_problem(name: str, value: float, key: Key) -> Problem | None:
    if key.least is not None and value < key.least:
        return Problem("config.out-of-range", f"{name} must be at least {key.least:g}, not {value!r}")
    if key.most is not None and value > key.most:
        return Problem("config.out-of-range", f"{name} must be at most {key.most:g}, not {value!r}")
    return None


def _is_of_kind(value: object, kind: type) -> bool:
    """Tell whether a value is of the kind of a key: a whole number is a number, but no switch is one."""
    if isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if kind in _ITEMS:
        return isinstance(value, list | tuple) and all(isinstance(item, _ITEMS[kind]) for item in value)
    return isinstance(value, kind)


_ITEMS: dict[type, type] = {list: str, dict: Mapping}
"""Kinds of keys whose value is a list, each with the type of its items."""


def _unknown(name: str, keys: Mapping[str, Key]) -> Problem:
    if name.startswith(PLUGIN_PREFIX):
        return _unknown_of_plugins(name, keys)
    return unknown_key(name, name, tuple(keys))


def unknown_key(key: str, word: str, known: Sequence[str]) -> Problem:
    """Describe a key that nobody knows, with the known names that are near a word of it."""
    hint = "Run `skillgauge config list` for all keys."
    return Problem("config.unknown-key", f"unknown key {key!r}{did_you_mean(word, known)}", hint=hint)


def _unknown_of_plugins(name: str, keys: Mapping[str, Key]) -> Problem:
    from .kind_names import SINGULAR  # noqa: PLC0415 - slow, and needed by mistakes alone

    kind = name.split(".")[1]
    if kind in SINGULAR:
        hint = f"An option of a plugin is written plugins.{kind}.PLUGIN.OPTION."
        return Problem("config.unknown-key", f"unknown key {name!r}", hint=hint)
    if kind == SHARED:
        hint = f"An option that plugins share is written plugins.{SHARED}.BLOCK.OPTION."
        return Problem("config.unknown-key", f"unknown key {name!r}", hint=hint)
    # The prefix of all such keys would make any of them look near.
    names = [*SINGULAR, SHARED, *(key.removeprefix(PLUGIN_PREFIX) for key in keys if key.startswith(PLUGIN_PREFIX))]
    return unknown_key(name, kind, names)


_KIND_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list of strings",
    dict: "a list of mappings",
}


def variable_name(key: str) -> str:
    """The environment variable of a key: `timeoutMs` is `SKILLGAUGE_TIMEOUT_MS`."""
    return PREFIX + re.sub("[A-Z]", r"_\g<0>", key).replace(".", "_").upper()


def from_environment(environ: Mapping[str, str], keys: Mapping[str, Key], problems: list[Problem]) -> dict[str, Any]:
    """Return the values that `SKILLGAUGE_*` variables set."""
    names = {variable_name(key): key for key in keys}
    values: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable.startswith(CHILD_PREFIX) or variable == STORE_KEY:
            continue
        key = names.get(variable)
        if key is None:
            message = f"unknown variable {variable}{did_you_mean(variable, tuple(names))}"
            problems.append(Problem("config.unknown-key", message))
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
    declared = keys.get(key)
    if declared and declared.kind is str:
        return text
    if declared and declared.kind is list and not text.lstrip().startswith("["):
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
    UsageError.raise_for(problems)
    return values
