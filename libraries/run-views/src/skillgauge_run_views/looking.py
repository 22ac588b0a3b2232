"""Some cases of a run in full, for people and as one JSON document: what was asked, done, made and graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from skillgauge.api import DIRECT, CaseHead, Frozen, Problem, TrialResult, UsageError, Verdict, did_you_mean, plain
from skillgauge.api.report import (
    CaseReport,
    GroupKey,
    RunInfo,
    RunView,
    case_by_case,
    case_name,
    counted,
    duration,
    listed,
)
from skillgauge.api.run import Output
from skillgauge_documents.immutables import immutable

from .transcripts import CheckLine, Excerpt, FileLine, Room, Transcript, as_text, excerpt, transcript

_ROOM = Room(characters=4_000, steps=1_000)
"""On a terminal, where one looks at one case."""
_WIDE = 1_000


class ShownCase(Frozen):
    """A case, and all its trials that were asked for."""

    case: CaseHead
    trials: tuple[TrialResult, ...]
    """Without the raw streams of the agents."""


class CasesDocument(Frozen):
    """Some cases of a run as `--json` prints them."""

    schema_version: str = "1.0"
    run: RunInfo
    cases: tuple[ShownCase, ...]


@immutable
class Wanted:
    """The trials to show."""

    case: str
    """Id or name of cases, or a pattern of either."""
    arm: str | None = None
    """`None` stands for all."""
    target: str | None = None
    """Id of a target, as a skill; `None` stands for all."""

    def includes(self, group: GroupKey) -> bool:
        """Tell whether the trials of a group are meant."""
        return self.arm in (None, group.arm) and self.target in (None, group.target_id)

    def fits(self, case: CaseHead) -> bool:
        """Tell whether a case is meant."""
        return any(fnmatchcase(text, self.case) or text == self.case for text in (case.id, case.name) if text)


def show_cases(view: RunView, selection: Wanted, output: Output) -> str:
    """Print the cases, one after another, or as one JSON document of the shape of `CasesDocument`.

    For people one case is in memory at a time.

    Returns:
        How many of the trials passed, for the last line on stderr.

    Raises:
        UsageError: nothing in the run is meant.
    """
    verdicts: Counter[Verdict] = Counter()
    documents = []
    for report in _matching(view, selection):
        trials = list(_trials(report, selection))
        verdicts.update(one.verdict for one in trials)
        if output.as_json:
            documents.append(ShownCase(case=report.case, trials=tuple(map(_without_raw, trials))))
        else:
            for line in _case_lines(report.case, trials):
                output.line(line)
        output.line()
    if view.head.judges:
        output.line(f"Judged by {listed(judge.name for judge in view.head.judges)}")
    document = CasesDocument(run=view.run, cases=tuple(documents))
    content = document.model_dump(mode="json", exclude_defaults=True)
    output.document({"schema_version": document.schema_version, **content})
    errors = f", {counted(verdicts[Verdict.ERROR], 'error')}" if verdicts[Verdict.ERROR] else ""
    return f"{verdicts[Verdict.PASS]} of {verdicts.total()} passed{errors}"


def _without_raw(result: TrialResult) -> TrialResult:
    execution = result.execution
    if execution.trajectory is None:
        return result
    trajectory = execution.trajectory.model_copy(update={"raw": None})
    return result.model_copy(update={"execution": execution.model_copy(update={"trajectory": trajectory})})


def require_target(view: RunView, target: str | None) -> None:
    """Refuse a target that the run does not have.

    Raises:
        UsageError: with the targets that it has.
    """
    targets = sorted({group.target_id for group in view.summary.groups if group.target_id})
    if target is not None and target not in targets:
        message = f"the run has no target {plain(target)!r}{did_you_mean(target, targets)}"
        hint = f"Its targets are: {listed(targets) or 'none'}"
        raise UsageError(Problem("report.no-such-target", plain(message, _WIDE), hint=hint))


def _matching(view: RunView, selection: Wanted) -> Iterator[CaseReport]:
    require_target(view, selection.target)
    names: list[str] = []
    arms: set[str] = set()
    shown = False
    for report in case_by_case(view):
        if not any(selection.target in (None, group.target_id) for group in report.results):
            continue
        names += [text for text in (report.case.id, report.case.name) if text][: _WIDE - len(names)]
        if not selection.fits(report.case):
            continue
        arms |= {group.arm for group in report.results if selection.target in (None, group.target_id)}
        if any(True for _ in _trials(report, selection)):
            shown = True
            yield report
    if shown:
        return
    if arms:
        arm_wanted = selection.arm or ""
        message = f"the case has no trial in an arm {plain(arm_wanted)!r}{did_you_mean(arm_wanted, sorted(arms))}"
        raise UsageError(
            Problem("report.no-such-arm", plain(message, _WIDE), hint=f"Its arms are: {listed(sorted(arms))}")
        )
    message = f"the run has no case {plain(selection.case)!r}{did_you_mean(selection.case, names)}"
    raise UsageError(
        Problem("report.no-such-case", plain(message, _WIDE), hint=f"Its cases are: {listed(names) or 'none'}")
    )


def _trials(report: CaseReport, selection: Wanted) -> Iterator[TrialResult]:
    for group, results in report.results.items():
        if selection.includes(group):
            yield from results


def _case_lines(case: CaseHead, trials: Sequence[TrialResult]) -> Iterator[str]:
    known_as = f" ({plain(case.id)})" if case.name and case.name != case.id else ""
    yield f"Case {case_name(case)}{known_as} of {plain(case.suite_id)}"
    question = case.prompt if case.prompt is not None else case.input
    if question is not None:
        title = "Prompt" if case.prompt is not None else "Input"
        yield from _part(excerpt(title, as_text(question), characters=_ROOM.characters))
    for result in trials:
        yield ""
        yield _trial_line(result)
        yield from _trial_lines(transcript(result, _ROOM))


def _trial_line(result: TrialResult) -> str:
    parts = (result.target_id, result.arm if result.arm != DIRECT.name else None, result.runner, result.model)
    name = " · ".join(plain(part, 60) for part in parts if part)
    took = "" if result.execution.duration_s is None else f", {duration(result.execution.duration_s)}"
    return f"== {name}, run {result.repeat}: {result.verdict.upper()}{took}"


def _trial_lines(shown: Transcript) -> Iterator[str]:
    yield from _step_lines(shown)
    in_steps = {step.content.text for step in shown.steps if step.content}
    for output in shown.excerpts:
        if output.text not in in_steps:
            yield from _part(output)
    yield from _file_lines(shown.files)
    if shown.checks:
        yield "Checks"
    for check in shown.checks:
        yield from _check_lines(check)
    for name, value in shown.facts:
        yield f"{name}: {plain(value, _WIDE)}"


def _step_lines(shown: Transcript) -> Iterator[str]:
    for number, step in enumerate(shown.steps):
        if shown.steps_left_out and number == len(shown.steps) // 2:
            yield f"[… {counted(shown.steps_left_out, 'step')} left out …]"
        name = f" {plain(step.name, 60)}" if step.name else ""
        error = " (an error)" if step.is_error else ""
        yield f"{step.title}{name}{error}"
        yield from _indented(step.content)


def _file_lines(files: Sequence[FileLine]) -> Iterator[str]:
    if files:
        yield "Files"
    for file in files:
        note = f", {file.note}" if file.note else ""
        yield f"  {plain(file.path)} ({plain(file.change)}{note})"
        yield from _indented(file.difference, "    ")


def _check_lines(check: CheckLine) -> Iterator[str]:
    value = "" if check.value is None else f", value {check.value:.2f}"
    beside = ", beside the verdict" if check.beside else ""
    scorer = f" ({plain(check.scorer)}{beside})" if check.scorer else ""
    yield f"  {check.status} {plain(check.name)}{scorer}{value}"
    if check.reason:
        yield f"    {plain(check.reason, _WIDE)}"
    yield from _indented(check.evidence, "      ")


def _part(one: Excerpt) -> Iterator[str]:
    yield one.title + (f" ({one.note})" if one.note else "")
    yield from _indented(one)


def _indented(one: Excerpt | None, indent: str = "  ") -> Iterator[str]:
    if one is None:
        return
    for line in one.text.strip("\n").split("\n"):
        yield f"{indent}{line}".rstrip()
