"""The noise of a judge: grade stored answers again, and compare its words with those of the run."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skillgauge.api import Problem, UsageError, plain
from skillgauge.api.report import GroupKey, RunView, counted, interval_text, labels, listed, percent
from skillgauge.api.run import Asked, Evaluation, Invocation, Output
from skillgauge.stats import RateInterval, variance_parts
from skillgauge_judge_labels import Judged, JudgedRun, judged_of, named_judges
from skillgauge_regrading import asked_for, regrade

from .documents import CheckNoise, GroupNoise, NoiseDocument

_SHOWN = 20
"""Checks that are listed on the terminal."""


@dataclass(frozen=True)
class Sample:
    """The answers of a run that are graded again."""

    answers: tuple[tuple[Judged, ...], ...]
    """The judged checks of each answer, once for answers that are the same."""
    of: int
    """Different answers in the run."""

    @property
    def checks(self) -> dict[str, Judged]:
        """The judged checks by trial and check."""
        return {_place(check): check for answer in self.answers for check in answer}

    @property
    def part(self) -> Mapping[str, frozenset[str]]:
        """Ids of the checks, by the id of their trial."""
        return {answer[0].trial_id: frozenset(check.check_id for check in answer) for answer in self.answers}


def sampled(run: JudgedRun, n: int, seed: int) -> Sample:
    """Draw answers of a run, the same ones for the same run.

    A judge was asked once for answers that are the same, so that each of them is drawn once.

    Args:
        run: what was judged in it.
        n: the most answers to draw.
        seed: of the draw.
    """
    answers: dict[tuple[GroupKey, str, str], dict[str, Judged]] = {}
    for check in run.judged:
        checks = answers.setdefault((check.group, check.case_id, check.answer), {})
        if all(check.trial_id == first.trial_id for first in checks.values()):
            checks[check.check_id] = check
    drawn = list(answers.values())
    random.Random(seed).shuffle(drawn)
    return Sample(tuple(tuple(checks.values()) for checks in drawn[:n]), len(answers))


def tokens_of(view: RunView, sample: Sample) -> int:
    """Return the tokens that the judge used for these answers in the run; 0 if it does not tell.

    Args:
        view: the run.
        sample: what is graded again.
    """
    part = sample.part
    scores = (
        score
        for result in view.results()
        if result.trial_id in part
        for score in result.scores
        if score.check_id in part[result.trial_id] and score.usage
    )
    return sum(score.usage.all_tokens for score in scores if score.usage)


async def prepare(call: Invocation, request: Asked, view: RunView, sample: Sample, *, here: bool) -> Evaluation:
    """Return the evaluation that asks the judge of a run again; it is kept in no store.

    Args:
        call: the command line.
        request: the settings of the user.
        view: the run.
        sample: what is graded again.
        here: whether the user names nothing to grade it by.

    Raises:
        SkillgaugeError: with everything that is missing or changed, a judge that is another one included; nothing was
            asked.
    """
    request = asked_for(request, view, here=here)
    options = request.options.unkept()
    request = replace(request, options=replace(options, how=replace(options.how, fresh=True)))
    evaluation = await regrade(call, request, view, sample.part)
    before, now = named_judges(view.head.judges), named_judges(evaluation.prepared.plan.head.judges)
    if before != now:
        message = f"the judge is {plain(listed(now) or 'none')} now, and {plain(listed(before))} decided the run"
        hint = "Ask with the judge, model and settings of the run, or rescore it with the new judge first."
        raise UsageError(Problem("judge.other-judge", message, hint=hint))
    return evaluation


def compared(view: RunView, run: JudgedRun, sample: Sample, again: RunView) -> NoiseDocument:
    """Compare the words of a judge with those that it gave again.

    Args:
        view: the run.
        run: what was judged in it.
        sample: what was graded again.
        again: the run of the second grading.
    """
    words = {_place(check): check.passes for check in judged_of(again).judged}
    answers = [
        [(check, words[_place(check)]) for check in answer if _place(check) in words] for answer in sample.answers
    ]
    answers = [answer for answer in answers if answer]
    pairs = [pair for answer in answers for pair in answer]
    seed = view.head.seed
    return NoiseDocument(
        run_id=view.run.run_id,
        judges=named_judges(view.head.judges),
        answers=len(answers),
        answers_in_run=sample.of,
        ungraded=len(sample.checks) - len(pairs),
        seed=seed,
        disagreement=_disagreement(pairs, seed),
        checks=tuple(_checks(pairs, seed)),
        groups=tuple(group_noise(run.judged, answers, seed)),
    )


def verdict(noise: NoiseDocument) -> str:
    """The result in one sentence."""
    if noise.disagreement.rate is None:
        return "the judge gave no word again: see the reasons above"
    checks = counted(sum(check.n for check in noise.checks), "check")
    share = f"{percent(noise.disagreement.rate)} ({interval_text(noise.disagreement)})"
    return f"the judge contradicts itself in {share} of {checks} that it was asked again"


def print_noise(noise: NoiseDocument, output: Output) -> None:
    """The figures for people."""
    output.line(f"Judge: {plain(listed(noise.judges))}")
    output.line(f"Answers graded again: {noise.answers} of {noise.answers_in_run}")
    if noise.ungraded:
        output.line(f"Checks without a word this time: {noise.ungraded}")
    output.line()
    noisy = sorted(noise.checks, key=lambda check: (-check.changed, check.check))
    rows = [
        [plain(check.check, 60), f"{check.changed} of {check.n}", interval_text(check.disagreement)]
        for check in noisy[:_SHOWN]
    ]
    output.table(["Check", "Changed", "95% interval"], rows)
    if len(noisy) > _SHOWN:
        output.line(f"and {counted(len(noisy) - _SHOWN, 'check')} more")
    output.line()
    rows = [
        [group.name, _spread(group.spread), _spread(group.judge_spread), _agent_text(group)] for group in noise.groups
    ]
    output.table(["Between runs the rate varies by", "In all", "Judge", "Agent"], rows)


def _spread(value: float | None) -> str:
    return "unknown" if value is None else f"{value * 100:.1f} points"


def _agent_text(group: GroupNoise) -> str:
    if group.agent_spread is None:
        return "unknown: no case has several runs"
    return _spread(group.agent_spread)


def _place(check: Judged) -> str:
    return f"{check.trial_id}|{check.check_id}"


_Words = Sequence[tuple[Judged, bool]]
"""Checks with the second word of the judge."""


def _disagreement(pairs: _Words, seed: int) -> RateInterval:
    """The share of checks with another word, over cases."""
    cases: dict[tuple[str, str], list[bool]] = {}
    for check, word in pairs:
        cases.setdefault((check.group.suite_id, check.case_id), []).append(check.passes is not word)
    means = [sum(changed) / len(changed) for changed in cases.values()]
    return RateInterval.of(means, repeats=max(map(len, cases.values()), default=1), seed=seed)


def _checks(pairs: _Words, seed: int) -> Iterable[CheckNoise]:
    by_check: dict[str, list[tuple[Judged, bool]]] = {}
    for check, word in pairs:
        by_check.setdefault(check.check_id, []).append((check, word))
    for name, words in by_check.items():
        changed = sum(check.passes is not word for check, word in words)
        yield CheckNoise(check=name, n=len(words), changed=changed, disagreement=_disagreement(words, seed))


def group_noise(judged: Sequence[Judged], answers: Sequence[_Words], seed: int) -> Iterable[GroupNoise]:
    """Part the variance of the rate of each group between runs of its cases.

    Two words about the same answers differ by the judge alone: half the squared difference of their shares is the
    variance that the judge adds. All of it shows in the runs of a case.

    Args:
        judged: the judged checks of a run.
        answers: the checks of each answer that was graded again, with the second word.
        seed: of the resampling.
    """
    keys = list(dict.fromkeys(check.group for check in judged))
    for key, name in zip(keys, labels(keys), strict=True):
        cases = _shares(check for check in judged if check.group == key)
        graded = [answer for answer in answers if answer[0][0].group == key]
        judge = math.fsum(_half_square(answer) for answer in graded) / len(graded) if graded else None
        within = variance_parts([list(shares.values()) for shares in cases.values()]).within
        runs = math.fsum(1.0 / len(shares) for shares in cases.values()) / len(cases) ** 2
        agent = None if within is None or judge is None else max(0.0, within - judge)
        yield GroupNoise(
            name=name,
            suite=key.suite_id,
            target=key.target_id,
            arm=key.arm,
            runner=key.runner,
            model=key.model,
            answers=len(graded),
            disagreement=_disagreement([pair for answer in graded for pair in answer], seed),
            spread=_root(within, runs),
            judge_spread=_root(judge, runs),
            agent_spread=_root(agent, runs),
        )


def _root(variance: float | None, runs: float) -> float | None:
    """The standard deviation of a mean, from the variance of one run of a case."""
    return None if variance is None else math.sqrt(variance * runs)


def _half_square(answer: _Words) -> float:
    first = sum(check.passes for check, _ in answer)
    second = sum(word for _, word in answer)
    return ((first - second) / len(answer)) ** 2 / 2


def _shares(checks: Iterable[Judged]) -> dict[str, dict[str, float]]:
    """For each case the share of its judged checks that passes, by trial."""
    words: dict[str, dict[str, list[bool]]] = {}
    for check in checks:
        words.setdefault(check.case_id, {}).setdefault(check.trial_id, []).append(check.passes)
    return {
        case: {trial: sum(passes) / len(passes) for trial, passes in trials.items()} for case, trials in words.items()
    }
