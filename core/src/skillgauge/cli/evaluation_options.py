"""The options of commands that evaluate: what they are called, how help shows them, and which are configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click

from ..config.configuration import MOST_RUNS
from ..evaluation.arguments import OWN_DOCUMENT, Detect, words
from ..evaluation.options import FormatField, FormatOptions
from .options import GlobalsCommand, SeveralWords, completing, write_options

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "What to evaluate": ("suite_format", "case", "keyword", "tag", "target", "last_failed", "changed", "confirm"),
    "Who carries it out": ("engine", "model", "baseline", "replay", "record", "no_cache", "executor"),
    "How often, how long, at what price": (
        *("runs", "concurrency", "fail_fast", "retries", "timeout", "max_turns", "max_cost", "max_tokens"),
        *("seed", "fresh"),
    ),
    "How it is graded": ("check", "judge", "judge_model"),
    "Gates": ("exit_on_fail", "min_completion", "min_delta_pts", "fail_on_verdict", "gate", "margin", "against"),
    "Isolation": ("sandbox", "untrusted", "keep_workspaces"),
    "Reports": ("formats", "output_dir", "output_file", "report", "open_report", "store"),
    "Without running": ("listed", "dry_run"),
}
"""Under which title help shows an option, by the option's name; commands show the titles of those that they have."""


class EvaluationCommand(GlobalsCommand):
    """A command that evaluates: to its own options come those of installed formats, for loading suites."""

    sections = SECTIONS

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then those of the formats that are installed now."""
        return [*super().get_params(ctx), *options_beside(self.params)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What formats bring stands apart."""
        brought = tuple(str(option.name) for option in options_beside(self.params))
        sections = {**self.sections, "Options": (), "Of installed formats": brought}
        write_options(self.get_params(ctx), sections, ctx, formatter)


def _is_no_reporter(word: str) -> bool:
    from ..plugins.index import install_hint  # noqa: PLC0415 - only if `--format` has several words
    from ..plugins.installed import read_index  # noqa: PLC0415 - only if `--format` has several words

    def is_reporter(name: str) -> bool:  # one that is absent is told with what installs it
        return bool(read_index().find("reporters", name)) or install_hint("reporters", name).startswith("pip")

    return word != OWN_DOCUMENT and not all(map(is_reporter, words([word])))


def evaluation_options() -> list[click.Parameter]:
    """The options of a command that evaluates, beside what to evaluate and which gates there are."""
    return [
        click.Option(
            ["-n", "--runs"],
            type=Runs(),
            metavar="N|auto[:POINTS]",
            help="Repeats of every case, or as many as show a lift of 50 or that many points.",
        ),
        click.Option(["-j", "--concurrency"], type=click.IntRange(1), metavar="N", help="Trials under way at once."),
        click.Option(
            ["--retries"], type=click.IntRange(0), metavar="N", help="Attempts after a failure that may pass."
        ),
        click.Option(
            ["--engine", "--adapter", "--agent", "engine"],
            metavar="NAME",
            shell_complete=completing("engines"),
            multiple=True,
            help="Agent engines; several make a matrix. --adapter and --agent are old spellings.",
        ),
        click.Option(["--model"], metavar="ID", multiple=True, help="Models: one, one an engine, or several for one."),
        click.Option(["--baseline/--no-baseline"], default=None, help="Run the arms without the skill, too, or not."),
        click.Option(["--max-turns"], type=click.IntRange(1), metavar="N", help="Turns of an agent."),
        click.Option(["--max-cost"], type=Number(0, min_open=True), metavar="USD", help="Spend no more."),
        click.Option(["--max-tokens"], type=click.IntRange(1), metavar="N", help="Use no more tokens."),
        click.Option(["--record"], metavar="DIR", help="Record what agents do."),
        click.Option(["--replay"], metavar="DIR", help="Play recordings back instead of running agents."),
        click.Option(["--no-cache"], is_flag=True, help="Run every session without the skill, also one that is known."),
        click.Option(
            ["--untrusted"], is_flag=True, help="Run nothing unless a sandbox confines it strictly, without network."
        ),
        click.Option(["--seed"], type=int, metavar="N", help="Seed of everything random."),
        click.Option(["--timeout"], metavar="TIME", help="Limit of one trial: 30s, 2m, 500ms; a bare number is ms."),
        click.Option(
            ["--executor"],
            metavar="NAME",
            shell_complete=completing("executors"),
            help="What decides where trials run; default: this process.",
        ),
        click.Option(
            ["--sandbox"], metavar="NAME", shell_complete=completing("sandboxes"), help="Sandbox for every process."
        ),
        *_grading_options(),
        *_output_options(),
    ]


