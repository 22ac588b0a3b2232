"""The decision on a run as reports tell it: the answers of its gates, and the changes since an earlier run."""

from enum import StrEnum

from skillgauge_documents.frozen import Frozen

from .arms import GroupKey
from .comparison import Counts


class GateAnswer(StrEnum):
    """The answer of a gate. Trials that ended in an error count both ways."""

    MET = "met"
    """Whatever the trials had given that ended in an error."""
    MISSED = "missed"
    """The same."""
    INCONCLUSIVE = "inconclusive"
    """The errors leave it open, or nothing was measured."""


class ReportedGate(Frozen):
    """A gate that was asked of a run, with its answer."""

    figure: str
    """Name of the figure that it is about."""
    threshold: float
    scope: str
    """`group` or `pair`."""
    group: GroupKey
    """The group it was asked of; of a comparison, the group of the candidate arm."""
    value: float | None
    answer: GateAnswer
    reason: str
    """Figure, threshold and value in words."""


class Direction(StrEnum):
    """The direction in which a skill changed from one run to another. Closed, and the strings are frozen."""

    WORSE = "worse"
    """Beyond chance, and its lift as well, where it is known."""
    BETTER = "better"
    """The same."""
    SAME = "same"
    """No case came out differently."""
    UNDECIDED = "undecided"
    """Chance may explain the difference."""
    NEW = "new"
    """The earlier run has nothing to compare it with."""
    APART = "apart"
    """Nothing can be said of the skill: the engine, the model, the judge or each of the cases changed as well."""


class ChangedCase(Frozen):
    """A case that passed in one of two runs and failed in the other."""

    case_id: str
    title: str
    """Its name, else its id."""
    before: Counts
    after: Counts


class GroupChange(Frozen):
    """The change of one group since an earlier run."""

    group: GroupKey
    direction: Direction
    own: float | None = None
    """Change of its pass rate over the cases of both runs, -1 to 1."""
    lift: float | None = None
    """Change of its lift, -2 to 2; `None` without a control in both runs."""
    n: int = 0
    """Cases of both runs whose content is the same."""
    chance: float | None = None
    """The chance of so large a change if nothing has changed, other groups allowed for."""
    newly_failing: tuple[ChangedCase, ...] = ()
    newly_passing: tuple[ChangedCase, ...] = ()
    note: str = ""
    """Why nothing is compared, or what the arm without the skill shows."""


class Changes(Frozen):
    """The changes of a run since an earlier one."""

    since: str
    """The name of the earlier run."""
    groups: tuple[GroupChange, ...]
    """Of every group under test, in the order of the run."""


class Decided(Frozen):
    """The decision on a run as reports tell it."""

    lines: tuple[str, ...] = ()
    """The answers of its gates in sentences, the worst first; none if no gate was asked."""
    gates: tuple[ReportedGate, ...] = ()
    changes: Changes | None = None
    """`None` if the run was compared with no other."""
    kept_as: tuple[str, ...] = ()
    """Words by which `report show` finds the run; none if nothing is kept of it."""
