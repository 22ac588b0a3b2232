"""Go through the cases of a suite once: digest and count them, and collect the checks that differ."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from skillgauge_documents.frozen import canonical_json

from ..errors import Origin, Problem
from ..types.inputs import HostVariable
from ..types.plan import Selection
from ..types.suite import Case, Check, Suite, Target


@dataclass(frozen=True)
class Survey:
    """What one pass over the selected cases of a suite finds."""

    digest: str
    """Of all that decides what the cases do, how they are graded and how they are counted."""
    selected: int
    checks: tuple[Check, ...] = ()
    """Each scorer with each set of options once, with the place where it stands first."""
    weighted: bool = False
    """Whether any case has a weight of its own."""
    problems: tuple[Problem, ...] = ()
    passed: Mapping[HostVariable, Origin | None] = field(default_factory=dict)
    """What cases want of the user's environment, with the first case that does."""
    images: tuple[Case, ...] = ()
    """Cases that bring an image of their own, the first for each image."""
    _for_target: Counter[str | None] = field(default_factory=Counter)
    """Cases by the targets that they name; `None`: by none, so that they are meant for all."""

    def applying(self, target: Target | None) -> int:
        """How many of the cases are meant for a target."""
        return self.selected if target is None else self._for_target[None] + self._for_target[target.id]


def survey(suite: Suite, selection: Selection) -> Survey:
    """Go through the cases of a suite that take part."""
    hasher = hashlib.sha256()
    pairs = [(one.candidate, one.baseline) for one in suite.comparisons]
    gates = [(one.figure, one.threshold, one.scope) for one in suite.gates]
    decides = (suite.format, suite.document, suite.completion, suite.on_agent_limit, suite.parameters, pairs, gates)
    hasher.update(canonical_json(decides).encode("ascii"))
    for_target: Counter[str | None] = Counter()
    selected, weighted = 0, False
    images: dict[tuple[str, ...], Case] = {}
    checks: dict[str, Check] = {}
    problems: list[Problem] = []
    passed: dict[HostVariable, Origin | None] = {}
    for index, case in enumerate(suite.cases):
        if not selection.admits(case):
            continue
        selected += 1
        weighted = weighted or case.weight != 1
        if case.image_files:
            images.setdefault(tuple(file.content_id for file in case.image_files), case)
        for target in case.targets or (None,):
            for_target[target] += 1
        grouping = (case.targets, case.tags, case.weight, *([case.cluster] if case.cluster else []))
        marks = (index, case.id, case.execution_digest, case.checks_digest, case.limits.key, grouping)
        hasher.update(repr(marks).encode("utf-8", "surrogatepass"))
        for variable in case.pass_env:
            passed.setdefault(variable, case.origin)
        if all(check.beside for check in case.checks) and not case.skip:
            problems.append(_asserts_nothing(case))
        for check in case.checks:
            if check.scorer_digest not in checks:
                checks[check.scorer_digest] = (
                    check if check.origin else check.model_copy(update={"origin": case.origin})
                )
    return Survey(
        hasher.hexdigest()[:32],
        selected,
        tuple(checks.values()),
        weighted,
        tuple(problems),
        passed,
        tuple(images.values()),
        for_target,
    )


def _asserts_nothing(case: Case) -> Problem:
    message = f"case {case.id!r} asserts nothing, so it could never fail"
    return Problem("suite.no-check", message, origin=case.origin, hint="Add a check, or remove the case.")
