"""What a run means for the caller: exit code, and the one sentence that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted

from ..errors import ExitCode
from ..report.answer import sentences
from ..report.wording import labels, reason_of
from ..types.comparison import Counts, GroupKey
from ..types.gate import Gate, GateFigure
from ..types.judged_gates import JUDGED, JudgedGates
from ..types.result import Figure, RunState, RunView, TrialResult, Verdict
from .gates import GateAnswer, GateResult, answers, gated
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
    """What the user demands of the run."""

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


@dataclass(frozen=True)
class Decision:
    """What to tell the caller."""

    exit_code: ExitCode
    verdict: str
    """The last line on stderr."""
    notices: tuple[str, ...] = ()


def decide(
    view: RunView,
    options: GateOptions,
    *,
    has_bad_files: bool = False,
    gating: RunView | None = None,
    compared: Sequence[GateResult] = (),
) -> Decision:
    """The exit code of a run; gates are asked of `gating`, if it is only a part of the run.

    `compared` are the answers of gates that compare it with an earlier one.

    The order says which news is worst: an interrupted run decides nothing, an invalid one proves nothing, then come
    missed gates, then inconclusive ones, then files that were passed over.
    """
    score = score_text(view)
    completion = [
        result
        for suite in view.head.suites
        for result in answers(
            gating or view, suite.id, [Gate(figure=suite.completion, threshold=options.min_completion)]
        )
    ]
    demanded = [result for suite in view.head.suites for result in answers(gating or view, suite.id, suite.gates)]
    demanded = [
        *(completion if options.exit_on_fail else ()),
        *demanded,
        *pair_answers(gating or view, options.pairs),
        *compared,
    ]
    notices = tuple(_notices(view, options, completion))
    stopped = _stopped(view, score)
    if stopped:
        return stopped
    demanded, open_ = _resting_on_judges(view, demanded, options.judged)
    if open_ and options.judged is JudgedGates.NEVER:
        told = f"no gate for {_names(open_)}: a judge decided, and it only advises (judgedGates: never)"
        notices, open_ = (*notices, told), []
    for answer, code in ((GateAnswer.MISSED, ExitCode.GATE_MISSED), (GateAnswer.INCONCLUSIVE, ExitCode.INVALID_RUN)):
        found = [result for result in demanded if result.answer is answer]
        if found:
            return Decision(code, f"{_told(found)} ({answer_text(view, score)})", notices)
    if open_:
        told = f"gate inconclusive: {_names(open_)} rests on a judge that is not calibrated (judgedGates: calibrated)"
        return Decision(ExitCode.INVALID_RUN, f"{told} ({answer_text(view, score)})", notices)
    if has_bad_files:
        told = f"some files could not be read; the others: {answer_text(view, score)}"
        return Decision(ExitCode.USAGE, told, notices)
    end = "gate met" if (options.exit_on_fail or options.pairs.is_given) and demanded else "done"
    return Decision(ExitCode.OK, f"{end}: {answer_text(view, score)}", notices)


def answer_text(view: RunView, score: str) -> str:
    """What the run was made to find out: whether skills help, else how many trials passed."""
    told = list(sentences(view))
    if len(told) > 1:  # one of each engine and model; the board has one sentence for them
        told = [board.headline for board in boards(view)]
    return f"{told[0]}; {score}" if len(told) == 1 else score


def run_notes(view: RunView) -> Iterator[str]:
    """What must be known of a run as a whole: what it was made from, and which cases gate nothing."""
    if view.head.origin:
        yield f"made from run {plain(view.head.origin.run_id)}: {plain(view.head.origin.change, 500)}"
    for suite in view.head.suites:
        for one in suite.quarantined:
            why = f": {plain(one.reason)}" if one.reason else ""
            case = f"case {plain(one.case)} of {plain(suite.id)}"
            yield f"{case} is in quarantine and gates nothing before {one.until}{why}"


def judge_notes(view: RunView) -> tuple[str, ...]:
    """What the judge of checks lacks, group by group, each once; a page says it before the first figure."""
    figures = (one for group in view.summary.groups for one in group.figures if one.name == JUDGED)
    return tuple(dict.fromkeys(one.note for one in figures if one.note))


def score_text(view: RunView) -> str:
    """How many trials passed, of those that gates are about; named by their arms if there are others beside them."""
    groups = gated(view)
    counts = Counts.sum(group.counts for group in groups)
    arms = ", ".join(dict.fromkeys(group.arm for group in groups))
    named = f"{arms}: " if 0 < len(groups) < len(view.summary.groups) else ""
    errors = f", {counted(counts.errors, 'error')}" if counts.errors else ""
    return f"{named}{counts.passed} of {counts.total} passed{errors}"


def _stopped(view: RunView, score: str) -> Decision | None:
    """The decision on a run that came to no end, or to one that proves nothing."""
    done = f"{view.summary.counts.total} of {view.head.trial_count} trials are done ({score})"
    if view.run.state is RunState.INTERRUPTED:
        return Decision(ExitCode.INTERRUPTED, f"interrupted: {done}; the same command resumes the run")
    if view.run.state is RunState.STOPPED:
        return Decision(ExitCode.BUDGET, f"stopped by a budget: {done}")
    invalid = [f"{validity.suite_id}: {validity.reason}" for validity in view.summary.validity if not validity.valid]
    more = f"; and {counted(len(invalid) - _NAMED, 'suite')} more" if len(invalid) > _NAMED else ""
    told = f"invalid run: {'; '.join(invalid[:_NAMED])}{more} ({score})"
    return Decision(ExitCode.INVALID_RUN, told) if invalid else None


def stopped_early(view: RunView, failure: TrialResult, decided: Decision) -> Decision:
    """The decision on a run that its first failure was to end.

    Args:
        view: the run, which may have come to its end with that failure. Its cases are read.
        failure: what ended it.
        decided: what would be said otherwise.
    """
    is_error = failure.verdict is Verdict.ERROR
    place = failure.suite_id, failure.case_id
    names = (case.name or case.id for case in view.cases() if (case.suite_id, case.id) == place)
    case = plain(next(names, failure.case_id), _NAME)
    told = f"{'error' if is_error else 'failed'}: {case} ({plain(failure.arm, _NAME)})"
    if reason := plain(reason_of(failure).strip().partition("\n")[0], _REASON):
        told += f": {reason}"
    if view.run.state is RunState.INTERRUPTED:
        done = f"{view.summary.counts.total} of {view.head.trial_count} trials are done"
        told += f"; {done}, the same command goes on with the others"
    return Decision(ExitCode.INVALID_RUN if is_error else ExitCode.GATE_MISSED, told, decided.notices)


def _resting_on_judges(
    view: RunView, results: Sequence[GateResult], judged: JudgedGates
) -> tuple[list[GateResult], list[GateResult]]:
    """Gates that count, and those that do not since a judge has decided a check of their group, or of its baseline."""
    arms: dict[GroupKey, set[GroupKey]] = {group.key: {group.key} for group in view.summary.groups}
    for pair in view.summary.pairs:
        arms.setdefault(pair.candidate, set()).add(pair.baseline)
    figures = [(group.key, one) for group in view.summary.groups for one in group.figures if one.name == JUDGED]
    doubted = {key for key, figure in figures if judged is JudgedGates.NEVER or figure.note}
    if judged is JudgedGates.ALWAYS:
        doubted = set()
    open_ = [one for one in results if arms.get(one.group, set()) & doubted]
    return [one for one in results if one not in open_], open_


def _names(results: Iterable[GateResult]) -> str:
    return ", ".join(labels(tuple(dict.fromkeys(result.group for result in results)), _NAME))


def _notices(view: RunView, options: GateOptions, completion: Sequence[GateResult]) -> Iterator[str]:
    if options.exit_on_fail and view.head.runs < ADVISED_RUNS:
        runs = "1 run" if view.head.runs == 1 else f"{view.head.runs} runs"
        yield f"this gate rests on {runs} of each case; --runs {ADVISED_RUNS} also shows what is unsteady"
    below = [result for result in completion if result.answer is not GateAnswer.MET]
    if options.threshold_given and not options.exit_on_fail and below:
        told = "; ".join(dict.fromkeys(_one_threshold(below)))
        yield f"{told}; add --exit-on-fail to make this fail the command"


def _told(results: Sequence[GateResult]) -> str:
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
    for (gate, answer), found in by_gate.items():
        figure = found[0].figure
        threshold = _shown(gate.threshold, figure)
        names = labels([result.group for result in found], _NAME)
        named = ", ".join(f"{name} {_value(result)}" for name, result in zip(names, found, strict=True))
        limit = "below" if figure.higher_is_better else "above"
        what = "" if figure.unit == "ratio" else f"{figure.label} "
        open_ = "errors leave open whether it is " if answer is GateAnswer.INCONCLUSIVE else ""
        yield f"{open_}{what}{limit} {threshold}: {named}"


def _value(result: GateResult) -> str:
    figure = result.figure
    ends = sorted(figure.bounds) if figure.bounds and result.answer is GateAnswer.INCONCLUSIVE else [figure.value]
    return " to ".join("unknown" if end is None else _shown(end, figure, result.gate.threshold) for end in ends)


def _shown(value: float, figure: Figure, threshold: float | None = None) -> str:
    """A figure with one decimal, or as many as tell it from the threshold that it misses."""
    if figure.unit != "ratio":
        return f"{value:g}"
    digits = 1
    while threshold not in (None, value) and digits < 6 and f"{value:.{digits}%}" == f"{threshold:.{digits}%}":
        digits += 1
    return f"{value:.{digits}%}"
