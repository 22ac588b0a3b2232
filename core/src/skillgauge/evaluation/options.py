"""From parsed options to what is asked for, load options of installed formats among them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import short_time

from ..config.arguments import MOST_RUNS, OWN_DOCUMENT, PAGE, Detect, declared, is_given, words
from ..config.configuration import KEYS, Config
from ..config.option import Kind
from ..config.trusting import granted_checks
from ..contract.formats import LoadOption
from ..errors import Problem, UsageError
from ..plan.options import PAIRED, EvalOptions, How, What, Who
from ..plugins.installed import read_index
from ..plugins.kinds import FORMATS
from ..plugins.registry import Registry
from ..run.budget import BudgetLimits
from ..types.usage import SharedBudget, SharedService
from .added_checks import Overlay, read_overlay
from .elsewhere.places import cache_folder
from .invocation import Invocation, configured_list, configured_words
from .reports import Reports
from .selection import choice


@immutable
class FormatField:
    """One load option of a format."""

    format: str
    name: str
    """Field of the format's options model."""
    option: LoadOption
    several: bool
    is_flag: bool
    help: str

    @property
    def parameter(self) -> str:
        """Name among the parsed values; unlike any of the command's own."""
        return f"load_{self.option.flag.lstrip('-').replace('-', '_')}"


