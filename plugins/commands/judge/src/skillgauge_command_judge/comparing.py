"""Let a judge, or a panel, compare the answers of two arms, each pair in both orders."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import CaseHead, Judge, Problem, UsageError, plain, text_of
from skillgauge.api.report import (
    GroupKey,
    RunView,
    chance_text,
    counted,
    labels,
    listed,
    percent,
    points,
    signed_points,
)
from skillgauge.api.run import Asked, Invocation, Output
from skillgauge_judge_labels import judge_name
from skillgauge_regrading import asked_for, regrade

from .compared import Words, agreement, case_of, judge_of, net_of, sign_chance
from .documents import CompareDocument, ComparingJudge, DuelOutcome
from .duel import ask

_AT_ONCE = 4


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
    duels: tuple[tuple[Duel, ...], ...]
    """The pairs of answers of each case: at least one."""
    of: int
    """Cases with an answer in both arms."""


def matches(view: RunView, n: int, repeats: int) -> list[Match]:
    """Return the comparisons of a run with at most so many cases each, drawn with the run's seed.

    Args:
        view: a run.
        n: the most cases of each comparison.
        repeats: the most repeats of each case.

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
        duels: dict[str, list[Duel]] = defaultdict(list)
        for (group, case_id, repeat), text in sorted(answers.items(), key=lambda item: item[0][2]):
            opposite = answers.get((pair.baseline, case_id, repeat))
            if group == pair.candidate and opposite is not None and len(duels[case_id]) < repeats:
                duels[case_id].append(Duel(cases[group.suite_id, case_id], text, opposite))
        drawn = [tuple(duels[case_id]) for case_id in sorted(duels)]
        random.Random(view.head.seed).shuffle(drawn)
        if drawn:
            drawn_matches.append(Match(name, pair.candidate, pair.baseline, tuple(drawn[:n]), len(drawn)))
    if not drawn_matches:
        message = f"run {plain(view.run.run_id)} has no case with an answer in two arms that are compared"
        raise UsageError(Problem("judge.nothing-compared", message, hint="Evaluate with a baseline arm."))
    return drawn_matches


