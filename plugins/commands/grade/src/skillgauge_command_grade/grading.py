"""Sessions as the trials of one arm: who began them is unknown, so they are graded, and compare nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from skillgauge.api import (
    Arm,
    ArmKind,
    EmptySelection,
    Execution,
    FoundSession,
    Identity,
    Plan,
    PlanHead,
    Problem,
    RunOrigin,
    Severity,
    SuiteHead,
    Trial,
    Usage,
    UsageError,
    digest,
    plain,
)
from skillgauge.api.report import GroupKey
from skillgauge.api.run import Asked, Evaluation, Invocation

from .finding import SessionFile, Sessions
from .matching import ARM, Place, Places, as_counts

UNCONTROLLED = "unknown: skillgauge did not begin this session, and does not know what else its agent was given"
_SHOWN = 5
"""Sessions that are named for each reason why they fit no case."""


@dataclass(frozen=True)
class _Session:
    """A session that is a trial: what is known without its events."""

    file: SessionFile
    place: Place
    runner: Identity
    repeat: int
    content: str
    """Digest of what was done."""


async def by_suite(call: Invocation, request: Asked, kept: Sessions, case_id: str | None) -> Evaluation:
    """The evaluation that grades sessions.

    Args:
        call: the command line.
        request: the suite, and who grades.
        kept: the sessions.
        case_id: the case that the only session is of; `None`: the one that has its prompt.

    Raises:
        SkillgaugeError: with everything that is missing; nothing has run.
        EmptySelection: no session is of a case of this suite.
    """
    request = replace(request, options=replace(request.options, who=replace(request.options.who, executes=False)))
    evaluation = await Evaluation.prepare(call, request)
    prepared = evaluation.prepared
    places = Places(prepared.plan)
    if case_id is not None and len(kept.files) != 1:
        message = f"--case is for one session, and here are {len(kept.files)}"
        raise UsageError(Problem("grade.one-session", message, hint="Name a single file."))
    chosen = None if case_id is None else places.named(case_id)
    sessions, unmatched = _matched(kept, places, chosen)
    call.listener.problems([*kept.problems, *_unmatched(unmatched)])
    if not sessions:
        hint = "Prompts have to be the same, white space apart; with --case ID a single session is graded anyhow."
        raise EmptySelection(Problem("grade.unmatched", "no session is of a case of this suite", hint=hint))
    plan = _Sessions(
        _head(prepared.plan.head, sessions),
        prepared.plan.suites,
        prepared.plan.limits,
        prepared.plan.paid_scorers,
        sessions=sessions,
    )

    @asynccontextmanager
    async def stage(trial: Trial) -> AsyncIterator[_Known]:
        yield _Known(sessions[trial.ordinal])

    retry = replace(prepared.job.retry, retries=0)  # what failed then would fail again
    job = replace(prepared.job, stages={ArmKind.AGENT: stage}, retry=retry)
    return evaluation.instead(plan, job)


def _matched(kept: Sessions, places: Places, chosen: Place | None) -> tuple[list[_Session], dict[str, str]]:
    """Return the sessions that are of a case, in the order of cases, and why the others are of none, by their paths."""
    unmatched: dict[str, str] = {}
    matched: list[tuple[SessionFile, Place, FoundSession]] = []
    for file, session in kept.read():
        place = chosen or places.of(session)
        if isinstance(place, str):
            unmatched[str(file.path)] = place
        else:
            content = digest(session.execution.model_dump(mode="json"))
            bare = session.model_copy(update={"execution": Execution(text=content)})  # the rest is read again
            matched.append((file, place, bare))
    matched.sort(key=lambda one: (one[1].suite.id, one[1].index))
    repeats: Counter[tuple[GroupKey, int]] = Counter()
    sessions = []
    for file, place, session in matched:
        target = place.target.id if place.target else None
        group = GroupKey(place.suite.id, target, ARM, session.engine.name, session.engine.model)
        repeats[group, place.index] += 1
        content = session.execution.text or ""
        sessions.append(_Session(file, place, session.engine, repeats[group, place.index], content))
    return sessions, unmatched


def _unmatched(reasons: dict[str, str]) -> Iterator[Problem]:
    for reason, paths in as_counts(reasons):
        named = ", ".join(plain(path) for path in paths[:_SHOWN])
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        message = f"not graded, since {reason}: {named}{more}"
        yield Problem("grade.unmatched", message, severity=Severity.WARNING)


@dataclass(frozen=True)
class _Known:
    """A stage on which nothing happens: the session is over, and its workspace is not here."""

    session: _Session
    workspace: None = None
    scores: tuple[()] = ()

    async def furnish(self, trial: Trial) -> None:
        """There is no place for anything."""

    async def execute(self, trial: Trial) -> Execution:
        """Read the session again."""
        execution = self.session.file.read().execution
        if execution.failure is None:  # its time and cost are not this run's
            return execution.model_copy(update={"arm_integrity": UNCONTROLLED, "replayed": True})
        return execution.model_copy(update={"arm_integrity": UNCONTROLLED, "usage": _NOTHING})

    async def prepare_grading(self, trial: Trial) -> tuple[str, ...]:
        """There is nothing to put graders' files into."""
        return ()


