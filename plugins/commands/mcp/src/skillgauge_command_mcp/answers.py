"""The documents that tools answer with, made out of those of the command line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgauge.api import Frozen

_TEXT = 400
_CASES = 500


class EvalCase(Frozen):
    """A case of a suite."""

    suite: str
    case: str
    name: str
    file: str | None
    line: int | None


class EvalList(Frozen):
    """The evals below a path."""

    cases: tuple[EvalCase, ...]
    total: int
    next: str


class Finding(Frozen):
    """Something that is wrong with a suite, or makes it prove less than it seems to."""

    severity: str
    code: str
    message: str
    file: str | None = None
    line: int | None = None
    hint: str | None = None


class Validation(Frozen):
    """The result of a check."""

    valid: bool
    verdict: str
    findings: tuple[Finding, ...]
    next: str


class PlannedArm(Frozen):
    """The sessions of one arm."""

    suite: str
    arm: str
    engine: str
    model: str | None
    cases: int
    repeats: int
    sessions: int
    paid: bool


class RunPlan(Frozen):
    """The sessions of a run that has not begun, and their price."""

    sessions: int
    paid_sessions: int
    estimated_usd: float | None
    """From what sessions of the same suite, arm, engine and model cost in the last stored run; null if unknown."""
    estimate_basis: str
    arms: tuple[PlannedArm, ...]
    warnings: tuple[Finding, ...]
    next: str


class Group(Frozen):
    """The results of one arm."""

    suite: str
    target: str | None
    arm: str
    engine: str
    model: str | None
    passed: int
    failed: int
    errors: int
    pass_rate: float | None
    interval: tuple[float, float] | None


class Lift(Frozen):
    """A comparison of two arms."""

    suite: str
    target: str | None
    candidate: str
    baseline: str
    lift: float | None
    """Pass rate with minus pass rate without; 0.25 is 25 points."""
    interval_for_these_cases: tuple[float, float] | None
    cases: int
    finding: str | None


class FailedTrial(Frozen):
    """A trial that did not pass."""

    suite: str
    case: str
    arm: str
    repeat: int
    verdict: str
    reason: str


class RunReport(Frozen):
    """The result of a run."""

    run: str
    state: str
    verdict: str
    passed: int
    failed: int
    errors: int
    cost_usd: float | None
    groups: tuple[Group, ...]
    lifts: tuple[Lift, ...]
    next: str


class FailedTrials(Frozen):
    """The trials of a run that did not pass."""

    run: str
    total: int
    trials: tuple[FailedTrial, ...]
    next: str


def eval_list(document: Mapping[str, Any]) -> EvalList:
    """Return the list of `eval --list`."""
    cases = [EvalCase.model_validate({key: case[key] for key in EvalCase.model_fields}) for case in document["cases"]]
    further = "validate_evals checks them, plan_run says what a run would do"
    if not cases:
        further = "there are no evals; draft_evals begins some for a skill"
    return EvalList(cases=tuple(cases[:_CASES]), total=len(cases), next=further)


def findings(problems: list[dict[str, Any]]) -> tuple[Finding, ...]:
    """Return problems of the command line."""
    return tuple(
        Finding.model_validate({key: problem.get(key) for key in Finding.model_fields}) for problem in problems
    )


def run_plan(document: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> RunPlan:
    """Return a plan with what it may cost.

    Args:
        document: of a dry run.
        earlier: of the last stored run, if there is one.
    """
    arms = tuple(
        PlannedArm(
            suite=arm["suite"],
            arm=arm["arm"],
            engine=arm["runner"],
            model=arm["model"],
            cases=arm["cases"],
            repeats=arm["runs"],
            sessions=arm["sessions"],
            paid=arm["paid"],
        )
        for arm in document["arms"]
    )
    usd, basis = _estimate(arms, earlier)
    return RunPlan(
        sessions=sum(arm.sessions for arm in arms),
        paid_sessions=sum(arm.sessions for arm in arms if arm.paid),
        estimated_usd=usd,
        estimate_basis=basis,
        arms=arms,
        warnings=findings(document["problems"]),
        next="run_evals with the same arguments carries it out, if the user has allowed runs",
    )


def _estimate(arms: tuple[PlannedArm, ...], earlier: Mapping[str, Any] | None) -> tuple[float | None, str]:
    if not any(arm.paid for arm in arms):
        return 0.0, "no session is paid for; judges that are models may be"
    costs: dict[tuple[str, str, str, str | None], list[float]] = {}
    for result in earlier["results"] if earlier else ():
        cost = (result["execution"].get("usage") or {}).get("cost_usd")
        if cost is not None and not result["execution"].get("replayed"):
            key = (result["suite_id"], result["arm"], result["runner"], result.get("model"))
            costs.setdefault(key, []).append(cost)
    total = 0.0
    for arm in arms:
        earlier_costs = costs.get((arm.suite, arm.arm, arm.engine, arm.model))
        if arm.paid and not earlier_costs:
            return None, "no stored run tells what such sessions cost; begin with one case and one repeat"
        total += arm.sessions * sum(earlier_costs) / len(earlier_costs) if earlier_costs else 0.0
    assert earlier is not None
    return round(total, 4), f"means of the sessions of run {earlier['run']['run_id']}, judges not included"


def run_report(document: Mapping[str, Any], verdict: str) -> RunReport:
    """Return the result of a run, from the document of `eval` or of `report show`."""
    summary, counts = document["summary"], document["summary"]["counts"]
    spending = summary.get("spending")
    failed = counts["failed"] + counts["errors"]
    run = document["run"]["run_id"]
    return RunReport(
        run=run,
        state=document["run"]["state"],
        verdict=document.get("verdict") or verdict,
        passed=counts["passed"],
        failed=counts["failed"],
        errors=counts["errors"],
        cost_usd=spending["cost_usd"] if spending else None,
        groups=tuple(map(_group, summary["groups"])),
        lifts=tuple(map(_lift, summary["pairs"])),
        next=f"failing_cases with run {run!r} says why" if failed else "every trial passed",
    )


def _group(group: Mapping[str, Any]) -> Group:
    rate = group["pass_rate"]
    return Group(
        suite=group["suite_id"],
        target=group["target_id"],
        arm=group["arm"],
        engine=group["runner"],
        model=group["model"],
        passed=group["counts"]["passed"],
        failed=group["counts"]["failed"],
        errors=group["counts"]["errors"],
        pass_rate=rate["rate"],
        interval=_bounds(rate),
    )


def _lift(pair: Mapping[str, Any]) -> Lift:
    candidate, evidence = pair["candidate"], pair["evidence"] or {}
    return Lift(
        suite=candidate["suite_id"],
        target=candidate["target_id"],
        candidate=candidate["arm"],
        baseline=pair["baseline"]["arm"],
        lift=evidence.get("estimate"),
        interval_for_these_cases=_bounds(evidence.get("interval_here")),
        cases=evidence.get("n", 0),
        finding=evidence.get("finding"),
    )


def _bounds(interval: Mapping[str, Any] | None) -> tuple[float, float] | None:
    if not interval or interval.get("lower") is None or interval.get("upper") is None:
        return None
    return interval["lower"], interval["upper"]


def failed_trials(document: Mapping[str, Any], arm: str | None, limit: int) -> FailedTrials:
    """Return the first trials of a run that did not pass, those of one arm if it is named."""
    failed = [
        result
        for result in document["results"]
        if result["verdict"] not in ("pass", "skipped") and arm in (None, result["arm"])
    ]
    run = document["run"]["run_id"]
    trials = tuple(
        FailedTrial(
            suite=result["suite_id"],
            case=result["case_id"],
            arm=result["arm"],
            repeat=result["repeat"],
            verdict=result["verdict"],
            reason="; ".join(_reasons(result))[:_TEXT],
        )
        for result in failed[:limit]
    )
    further = f"read_case with run {run!r} and a case shows all that happened" if trials else "nothing failed"
    return FailedTrials(run=run, total=len(failed), trials=trials, next=further)


def _reasons(result: Mapping[str, Any]) -> Iterator[str]:
    failure = result["execution"].get("failure")
    if failure:
        yield failure["message"]
    for score in result.get("scores", ()):
        if score["status"] != "passed" and score.get("reason"):
            yield score["reason"]
