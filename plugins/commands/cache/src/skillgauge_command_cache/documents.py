"""The documents that the command prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import Frozen, Problem, SuiteError, cut, plain
from skillgauge.api.run import Evaluation, Invocation, eval_options
from skillgauge_recordings import BaselineCache, baselines_in

_NAME = 60
_DAY_S = 86_400.0


class Entry(Frozen):
    """A kept session."""

    path: str
    """Relative to the folder of the cache."""
    bytes: int
    age_s: float
    damaged: bool
    case: str | None = None
    engine: str | None = None
    model: str | None = None

    def line(self) -> str:
        """For people."""
        subject = f"{self.case} · {self.engine}{f' · {self.model}' if self.model else ''}"
        text = "damaged, or of another version: never used" if self.damaged else subject
        return f"{self.path}  {self.age_s / _DAY_S:.1f} days  {self.bytes} bytes  {plain(cut(text, _NAME))}"


class ListDocument(Frozen):
    """All entries."""

    folder: str
    entries: tuple[Entry, ...]


class RemovedDocument(Frozen):
    """The files that were removed."""

    folder: str
    removed: int
    kept: int


class Session(Frozen):
    """A session without the skill that a run would need."""

    case: str
    arm: str
    engine: str
    model: str | None
    repeat: int
    used: bool
    """Whether an earlier session answers it."""
    differs: tuple[str, ...] = ()
    """What is not the same in the nearest earlier one; empty if there is none."""
    reason: str = ""

    def line(self) -> str:
        """For people."""
        return f"{'hit ' if self.used else 'miss'}  {plain(cut(self.case, _NAME))} (run {self.repeat}): {self.reason}"


class WhyDocument(Frozen):
    """All sessions without the skill of a plan."""

    folder: str
    sessions: tuple[Session, ...]


def listed(folder: Path, now: float) -> ListDocument:
    """Every entry of a cache."""
    entries = []
    for baseline in baselines_in(folder):
        recipe = baseline.cassette.recipe if baseline.cassette else {}
        facts = {key: str(recipe[key]) for key in ("case", "engine", "model") if recipe.get(key) is not None}
        path = baseline.path.relative_to(folder).as_posix()
        age_s = max(0.0, now - baseline.made_at)
        entries.append(Entry(path=path, bytes=baseline.size, age_s=age_s, damaged=baseline.cassette is None, **facts))
    return ListDocument(folder=str(folder), entries=tuple(entries))


def removed(folder: Path, oldest: float) -> RemovedDocument:
    """Remove what was made before a moment, and what is damaged."""
    gone = kept = 0
    for baseline in baselines_in(folder):
        if baseline.cassette is None or baseline.made_at < oldest:
            baseline.path.unlink(missing_ok=True)
            gone += 1
        else:
            kept += 1
    return RemovedDocument(folder=str(folder), removed=gone, kept=kept)


async def explained(call: Invocation, values: Mapping[str, Any], folder: Path) -> WhyDocument:
    """Return the cache's answer to each session without the skill of an evaluation that is not run.

    Raises:
        SkillgaugeError: the evaluation is wrong, or none of its suites uses the cache.
    """
    evaluation = await Evaluation.prepare(call, eval_options(call, {**values, "dry_run": True}))
    plan = evaluation.prepared.plan
    spare = {
        (planned.suite.id, pair.baseline)
        for planned in plan.suites
        for pair in (planned.suite.comparisons if planned.suite.defaults.cache_baseline else ())
    }
    if not spare:
        message = "none of these suites uses sessions again"
        raise SuiteError(Problem("cache.unused", message, hint="Name a suite whose format keeps its baselines."))
    cache, sessions = BaselineCache(folder), []
    for trial in plan.trials():
        if (trial.suite_id, trial.arm.name) not in spare or trial.case.skip:
            continue
        others = list(cache.others(trial))
        nearest = min((differs for _, differs in others), key=len, default=())
        if cache.entry(trial) is not None:
            used, reason, nearest = True, f"an earlier session is used: {cache.place(trial).relative_to(folder)}", ()
        elif not trial.runner.complete:
            used, reason = False, f"engine {trial.runner.name!r} cannot tell all that its sessions depend on"
        elif nearest:
            used, reason = False, f"differs from the nearest session in: {', '.join(nearest)}"
        else:
            used, reason = False, "no session of this case with this prompt is kept"
        sessions.append(
            Session(
                case=trial.case.id,
                arm=trial.arm.name,
                engine=trial.runner.name,
                model=trial.model,
                repeat=trial.repeat,
                used=used,
                differs=nearest,
                reason=reason,
            )
        )
    return WhyDocument(folder=str(folder), sessions=tuple(sessions))
