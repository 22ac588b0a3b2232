"""`run`: find, evaluate, choose and report in one go."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from skillgauge.api import EmptySelection, JsonObject, Problem, UsageError, plain
from skillgauge.api.report import counted
from skillgauge.api.run import (
    Evaluation,
    EvaluationCommand,
    Invocation,
    SeveralWords,
    configured,
    eval_options,
    evaluation_options,
    invocation,
)
from skillgauge_skill_selection.catalogue import Candidate, load_catalogue, require_unique_ids, search_catalogue
from skillgauge_skill_selection.parameters import RATE
from skillgauge_skill_selection.search import ranked
from skillgauge_skill_selection.strategy import Strategy, read_strategy

from .conclusion import RunDocument, conclude

_DEFAULTS = Strategy().with_limits(min_completion=0.7, top_k=5)

_OPTIONS: list[click.Parameter] = [
    click.Argument(["paths"], nargs=-1, metavar=""),
    click.Option(
        ["-q", "--query"], default="", metavar="WORDS", help="Words that all occur in id, name, tags or description."
    ),
    click.Option(["--skills-dir"], default="./skills", show_default=True, metavar="DIR", help="Folder to search."),
    SeveralWords(["--skills"], metavar="PATH...", text="Candidates, instead of those in --skills-dir."),
    click.Option(["--strategy"], metavar="FILE", help="Filters, order and number, as YAML or JSON."),
    click.Option(
        ["--min-completion"], type=RATE, metavar="R", help="Least completion rate of a selected skill; default 0.7."
    ),
    click.Option(["--top-k"], type=click.IntRange(0), metavar="N", help="How many to select; default 5, 0 for all."),
    *evaluation_options(),
]


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"run": RunDocument.model_json_schema()}


@dataclass(frozen=True)
class _Found:
    """The first stage's answer."""

    places: tuple[Path, ...]
    """Where the candidates are, absolute."""
    candidates: tuple[Candidate, ...]
    are_all: bool
    """Whether these are all the skills there."""
    told: str
    """What was found, for people."""


def _run(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    if values["paths"]:
        raise _old_spelling(values["paths"])
    strategy = _strategy(values)
    selection = _find(call, values["query"], values["skills"], values["skills_dir"])
    call.output.notice(f"[1/4] Find: {selection.told}")
    return asyncio.run(_carry_out(call, values, selection, strategy))


command = EvaluationCommand(
    "run",
    params=_OPTIONS,
    callback=_run,
    examples=("skillgauge run --skills-dir ./skills --top-k 3 --format json markdown",),
    help="Find skills, evaluate them, select the best and report, in one go.",
)


def _old_spelling(paths: Sequence[str]) -> UsageError:
    hint = f"To evaluate what is at a path: skillgauge {shlex.join(['eval', *paths])}"
    message = "`run` takes no path: it finds skills, evaluates them and selects the best"
    return UsageError(Problem("usage.run-path", message, hint=hint))


def _strategy(values: Mapping[str, Any]) -> Strategy:
    """For each limit by itself: the command line before the file before the default."""
    file: str | None = values["strategy"]
    strategy = Strategy() if file is None else read_strategy(Path(file))
    return strategy.with_limits(min_completion=values["min_completion"], top_k=values["top_k"]).over(_DEFAULTS)


def _find(call: Invocation, query: str, named: Sequence[str], skills_dir: str) -> _Found:
    """The skills to evaluate.

    Raises:
        EmptySelection: there are none.
    """
    where = ", ".join(named) if named else skills_dir
    places = tuple(call.cwd / word for word in (named or [skills_dir]))
    catalogue = load_catalogue(call, *places) if named else search_catalogue(call, places[0], shown=skills_dir)
    require_unique_ids(catalogue.candidates)
    ranking = ranked(catalogue.candidates, query, lambda _: None)
    if not ranking:
        call.output.problems(catalogue.passed_over)
        reason = (
            catalogue.nothing or f"none of {counted(len(catalogue.candidates), 'skill')} in {where!r} fits {query!r}"
        )
        hint = "Name another folder with --skills-dir, or look with `skillgauge find` at what there is."
        raise EmptySelection(Problem("usage.no-skills", reason, hint=hint))
    fitting = f" for {plain(query)!r}" if query.split() else ""
    text = f"{counted(len(ranking), 'skill')} in {plain(where)}{fitting}"
    return _Found(places, ranking, len(ranking) == len(catalogue.candidates), text)


async def _carry_out(call: Invocation, values: Mapping[str, Any], selection: _Found, strategy: Strategy) -> int:
    # The same search as before, narrowed by ids, is sure to find the same skills, each in its own folder.
    ids = () if selection.are_all else tuple(one.id for one in selection.candidates)
    evaluation = await Evaluation.prepare(call, eval_options(call, values).narrowed(selection.places, ids))
    if values["dry_run"]:
        return evaluation.print_plan()
    call.output.notice(f"[2/4] Eval: {counted(evaluation.prepared.plan.head.trial_count, 'trial')}")
    outcome = await evaluation.carry_out()
    return await asyncio.to_thread(conclude, call, evaluation, outcome, selection.candidates, strategy)
