"""Everything that is said of an evaluation beside its results, and who hears of it.

Plugins comment on the rates of a run, so that users do not take these for more than they are; extensions that failed
while a run told them its events are reported, since it was too late to stop the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..errors import Problem, Severity
from ..log import one_line
from ..plugins.index import IndexEntry
from ..plugins.kinds import EXTENSIONS
from ..plugins.registry import Registry
from ..types.usage import BudgetPeriod

if TYPE_CHECKING:
    import asyncio

    from ..plan.preparing import Prepared
    from ..types.arms import GroupKey
    from ..types.judged_gates import JudgedGates
    from ..types.results.runs import RunView
    from ..types.results.summaries import Figure, GroupSummary, Table
    from ..types.results.trials import TrialResult
    from ..types.trajectory import TrajectoryEvent
    from ..types.trial import PlanHead, Trial
    from ..types.usage import BudgetStanding, SharedBudget

    Remark = str | tuple[GroupKey, Figure | Table]
    """A line about the run, or a figure or table of one of its groups."""


def said_if(condition: object, text: str) -> str:
    """A part of a sentence that is only said on a condition; empty without it."""
    if condition:
        return text
    return ""


def severity_of(*, stops: bool) -> Severity:
    """The weight of a problem that stops the run, or does not."""
    if stops:
        return Severity.ERROR
    return Severity.WARNING


class Watcher(Protocol):
    """Watches the trials of a run."""

    def started(self, trial: Trial) -> None:
        """Hear that a trial begins."""

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Hear what an agent does."""

    def finished(self, result: TrialResult) -> None:
        """Hear of a result."""


class Listener(Protocol):
    """Hears of an evaluation on behalf of the user: a terminal, or a program that called."""

    def notice(self, text: str) -> None:
        """Hear something that the user should know."""

    def problems(self, problems: Iterable[Problem]) -> None:
        """Hear of problems that do not end the evaluation."""

    def watching(self, total: int, stop: asyncio.Event, *, at_most: bool = False) -> AbstractContextManager[Watcher]:
        """Watch a run of so many trials, or at most so many, which ends early once `stop` is set."""


RUN_NOTICES = "run_notices"
"""Entry point group of functions that are told a run, and the folder it was made in, and answer with remarks."""


def commented(entries: Iterable[IndexEntry], view: RunView, folder: Path) -> tuple[RunView, tuple[str, ...]]:
    """The run with what plugins say of its groups, and their lines; one that fails is told of and costs its own only.

    Args:
        entries: those of the group that may be imported.
        view: the run.
        folder: the one it was made in.
    """
    from ..contract.providers import imported  # noqa: PLC0415 - slow, and most commands show no run

    lines: list[str] = []
    added: dict[GroupKey, list[Figure | Table]] = {}
    for entry in entries:
        try:
            tell: Callable[[RunView, Path], Iterable[Remark]] = imported(entry.module)
            remarks = list(tell(view, folder))
            lines += [remark for remark in remarks if isinstance(remark, str)]
            for group, one in (remark for remark in remarks if not isinstance(remark, str)):
                added.setdefault(group, []).append(one)
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end badly for want of a remark
            lines.append(f"{entry.distribution} failed to comment on this run: {one_line(error)}")
    return with_remarks(view, added), tuple(lines)


GATE_NOTICES = "gate_notices"
"""Entry point group of functions that are told a plan, the folder it was made in and what gates on judged checks need,
and answer with the reasons why such gates will stay open."""


def foretold(entries: Iterable[IndexEntry], head: PlanHead, judged: JudgedGates, folder: Path) -> Iterator[str]:
    """Yield a sentence on each reason that plugins know why gates on judged checks will stay open, whatever comes out.

    Args:
        entries: those of the group that may be imported.
        head: what would run.
        judged: what such gates need.
        folder: the one it would run in.
    """
    from ..contract.providers import imported  # noqa: PLC0415 - as above

    for entry in entries:
        try:
            tell: Callable[[PlanHead, Path, JudgedGates], Iterable[str]] = imported(entry.module)
            reasons = list(tell(head, folder, judged))
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end for want of a remark
            yield f"{entry.distribution} failed to comment on the gates of this run: {one_line(error)}"
        else:
            yield from (
                f"gates on judged checks will stay open (judgedGates: {judged}): {reason}" for reason in reasons
            )


def with_remarks(view: RunView, added: Mapping[GroupKey, Sequence[Figure | Table]]) -> RunView:
    """The same run with what is said of its groups; what an earlier look at it has said of the same is replaced."""
    if not added:
        return view
    groups = tuple(_with(group, added.get(group.key, ())) for group in view.summary.groups)
    return replace(view, summary=view.summary.model_copy(update={"groups": groups}))


def _with(group: GroupSummary, new: Sequence[Figure | Table]) -> GroupSummary:
    from ..types.results.summaries import Figure, Table  # noqa: PLC0415 - as above

    names = {one.name for one in new}
    figures = [one for one in group.figures if one.name not in names]
    figures += [one for one in new if isinstance(one, Figure)]
    tables = [one for one in group.tables if one.name not in names]
    tables += [one for one in new if isinstance(one, Table)]
    return group.model_copy(update={"figures": tuple(figures), "tables": tuple(tables)})


def used_up(budget: SharedBudget, standing: BudgetStanding) -> Problem:
    """Return the words on a budget of several runs that ended this one."""
    state = f"{standing.spent_usd:.2f} of {budget.usd:.2f} USD are spent"
    if standing.held_usd:
        state += f", and {standing.held_usd:.2f} are expected of sessions under way and the next one"
    hint = f"The same command resumes the run once there is more: {_AGAIN[budget.period]}, or with a larger budget.usd."
    message = f"budget {budget.name!r}, which runs of this store share, is used up: {state}"
    return Problem("budget.used-up", message, hint=hint, severity=Severity.WARNING)


_AGAIN = {
    BudgetPeriod.DAY: "after midnight UTC",
    BudgetPeriod.MONTH: "in the next month, UTC",
    BudgetPeriod.NONE: "when other runs have ended",
}


def failures_of_extensions(
    registry: Registry, prepared: Prepared, is_named: Callable[[str], bool]
) -> tuple[Problem, ...]:
    """Return the first failure of each extension since the run began, without secrets.

    Args:
        registry: the run's plugins.
        prepared: what was run; its warnings are not repeated.
        is_named: tells whether the user named an extension: its failure is an error, and that of another a warning.
    """
    return tuple(_failures(registry, prepared, is_named))


def _failures(registry: Registry, prepared: Prepared, is_named: Callable[[str], bool]) -> Iterator[Problem]:
    reported = {problem.message for problem in prepared.warnings}
    clean = prepared.job.clean or str
    for plugin, problem in registry.failures.items():
        kind, _, name = plugin.partition(".")
        if kind != EXTENSIONS or problem.message in reported:
            continue
        severity = severity_of(stops=is_named(name))
        hint = f"The results are unaffected; to run without it: --no-plugin {name}."
        yield replace(problem, message=clean(problem.message), hint=problem.hint or hint, severity=severity)