def _grading_options() -> list[click.Parameter]:
    """By what a trial is judged, beside the checks of its case."""
    return [
        click.Option(
            ["--check"],
            metavar="NAME[=JSON]",
            shell_complete=completing("scorers"),
            multiple=True,
            help="Add a scorer, with its options, to every case.",
        ),
        click.Option(
            ["--judge"],
            metavar="NAME",
            shell_complete=completing("judges"),
            multiple=True,
            help="Judge of rubric checks, or a model id; several: a panel.",
        ),
        click.Option(
            ["--judge-model"], metavar="ID", multiple=True, help="Model of the judge; of several, one for each."
        ),
    ]


def _output_options() -> list[click.Parameter]:
    """What is left of a run, and where."""
    return [
        click.Option(["--keep-workspaces"], is_flag=True, help="Leave workspaces behind for inspection."),
        SeveralWords(
            ["--format", "formats"],
            metavar="NAME...",
            stops_at=_is_no_reporter,
            completes=completing("reporters"),
            text="Reporters; `json` is the document of the suite's own format.",
        ),
        click.Option(["--output-dir", "--jobs-dir", "output_dir"], metavar="DIR", help="Folder for reports."),
        click.Option(["-o", "output_file"], metavar="FILE", help="Write the suite's own document to FILE."),
        click.Option(["--store"], metavar="PLACE", help="Where runs are kept; `none` keeps nothing."),
        click.Option(["--fresh"], is_flag=True, help="Do not resume an unfinished run."),
        click.Option(["--dry-run"], is_flag=True, help="Check everything, show what would run, create nothing."),
    ]


def selection_options() -> list[click.Parameter]:
    """The options that choose among the cases of what is evaluated."""
    return [
        click.Option(["--case"], metavar="GLOB", multiple=True, help="Cases to run, by id or file stem."),
        click.Option(
            ["-k", "keyword"],
            metavar="EXPR",
            multiple=True,
            help="Cases whose id, name or tags contain a word: 'csv and not slow'.",
        ),
        click.Option(["--tag"], metavar="TAG", multiple=True, help="Run cases with any of these tags."),
        click.Option(["--target"], metavar="ID", multiple=True, help="Targets to run."),
    ]


def options_beside(own: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return an option for each flag that a command does not have itself; formats that share a flag share the option.

    Args:
        own: the parameters of the command.
    """
    flags = {flag for parameter in own for flag in parameter.opts}
    return [option for flag, option in _by_flag().items() if flag not in flags]


@cache  # click knows options again by identity
def _by_flag() -> dict[str, click.Option]:
    options: dict[str, click.Option] = {}
    for field in FormatOptions.of_installed().fields:
        options.setdefault(field.option.flag, _option_of(field))
    return options


def _option_of(field: FormatField) -> click.Option:
    names = [field.option.flag, field.parameter]
    if field.option.several_words:
        return SeveralWords(names, metavar=field.option.metavar, text=field.help)
    if field.is_flag:
        return click.Option(names, is_flag=True, help=field.help)
    return click.Option(names, metavar=field.option.metavar, help=field.help, multiple=field.several)


class Runs(click.ParamType[int | Detect]):
    """A number of repeats, or the word `auto`, with the points of lift that are to be shown or without."""

    name = "runs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Detect:
        """Read it."""
        word, _, points = str(value).partition(":")
        if word != "auto":
            return int(click.IntRange(1, MOST_RUNS).convert(value, param, ctx))
        try:
            wanted = float(points or 50)
        except ValueError:
            wanted = math.nan
        if not 0 < wanted <= 100:
            self.fail(f"{value!r} is neither a number nor auto:POINTS with points from 1 to 100.", param, ctx)
        return Detect(wanted / 100)


class Number(click.FloatRange):
    """A number in a range; what no comparison holds for is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN and infinity, which click takes for numbers."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
