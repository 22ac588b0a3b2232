"""The meaning of a run for the caller: exit code, and the one sentence that explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import counted

from ..errors import ExitCode
from ..report.answer import sentences
from ..report.catalogue import catalogue
from ..report.wording import headline_text, labels, prefixed, quarantine_text, rated_figures, reason_of, span_text
from ..types.arms import GroupKey
from ..types.comparison import Counts
from ..types.decided import Decided, GateAnswer, ReportedGate
from ..types.gate import Gate, GateFigure
from ..types.judged_gates import JUDGED, JudgedGates
from ..types.results.runs import RunState, RunView
from ..types.results.summaries import Figure, GroupSummary
from ..types.results.trials import TrialResult, Verdict
from .gate_wording import gate_lines, joined, one_threshold
from .gates import GateResult, answers, figure_of, gated, of_each_group
from .judged import by_judge, why_uncalibrated
from .leaderboard import RankedBy, rankings
from .pair_gates import PairDemands, pair_answers

_NAME = 80
"""Characters of each part of a name that are shown."""
_REASON = 200
"""Characters of the reason of a failure that are shown."""
_ORIGIN = 2_000
"""Characters of the sentence on the runs that a run was made from."""
_NAMED = 3
"""Suites that are named in one line."""
ADVISED_RUNS = 3
"""Repeats below which a gate cannot tell an unsteady case from a broken one."""


class GateOptions(Frozen):
    """The demands of the user on the run."""

    exit_on_fail: bool = False
    """Whether a completion rate below the threshold is exit code 1; without it the threshold only warns."""
    min_completion: float = 0.7
    """Least completion rate of every target."""
    threshold_given: bool = False
    """Whether the threshold was set for this run."""
    judged: JudgedGates = JudgedGates.ALWAYS
    """When a gate counts that rests on a judge."""
    pairs: PairDemands = PairDemands()
    """What comparisons have to show."""

    @property
    def are_given(self) -> bool:
        """True if the user asked for a gate."""
        return self.exit_on_fail or self.pairs.is_given


@immutable
class AnsweredGate:
    """A gate that was asked of a run, and its answer."""

    gate: Gate
    """Its figure, threshold and scope."""
    group: GroupKey
    """The group it was asked of; of a comparison, the group of the candidate arm."""
    figure: Figure
    status: GateAnswer
    reason: str
    """Why it has this status, in a few words."""


@immutable
class Decision:
    """The decision on a run: whether it is good enough, and why."""

    exit_code: ExitCode
    """The exit code of the command line."""
    verdict: str
    """The decision in one sentence; the last line of the command line."""
    notices: tuple[str, ...] = ()
    gates: tuple[AnsweredGate, ...] = ()
    """Every gate that counts; none if the run was stopped or is invalid."""
    lines: tuple[str, ...] = ()
    """The answers of the gates in sentences, the worst first; none if no gate was asked."""

    @property
    def reported(self) -> Decided:
        """The decision as reports tell it."""
        return Decided(lines=self.lines, gates=tuple(map(_reported, self.gates)))


def _reported(gate: AnsweredGate) -> ReportedGate:
    return ReportedGate(
        figure=gate.gate.figure,
        threshold=gate.gate.threshold,
        scope=gate.gate.scope,
        group=gate.group,
        value=gate.figure.value,
        answer=gate.status,
        reason=gate.reason,
    )


def decide(
    view: RunView,
    options: GateOptions,
    *,
    has_bad_files: bool = False,
    gating: RunView | None = None,
    compared: Sequence[GateResult] = (),
    is_kept: bool = True,
) -> Decision:
    """Return the decision on a run.

    The order says which news is worst: an interrupted run decides nothing, an invalid one proves nothing, then come
    missed gates, then inconclusive ones, then files that were passed over.

    Args:
        view: the run.
        options: what the user demands of it.
        has_bad_files: whether files were passed over since they could not be read.
        gating: what gates are asked of, if that is only a part of the run.
        compared: answers of gates that compare the run with an earlier one.
        is_kept: whether a store keeps the run, so that it can be resumed.
    """
    score = score_text(view)
    stopped = _stopped(view, score, is_kept=is_kept)
    if stopped:
        return replace(stopped, lines=(f"gate inconclusive: {stopped.verdict}",)) if options.are_given else stopped
    gated_view = gating or view
    completion = _completion(gated_view, options.min_completion)
    counting, advising = by_judge(view, _demanded(gated_view, options, completion, compared), options.judged)
    notices = tuple(_notices(view, options, completion))
    if advising and options.judged is JudgedGates.NEVER:
        message = f"no gate for {_names(advising)}: a judge decided, and it only advises (judgedGates: never)"
        notices, advising = (*notices, message), []
    gates = (*map(_answered, counting), *(_uncalibrated(view, result) for result in advising))
    lines = gate_lines(counting, with_met=options.are_given)
    if advising:
        lines = (*lines, _open_for_want_of_labels(view, advising))
    answer = answer_text(view, score)
    failing = _failing(view, counting, advising)
    if failing:
        exit_code, reason = failing
        return Decision(exit_code, f"{reason} ({answer})", notices, gates, lines)
    exit_code, end = _end(has_bad_files=has_bad_files, is_met=options.are_given and bool(counting))
    return Decision(exit_code, f"{end}: {answer}", notices, gates, lines)


def _end(*, has_bad_files: bool, is_met: bool) -> tuple[ExitCode, str]:
    """Return the exit code of a run that no gate fails, and its sentence as far as the answer of the run."""
    if has_bad_files:
        return ExitCode.USAGE, "some files or cases could not be read; the others"
    if is_met:
        return ExitCode.OK, "gate met"
    return ExitCode.OK, "done"


def _failing(
    view: RunView, counting: Sequence[GateResult], uncalibrated: Sequence[GateResult]
) -> tuple[ExitCode, str] | None:
    """Return the exit code of a run that its gates fail, and why; `None` if they do not.

    Args:
        view: the run.
        counting: the gates that may decide.
        uncalibrated: those that may not, since they rest on a judge that is not calibrated.
    """
    for answer, exit_code in _FAILING:
        results = [result for result in counting if result.answer is answer]
        if results:
            return exit_code, _names_of(results)
    if not uncalibrated:
        return None
    return ExitCode.INVALID_RUN, _open_for_want_of_labels(view, uncalibrated)


def _open_for_want_of_labels(view: RunView, uncalibrated: Sequence[GateResult]) -> str:
    return f"gate inconclusive: {_names(uncalibrated)} {why_uncalibrated(view, uncalibrated)}"


_FAILING = ((GateAnswer.MISSED, ExitCode.GATE_MISSED), (GateAnswer.INCONCLUSIVE, ExitCode.INVALID_RUN))
"""Answers of gates that fail a run, the worst first, with the exit code of each."""


def _completion(view: RunView, threshold: float) -> list[GateResult]:
    suites = view.head.suites_by_id
    return of_each_group(view, threshold, lambda group: figure_of(group, suites[group.suite_id].completion))


def _demanded(
    view: RunView, options: GateOptions, completion: Sequence[GateResult], compared: Sequence[GateResult]
) -> list[GateResult]:
    """Return the answers of all gates that may decide about the exit code."""
    results: list[GateResult] = []
    if options.exit_on_fail:
        results += completion
    results += answers(view, {suite.id: suite.gates for suite in view.head.suites})
    return [*results, *pair_answers(view, options.pairs), *compared]


def answer_text(view: RunView, score: str) -> str:
    """Return what the run was made to find out: whether skills help, else how many trials passed."""
    skills = catalogue(view)
    if skills and skills.has_comparisons:
        return "; ".join([skills.headline, *_ungraded(Counts.sum(group.counts for group in gated(view)))])
    texts = list(sentences(view))
    if len(texts) > 1:  # one of each engine and model; their ranking has one sentence
        texts = [ranking.headline for ranking in rankings(view) if ranking.by is RankedBy.LIFT]
    return f"{texts[0]}; {score}" if len(texts) == 1 else score


def run_notes(view: RunView) -> Iterator[str]:
    """Return the remarks on a run as a whole: its sources, and the cases that gate nothing."""
    origin = view.head.origin
    if origin and (origin.joined or not origin.run_id):
        yield plain(origin.change, _ORIGIN)
    elif origin:
        yield f"made from run {plain(origin.run_id)}: {plain(origin.change, _ORIGIN)}"
    for suite in view.head.suites:
        for entry in suite.quarantined:
            yield f"case {plain(entry.case)} of {plain(suite.id)} is {quarantine_text(entry)}"


def judge_notes(view: RunView) -> tuple[str, ...]:
    """Return the remarks on judged checks, group by group, each once; a page shows them before the first figure."""
    figures = (figure for group in view.summary.groups for figure in group.figures)
    notes = (figure.note for figure in figures if figure.name.startswith(JUDGED))
    return tuple(dict.fromkeys(filter(None, notes)))


def score_text(view: RunView) -> str:
    """Count the trials that passed, of those that gates are about; they are named by their arms if there are others."""
    groups = gated(view)
    text = ", ".join([*_scores(groups), *_ungraded(Counts.sum(group.counts for group in groups))])
    if 0 < len(groups) < len(view.summary.groups):
        text = f"{', '.join(dict.fromkeys(group.arm for group in groups))}: {text}"
    return text


def _scores(groups: Sequence[GroupSummary]) -> Iterator[str]:
    """Yield the trials that passed of all groups with a pass rate, and the headline of every other group."""
    rated = [group for group in groups if not rated_figures(group)]
    if rated or not groups:
        passing = Counts.sum(group.counts for group in rated)
        yield f"{passing.passed} of {passing.total - passing.skipped} passed"
    yield from dict.fromkeys(headline_text(group) for group in groups if rated_figures(group))


def _ungraded(counts: Counts) -> Iterator[str]:
    """Yield the numbers of trials that are in no rate."""
    if counts.errors:
        yield counted(counts.errors, "error")
    if counts.skipped:
        yield f"{counts.skipped} skipped"


def _stopped(view: RunView, score: str, *, is_kept: bool) -> Decision | None:
    """The decision on a run that came to no end, or to one that proves nothing."""
    done = f"{_done(view)} ({score})"
    if view.run.state is RunState.INTERRUPTED:
        return Decision(ExitCode.INTERRUPTED, f"interrupted: {done}; {_next(is_kept=is_kept)}")
    if view.run.state is RunState.STOPPED:
        return Decision(ExitCode.BUDGET, f"stopped by a budget: {done}")
    invalid = [f"{validity.suite_id}: {validity.reason}" for validity in view.summary.validity if not validity.valid]
    if not invalid:
        return None
    reasons = invalid[:_NAMED]
    if len(invalid) > _NAMED:
        reasons.append(f"and {counted(len(invalid) - _NAMED, 'suite')} more")
    return Decision(ExitCode.INVALID_RUN, f"invalid run: {'; '.join(reasons)} ({answer_text(view, score)})")


def _done(view: RunView) -> str:
    return f"{view.summary.counts.total} of {view.head.trial_count} trials are done"


def _next(*, is_kept: bool) -> str:
    """Say what becomes of a run that came to no end."""
    return "the same command resumes the run" if is_kept else "without a store the same command starts over"


def stopped_early(view: RunView, failure: TrialResult, decided: Decision, *, is_kept: bool = True) -> Decision:
    """The decision on a run that its first failure was to end.

    Args:
        view: the run, which may have come to its end with that failure. Its cases are read.
        failure: what ended it.
        decided: what would be said otherwise.
        is_kept: whether a store keeps the run, so that it can be resumed.
    """
    exit_code, word = ExitCode.GATE_MISSED, "failed"
    if failure.verdict is Verdict.ERROR:
        exit_code, word = ExitCode.INVALID_RUN, "error"
    message = f"{word}: {plain(_case_name(view, failure), _NAME)} ({plain(failure.arm, _NAME)})"
    message += prefixed(": ", plain(reason_of(failure).strip().partition("\n")[0], _REASON))
    if view.run.state is RunState.INTERRUPTED:
        message += f"; {_done(view)}; {_next(is_kept=is_kept)}"
    return Decision(exit_code, message, decided.notices, lines=(message,))


def _case_name(view: RunView, result: TrialResult) -> str:
    place = (result.suite_id, result.case_id)
    return next((case.title for case in view.cases() if (case.suite_id, case.id) == place), result.case_id)


def _answered(result: GateResult) -> AnsweredGate:
    (reason,) = one_threshold([result])
    return AnsweredGate(result.gate, result.group, result.figure, result.answer, reason)


def _uncalibrated(view: RunView, result: GateResult) -> AnsweredGate:
    """A gate that its figure may have met or missed, and that stays open for want of a calibrated judge."""
    reason = f"it {why_uncalibrated(view, [result])}"
    return AnsweredGate(result.gate, result.group, result.figure, GateAnswer.INCONCLUSIVE, reason)


def _names(results: Iterable[GateResult]) -> str:
    return ", ".join(labels(tuple(dict.fromkeys(result.group for result in results)), _NAME))


def _notices(view: RunView, options: GateOptions, completion: Sequence[GateResult]) -> Iterator[str]:
    if options.threshold_given and not options.exit_on_fail:
        yield from _unasked_threshold(completion)
    if options.exit_on_fail and view.head.runs < ADVISED_RUNS:
        most = view.head.runs
        runs = f"{span_text(view.head.fewest_runs, most)} run{'s' * (most > 1)}"
        yield f"this gate rests on {runs} of each case; --runs {ADVISED_RUNS} also shows what is unsteady"


def _unasked_threshold(completion: Sequence[GateResult]) -> Iterator[str]:
    """Tell of rates below a threshold that fails no command."""
    below = [result for result in completion if result.answer is not GateAnswer.MET]
    if below:
        thresholds = "; ".join(dict.fromkeys(one_threshold(below)))
        yield f"{thresholds}; add --exit-on-fail to make this fail the command"


def _names_of(results: Sequence[GateResult]) -> str:
    """Gates with the same answer, in one sentence."""
    answer = results[0].answer
    failed = [result.group.suite_id for result in results if result.gate.figure == GateFigure.FAILED]
    if len(failed) == len(results) and answer is GateAnswer.MISSED:
        return f"failed: {', '.join(dict.fromkeys(failed))}"
    return f"gate {answer}: {joined(results)}"
