"""Go through the cases of a suite once: digest and count them, and collect the checks that differ."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import field

from skillgauge_documents.frozen import canonical_json
from skillgauge_documents.immutables import immutable

from ..errors import Origin, Problem
from ..types.inputs import HostVariable
from ..types.plan import Selection
from ..types.suite import Case, Check, Suite, Target


@immutable
class Survey:
    """The result of one pass over the selected cases of a suite."""

    digest: str
    """Of all that decides what the cases do, how they are graded and how they are counted."""
    selected: int
    checks: tuple[Check, ...] = ()
    """Each scorer with each set of options once, with the place where it stands first."""
    users: tuple[Check, ...] = ()
    """The same of those that go on with conversations, which only an execution asks."""
    weighted: bool = False
    """Whether any case has a weight of its own."""
    problems: tuple[Problem, ...] = ()
    passed: Mapping[HostVariable, Origin | None] = field(default_factory=dict)
    """What cases want of the user's environment, with the first case that does."""
    images: tuple[Case, ...] = ()
    """Cases that bring an image of their own, the first for each image."""
    by_repeats: Mapping[int | None, int] = field(default_factory=dict)
    """Cases by the repeats that they ask for; `None`: they leave it to the suite."""
    _for_target: Mapping[str | None, Counter[int | None]] = field(default_factory=dict)
    """The same by the targets that they name; `None`: by none, so that they are meant for all."""

    def asked(self, *, users: bool = True) -> tuple[Check, ...]:
        """The checks, and those that go on with conversations if these are wanted."""
        if users:
            return (*self.checks, *self.users)
        return self.checks

    def applying(self, target: Target | None) -> Mapping[int | None, int]:
        """Count the cases that are meant for a target, by the repeats that they ask for."""
        if target is None:
            return self.by_repeats
        return sum((self._for_target[name] for name in (None, target.id) if name in self._for_target), Counter())


def survey(suite: Suite, selection: Selection) -> Survey:
    """Go through the cases of a suite that take part."""
    surveyor = _Surveyor(suite)
    for index, case in enumerate(suite.cases):
        if selection.admits(case):
            surveyor.add(index, case)
    return surveyor.survey


class _Surveyor:
    """Collects what cases have in common while they pass.

    Args:
        suite: whose cases they are.
    """

    def __init__(self, suite: Suite) -> None:
        self._hasher = hashlib.sha256(_suite_marks(suite))
        self._selected, self._weighted = 0, False
        self._by_repeats = Counter[int | None]()
        self._for_target: defaultdict[str | None, Counter[int | None]] = defaultdict(Counter)
        self._images: dict[tuple[str, ...], Case] = {}
        self._checks: dict[str, Check] = {}
        self._users: dict[str, Check] = {}
        self._problems: list[Problem] = []
        self._passed: dict[HostVariable, Origin | None] = {}

    def add(self, index: int, case: Case) -> None:
        """Add a case, which is at this position of the suite."""
        self._selected += 1
        self._weighted = self._weighted or case.weight != 1
        self._hasher.update(_case_marks(index, case))
        self._by_repeats[case.runs] += 1
        for target in case.targets or (None,):
            self._for_target[target][case.runs] += 1
        if case.image_files:
            self._images.setdefault(tuple(file.content_id for file in case.image_files), case)
        for variable in case.pass_env:
            self._passed.setdefault(variable, case.origin)
        self._add_checks(case)

    def _add_checks(self, case: Case) -> None:
        if all(check.beside for check in case.checks) and not case.skip:
            self._problems.append(_asserts_nothing(case))
        if case.user:
            check = case.user.check
            self._users.setdefault(check.scorer_digest, _with_place(check, case))
        for check in case.checks:
            if check.scorer_digest not in self._checks:
                self._checks[check.scorer_digest] = _with_place(check, case)

    @property
    def survey(self) -> Survey:
        """All that was collected."""
        return Survey(
            digest=self._hasher.hexdigest()[:32],
            selected=self._selected,
            checks=tuple(self._checks.values()),
            users=tuple(self._users.values()),
            weighted=self._weighted,
            problems=tuple(self._problems),
            passed=self._passed,
            images=tuple(self._images.values()),
            by_repeats=self._by_repeats,
            _for_target=self._for_target,
        )


def _suite_marks(suite: Suite) -> bytes:
    """Return what decides, beside its cases, what a suite does and how it is counted."""
    pairs = [(pair.candidate, pair.baseline) for pair in suite.comparisons]
    gates = [(gate.figure, gate.threshold, gate.scope) for gate in suite.gates]
    marks = (suite.format, suite.document, suite.completion, suite.on_agent_limit, suite.parameters, pairs, gates)
    return canonical_json(marks).encode("ascii")


def _case_marks(index: int, case: Case) -> bytes:
    grouping: tuple[object, ...] = (case.targets, case.tags, case.weight)
    if case.cluster:
        grouping = (*grouping, case.cluster)
    if case.runs:
        grouping = (*grouping, f"runs {case.runs}")
    marks = (index, case.id, case.execution_digest, case.checks_digest, case.limits.key, grouping)
    return repr(marks).encode("utf-8", "surrogatepass")


def _with_place(check: Check, case: Case) -> Check:
    if check.origin:
        return check
    return check.model_copy(update={"origin": case.origin})


def _asserts_nothing(case: Case) -> Problem:
    message = f"case {case.id!r} asserts nothing, so it could never fail"
    return Problem("suite.no-check", message, origin=case.origin, hint="Add a check, or remove the case.")
