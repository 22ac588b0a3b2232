"""The evaluations of the command line, called from Python: `skillgauge.evaluate` and `skillgauge.aevaluate`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

from skillgauge_documents.immutables import immutable

from ..config.arguments import Settings as Settings
from ..config.arguments import configured, declared
from ..config.global_options import Globals
from ..decide.decision import Decision as Decision
from ..decide.decision import GateOptions
from ..decide.earlier.matching import Earlier
from ..decide.foresight import coarse
from ..errors import PluginError, Problem, SkillgaugeError, UsageError, did_you_mean
from ..report.answer import sentences
from ..terminal.output import with_places
from ..types.arms import GroupKey
from ..types.plan import SuitePlan, applies
from ..types.results.runs import RunView
from ..types.results.trials import TrialResult
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Trial
from .conclusion import concluded, gate_options, out_of_range, several, unanswerable_gates, unknown_words
from .eval_document import human_lines
from .evaluation import Evaluation
from .invocation import Invocation, invocation
from .options import Asked, eval_options, runs_of
from .process import run_to_its_end
from .remarks import Listener, Watcher
from .reports import Reports
from .selection import lines_of
from .stored import run_reports


@dataclass(frozen=True)
class Evaluated(RunView):
    """A run that `evaluate` has come back from: what reporters get, and what the command line would have said."""

    complete: bool = True
    """Whether every trial has run."""
    decision: Decision = field(kw_only=True)
    """The decision of the command line: gates with their status, and the exit code."""
    notices: tuple[str, ...] = ()
    """What the user should know of the run."""
    problems: tuple[Problem, ...] = ()
    """Warnings, bad files that a search passed over, and extensions that failed once the run had begun."""

    def __str__(self) -> str:
        return "\n".join(chain(human_lines(self), sentences(self)))

    def _repr_markdown_(self) -> str:
        """Return the page that a notebook shows: the answers, then the figures of every group."""
        answers = "".join(f"**{sentence}**\n\n" for sentence in sentences(self))
        figures = "".join(f"    {line}\n" for line in human_lines(self))
        return f"{answers}{figures}"


class _Collected:
    """Listens to an evaluation on behalf of a program, which gets everything at the end.

    Args:
        on_result: called with every result as it comes.
    """

    def __init__(self, on_result: Callable[[TrialResult], None] | None = None) -> None:
        self.notices: list[str] = []
        self.heard: list[Problem] = []
        self._on_result = on_result

    def notice(self, text: str) -> None:
        """Keep it."""
        self.notices.append(text)

    def problems(self, problems: Iterable[Problem]) -> None:
        """Keep them."""
        self.heard += problems

    @contextmanager
    def watching(self, total: int, stop: asyncio.Event, *, at_most: bool = False) -> Iterator[Watcher]:
        """Hand results on; the caller stops a run by cancelling it."""
        yield self

    def started(self, trial: Trial) -> None:
        """Ignore that a trial begins."""

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Ignore what an agent does."""

    def finished(self, result: TrialResult) -> None:
        """Hand a result on."""
        if self._on_result:
            self._on_result(result)


def evaluate(
    *paths: str | Path,
    plugins: Sequence[object] = (),
    on_result: Callable[[TrialResult], None] | None = None,
    **settings: Unpack[Settings],
) -> Evaluated:
    """Evaluate skills and suites, as `skillgauge eval` does, and wait for the end.

    Works where an event loop runs, too, as in a notebook, and in any thread; such a loop stands still until then.

    Args:
        *paths: as on the command line; none is the working directory.
        plugins: modules or objects that implement hooks of any kind, beside the installed plugins.
        on_result: called with every result as it comes, on the thread that runs the evaluation.
        **settings: see `Settings`.

    Raises:
        SkillgaugeError: with every problem of suites, plugins and settings; nothing has run. A run that could not be
            kept raises it, too.
        TypeError: there is no such setting.
    """
    run = partial(run_to_its_end, aevaluate(*paths, plugins=plugins, on_result=on_result, **settings))
    if not _is_in_event_loop():
        return run()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, run).result()


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def aevaluate(
    *paths: str | Path,
    plugins: Sequence[object] = (),
    on_result: Callable[[TrialResult], None] | None = None,
    **settings: Unpack[Settings],
) -> Evaluated:
    """The same in an event loop. Cancelled, it ends every process that it started; what was finished is kept.

    Args:
        *paths: see `evaluate`.
        plugins: see `evaluate`.
        on_result: called with every result as it comes, on the loop's thread.
        **settings: see `Settings`.

    Raises:
        SkillgaugeError: see `evaluate`.
        TypeError: there is no such setting.
    """
    opened = ExitStack()
    listener = _Collected(on_result)
    try:
        with _located():
            call, asked, gates = _asked(paths, plugins, settings, listener)
            earlier = await asyncio.to_thread(_earlier, call, settings, opened)
            evaluation = await Evaluation.prepare(call, asked)
        open_gates = await asyncio.to_thread(unanswerable_gates, call, evaluation.prepared, gates, earlier)
        for warning in (*coarse(evaluation.prepared), *open_gates):
            listener.notice(warning)
        outcome = await evaluation.carry_out()
        run = await asyncio.to_thread(concluded, outcome, evaluation, gates, earlier)
    finally:
        await asyncio.to_thread(opened.close)  # closing a store needs a loop of its own
    return Evaluated(
        **{field.name: getattr(run.view, field.name) for field in fields(run.view)},
        complete=outcome.complete,
        decision=run.decision,
        notices=(*listener.notices, *run.decision.notices),
        problems=tuple(with_places(listener.heard)),
    )


