"""How `eval` ends: reports, the decision, and what is printed of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgauge_documents.phrases import counted

from ..decide.against import Earlier, against_answers
from ..decide.broken_arms import broken_arms
from ..decide.decision import Decision, GateOptions, decide, stopped_early
from ..decide.failing import failing_lines
from ..decide.pair_gates import PairDemands, PairVerdict
from ..run.pipeline import Conclusion
from ..terminal.output import Output
from ..types.judged_gates import JudgedGates
from ..types.result import RunView, Spending
from .added_results import with_added
from .arguments import PAGE, words
from .eval_document import document, human_lines
from .evaluation import Evaluation
from .invocation import Invocation
from .quarantine import gating


def demands(values: Mapping[str, Any]) -> PairDemands:
    """What the parsed options demand of comparisons."""
    return PairDemands(
        min_delta_pts=values.get("min_delta_pts"),
        fail_on_verdict=tuple(PairVerdict(one) for one in words(values.get("fail_on_verdict", ()))),
        gate=values.get("gate"),
        margin_pts=values.get("margin") or 0.0,
        against_earlier=values.get("against") is not None,
    )


def conclude(
    outcome: Conclusion,
    evaluation: Evaluation,
    call: Invocation,
    values: Mapping[str, Any],
    earlier: Earlier | None = None,
) -> int:
    """Write the reports of a run, and print what became of it.

    Args:
        outcome: the run.
        evaluation: what it was.
        call: the command line.
        values: parsed options, those of the gates among them.
        earlier: the run that a gate compares this one with.

    Returns:
        The exit code.
    """
    view, remarks = call.commented(with_added(outcome.view, evaluation.overlay))
    written = evaluation.write_reports(view)
    gate = GateOptions(
        exit_on_fail=values["exit_on_fail"],
        min_completion=values["min_completion"] if values["min_completion"] is not None else 0.7,
        threshold_given=values["min_completion"] is not None,
        judged=JudgedGates(call.config.get("judgedGates")),
        pairs=demands(values),
    )
    part = gating(view, evaluation.prepared.job.figures)
    compared = tuple(against_answers(part, earlier, gate.pairs)) if earlier else ()
    has_bad_files = bool(evaluation.prepared.suites.passed_over)
    decision = decide(view, gate, has_bad_files=has_bad_files, gating=part, compared=compared)
    if evaluation.stopped_at:
        decision = stopped_early(view, evaluation.stopped_at, decision)
    notices = (*decision.notices, *broken_arms(view), *remarks)
    decision = replace(decision, exit_code=evaluation.exit_code(decision.exit_code), notices=notices)
    if values.get("open_report") and (page := written.get(PAGE)):
        import webbrowser  # noqa: PLC0415 - few runs open one

        if not webbrowser.open(page.resolve().as_uri()):
            call.output.notice(f"no browser can be opened here; the page is {page}")
    _print(view, decision, written, outcome, evaluation, call.output)
    return decision.exit_code


def _print(
    view: RunView,
    decision: Decision,
    written: Mapping[str, Path],
    outcome: Conclusion,
    evaluation: Evaluation,
    output: Output,
) -> None:
    output.document(document(view, decision, written, evaluation.prepared) if output.as_json else None)
    output.report(_lines(view, written, evaluation))
    if outcome.already_done:
        output.notice(f"done before the interruption and not run again: {counted(outcome.already_done, 'trial')}")
    for notice in decision.notices:
        output.notice(notice)
    output.verdict(decision.verdict, decision.exit_code)


def _lines(view: RunView, written: Mapping[str, Path], evaluation: Evaluation) -> Iterator[str]:
    """For people: every group, what did not pass, the price, and where the reports are."""
    yield from human_lines(view)
    yield from failing_lines(view, evaluation.kept_as(view, written))
    if spent := spending_text(view.summary.spending):
        yield spent
    for name, path in written.items():
        yield f"{name} report: {path}"


def spending_text(spending: Spending | None) -> str:
    """What the run cost, in a line; empty if nothing of it tells."""
    if spending is None:
        return ""
    known = [f"{spending.cost_usd:.2f} USD"] if spending.cost_usd else []
    known += [f"{spending.tokens:,} tokens"] if spending.tokens else []
    cut_off = f"{counted(spending.cut_off, 'attempt')} cut off"
    included = f"judges and {cut_off} included" if spending.cut_off else "judges included"
    parts = [f"{' and '.join(known)}, {included}"] if known else []
    parts += [f"what {counted(spending.unknown, 'trial')} cost is unknown"] if spending.unknown else []
    parts += [f"nothing for {counted(spending.replayed, 'replayed trial')}"] if spending.replayed else []
    return f"spent: {'; '.join(parts)}" if parts else ""