_NOTHING = Usage(total_tokens=0, cost_usd=0.0, cost_basis="not executed")
"""Known, and not unknown: nothing ran."""


@dataclass(frozen=True)
class _Sessions(Plan):
    """A trial for each session."""

    sessions: list[_Session] = field(kw_only=True)

    def trials(self) -> Iterator[Trial]:
        """The sessions, in the order of their cases."""
        for ordinal, session in enumerate(self.sessions):
            place, runner = session.place, session.runner
            execution_id = digest(ARM, place.case.id, session.content)
            yield Trial(
                trial_id=digest(
                    place.suite.id, session.runner.digest, session.runner.model, session.repeat, execution_id
                ),
                execution_id=execution_id,
                ordinal=ordinal,
                suite_id=place.suite.id,
                case=place.case,
                case_index=place.index,
                target=place.target,
                arm=Arm(name=ARM, kind=ArmKind.AGENT, skills=place.arm.skills),
                runner=runner,
                model=runner.model,
                repeat=session.repeat,
                seed=0,
                limits=place.case.limits,
                paid=self.is_paid(place.case),
            )


def _head(planned: PlanHead, sessions: list[_Session]) -> PlanHead:
    """The head of such a run: one arm, no comparison, no gate."""
    heads = [head for suite in planned.suites if (head := _suite_head(suite, sessions))]
    return planned.model_copy(
        update={
            "plan_id": digest("grade", planned.plan_id, [(one.place.case.id, one.content) for one in sessions]),
            "suites": tuple(heads),
            "trial_count": len(sessions),
            "runs": max(head.runs for head in heads),
            "runners": tuple(dict.fromkeys(one.runner for one in sessions)),
            "models": tuple(dict.fromkeys(one.runner.model for one in sessions if one.runner.model)),
            "origin": RunOrigin(
                run_id="",
                change="uncontrolled: sessions that were not begun by skillgauge were graded, nothing was executed, "
                "and nobody knows what was left out",
                chosen=True,
            ),
        }
    )


def _suite_head(planned: SuiteHead, sessions: list[_Session]) -> SuiteHead | None:
    own = [one for one in sessions if one.place.suite.id == planned.id]
    if not own:
        return None
    repeats = Counter[int]()
    for session in own:
        repeats[session.place.index] = max(repeats[session.place.index], session.repeat)
    fewest, most = min(repeats.values()), max(repeats.values())
    return planned.model_copy(
        update={
            "arms": (ARM,),
            "arm_digests": (),
            "comparisons": (),
            "gates": (),
            "until_decided": False,
            "case_count": len(repeats),
            "trial_count": len(own),
            "runs": most,
            "fewest_runs": fewest if fewest < most else None,
        }
    )