def _earlier(call: Invocation, settings: Settings, opened: ExitStack) -> Earlier | None:
    """Read the run that is compared with; it stays open until `opened` is closed. Blocks.

    Raises:
        UsageError: there is none, or nothing can be compared with it.
    """
    if "against" not in settings:
        return None
    name = str(settings["against"])
    (view,) = opened.enter_context(run_reports(call, [name]))
    earlier = Earlier.of(view, name)
    earlier.require_usable()
    return earlier


@immutable
class PlannedCase:
    """A case in one of the arms that it would run in."""

    group: GroupKey
    """Suite, target, arm, engine or adapter, and model: its results are summarised under it."""
    case_id: str
    name: str
    """A second name of the case; empty if it has none."""
    tags: tuple[str, ...]
    is_baseline: bool
    """Whether the arm only serves to compare others with it."""
    file: str | None
    line: int | None

    def is_of(self, result: TrialResult) -> bool:
        """Tell whether a result is one of its repeats."""
        return (result.group, result.case_id) == (self.group, self.case_id)


def planned_cases(
    *paths: str | Path, plugins: Sequence[object] = (), **settings: Unpack[Settings]
) -> tuple[PlannedCase, ...]:
    """Return the cases that `evaluate` would run, in its order; nothing is run, and no engine need be installed.

    Args:
        *paths: see `evaluate`.
        plugins: see `evaluate`.
        **settings: see `Settings`.

    Raises:
        SkillgaugeError: with every problem of suites, plugins and settings.
        TypeError: there is no such setting.
    """
    with _located():
        call, asked, _ = _asked(paths, plugins, settings, _Collected(), dry_run=True)
        prepared = run_to_its_end(Evaluation.prepare(call, asked)).prepared
    return tuple(one for suite in prepared.plan.suites for one in _planned(suite))


def _planned(plan: SuitePlan) -> Iterator[PlannedCase]:
    suite = plan.suite
    cases = [case for _, case in plan.cases()]
    lines = lines_of(case.origin for case in cases)
    for case in cases:
        for cell in plan.cells:
            if applies(case, cell.target):
                yield PlannedCase(
                    group=GroupKey(suite.id, cell.target_id, cell.arm.name, cell.runner.name, cell.model),
                    case_id=case.id,
                    name=case.name,
                    tags=case.tags,
                    is_baseline=cell.arm.name in suite.mere_baselines,
                    file=case.origin.file if case.origin else None,
                    line=lines.get(case.origin),
                )


@contextmanager
def _located() -> Iterator[None]:
    """Add source lines to the problems that are raised within, as the command line does."""
    try:
        yield
    except SkillgaugeError as error:
        raise type(error)(with_places(error.problems)) from None


def _asked(
    paths: Sequence[str | Path],
    plugins: Sequence[object],
    settings: Settings,
    listener: Listener,
    *,
    dry_run: bool = False,
) -> tuple[Invocation, Asked, GateOptions]:
    """Return what the evaluation works with, what is asked for without any report, and which gates decide."""
    if plugins and settings.get("executor"):
        message = "plugins given as objects cannot be used in other processes"
        raise PluginError(Problem("executor.objects", message, hint="Leave out `executor`, or install them."))
    values = {**_values(settings), "paths": [str(path) for path in paths], "dry_run": dry_run}
    UsageError.raise_for([*out_of_range(values, declared()), *unknown_words(values)])
    options = Globals(
        config=str(settings["config"]) if "config" in settings else None,
        quiet=True,
        no_plugin=several(settings.get("no_plugin", ())),
        assign=tuple(f"{key}={json.dumps(value)}" for key, value in settings.get("options", {}).items()),
        trust_config=settings.get("trust_config", False),
        untrusted=settings.get("untrusted", False),
    )
    call = invocation(options, configured(values), listener)
    for plugin in plugins:
        call.registry.adopt(plugin)
    asked = replace(eval_options(call, values), reports=Reports(by_suites=False))
    return call, asked, gate_options(values, call.config)


_WORDS = {option.value_name for option in declared() if option.several}
"""Settings that are several words."""
_OF_THE_CALL = frozenset(["config", "trust_config", "no_plugin", "options", "suites"])


def _require_known(settings: Settings) -> None:
    setting_names = tuple(Settings.__annotations__)
    unknown = [f"{name}{did_you_mean(name, setting_names)}" for name in sorted(settings.keys() - set(setting_names))]
    if unknown:
        hint = "skillgauge.Settings lists all of them; options of formats, such as benchmark, go into suites={...}"
        raise TypeError(f"evaluate() got unknown settings: {', '.join(unknown)}; {hint}")


def _values(settings: Settings) -> dict[str, Any]:
    """Return the values that a parser would have made of the settings."""
    _require_known(settings)
    values: dict[str, Any] = {"store": "none", "no_cache": False}
    for name, value in settings.items():
        if name in _WORDS:
            values[name] = several(value)  # type: ignore[arg-type]
        elif name not in _OF_THE_CALL:
            values[name] = str(value) if isinstance(value, Path) else value
    if "runs" in values:
        values["runs"] = runs_of(values["runs"])
    if "min_lift" in values:
        if "min_delta_pts" in values:
            raise TypeError("evaluate() got min_lift and min_delta_pts, which are the same setting; give one")
        values["min_delta_pts"] = values.pop("min_lift")
    for flag, value in settings.get("suites", {}).items():
        values[f"load_{flag.lstrip('-').replace('-', '_')}"] = value
    return values
