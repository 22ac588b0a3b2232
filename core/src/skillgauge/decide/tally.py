"""The progress of a run: the ends of its trials by arm, their cost, and the time that the rest may take."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable

from skillgauge_documents import thaw
from skillgauge_documents.characters import plain

from ..report.wording import prefixed
from ..types.arms import DIRECT
from ..types.results.trials import TrialResult, Verdict
from ..types.trajectory import EventKind, TrajectoryEvent
from ..types.trial import Trial

Clock = Callable[[], float]
_WORDS = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.ERROR: "errors", Verdict.SKIPPED: "skipped"}
_VERBS = {
    EventKind.MESSAGE: "says",
    EventKind.REASONING: "thinks",
    EventKind.TOOL_CALL: "calls",
    EventKind.TOOL_RESULT: "gets",
    EventKind.NOTICE: "notes",
    EventKind.USER: "is told",
}
_NAME = 40
"""Characters of each part of a name that are shown."""
STEP = 80
"""Characters of a step that are shown where there is a line for it among others."""


class Tally:
    """Counts a run's trials while they end, and knows what those that are under way do.

    Args:
        total: trials of the run.
        clock: seconds since some moment.
        at_most: whether the run may end before all of them, once it is decided.
    """

    def __init__(self, total: int, clock: Clock = time.monotonic, *, at_most: bool = False) -> None:
        self.total = total
        self._most = "at most " if at_most else ""
        self.done = 0
        self.cost_usd = 0.0
        self._clock = clock
        self._began = clock()
        self._arms: dict[str, Counter[Verdict]] = {}
        self._under_way: dict[str, tuple[Trial, str, float]] = {}

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._began

    @property
    def left_s(self) -> float | None:
        """Seconds that the other trials may take, at the pace until now; `None` before any has ended."""
        if not self.done:
            return None
        return self.elapsed_s / self.done * (self.total - self.done)

    @property
    def steps(self) -> list[tuple[str, float]]:
        """The present step of every trial under way, and the seconds that it has run; the longest first."""
        now = self._clock()
        under_way = self._under_way.values()
        return [(f"{trial_name(trial)}{prefixed(': ', step)}", now - since) for trial, step, since in under_way]

    def started(self, trial: Trial) -> None:
        """A trial begins, perhaps not for the first time."""
        self._under_way[trial.trial_id] = (trial, "", self._clock())

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """An agent does something."""
        since = self._under_way.get(trial.trial_id, (trial, "", self._clock()))[2]
        self._under_way[trial.trial_id] = (trial, step_text(event), since)

    def name(self, result: TrialResult) -> str:
        """Return the name of a trial under way; its result alone does not know its case's name."""
        if result.trial_id in self._under_way:
            return trial_name(self._under_way[result.trial_id][0])
        return f"{plain(result.case_id, _NAME)} ({plain(result.arm, _NAME)})"

    def finished(self, result: TrialResult) -> None:
        """A trial has ended."""
        self.done += 1
        self._under_way.pop(result.trial_id, None)
        self._arms.setdefault(result.arm, Counter())[result.verdict] += 1
        self.cost_usd += sum(usage.cost_usd or 0.0 for usage in result.usages if usage)

    def counts(self) -> list[tuple[str, list[tuple[Verdict, str]]]]:
        """For each arm its name, empty for direct calls, and what became of its trials, in words."""
        return [(_arm_name(arm), _ends(counts)) for arm, counts in sorted(self._arms.items())]

    @property
    def count(self) -> str:
        """The trials that have ended, of how many."""
        if self._most:
            return f"{self.done} of {self._most}{self.total} trials"
        return f"{self.done}/{self.total} trials"

    def figures(self) -> str:
        """Time, price, and the time that is left."""
        parts = [clock_text(self.elapsed_s)]
        if self.cost_usd:
            parts.append(f"{self.cost_usd:.2f} USD")
        if self.left_s is not None and self.done < self.total:
            parts.append(f"{self._most or 'about '}{clock_text(self.left_s)} left")
        return ", ".join(parts)

    def line(self) -> str:
        """All of it in a line."""
        arms = [f"{arm} {', '.join(text for _, text in counts)}".strip() for arm, counts in self.counts()]
        line = f"{self.count} ({self.figures()}){prefixed(': ', '; '.join(arms))}"
        for step, _ in self.steps[:1]:
            line += f"; {step[:STEP]}"
        return line


class Counting:
    """Watches the trials of a run, and counts them.

    Args:
        tally: what counts.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def started(self, trial: Trial) -> None:
        """Count a trial that begins."""
        self._tally.started(trial)

    def step(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Note what an agent does, since minutes may pass until it has finished."""
        self._tally.step(trial, event)

    def finished(self, result: TrialResult) -> None:
        """Count a trial that has ended."""
        self._tally.finished(result)


def _arm_name(arm: str) -> str:
    return "" if arm == DIRECT.name else plain(arm, _NAME)


def _ends(counts: Counter[Verdict]) -> list[tuple[Verdict, str]]:
    return [(verdict, f"{counts[verdict]} {word}") for verdict, word in _WORDS.items() if counts[verdict]]


def trial_name(trial: Trial) -> str:
    """Return the name of a trial: its case, and the arm where there is one."""
    case = plain(trial.case.title, _NAME)
    if trial.arm.name == DIRECT.name:
        return case
    return f"{case} ({plain(trial.arm.name, _NAME)})"


def step_text(event: TrajectoryEvent, length: int = STEP) -> str:
    """Describe an agent's step in words that cannot do anything to a terminal."""
    parts = (_VERBS[event.kind], event.name, " ".join(_content(event).split()))
    words = " ".join(filter(None, parts))
    return plain("".join(filter(str.isprintable, words)), length)


def _content(event: TrajectoryEvent) -> str:
    """Return the words of a step, else what a tool is called with."""
    if event.text:
        return event.text
    if event.kind is EventKind.TOOL_CALL and event.data is not None:
        return json.dumps(thaw(event.data), ensure_ascii=False)
    return ""


def clock_text(seconds: float) -> str:
    """A time as `1:05` or `1:02:05`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
