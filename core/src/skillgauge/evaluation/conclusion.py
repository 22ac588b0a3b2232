"""The end of `eval`: reports, the decision, and the lines that are printed of both."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import counted

from ..config.arguments import OPTIONS, PAGE, is_given, words
from ..config.configuration import Config
from ..config.option import Kind, Option
from ..decide.answerable import unanswerable
from ..decide.broken_arms import broken_arms, unproven_arms
from ..decide.decision import Decision, GateOptions, decide, stopped_early
from ..decide.earlier.against import against_answers, unanswerable_again
from ..decide.earlier.changes import changes_of
from ..decide.earlier.matching import Earlier, Matching
from ..decide.failing import failing_lines
from ..decide.gates import GateResult
from ..decide.pair_gates import LiftGate, PairDemands
from ..decide.verdicts import verdict_of
from ..errors import Problem, UsageError
from ..plan.preparing import Prepared
from ..terminal.output import Output
from ..terminal.terminal import width_of
from ..types.decided import Changes
from ..types.judged_gates import JudgedGates
from ..types.results.runs import RunView
from ..types.results.summaries import Spending
from .added_checks import with_added
from .eval_document import document, human_lines
from .evaluation import EndedRun, Evaluation, WrittenReports
from .invocation import Invocation
from .preparation import gating
from .remarks import said_if


def gate_options(values: Mapping[str, Any], config: Config) -> GateOptions:
    """Return what parsed options and configuration demand of a run.

    Raises:
        UsageError: with everything that is wrong with them.
    """
    UsageError.raise_for([*out_of_range(values, _GATES), *unknown_words(values)])
    fields: dict[str, dict[str, Any]] = {"gates": {"judged": config.get("judgedGates")}, "pairs": {}}
    for option in _GATES:
        value = values.get(option.value_name)
        if option.field and is_given(value):
            owner, _, field = option.field.partition(".")
            fields[owner][field] = words(several(value or ())) if option.several else value
    gates, pairs = fields["gates"], fields["pairs"]
    pairs["against_earlier"] = values.get("against") is not None
    if LiftGate.NO_REGRESSION in pairs.get("gates", ()) and values.get("against") is None:
        hint = "Name a baseline, a report or a stored run: --against main."
        raise UsageError(Problem("usage.gate", f"--gate {LiftGate.NO_REGRESSION} needs --against", hint=hint))
    gates["threshold_given"] = "min_completion" in gates
    return GateOptions.model_validate({**gates, "pairs": pairs})


def unanswerable_gates(
    call: Invocation, prepared: Prepared, gates: GateOptions, earlier: Earlier | None
) -> tuple[str, ...]:
    """Return a sentence on each gate that no outcome of a plan could answer, or not the results of an earlier run.

    Args:
        call: what was called.
        prepared: what would run.
        gates: what is demanded of it.
        earlier: the run that a gate compares with. Its results are read; call it from a worker thread.
    """
    reasons = [*unanswerable(prepared, gates)]
    if earlier:
        reasons += unanswerable_again(earlier, gates.pairs)
    if gates.are_given and gates.judged in _NEEDING_LABELS:
        reasons += call.foretold(prepared.plan.head, gates.judged)
    return tuple(reasons)


_NEEDING_LABELS = (JudgedGates.CALIBRATED, JudgedGates.CORRECTED)


_GATES = OPTIONS["Gates"]


def out_of_range(values: Mapping[str, Any], options: Iterable[Option]) -> Iterator[Problem]:
    """Yield a problem for each number that is out of its range; click refuses them before, Python does not."""
    for option in options:
        value = values.get(option.value_name)
        if value is None or option.kind not in _NUMBERS or _is_in_range(value, option):
            continue
        number, _ = _NUMBERS[option.kind]
        yield Problem(
            "usage.number", f"{option.value_name} is {value!r}", hint=f"Give a {number}{_range_text(option)}."
        )


_NUMBERS = {Kind.WHOLE: ("whole number", int), Kind.NUMBER: ("number", int | float)}


def _is_in_range(value: Any, option: Option) -> bool:
    _, types = _NUMBERS[option.kind]
    if isinstance(value, bool) or not isinstance(value, types):
        return False
    if option.least is not None and not value >= option.least:  # which holds of no number that is none
        return False
    if option.excludes_least and value == option.least:
        return False
    return option.most is None or value <= option.most


def _range_text(option: Option) -> str:
    if option.least is None:
        return ""
    if option.most is not None:
        return f" from {option.least:g} to {option.most:g}"
    if option.excludes_least:
        return f" above {option.least:g}"
    return f", at least {option.least:g}"


def unknown_words(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each word of a gate that is none of its choices."""
    for option in _GATES:
        if not option.choices:
            continue
        for word in words(several(values.get(option.value_name) or ())):
            if word not in option.choices:
                hint = f"Use one of {', '.join(option.choices)}."
                yield Problem("usage.gate", f"{option.value_name} is {word!r}", hint=hint)


def several(value: str | Sequence[str]) -> tuple[str, ...]:
    """One text, or several, as several."""
    if isinstance(value, str):
        return (value,)
    return tuple(value)