class FormatOptions:
    """The load options of a set of formats.

    Args:
        fields: one for each.
    """

    def __init__(self, fields: Sequence[FormatField]) -> None:
        self.fields = tuple(fields)

    @staticmethod
    @cache
    def of_installed() -> FormatOptions:
        """Return those of the installed formats."""
        fields = []
        for resolved in Registry(read_index()).load_all(FORMATS):
            for name, info in resolved.provider.options.model_fields.items():
                for mark in info.metadata:
                    if isinstance(mark, LoadOption):
                        several = "tuple" in str(info.annotation)
                        is_flag = info.annotation is bool
                        fields.append(FormatField(resolved.name, name, mark, several, is_flag, info.description or ""))
        return FormatOptions(fields)

    def paths(self, values: Mapping[str, Any], cwd: Path) -> dict[str, tuple[Path, ...]]:
        """Return the paths that were given for one format, by its name."""
        paths: dict[str, tuple[Path, ...]] = {}
        for field in self.fields:
            if field.option.paths and values.get(field.parameter):
                paths[field.format] = tuple(cwd / word for word in values[field.parameter])
        return paths

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the options that were given, by field name."""
        return {
            field.name: values[field.parameter]
            for field in self.fields
            if not field.option.paths and is_given(values.get(field.parameter))
        }


@immutable
class Asked:
    """The request of a command line."""

    options: EvalOptions
    reports: Reports
    words: tuple[str, ...] = ()
    """What is no path and must therefore be the name of a case."""

    def narrowed(self, paths: tuple[Path, ...], targets: tuple[str, ...]) -> Asked:
        """The same evaluation of what is at other paths.

        Args:
            paths: absolute.
            targets: ids of the only targets to evaluate, beside those of the selection; empty adds none.
        """
        subject = self.options.what
        selection = subject.selection.model_copy(update={"targets": (*subject.selection.targets, *targets)})
        return replace(self, options=replace(self.options, what=replace(subject, paths=paths, selection=selection)))


def eval_options(call: Invocation, values: Mapping[str, Any]) -> Asked:
    """Return the request of parsed options and configuration; options that a command does not have count as not given.

    Args:
        call: the command line.
        values: parsed options: those of `evaluation_options` and of the formats.

    Raises:
        UsageError: an option is wrong.
    """
    options = EvalOptions(cwd=call.cwd, what=_what(values, call), who=_who(values, call), how=_how(values, call.config))
    return Asked(options, _reports(values, call), paths_and_cases(values.get("paths", ()), call.cwd)[1])


def _what(values: Mapping[str, Any], call: Invocation) -> What:
    formats = FormatOptions.of_installed()
    named, cases = paths_and_cases(values.get("paths", ()), call.cwd)
    format_paths = {name: found for name, found in formats.paths(values, call.cwd).items() if found}
    if not (named or format_paths):
        named = (call.cwd,)
    return What(
        paths=named,
        format_paths=format_paths,
        suite_format=values.get("suite_format"),
        format_options=formats.values(values),
        selection=choice(values, cases),
        revise=_overlay(call, values.get("check", ())),
        **_unchanged("what", values, call.config),
    )


def _who(values: Mapping[str, Any], call: Invocation) -> Who:
    config = call.config
    store = config.get("store")
    cache = None
    if not values.get("no_cache", True):
        cache = cache_folder(call)
    return Who(
        engines=_engines(values, config),
        models=words(values.get("model", ())) or configured_words(config, "model"),
        **_judges(values, config),
        judge_temperature=config.get("judgeTemperature"),
        judge_required=bool(values.get("judge") or values.get("judge_model")),
        store=None if store == "none" else store,
        store_given=config.is_set("store"),
        cache=cache,
        record=_folder(values, "record", call.cwd),
        replay=_folder(values, "replay", call.cwd),
        **_unchanged("who", values, config),
    )


def _folder(values: Mapping[str, Any], name: str, cwd: Path) -> Path | None:
    """Return the folder that an option names, if it is given."""
    if not values.get(name):
        return None
    return cwd / str(values[name])


def _set_value(config: Config, key: str) -> Any:
    """Return the value of a key; `None` where only the default stands."""
    if config.is_set(key):
        return config.get(key)
    return None


def _how(values: Mapping[str, Any], config: Config) -> How:
    runs, showing = values.get("runs"), dict[str, Any]()
    if isinstance(runs, Detect):
        showing = {"detect": runs.difference, "until_decided": runs.until_decided}
    return How(
        runs=_set_value(config, "runs"),
        **showing,
        retries=_set_value(config, "retries"),
        timeout_s=seconds_of(values.get("timeout")),
        timeout_is_bare=str(values.get("timeout")).replace(".", "").isdigit(),
        direct_timeout_s=config.get("timeoutMs") / 1000,
        agent_timeout_s=config.get("agentTimeoutMs") / 1000,
        budget=BudgetLimits(values.get("max_cost"), values.get("max_tokens"), _shared_budget(config)),
        services=_shared_services(config),
        **_unchanged("how", values, config),
    )


def _shared_budget(config: Config) -> SharedBudget | None:
    """Return the budget that the configuration sets for all runs of a store.

    Raises:
        UsageError: its name has other characters than it may have.
    """
    name, usd = config.get("budget.name"), config.get("budget.usd")
    if usd is None:
        return None
    try:
        return SharedBudget(name=name, usd=usd, period=config.get("budget.period"))
    except ValidationError:
        message = f"budget.name is {name!r}"
        hint = "Use letters, digits and `._/-`, at most 60, of which the first is a letter or a digit."
        raise UsageError(Problem("usage.budget", message, hint=hint)) from None


def _shared_services(config: Config) -> tuple[SharedService, ...]:
    """Return the limits of services that the configuration sets for all runs of a store.

    Raises:
        UsageError: some of them are not understood.
    """
    services, problems = list[SharedService](), list[Problem]()
    for text in config.get("serviceLimits"):
        name, _, sessions = text.rpartition("=")
        try:
            services.append(SharedService.model_validate({"name": name.strip().lower(), "sessions": sessions.strip()}))
        except ValidationError:
            hint = "Write HOST=NUMBER, such as api.anthropic.com=20; `skillgauge eval --dry-run` shows the hosts."
            problems.append(Problem("usage.service-limit", f"serviceLimits has {text!r}", hint=hint))
    UsageError.raise_for(problems)
    return tuple(services)


def _unchanged(part: str, values: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """Return the fields of a part of `EvalOptions` that take a value as it is."""
    fields: dict[str, Any] = {}
    for option in declared():
        owner, _, field = option.field.partition(".")
        if owner != part:
            continue
        if option.key:
            fields[field] = config.get(option.key)
        else:
            fields[field] = values.get(option.value_name, False if option.kind is Kind.FLAG else None)
    return fields


def _reports(values: Mapping[str, Any], call: Invocation) -> Reports:
    explicit = words(values.get("formats", ()))
    names = explicit or tuple(call.config.get("defaultFormats"))
    if values.get("open_report") and PAGE not in names:
        names = (*names, PAGE)
    file = values.get("output_file")
    return Reports(
        names=tuple(name for name in names if name != OWN_DOCUMENT),
        own=OWN_DOCUMENT in names or file is not None or bool(values.get("report")),
        optional=frozenset(() if explicit else KEYS["defaultFormats"].default) - {PAGE},
        folder=call.cwd / call.config.get("outputDir"),
        folder_given=call.config.is_set("outputDir"),
        file=Path("/dev/fd/1" if file == "-" else file) if file is not None else None,
    )


def _engines(values: Mapping[str, Any], config: Config) -> tuple[str, ...]:
    named = words(values.get("engine", ()))
    _require_recordings(values, named)
    if values.get("replay"):
        return ()
    if named and all(PAIRED in name for name in named) and (models := words(values.get("model", ()))):
        message = f"--model {','.join(models)} has no effect: every engine is named with a model of its own"
        raise UsageError(Problem("usage.models", message, hint="Leave it out, or name an engine without a model."))
    return named or configured_words(config, "engine")


def _require_recordings(values: Mapping[str, Any], engines: Sequence[str]) -> None:
    """Refuse what does not go with recordings, or not without them."""
    if values.get("only_missing") and not values.get("record"):
        hint = "Name the folder of the recordings: --record DIR --only-missing."
        raise UsageError(Problem("usage.only-missing", "--only-missing goes with --record", hint=hint))
    if not values.get("replay"):
        return
    for flag, given in (("--record", values.get("record")), ("--engine", engines)):
        if given:
            hint = "A replay takes engine and model from the recordings."
            raise UsageError(Problem("usage.replay", f"--replay and {flag} exclude each other", hint=hint))


def _judges(values: Mapping[str, Any], config: Config) -> Mapping[str, Any]:
    """Judges and their models; a configured model is the one judge's, not one of a panel named in the command.

    It is the configured judge's: another one, named by the command or a suite, takes it unless some other claims it.
    """
    named, models = words(values.get("judge", ())), words(values.get("judge_model", ()))
    configured_judges, configured_models = configured_words(config, "judge"), configured_words(config, "judgeModel")
    if len(named) > 1:
        configured_models = ()
    judges = named or configured_judges
    return {
        "judges": judges,
        "judge_models": models or configured_models,
        "judge_model_is_default": not models and (not judges or judges != configured_judges),
    }


def _overlay(call: Invocation, arguments: Sequence[str]) -> Overlay:
    if held := granted_checks(call.config, call.registry):
        return read_overlay(held.value, held.file, arguments)
    return read_overlay(*configured_list(call.config, "checks"), arguments)


def runs_of(value: object) -> int | Detect:
    """Read a number of repeats, or a word that chooses it, with the points of lift that are to be shown or without.

    Raises:
        UsageError: it is neither.
    """
    word, _, points = str(value).partition(":")
    try:
        if word in _CHOOSING:
            wanted = float(points or _POINTS)
            if 0 < wanted <= 100:
                return Detect(wanted / 100, until_decided=word == UNTIL_DECIDED)
        elif 1 <= int(word) <= MOST_RUNS and not points:
            return int(word)
    except ValueError:
        pass
    words = " or ".join(f"{choice}:POINTS" for choice in _CHOOSING)
    hint = f"Give a number from 1 to {MOST_RUNS}, or {words} with points from 1 to 100."
    raise UsageError(Problem("usage.runs", f"runs cannot be {str(value)!r}", hint=hint))


UNTIL_DECIDED = "until-decided"
_CHOOSING = ("auto", UNTIL_DECIDED)
_POINTS = 50
"""Lift that is to be shown if the user names none: fewer points take many more sessions."""


def paths_and_cases(words: Sequence[str], cwd: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Words that exist or look like a path are paths; the others select cases of the suites here."""
    paths, cases = [], []
    for word in words:
        path = cwd / word
        is_there = os.path.exists(path)  # noqa: PTH110 - never raises
        like_one = "/" in word or "\\" in word or word.startswith(".") or path.suffix or not word.isprintable()
        if is_there or like_one:
            paths.append(path)
        else:
            cases.append(word)
    return tuple(paths), tuple(cases)


def seconds_of(text: str | None) -> float | None:
    """Return the seconds that `--timeout` means; a bare number is milliseconds.

    Raises:
        UsageError: it is not a duration.
    """
    if text is None:
        return None
    units = {"ms": 0.001, "s": 1.0, "m": 60.0}
    unit = next((unit for unit in units if text.endswith(unit)), "")
    try:
        seconds = float(text.removesuffix(unit)) * units.get(unit, 0.001)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        short = short_time(text) or "30s, 2m or 500ms"
        hint = f"Write {short}: one word, a number with its unit; a bare number is milliseconds."
        raise UsageError(Problem("usage.timeout", f"--timeout {text!r} is not a duration", hint=hint))
    return seconds
