"""The parts of trials that name places: those of the machine where an attempt is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...types.inputs import FileSpec
from ...types.plan import Cell, Plan, SuitePlan
from ...types.suite import Case
from ...types.trial import Trial


class PartsHere:
    """Case, target and arm of each trial of a plan, as the suites of this machine have them.

    A trial names the folder of its skill and its files as they lie where the run began. The plan here has the same id,
    so its parts are the same, wherever they lie.
    """

    def __init__(self, plan: Plan) -> None:
        self._suites = {one.suite.id: one for one in plan.suites}
        self._cases: dict[str, Sequence[Case]] = {}

    def of(self, trial: Trial) -> Trial:
        """Return a trial of the same plan with the parts of this machine."""
        suite = self._suites[trial.suite_id]
        cell = _cell(suite, trial)
        return trial.model_copy(update={"case": self._case(suite, trial), "target": cell.target, "arm": cell.arm})

    def _case(self, suite: SuitePlan, trial: Trial) -> Case:
        """Find a case of this machine, if it names files; suites that make their cases one by one keep all then."""
        names_files = any(file.source for file in files_of_case(trial.case))
        if not names_files and not any(check.files for check in trial.case.checks):
            return trial.case
        cases = self._cases.get(trial.suite_id)
        if cases is None:
            cases = self._cases[trial.suite_id] = tuple(suite.suite.cases)
        return cases[trial.case_index]


def _cell(suite: SuitePlan, trial: Trial) -> Cell:
    wanted = (trial.arm.name, trial.arm.digest, trial.target_id)
    return next(cell for cell in suite.cells if (cell.arm.name, cell.arm.digest, cell.target_id) == wanted)


def files_of_case(case: Case) -> Iterator[FileSpec]:
    """Return every file that a case names."""
    yield from (*case.files, *case.image_files, *case.setup_files, *case.grader_files)
    for install in case.installs:
        yield from install.files