@dataclass(frozen=True)
class Panel:
    """The judges that are asked: one, or an odd number of different ones."""

    judges: tuple[Judge, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        """The judges as a part of a sentence."""
        return f"{'judge' if len(self.names) == 1 else 'judges'} {plain(listed(self.names))}"


async def prepare(call: Invocation, request: Asked, view: RunView, *, here: bool) -> Panel:
    """Return the judges that are asked: those that the user names, else those of the run.

    Args:
        call: the command line.
        request: the settings of the user.
        view: the run.
        here: whether the user names no place of its suites.

    Raises:
        SkillgaugeError: with everything that is missing; nothing was asked.
    """
    request = asked_for(request, view, here=here)
    options = request.options.unkept()
    request = replace(request, options=replace(options, who=replace(options.who, judge_required=True)))
    evaluation = await regrade(call, request, view, {})
    prepared = evaluation.prepared
    return Panel(prepared.job.grading.judges, tuple(map(judge_name, prepared.plan.head.judges)))


async def compare(view: RunView, match: Match, panel: Panel, rubric: str) -> CompareDocument:
    """Ask every judge about each pair of answers in both orders.

    Args:
        view: the run.
        match: what is compared.
        panel: whom to ask.
        rubric: what makes an answer good.
    """
    free = asyncio.Semaphore(_AT_ONCE)

    async def ask_twice(judge: Judge, duel: Duel) -> Words:
        async with free:
            first = await ask(judge, duel.task, rubric, (duel.candidate, duel.baseline))
            return first, await ask(judge, duel.task, rubric, (duel.baseline, duel.candidate))

    async def ask_all(duel: Duel) -> tuple[Words, ...]:
        return tuple(await asyncio.gather(*(ask_twice(judge, duel) for judge in panel.judges)))

    async def ask_about(duels: Sequence[Duel]) -> tuple[tuple[Words, ...], ...]:
        return tuple(await asyncio.gather(*map(ask_all, duels)))

    words = await asyncio.gather(*map(ask_about, match.duels))
    return summary(view.run.run_id, panel.names, rubric, match, words)


def summary(
    run_id: str,
    judges: Sequence[str],
    rubric: str,
    match: Match,
    words: Sequence[Sequence[Sequence[Words]]],
) -> CompareDocument:
    """Count wins, losses and ties.

    Args:
        run_id: id of the run.
        judges: who were asked.
        rubric: by what.
        match: what was compared.
        words: for each case and pair of its answers the words of every judge.
    """
    cases = tuple(
        case_of(duels[0].case.suite_id, duels[0].case.id, pairs)
        for duels, pairs in zip(match.duels, words, strict=True)
    )
    outcomes = [case.outcome for case in cases]
    net = net_of(cases)
    wins, losses = sum(case.wins for case in cases), sum(case.losses for case in cases)
    every_pair = [pair for pairs in words for pair in pairs]
    return CompareDocument(
        run_id=run_id,
        rubric=rubric,
        name=match.name,
        arm=match.candidate.arm,
        baseline=match.baseline.arm,
        wins=outcomes.count(DuelOutcome.WIN),
        losses=outcomes.count(DuelOutcome.LOSS),
        ties=outcomes.count(DuelOutcome.TIE),
        unanswered=outcomes.count(None),
        cases_in_run=match.of,
        pairs=wins + losses + sum(case.ties for case in cases),
        net=net.mean,
        lower=net.lower,
        upper=net.upper,
        chance=sign_chance(wins, losses),
        agreement=agreement(every_pair),
        judges=tuple(
            judge_of(name, [of_judges[place] for of_judges in every_pair]) for place, name in enumerate(judges)
        ),
        cases=cases,
    )


def lines(compared: CompareDocument) -> Iterator[str]:
    """Yield the figures for people."""
    yield f"{compared.name} against {compared.baseline}: {verdict(compared)}"
    if compared.agreement is not None:
        yield f"  all {len(compared.judges)} judges agree on {percent(compared.agreement)} of the pairs of answers"
    for judge in compared.judges:
        yield from _judge_lines(judge, f"{plain(judge.judge)}: " if len(compared.judges) > 1 else "")
    for case in compared.cases:
        if case.reason:
            yield f"  no word on {plain(case.case)}: {plain(case.reason, 200)}"


def _judge_lines(judge: ComparingJudge, name: str) -> Iterator[str]:
    """Yield how far the words of a judge depend on the order."""
    if judge.consistent is not None:
        yield f"  {name}the same word in both orders: {percent(judge.consistent)}"
    position = f"{judge.both_first} times the first, {judge.both_second} times the second"
    yield f"  {name}the same place in both orders: {position} ({chance_text(judge.position_chance)})"


def verdict(compared: CompareDocument) -> str:
    """The result in one sentence."""
    wins, losses = counted(compared.wins, "win"), f"{compared.losses} {'loss' if compared.losses == 1 else 'losses'}"
    text = f"{wins}, {losses}, {counted(compared.ties, 'tie')}"
    if compared.net is None:
        return f"{text}: {'the judge' if len(compared.judges) == 1 else 'a majority of the judges'} gave no word"
    span = "too few cases for an interval"
    if compared.lower is not None and compared.upper is not None:
        span = f"95% interval {signed_points(compared.lower)} to {signed_points(compared.upper)}"
    if compared.pairs > compared.wins + compared.losses + compared.ties:
        text += f" (cases; {compared.pairs} pairs of answers)"
    return f"{text}: wins minus losses {points(compared.net)} ({span}, sign test {chance_text(compared.chance)})"


def print_comparisons(comparisons: Sequence[CompareDocument], output: Output) -> None:
    """The figures for people, comparison by comparison."""
    for compared in comparisons:
        for line in lines(compared):
            output.line(line)
