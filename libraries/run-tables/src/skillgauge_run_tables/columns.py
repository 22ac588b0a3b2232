"""The columns of every kind of record: name, type, unit and meaning.

The names are stable: a later version may add columns at the end, and renames none. `None` is "unknown" or "does not
apply", never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict  # pydantic reads that of `typing` from Python 3.12 on only


def about(meaning: str, unit: str = "") -> Any:
    """Return what a column means, and its unit."""
    return Field(description=meaning, json_schema_extra={"unit": unit} if unit else None)


Share = float
"""From 0 to 1; a difference of shares is from -1 to 1."""


class RunRow(TypedDict):
    """A run."""

    run_id: Annotated[str, about("Id of the run.")]
    source: Annotated[str, about("The store, file or folder that it was read from, as it was named.")]
    state: Annotated[str, about("`running`, `finished`, `interrupted` or `stopped` (by a budget).")]
    verdict: Annotated[
        str | None, about("`passed`, `failed`, `error`, `incomplete` or `empty`; unknown without gates.")
    ]
    is_valid: Annotated[bool | None, about("False if a suite had so many errors that the run proves nothing.")]
    is_own: Annotated[bool | None, about("Whether this user's key signed it; unknown of files.")]
    started_at: Annotated[datetime, about("When it began.", "UTC")]
    finished_at: Annotated[datetime | None, about("When it ended.", "UTC")]
    suites: Annotated[str, about("Ids of its suites, joined by a comma and a space.")]
    targets: Annotated[str, about("Ids of what was tested, joined likewise.")]
    engines: Annotated[str, about("Engines or adapters, joined likewise.")]
    models: Annotated[str, about("Models that were asked for, joined likewise.")]
    judges: Annotated[str, about("Judges, joined likewise.")]
    repeats: Annotated[int, about("Repeats of each case; where they differ, the most.")]
    trials: Annotated[int, about("Trials that ended.")]
    planned_trials: Annotated[int, about("Trials of the plan.")]
    passed_trials: Annotated[int, about("Trials that passed.")]
    failed_trials: Annotated[int, about("Trials that failed.")]
    error_trials: Annotated[int, about("Trials that could not be graded; they are in no rate.")]
    skipped_trials: Annotated[int, about("Trials that were skipped.")]
    cost_usd: Annotated[float | None, about("Cost, as far as it is reported.", "USD")]
    tokens: Annotated[int | None, about("Tokens, as far as they are reported.", "tokens")]
    unknown_cost_trials: Annotated[int | None, about("Trials of agents some part of which does not report its cost.")]
    seed: Annotated[int, about("Seed of the plan.")]
    plan_id: Annotated[str, about("Digest of all that decides what would run; equal ids are the same plan.")]
    schema_version: Annotated[str, about("Version of the stored run.")]


class GroupRow(TypedDict):
    """The trials of one suite, target, arm, engine and model of a run."""

    run_id: Annotated[str, about("Id of the run.")]
    suite_id: Annotated[str, about("Id of the suite.")]
    target_id: Annotated[str | None, about("Id of the target, as a skill is one.")]
    arm: Annotated[str, about("`with_skill`, `without_skill`, `direct` or another arm of the suite.")]
    engine: Annotated[str, about("Engine, or adapter of a direct call.")]
    model: Annotated[str | None, about("Model that was asked for.")]
    is_baseline: Annotated[bool, about("Whether the arm only serves to compare others with it.")]
    is_valid: Annotated[bool | None, about("False if its suite had so many errors that its rates prove nothing.")]
    figure: Annotated[str, about("What `rate` is: `pass_rate`, or a figure of the format in its place.")]
    rate: Annotated[Share | None, about("Mean over cases of the share of each case's repeats that passed.", "share")]
    rate_lower: Annotated[Share | None, about("Lower bound of it.", "share")]
    rate_upper: Annotated[Share | None, about("Upper bound of it.", "share")]
    rate_level: Annotated[float | None, about("Confidence of the bounds.", "share")]
    rate_method: Annotated[str | None, about("Method of the bounds.")]
    cases: Annotated[int, about("Cases behind the rate.")]
    trials: Annotated[int, about("Trials that ended.")]
    passed_trials: Annotated[int, about("Trials that passed.")]
    failed_trials: Annotated[int, about("Trials that failed.")]
    error_trials: Annotated[int, about("Trials that could not be graded; they are in no rate.")]
    skipped_trials: Annotated[int, about("Trials that were skipped.")]
    mean_value: Annotated[Share | None, about("Mean score over the graded trials.", "share")]
    p50_s: Annotated[float | None, about("Median duration of its trials, failures included.", "s")]
    p95_s: Annotated[float | None, about("95th percentile of the same.", "s")]
    flaky_cases: Annotated[int | None, about("Cases that passed only sometimes; unknown if each was run once.")]


class ComparisonRow(TypedDict):
    """Two arms of a run, compared case by case."""

    run_id: Annotated[str, about("Id of the run.")]
    suite_id: Annotated[str, about("Id of the suite.")]
    target_id: Annotated[str | None, about("Id of the target, as a skill is one.")]
    engine: Annotated[str, about("Engine.")]
    model: Annotated[str | None, about("Model that was asked for.")]
    arm: Annotated[str, about("The arm that is compared.")]
    baseline: Annotated[str, about("The arm that it is compared with.")]
    is_valid: Annotated[bool, about("False if it proves nothing: too many errors, or cases chosen for their results.")]
    finding: Annotated[
        str | None, about("`helps`, `hurts`, `no_difference` or `undecided`; none of what proves nothing.")
    ]
    finding_cases: Annotated[str | None, about("`these` or `new`: the cases that `helps` or `hurts` is about.")]
    cases: Annotated[int, about("Cases compared: those with a graded trial in both arms.")]
    rate: Annotated[Share | None, about("Pass rate of the arm.", "share")]
    rate_lower: Annotated[Share | None, about("Lower bound of it.", "share")]
    rate_upper: Annotated[Share | None, about("Upper bound of it.", "share")]
    baseline_rate: Annotated[Share | None, about("Pass rate of the baseline.", "share")]
    baseline_lower: Annotated[Share | None, about("Lower bound of it.", "share")]
    baseline_upper: Annotated[Share | None, about("Upper bound of it.", "share")]
    lift: Annotated[Share | None, about("Mean over the cases of the difference of their pass shares.", "difference")]
    lift_lower: Annotated[Share | None, about("Lower bound if these cases were run very often.", "difference")]
    lift_upper: Annotated[Share | None, about("Upper bound likewise.", "difference")]
    lift_level: Annotated[float | None, about("Confidence of these bounds.", "share")]
    chance: Annotated[float | None, about("How likely these cases differ so much if the arms are alike.", "share")]
    new_lower: Annotated[Share | None, about("Lower bound for new cases of this kind; from 8 cases on.", "difference")]
    new_upper: Annotated[Share | None, about("Upper bound likewise.", "difference")]
    new_chance: Annotated[float | None, about("How likely new cases differ so much; from 8 cases on.", "share")]
    flips_to_pass: Annotated[int, about("Cases that pass in the arm and fail in the baseline.")]
    flips_to_fail: Annotated[int, about("Cases that fail in the arm and pass in the baseline.")]
    cost_ratio: Annotated[float | None, about("Cost as a multiple of the baseline's, over cases both passed.", "ratio")]
    token_ratio: Annotated[float | None, about("The same of tokens.", "ratio")]
    time_ratio: Annotated[float | None, about("The same of durations.", "ratio")]


class CaseRow(TypedDict):
    """A case in one group of a run: its repeats together."""

    run_id: Annotated[str, about("Id of the run.")]
    suite_id: Annotated[str, about("Id of the suite.")]
    case_id: Annotated[str, about("Id of the case, unique in its suite.")]
    case_name: Annotated[str, about("A second name of the case; empty if it has none.")]
    case_index: Annotated[int, about("Position in its suite, from 0.")]
    case_digest: Annotated[str | None, about("Digest of what is done and how it is graded.")]
    tags: Annotated[str, about("Its tags, joined by a comma and a space.")]
    cluster: Annotated[str | None, about("The cluster that it belongs to.")]
    target_id: Annotated[str | None, about("Id of the target, as a skill is one.")]
    arm: Annotated[str, about("Arm.")]
    engine: Annotated[str, about("Engine, or adapter of a direct call.")]
    model: Annotated[str | None, about("Model that was asked for.")]
    is_baseline: Annotated[bool, about("Whether the arm only serves to compare others with it.")]
    outcome: Annotated[str, about("`passed`, `failed`, `error`, `skipped` or `quarantined`, all repeats together.")]
    trials: Annotated[int, about("Its trials that ended.")]
    passed_trials: Annotated[int, about("Trials that passed.")]
    failed_trials: Annotated[int, about("Trials that failed.")]
    error_trials: Annotated[int, about("Trials that could not be graded.")]
    skipped_trials: Annotated[int, about("Trials that were skipped.")]
    pass_share: Annotated[Share | None, about("Share of the graded trials that passed; unknown if none was.", "share")]
    mean_value: Annotated[Share | None, about("Mean score over the graded trials.", "share")]
    fired_trials: Annotated[int | None, about("Graded trials in which a skill fired; unknown where none tells.")]
    passed_turns: Annotated[float | None, about("Turns of the trials that passed, on average.", "turns")]
    passed_tokens: Annotated[float | None, about("Tokens of the same.", "tokens")]
    passed_duration_s: Annotated[float | None, about("Duration of the same.", "s")]
    passed_cost_usd: Annotated[float | None, about("Cost of the same.", "USD")]
    baseline: Annotated[str | None, about("The arm that it is compared with; none of a group that is not compared.")]
    change: Annotated[
        str | None, about("`flip_to_pass`, `pass_kept`, `fail_kept`, `flip_to_fail` or `error`, against the baseline.")
    ]
    difference: Annotated[Share | None, about("Pass share minus that of the baseline.", "difference")]


class TrialRow(TypedDict):
    """One execution of one case in one arm."""

    run_id: Annotated[str, about("Id of the run.")]
    trial_id: Annotated[str, about("Id of the trial, unique in its plan.")]
    execution_id: Annotated[str, about("Digest of what was executed; equal ids are the same work.")]
    ordinal: Annotated[int, about("Position in the plan, from 0.")]
    suite_id: Annotated[str, about("Id of the suite.")]
    case_id: Annotated[str, about("Id of the case, unique in its suite.")]
    case_index: Annotated[int, about("Position of the case in its suite, from 0.")]
    tags: Annotated[str, about("Tags of the case, joined by a comma and a space.")]
    cluster: Annotated[str | None, about("The cluster that the case belongs to.")]
    weight: Annotated[float, about("Weight of the case.")]
    target_id: Annotated[str | None, about("Id of the target, as a skill is one.")]
    arm: Annotated[str, about("Arm.")]
    engine: Annotated[str, about("Engine, or adapter of a direct call.")]
    model: Annotated[str | None, about("Model that was asked for.")]
    model_answered: Annotated[str | None, about("Model that answered, as the engine reports it.")]
    repeat: Annotated[int, about("Number of the repeat, from 1.")]
    is_baseline: Annotated[bool, about("Whether the arm only serves to compare others with it.")]
    verdict: Annotated[str, about("`pass`, `fail`, `error` or `skipped`.")]
    passed: Annotated[bool | None, about("True or false of a graded trial; unknown of an error and a skipped one.")]
    value: Annotated[Share | None, about("Weighted mean of its scores; unknown of an error.", "share")]
    reason: Annotated[str | None, about("Why it did not pass.")]
    failure_class: Annotated[str | None, about("`timeout`, `crash`, `network`, ...: why its execution did not end.")]
    blame: Annotated[str | None, about("`target`, `infrastructure` or `agent_limit`: whose failure that is.")]
    checks: Annotated[int, about("Its checks that count.")]
    passed_checks: Annotated[int, about("Those of them that hold.")]
    started_at: Annotated[datetime, about("When the attempt that counts began.", "UTC")]
    duration_s: Annotated[float | None, about("Wall-clock time of that attempt, its failure included.", "s")]
    attempts: Annotated[int, about("Times that it was started.")]
    turns: Annotated[int | None, about("Turns of its session.", "turns")]
    model_calls: Annotated[int | None, about("Calls of a model in its session.")]
    skill_fired: Annotated[bool | None, about("Whether any skill fired; unknown where the engine cannot tell.")]
    input_tokens: Annotated[int | None, about("Uncached input of the session.", "tokens")]
    cache_read_tokens: Annotated[int | None, about("Input read from a cache.", "tokens")]
    cache_write_tokens: Annotated[int | None, about("Input written to a cache.", "tokens")]
    output_tokens: Annotated[int | None, about("Output of the session.", "tokens")]
    reasoning_tokens: Annotated[int | None, about("Reasoning of the session.", "tokens")]
    total_tokens: Annotated[int | None, about("All of them: as reported, else the sum of those reported.", "tokens")]
    cost_usd: Annotated[float | None, about("Cost of the session alone, without judges and attempts before it.", "USD")]
    cost_basis: Annotated[str | None, about("`reported`, `price-list`, ...: who computed the cost.")]
    is_replayed: Annotated[bool, about("Whether it is a recording, so that time and cost are not of this run.")]
    sandbox: Annotated[str | None, about("Sandbox and tier, as `local/none`.")]
    arm_integrity: Annotated[
        str | None, about("`verified`, or a sentence on why the arm's skills are unknown or wrong.")
    ]


class CheckRow(TypedDict):
    """The result of one check of one trial."""

    run_id: Annotated[str, about("Id of the run.")]
    trial_id: Annotated[str, about("Id of the trial.")]
    suite_id: Annotated[str, about("Id of the suite.")]
    case_id: Annotated[str, about("Id of the case.")]
    target_id: Annotated[str | None, about("Id of the target, as a skill is one.")]
    arm: Annotated[str, about("Arm.")]
    engine: Annotated[str, about("Engine, or adapter of a direct call.")]
    model: Annotated[str | None, about("Model that was asked for.")]
    repeat: Annotated[int, about("Number of the repeat, from 1.")]
    verdict: Annotated[str, about("Verdict of the trial.")]
    check_index: Annotated[int, about("Position among the checks of the trial, from 0.")]
    check_id: Annotated[str, about("Id of the check.")]
    scorer: Annotated[str, about("Scorer.")]
    scorer_version: Annotated[str, about("Its version.")]
    status: Annotated[str, about("`passed`, `failed` or `ungraded`.")]
    passed: Annotated[bool | None, about("True or false of a graded check; unknown of an ungraded one.")]
    value: Annotated[Share | None, about("Partial credit; unknown if ungraded.", "share")]
    weight: Annotated[float, about("Weight in the value of the trial.")]
    is_beside: Annotated[bool, about("Whether it stands beside the verdict and decides nothing.")]
    reason: Annotated[str | None, about("Why.")]
    judge_tokens: Annotated[int | None, about("Tokens of a judge's calls for it, as reported.", "tokens")]
    judge_cost_usd: Annotated[float | None, about("Cost of the same.", "USD")]


ROWS: Mapping[str, Any] = {
    "runs": RunRow,
    "groups": GroupRow,
    "comparisons": ComparisonRow,
    "cases": CaseRow,
    "trials": TrialRow,
    "checks": CheckRow,
}
"""Every kind of record."""


@dataclass(frozen=True)
class Column:
    """A column of records."""

    name: str
    type: type
    """`str`, `int`, `float`, `bool` or `datetime`."""
    can_be_none: bool
    unit: str
    meaning: str


def columns_of(kind: str) -> tuple[Column, ...]:
    """Return the columns of a kind of record, in their order."""
    hints = get_type_hints(ROWS[kind], include_extras=True)
    return tuple(_column(name, *get_args(hint)) for name, hint in hints.items())


def _column(name: str, value_type: Any, about: FieldInfo) -> Column:
    plain_types = [value_type]
    if get_origin(value_type) is UnionType or get_args(value_type):
        plain_types = [one for one in get_args(value_type) if one is not NoneType]
    extra = about.json_schema_extra
    unit = str(extra["unit"]) if isinstance(extra, dict) else ""
    return Column(name, plain_types[0], plain_types != [value_type], unit, about.description or "")


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one record of a kind."""
    return TypeAdapter(ROWS[kind]).json_schema()
