"""The output of `judge --json`, and the calibration file.

Rates are fractions; `null` is undefined.
"""

from __future__ import annotations

from enum import StrEnum

from skillgauge.api import Frozen
from skillgauge.stats import Labelled, RateInterval
from skillgauge_judge_labels import Grader

from .arm_errors import ErrorComparison

SCHEMA = "skillgauge-judge-calibration"


class LabelDocument(Frozen):
    """The document of `judge label --json`."""

    schema_version: str = "1.0"
    run_id: str
    labels: str
    """The file."""
    added: int
    skipped: int
    labelled: int
    """Labels in the file now."""
    open: int
    """Judged checks that were chosen and have no label yet."""


class JudgedRate(Frozen):
    """The share of judged checks that pass, for one target, arm, runner and model."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    name: str
    """What reports call it."""
    raw: RateInterval
    """As judged: the share of the judged checks of a case over all its repeats, averaged over cases."""
    corrected: float | None
    """What people would have found, by sensitivity and specificity; `null` if the judge is no better than chance, or
    people passed, or failed, nothing."""
    lower: float | None
    """Bounds of the corrected rate for new cases, from 8 cases on: both run and labels are resampled."""
    upper: float | None


class JudgedLift(Frozen):
    """The difference between two arms in the share of judged checks that pass."""

    suite: str
    target: str | None
    runner: str
    model: str | None
    arm: str
    """The candidate arm."""
    baseline: str
    name: str
    """What reports call the candidate."""
    n: int
    """Cases with judged checks in both arms."""
    raw: float
    """As judged, from -1 to 1: mean over the cases."""
    raw_lower: float | None
    """Bounds for new cases, from 8 cases on."""
    raw_upper: float | None
    corrected: float | None
    """What people would have found: each arm corrected by its own errors; `null` if `reason` says why."""
    lower: float | None
    """Bounds of the corrected lift for new cases, from 8 cases on: both run and labels are resampled."""
    upper: float | None
    reason: str
    """Why there is no corrected lift; empty if there is one."""


class ArmLabels(Frozen):
    """The labels of one arm."""

    arm: str
    both_pass: int
    only_judge_passes: int
    only_people_pass: int
    neither_passes: int
    sensitivity: RateInterval
    specificity: RateInterval

    @property
    def labelled(self) -> Labelled:
        """The same counts, for arithmetic."""
        return Labelled(self.both_pass, self.only_judge_passes, self.only_people_pass, self.neither_passes)


class Calibration(Frozen):
    """The calibration file, and the document of `judge calibrate --json`."""

    schema_name: str = SCHEMA
    schema_version: str = "1.1"
    run_id: str
    """The run whose checks were labelled."""
    labels: int
    cases: int
    """Cases that have labels."""
    both_pass: int
    only_judge_passes: int
    only_people_pass: int
    neither_passes: int
    agreement: float
    kappa: float | None
    ac1: float
    sensitivity: RateInterval
    """Of what people pass, the share that the judge passes."""
    specificity: RateInterval
    """Of what people fail, the share that the judge fails."""
    arms: tuple[ArmLabels, ...]
    """Each arm in which a judge decided anything, with or without labels."""
    comparisons: tuple[ErrorComparison, ...]
    """The errors of the arms, compared pair by pair and kind by kind."""
    advisory: tuple[str, ...]
    """Why the judge is advisory only; empty if it is calibrated."""
    seed: int
    """Of the resampling."""
    rates: tuple[JudgedRate, ...]
    lifts: tuple[JudgedLift, ...]
    graders: tuple[Grader, ...]
    """All that it holds for: a check decided by any other grader makes it stale."""


class CheckNoise(Frozen):
    """The words of a judge about one check, asked twice."""

    check: str
    n: int
    """Answers of which it was asked."""
    changed: int
    """Answers of which it said something else the second time."""
    disagreement: RateInterval
    """Share of them, over cases."""


class GroupNoise(Frozen):
    """The noise of the judged rate of one group: standard deviations between runs of the same cases, as fractions."""

    name: str
    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    answers: int
    """Answers that were graded again."""
    disagreement: RateInterval
    spread: float | None
    """In all, from cases with several runs; `null` if there is none."""
    judge_spread: float | None
    """What the judge adds; `null` if no answer of the group was graded again."""
    agent_spread: float | None
    """What is left for the agent: squared, it is the difference of the other two squared, and never below 0."""


class NoiseDocument(Frozen):
    """The document of `judge noise --json`."""

    schema_version: str = "1.0"
    run_id: str
    judges: tuple[str, ...]
    answers: int
    """Answers that were graded again."""
    answers_in_run: int
    """Different answers that the judge has graded in the run."""
    ungraded: int
    """Checks that were asked again and have no word."""
    seed: int
    """Of the sample and of the resampling."""
    disagreement: RateInterval
    """Share of checks of which the judge said something else the second time, over cases."""
    checks: tuple[CheckNoise, ...]
    groups: tuple[GroupNoise, ...]


class DuelOutcome(StrEnum):
    """The outcome of answers that were compared, for the candidate arm."""

    WIN = "win"
    LOSS = "loss"
    TIE = "tie"
    """No majority of the judges, or as many wins as losses over the repeats of a case. A judge itself says tie by its
    word, or by another winner when the order is swapped."""


class ComparedCase(Frozen):
    """One case of a comparison."""

    suite: str
    case: str
    outcome: DuelOutcome | None
    """The more frequent of its wins and losses; `null` if no pair of answers got a word."""
    wins: int
    """Pairs of answers that the candidate arm won."""
    losses: int
    ties: int
    reason: str
    """Why a pair of answers has no word; empty if all have one."""


class ComparingJudge(Frozen):
    """One of the judges of a comparison."""

    judge: str
    unanswered: int
    """Pairs of answers without its word."""
    consistent: float | None
    """Share of the pairs, of those with its word, in which both orders gave the same word."""
    both_first: int
    """Pairs in which the answer that stood first won in both orders."""
    both_second: int
    position_chance: float
    """How likely the places differ at least as much by chance: exact two-sided test of signs."""


class CompareDocument(Frozen):
    """One comparison of `judge compare --json`."""

    run_id: str
    rubric: str
    name: str
    """What reports call the candidate."""
    arm: str
    baseline: str
    wins: int
    """Cases that the candidate arm won."""
    losses: int
    ties: int
    unanswered: int
    """Cases without a word."""
    cases_in_run: int
    """Cases with an answer in both arms, of which some were drawn."""
    pairs: int
    """Pairs of answers with a word, over all cases."""
    net: float | None
    """Mean over the cases with a word of wins minus losses, as a share of the case's pairs."""
    lower: float | None
    """Its bounds for new cases, at 95 %, from 8 cases on."""
    upper: float | None
    chance: float
    """Exact two-sided test of signs: how likely wins and losses of pairs differ at least as much by chance."""
    agreement: float | None
    """Share of the pairs, of those with a word of every judge, on which a panel agrees; `null` for a single judge."""
    judges: tuple[ComparingJudge, ...]
    cases: tuple[ComparedCase, ...]


class CompareDocuments(Frozen):
    """The document of `judge compare --json`."""

    schema_version: str = "1.0"
    comparisons: tuple[CompareDocument, ...]