@immutable
class Concluded:
    """A run with its reports and the decision on it."""

    evaluation: Evaluation
    outcome: EndedRun
    view: RunView
    """The run with what plugins say of it."""
    written: WrittenReports
    decision: Decision

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings, files that a search passed over, and extensions that failed."""
        prepared = self.evaluation.prepared
        return (*prepared.warnings, *self.outcome.failures, *prepared.suites.passed_over)


def concluded(outcome: EndedRun, evaluation: Evaluation, gates: GateOptions, earlier: Earlier | None) -> Concluded:
    """Decide what a run means, and write its reports, which tell it. Blocks; call it from a worker thread.

    Args:
        outcome: what became of the run.
        evaluation: what was run.
        gates: what the user demands of it.
        earlier: the run that a gate compares this one with.
    """
    view, remarks = evaluation.call.commented(with_added(outcome.view, evaluation.overlay))
    part = gating(view, evaluation.prepared.suites.figures)
    answers, changes = _against(earlier, part, gates.pairs)
    bad_files, is_kept = evaluation.prepared.suites.passed_over, evaluation.prepared.job.store.durable
    decision = decide(view, gates, has_bad_files=bool(bad_files), gating=part, compared=answers, is_kept=is_kept)
    if outcome.stopped_at:
        decision = stopped_early(view, outcome.stopped_at, decision, is_kept=is_kept)
    kept_as = evaluation.kept_as(view)
    decided = decision.reported.model_copy(update={"changes": changes, "kept_as": kept_as})
    view = replace(view, verdict=verdict_of(view, decision.exit_code), decided=decided)
    written = evaluation.write_reports(view)
    code = outcome.exit_code(decision.exit_code, written)
    notices = (*decision.notices, *broken_arms(view), *unproven_arms(view), *remarks)
    return Concluded(evaluation, outcome, view, written, replace(decision, exit_code=code, notices=notices))


def _against(
    earlier: Earlier | None, part: RunView, demands: PairDemands
) -> tuple[tuple[GateResult, ...], Changes | None]:
    """Hold a run against an earlier one, if there is any: return the answers of gates, and the changes.

    Args:
        earlier: the other run.
        part: what gates are asked of.
        demands: gates on comparisons, and their margin.
    """
    if earlier is None:
        return (), None
    matching = Matching(part, earlier)
    return tuple(against_answers(matching, demands)), changes_of(matching, demands.margin_pts / 100)


def conclude(
    outcome: EndedRun,
    evaluation: Evaluation,
    call: Invocation,
    values: Mapping[str, Any],
    earlier: Earlier | None = None,
) -> int:
    """Conclude a run of the command line, and print what became of it.

    Args:
        outcome: what became of the run.
        evaluation: what was run.
        call: the command line.
        values: parsed options, those of the gates among them.
        earlier: the run that a gate compares this one with.

    Returns:
        The exit code.
    """
    run = concluded(outcome, evaluation, gate_options(values, call.config), earlier)
    if values.get("open_report") and (page := run.written.paths.get(PAGE)):
        import webbrowser  # noqa: PLC0415 - few runs open one

        if not webbrowser.open(page.resolve().as_uri()):
            call.output.notice(f"no browser can be opened here; the page is {page}")
    _print(run, call.output)
    return run.decision.exit_code


def _print(run: Concluded, output: Output) -> None:
    decision, already_done = run.decision, run.outcome.already_done
    if output.as_json:
        paths, sandbox = run.written.paths, run.evaluation.prepared.sandbox
        output.document(document(run.view, decision, paths, sandbox, run.problems))
    output.report(_lines(run, width_of(sys.stdout)))
    if already_done:
        output.notice(f"done before the interruption and not run again: {counted(already_done, 'trial')}")
    for notice in decision.notices:
        output.notice(notice)
    output.verdict(decision.verdict, decision.exit_code)


def _lines(run: Concluded, width: int | None) -> Iterator[str]:
    """Yield lines for people: every group, what did not pass, the price, and where the reports are."""
    yield from human_lines(run.view, width)
    yield from failing_lines(run.view, run.evaluation.kept_as(run.view))
    if spent := spending_text(run.view.summary.spending):
        yield spent
    for name, path in run.written.paths.items():
        yield f"{name} report: {path}"


def spending_text(spending: Spending | None) -> str:
    """Return the cost of the run as a line; empty if it is unknown."""
    if spending is None:
        return ""
    dollars = said_if(spending.cost_usd, f"{spending.cost_usd:.2f} USD")
    tokens = said_if(spending.tokens, f"{spending.tokens:,} tokens")
    known = " and ".join(filter(None, (dollars, tokens)))
    cut_off = said_if(spending.cut_off, f" and {counted(spending.cut_off, 'attempt')} cut off")
    by_users = said_if(spending.user_usd, f"{spending.user_usd:.2f} USD and ") + f"{spending.user_tokens:,} tokens"
    parts = (
        said_if(known, f"{known}, judges{cut_off} included"),
        said_if(spending.user_usd or spending.user_tokens, f"{by_users} of it by simulated users"),
        said_if(spending.unknown, f"what {counted(spending.unknown, 'trial')} cost is unknown"),
        said_if(spending.replayed, f"nothing for {counted(spending.replayed, 'replayed trial')}"),
    )
    return said_if(any(parts), f"spent: {'; '.join(filter(None, parts))}")
