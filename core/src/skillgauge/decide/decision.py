"""The meaning of a run for the caller: exit code, and the one sentence that explains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted, signed_points

from ..errors import ExitCode
from ..report.answer import sentences
from ..report.wording import headline_text, labels, quarantine_text, rated_figures, reason_of, span_text
from ..types.comparison import Counts, GroupKey
from ..types.gate import Gate, GateFigure
from ..types.judged_gates import JUDGED, JudgedGates
from ..types.result import Figure, RunState, RunView, TrialResult, Verdict
from .gates import GateAnswer, GateResult, answers, gated
from .judged import by_judge, why_uncalibrated
from .leaderboard import boards
from .pair_gates import PairDemands, pair_answers

_NAME = 80
"""Characters of each part of a name that are shown."""
_REASON = 200
"""Characters of the reason of a failure that are shown."""
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Decision:
    """The decision on a run: whether it is good enough, and why."""

    exit_code: ExitCode
    """The exit code of the command line."""
    verdict: str
    """The decision in one sentence; the last line of the command line."""
    notices: tuple[str, ...] = ()
    gates: tuple[AnsweredGate, ...] = ()
    """Every gate that counts; none if the run was stopped or is invalid."""


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
        return stopped
    gated_view = gating or view
    completion = _completion(gated_view, options.min_completion)
    counting, advising = by_judge(view, _demanded(gated_view, options, completion, compared), options.judged)
    notices = tuple(_notices(view, options, completion))
    if advising and options.judged is JudgedGates.NEVER:
        message = f"no gate for {_names(advising)}: a judge decided, and it only advises (judgedGates: never)"
        notices, advising = (*notices, message), []
    gates = (*map(_answered, counting), *(_uncalibrated(view, result) for result in advising))
    answer = answer_text(view, score)
    failing = _failing(view, counting, advising)
    if failing:
        exit_code, reason = failing
        return Decision(exit_code, f"{reason} ({answer})", notices, gates)
    if has_bad_files:
        return Decision(ExitCode.USAGE, f"some files or cases could not be read; the others: {answer}", notices, gates)
    end = "gate met" if options.are_given and counting else "done"
    return Decision(ExitCode.OK, f"{end}: {answer}", notices, gates)


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
    reason = why_uncalibrated(view, uncalibrated)
    return ExitCode.INVALID_RUN, f"gate inconclusive: {_names(uncalibrated)} {reason}"


_FAILING = ((GateAnswer.MISSED, ExitCode.GATE_MISSED), (GateAnswer.INCONCLUSIVE, ExitCode.INVALID_RUN))
"""Answers of gates that fail a run, the worst first, with the exit code of each."""


def _completion(view: RunView, threshold: float) -> list[GateResult]:
    results: list[GateResult] = []
    for suite in view.head.suites:
        results += answers(view, suite.id, [Gate(figure=suite.completion, threshold=threshold)])
    return results


def _demanded(
    view: RunView, options: GateOptions, completion: Sequence[GateResult], compared: Sequence[GateResult]
) -> list[GateResult]:
    """Return the answers of all gates that may decide about the exit code."""
    results: list[GateResult] = []
    if options.exit_on_fail:
        results += completion
    for suite in view.head.suites:
        results += answers(view, suite.id, suite.gates)
    return [*results, *pair_answers(view, options.pairs), *compared]


def answer_text(view: RunView, score: str) -> str:
    """Return what the run was made to find out: whether skills help, else how many trials passed."""
    texts = list(sentences(view))
    if len(texts) > 1:  # one of each engine and model; the board has one sentence for them
        texts = [board.headline for board in boards(view)]
    return f"{texts[0]}; {score}" if len(texts) == 1 else score


def run_notes(view: RunView) -> Iterator[str]:
    """Return the remarks on a run as a whole: its sources, and the cases that gate nothing."""
    if view.head.origin:
        yield f"made from run {plain(view.head.origin.run_id)}: {plain(view.head.origin.change, 500)}"
    for suite in view.head.suites:
        for entry in suite.quarantined:
            yield f"case {plain(entry.case)} of {plain(suite.id)} is {quarantine_text(entry)}"


def judge_notes(view: RunView) -> tuple[str, ...]:
    """Return the remarks on judged checks, group by group, each once; a page shows them before the first figure."""
    figures = [figure for group in view.summary.groups for figure in group.figures]
    return tuple(dict.fromkeys(figure.note for figure in figures if figure.name.startswith(JUDGED) and figure.note))


def score_text(view: RunView) -> str:
    """Count the trials that passed, of those that gates are about; they are named by their arms if there are others."""
    groups = gated(view)
    counts = Counts.sum(group.counts for group in groups)
    rated = [group for group in groups if not rated_figures(group)]
    passing = Counts.sum(group.counts for group in rated)
    parts = [f"{passing.passed} of {passing.total - passing.skipped} passed"] if rated or not groups else []
    parts += dict.fromkeys(headline_text(group) for group in groups if group not in rated)
    text = ", ".join(parts)
    if counts.errors:
        text += f", {counted(counts.errors, 'error')}"
    if counts.skipped:
        text += f", {counts.skipped} skipped"
    if 0 < len(groups) < len(view.summary.groups):
        text = f"{', '.join(dict.fromkeys(group.arm for group in groups))}: {text}"
    return text


def _stopped(view: RunView, score: str, *, is_kept: bool) -> Decision | None:
    """The decision on a run that came to no end, or to one that proves nothing."""
    done = f"{view.summary.counts.total} of {view.head.trial_count} trials are done ({score})"
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
    if reason := plain(reason_of(failure).strip().partition("\n")[0], _REASON):
        message += f": {reason}"
    if view.run.state is RunState.INTERRUPTED:
        done = f"{view.summary.counts.total} of {view.head.trial_count} trials are done"
        message += f"; {done}; {_next(is_kept=is_kept)}"
    return Decision(exit_code, message, decided.notices)


def _case_name(view: RunView, result: TrialResult) -> str:
    for case in view.cases():
        if (case.suite_id, case.id) == (result.suite_id, result.case_id):
            return case.title
    return result.case_id


def _answered(result: GateResult) -> AnsweredGate:
    if result.answer is GateAnswer.MET and not result.told:
        figure = result.figure
        limit = "at least" if figure.higher_is_better else "at most"
        (name,) = labels([result.group], _NAME)
        reason = f"{figure.label} {limit} {_shown(result.gate.threshold, figure)}: {name} {_value(result)}"
    else:
        (reason,) = _one_threshold([result])
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
        thresholds = "; ".join(dict.fromkeys(_one_threshold(below)))
        yield f"{thresholds}; add --exit-on-fail to make this fail the command"


def _names_of(results: Sequence[GateResult]) -> str:
    """Gates with the same answer, in one sentence."""
    answer = results[0].answer
    failed = [result.group.suite_id for result in results if result.gate.figure == GateFigure.FAILED]
    if len(failed) == len(results) and answer is GateAnswer.MISSED:
        return f"failed: {', '.join(dict.fromkeys(failed))}"
    return f"gate {answer}: {'; '.join(_one_threshold(results))}"


def _one_threshold(results: Iterable[GateResult]) -> Iterator[str]:
    """Each gate once, with all whom it is about."""
    by_gate: dict[tuple[Gate, GateAnswer], list[GateResult]] = {}
    for result in results:
        if result.told:
            yield result.told
            continue
        by_gate.setdefault((result.gate, result.answer), []).append(result)
    for (gate, answer), same_gate in by_gate.items():
        names = labels([result.group for result in same_gate], _NAME)
        values = ", ".join(f"{name} {_value(result)}" for name, result in zip(names, same_gate, strict=True))
        yield f"{_beyond(gate, same_gate[0].figure, is_open=answer is GateAnswer.INCONCLUSIVE)}: {values}"


def _beyond(gate: Gate, figure: Figure, *, is_open: bool) -> str:
    limit = "below" if figure.higher_is_better else "above"
    threshold = f"{limit} {_shown(gate.threshold, figure)}"
    if figure.name == GateFigure.LIFT:
        label, subject = "lift ", "the lift"
    elif figure.unit == "ratio":
        label, subject = "", "it"
    else:
        label, subject = f"{figure.label} ", figure.label
    return f"errors leave open whether {subject} is {threshold}" if is_open else f"{label}{threshold}"


def _value(result: GateResult) -> str:
    figure, threshold = result.figure, result.gate.threshold
    value = "unknown" if figure.value is None else _shown(figure.value, figure, threshold)
    if figure.bounds is None:
        return value
    span = " to ".join(_shown(end, figure, threshold) for end in sorted(figure.bounds))
    if result.answer is GateAnswer.INCONCLUSIVE:
        return span
    if figure.name == GateFigure.LIFT:  # of complete pairs, while its bounds are of all cases and may exclude it
        return f"{value} ({span} with errors counted either way)"
    return value


def _shown(value: float, figure: Figure, threshold: float | None = None) -> str:
    """A figure with one decimal, or as many as tell it from the threshold that it misses."""
    if figure.unit != "ratio":
        return f"{value:g}"
    if figure.name == GateFigure.LIFT:
        return _in_points(value, threshold)
    digits = 1
    while threshold not in (None, value) and digits < 6 and f"{value:.{digits}%}" == f"{threshold:.{digits}%}":
        digits += 1
    return f"{value:.{digits}%}"


def _in_points(value: float, threshold: float | None) -> str:
    """A difference in points, with as many decimals as tell it from the threshold that it misses."""
    digits = 1
    if threshold is not None and threshold != value:
        while digits < 6 and signed_points(value, digits) == signed_points(threshold, digits):
            digits += 1
    return f"{signed_points(value, digits)} points"
