"""The case that a session is of: by what its user said, white space apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    FoundSession,
    Plan,
    Problem,
    Suite,
    Target,
    UsageError,
    did_you_mean,
    plain,
)

ARM = "uncontrolled"
"""The name of the one arm of such a run."""


@dataclass(frozen=True)
class Place:
    """A case that sessions can be of."""

    suite: Suite
    index: int
    """Of the case in its suite."""
    case: Case
    arm: Arm
    """The arm whose skills such a session would have."""
    target: Target | None

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its user, as far as they are known before."""
        prompt = dict(self.case.arm_prompts).get(self.arm.name, self.case.prompt)
        return tuple(_normal(text) for text in (prompt or "", *self.case.turns))


class Places:
    """The cases of suites that an agent can be asked.

    Args:
        plan: of a run of the suites.

    Raises:
        UsageError: no case of them is one for an agent.
    """

    def __init__(self, plan: Plan) -> None:
        self._places = [
            place for one in plan.suites for index, case in one.cases() if (place := _place(one.suite, index, case))
        ]
        if not self._places:
            hint = "Name a suite whose cases have prompts."
            raise UsageError(Problem("grade.no-agent", "no case of this suite is one for an agent", hint=hint))
        self._by_id: dict[str, list[Place]] = {}
        self._by_words: dict[tuple[str, ...], list[Place]] = {}
        for place in self._places:
            self._by_id.setdefault(place.case.id, []).append(place)
            self._by_words.setdefault(place.words, []).append(place)

    def named(self, case_id: str) -> Place:
        """The case that the user names.

        Raises:
            UsageError: there is none, or there are several.
        """
        fitting = self._by_id.get(case_id, [])
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            message = f"there is no case {plain(case_id)!r} for an agent{plain(did_you_mean(case_id, [*self._by_id]))}"
            raise UsageError(Problem("grade.no-case", message, hint="`skillgauge eval PATH --list` shows all."))
        suites = ", ".join(plain(place.suite.id) for place in fitting)
        hint = "Name the folder of one of these suites."
        raise UsageError(Problem("grade.several-cases", f"case {plain(case_id)!r} is in several: {suites}", hint=hint))

    def of(self, session: FoundSession) -> Place | str:
        """The case of a session, or why it has none."""
        if session.case_id is not None:
            return _only(self._by_id.get(session.case_id, []), f"there is no case {plain(session.case_id)!r}")
        if not session.prompts:
            return "its file does not tell what was asked"
        words = tuple(map(_normal, session.prompts))
        fitting = self._by_words.get(words, [])
        if not fitting:  # what a simulated user says is not known before
            fitting = [place for place in self._places if place.case.user and place.words == words[: len(place.words)]]
        first = any(place.words[0] == words[0] for place in self._places)
        return _only(
            fitting, "no case goes on as it does after the first prompt" if first else "no case has its prompt"
        )


def _only(fitting: Sequence[Place], none: str) -> Place | str:
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        return none
    return f"several cases ask this: {', '.join(plain(place.case.id) for place in fitting)}"


def _place(suite: Suite, index: int, case: Case) -> Place | None:
    """The place of a case that an agent is asked; `None` for one that is called directly."""
    arms = [arm for arm in suite.arms if arm.kind is ArmKind.AGENT and arm.name not in suite.mere_baselines]
    target = next((one for one in suite.targets if not case.targets or one.id in case.targets), None)
    return Place(suite, index, case, arms[0], target) if arms else None


def _normal(text: str) -> str:
    return " ".join(text.split())


def as_counts(reasons: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Each reason with the sessions that it holds for."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in reasons.items():
        by_reason.setdefault(reason, []).append(path)
    yield from by_reason.items()
