"""How `eval` ends: reports, the decision, and what is printed of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgauge_documents.phrases import counted

from ..config.configuration import Config
from ..decide.against import Earlier, against_answers
from ..decide.broken_arms import broken_arms
from ..decide.decision import Decision, GateOptions, decide, stopped_early
from ..decide.failing import failing_lines
from ..decide.pair_gates import LiftGate, PairDemands, PairVerdict
from ..errors import Problem, UsageError
from ..plan.preparing import Prepared
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


def gate_options(values: Mapping[str, Any], config: Config) -> GateOptions:
    """Return what parsed options and configuration demand of a run.

    Raises:
        UsageError: with everything that is wrong with them.
    """
    problems = [*_out_of_range(values), *_unknown_words(values)]
    if problems:
        raise UsageError(problems)
    threshold = values.get("min_completion")
    return GateOptions(
        exit_on_fail=values.get("exit_on_fail", False),
        min_completion=0.7 if threshold is None else threshold,
        threshold_given=threshold is not None,
        judged=JudgedGates(config.get("judgedGates")),
        pairs=PairDemands(
            min_delta_pts=values.get("min_delta_pts"),
            fail_on_verdict=tuple(map(PairVerdict, words(values.get("fail_on_verdict", ())))),
            gates=tuple(map(LiftGate, _gates(values))),
            margin_pts=values.get("margin") or 0.0,
            against_earlier=values.get("against") is not None,
        ),
    )


_RANGES = {"min_completion": (0, 1), "min_delta_pts": (-100, 100), "margin": (0, 100)}


def _out_of_range(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each number that is out of its range; click refuses them before, Python does not."""
    for name, (least, most) in _RANGES.items():
        value = values.get(name)
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:
            yield Problem("usage.gate", f"{name} is {value!r}", hint=f"Give a number from {least} to {most}.")


def _unknown_words(values: Mapping[str, Any]) -> Iterator[Problem]:
    failing = [verdict.value for verdict in PairVerdict if verdict is not PairVerdict.PASS]
    asked = {"fail_on_verdict": (words(values.get("fail_on_verdict", ())), failing)}
    asked["gate"] = (_gates(values), [gate.value for gate in LiftGate])
    for name, (given, known) in asked.items():
        for word in given:
            if word not in known:
                yield Problem("usage.gate", f"{name} is {word!r}", hint=f"Use one of {', '.join(known)}.")


def _gates(values: Mapping[str, Any]) -> tuple[str, ...]:
    gate = values.get("gate") or ()
    return (gate,) if isinstance(gate, str) else tuple(gate)


def decision_on(view: RunView, prepared: Prepared, gates: GateOptions, earlier: Earlier | None = None) -> Decision:
    """Return the decision on a run.

    Args:
        view: the run. Its results are read if some of its cases gate nothing; call it from a worker thread.
        prepared: what was run.
        gates: what the user demands of it.
        earlier: the run that a gate compares this one with.
    """
    part = gating(view, prepared.job.figures)
    compared = tuple(against_answers(part, earlier, gates.pairs)) if earlier else ()
    has_bad_files = bool(prepared.suites.passed_over)
    decision = decide(view, gates, has_bad_files=has_bad_files, gating=part, compared=compared)
    return replace(decision, notices=(*decision.notices, *broken_arms(view)))


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
    decision = decision_on(view, evaluation.prepared, gate_options(values, call.config), earlier)
    if evaluation.stopped_at:
        decision = stopped_early(view, evaluation.stopped_at, decision)
    notices = (*decision.notices, *remarks)
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
