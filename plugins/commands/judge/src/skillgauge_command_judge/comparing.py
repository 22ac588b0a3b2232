"""Let a judge compare the answers of two arms, each pair in both orders."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import CaseHead, Judge, Problem, UsageError, plain, text_of
from skillgauge.api.report import GroupKey, RunView, chance_text, counted, labels, percent, points, signed_points
from skillgauge.api.run import Asked, Invocation, Output
from skillgauge.stats import MIN_NEW_CASES, Repeats, chance_of_difference, lift_interval
from skillgauge_regrading import asked_for, regrade

from .documents import ComparedCase, CompareDocument, DuelOutcome
from .duel import Better, Word, ask

_AT_ONCE = 4
_WON, _LOST = (Repeats(1, 1), Repeats(0, 1)), (Repeats(0, 1), Repeats(1, 1))
_TIED = (Repeats(0, 1), Repeats(0, 1))


@dataclass(frozen=True)
class Duel:
    """The answers of both arms to one case, from the same repeat."""

    case: CaseHead
    candidate: str
    baseline: str

    @property
    def task(self) -> str:
        """What was asked."""
        if self.case.prompt is not None:
            return self.case.prompt
        return "" if self.case.input is None else text_of(self.case.input)


@dataclass(frozen=True)
class Match:
    """The cases of one comparison of a run that are compared."""

    name: str
    candidate: GroupKey
    baseline: GroupKey
    duels: tuple[Duel, ...]
    of: int
    """Cases with an answer in both arms."""


def matches(view: RunView, n: int) -> list[Match]:
    """Return the comparisons of a run with at most so many cases each, drawn with the run's seed.

    Args:
        view: a run.
        n: the most cases of each comparison.

    Raises:
        UsageError: nothing can be compared.
    """
    cases = {(case.suite_id, case.id): case for case in view.cases()}
    answers: dict[tuple[GroupKey, str, int], str] = {}
    for result in view.results():
        text = result.execution.answer().text
        if result.execution.failure is None and text.strip():
            answers[result.group, result.case_id, result.repeat] = text
    drawn_matches = []
    names = labels([pair.candidate for pair in view.summary.pairs])
    for pair, name in zip(view.summary.pairs, names, strict=True):
        duels: dict[str, Duel] = {}
        for (group, case_id, repeat), text in sorted(answers.items(), key=lambda item: item[0][2]):
            opposite = answers.get((pair.baseline, case_id, repeat))
            if group == pair.candidate and opposite is not None and case_id not in duels:
                duels[case_id] = Duel(cases[group.suite_id, case_id], text, opposite)
        drawn = [duels[case_id] for case_id in sorted(duels)]
        random.Random(view.head.seed).shuffle(drawn)
        if drawn:
            drawn_matches.append(Match(name, pair.candidate, pair.baseline, tuple(drawn[:n]), len(drawn)))
    if not drawn_matches:
        message = f"run {plain(view.run.run_id)} has no case with an answer in two arms that are compared"
        raise UsageError(Problem("judge.nothing-compared", message, hint="Evaluate with a baseline arm."))
    return drawn_matches


async def prepare(call: Invocation, request: Asked, view: RunView, *, here: bool) -> Judge:
    """Return the judge that is asked: the one that the user names, else that of the run.

    Args:
        call: the command line.
        request: the settings of the user.
        view: the run.
        here: whether the user names no place of its suites.

    Raises:
        SkillgaugeError: with everything that is missing; nothing was asked.
    """
    request = asked_for(request, view, here=here)
    who = replace(request.options.who, store=None, store_given=False, judge_required=True)
    request = replace(request, options=replace(request.options, who=who))
    evaluation = await regrade(call, request, view, {})
    judges = evaluation.prepared.job.grading.judges
    if len(judges) != 1:
        message = f"one judge compares, and this run has {len(judges)}"
        raise UsageError(Problem("judge.one-judge", message, hint="Name one with --judge and --judge-model."))
    return judges[0]


async def compare(view: RunView, match: Match, judge: Judge, rubric: str) -> CompareDocument:
    """Ask a judge about each pair of answers in both orders.

    Args:
        view: the run.
        match: what is compared.
        judge: whom to ask.
        rubric: what makes an answer good.
    """
    free = asyncio.Semaphore(_AT_ONCE)

    async def ask_twice(duel: Duel) -> tuple[Word, Word]:
        async with free:
            first = await ask(judge, duel.task, rubric, (duel.candidate, duel.baseline))
            return first, await ask(judge, duel.task, rubric, (duel.baseline, duel.candidate))

    words = await asyncio.gather(*map(ask_twice, match.duels))
    return summary(view.run.run_id, judge.identity(None).name, rubric, match, words)


def summary(run_id: str, judge: str, rubric: str, match: Match, words: Sequence[tuple[Word, Word]]) -> CompareDocument:
    """Count wins, losses and ties.

    Args:
        run_id: id of the run.
        judge: who was asked.
        rubric: by what.
        match: what was compared.
        words: for each case the word with the candidate shown first, and with the baseline shown first.
    """
    cases = tuple(_case(duel, *pair) for duel, pair in zip(match.duels, words, strict=True))
    outcomes = [case.outcome for case in cases]
    wins, losses = outcomes.count(DuelOutcome.WIN), outcomes.count(DuelOutcome.LOSS)
    ties = outcomes.count(DuelOutcome.TIE)
    n = wins + losses + ties
    bounds = None
    if n >= MIN_NEW_CASES:
        bounds = lift_interval({_WON: wins, _LOST: losses, _TIED: ties})
    decided = [pair for pair in words if pair[0].better and pair[1].better]
    firsts = decided.count((Word(Better.FIRST), Word(Better.FIRST)))
    seconds = decided.count((Word(Better.SECOND), Word(Better.SECOND)))
    return CompareDocument(
        run_id=run_id,
        judge=judge,
        rubric=rubric,
        name=match.name,
        arm=match.candidate.arm,
        baseline=match.baseline.arm,
        wins=wins,
        losses=losses,
        ties=ties,
        unanswered=len(cases) - n,
        cases_in_run=match.of,
        net=(wins - losses) / n if n else None,
        lower=bounds.lower if bounds else None,
        upper=bounds.upper if bounds else None,
        chance=chance_of_difference({_WON: wins, _LOST: losses}),
        consistent=sum(_is_consistent(pair) for pair in decided) / n if n else None,
        both_first=firsts,
        both_second=seconds,
        position_chance=chance_of_difference({_WON: firsts, _LOST: seconds}),
        cases=cases,
    )


def _case(duel: Duel, first: Word, swapped: Word) -> ComparedCase:
    """The same winner twice counts, else it is a tie."""
    failure = first.failure or swapped.failure
    words = first.better, swapped.better
    if failure:
        outcome = None
    elif words == (Better.FIRST, Better.SECOND):
        outcome = DuelOutcome.WIN
    elif words == (Better.SECOND, Better.FIRST):
        outcome = DuelOutcome.LOSS
    else:
        outcome = DuelOutcome.TIE
    return ComparedCase(suite=duel.case.suite_id, case=duel.case.id, outcome=outcome, reason=failure)


def _is_consistent(words: tuple[Word, Word]) -> bool:
    """True if both orders gave the same winner, or twice none."""
    pair = words[0].better, words[1].better
    return pair in {(Better.FIRST, Better.SECOND), (Better.SECOND, Better.FIRST), (Better.TIE, Better.TIE)}


def lines(compared: CompareDocument) -> Iterator[str]:
    """Yield the figures for people."""
    yield f"{compared.name} against {compared.baseline}: {verdict(compared)}"
    if compared.consistent is not None:
        yield f"  the same word in both orders: {percent(compared.consistent)}"
    position = f"{compared.both_first} times the first, {compared.both_second} times the second"
    yield f"  the same place in both orders: {position} ({chance_text(compared.position_chance)})"
    for case in compared.cases:
        if case.reason:
            yield f"  no word on {plain(case.case)}: {plain(case.reason, 200)}"


def verdict(compared: CompareDocument) -> str:
    """The result in one sentence."""
    wins, losses = counted(compared.wins, "win"), f"{compared.losses} {'loss' if compared.losses == 1 else 'losses'}"
    text = f"{wins}, {losses}, {counted(compared.ties, 'tie')}"
    if compared.net is None:
        return f"{text}: the judge gave no word"
    span = "too few cases for an interval"
    if compared.lower is not None and compared.upper is not None:
        span = f"95% interval {signed_points(compared.lower)} to {signed_points(compared.upper)}"
    return f"{text}: wins minus losses {points(compared.net)} ({span}, sign test {chance_text(compared.chance)})"


def print_comparisons(comparisons: Sequence[CompareDocument], output: Output) -> None:
    """The figures for people, comparison by comparison."""
    for compared in comparisons:
        for line in lines(compared):
            output.line(line)
