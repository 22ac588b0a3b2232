"""From the files of a scenario to a case."""

from __future__ import annotations

from skillgauge.api import Case, JsonValue, Problem, VerdictMode, VerdictRule

from .checks import checks_of, private_keys
from .claiming import CAPABILITY, CRITERIA, SCENARIO, TASK
from .files import CriteriaFile, ScenarioFile
from .reading import Notices, Reading, opened, refusal, text_of
from .scenarios import Scenario
from .workspace import Furnishing

CONTEXT, METADATA, ITEMS = "context", "metadata", "items"
"""Keys of what is kept for writing back."""


def case_of(scenario: Scenario, pass_mark: float, problems: list[Problem], notices: Notices) -> Case | None:
    """The case of a scenario; `None` after noting everything that is wrong with it.

    Args:
        scenario: its folder.
        pass_mark: the share of its points with which it passes.
        problems: receives what is wrong.
        notices: receives what is honoured in another way.
    """
    own_problems: list[Problem] = []
    task = _task(scenario, own_problems)
    reading = _opened_criteria(scenario, own_problems, notices)
    criteria = reading.part(CriteriaFile, reading.document.value) if reading is not None else None
    name = _capability(scenario, own_problems)
    settings = _settings(scenario, own_problems, notices)
    room = _room(scenario, task or "", settings)
    checks = tuple(checks_of(reading, criteria.checklist, task or "")) if reading and criteria else ()
    problems += own_problems
    if task is None or reading is None or criteria is None or own_problems:
        return None
    if criteria.metadata is not None:
        reading.tell("metadata have no effect", METADATA)
    return Case(
        id=scenario.id,
        name=name,
        description=settings[1].description if settings else "",
        prompt=task,
        files=tuple(room.files.values()) if room else (),
        setup=tuple(room.setup) if room else (),
        setup_files=tuple(room.setup_files) if room else (),
        checks=checks,
        rule=VerdictRule(mode=VerdictMode.MEAN, threshold=pass_mark),
        extras=_kept(criteria),
        origin=reading.document.origin(),
    )


def _task(scenario: Scenario, problems: list[Problem]) -> str | None:
    """The prompt of the agent: the whole file, inline files included."""
    path = scenario.file(TASK)
    if not path.is_file():
        hint = f"Write {TASK}: what the agent is asked."
        problems.append(refusal(f"there is no {TASK} beside {CRITERIA}", scenario.file(CRITERIA), hint=hint))
        return None
    text = text_of(path, problems)
    if text is not None and not text.strip():
        problems.append(refusal(f"{TASK} is empty, so an agent would be asked nothing", path, hint="Write the task."))
        return None
    return text


def _opened_criteria(scenario: Scenario, problems: list[Problem], notices: Notices) -> Reading | None:
    path = scenario.file(CRITERIA)
    if path.is_file():
        return opened(path, problems, notices)
    hint = f"Write {CRITERIA}: type weighted_checklist, and a checklist."
    problems.append(refusal(f"there is no {CRITERIA} beside {TASK}", scenario.file(TASK), hint=hint))
    return None


def _capability(scenario: Scenario, problems: list[Problem]) -> str:
    """The first line of capability.txt; empty without one."""
    path = scenario.file(CAPABILITY)
    text = text_of(path, problems) if path.is_file() else None
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")


def _settings(scenario: Scenario, problems: list[Problem], notices: Notices) -> tuple[Reading, ScenarioFile] | None:
    path = scenario.file(SCENARIO)
    reading = opened(path, problems, notices) if path.is_file() else None
    read = reading.part(ScenarioFile, reading.document.value) if reading is not None else None
    return None if reading is None or read is None else (reading, read)


def _room(scenario: Scenario, task: str, settings: tuple[Reading, ScenarioFile] | None) -> Furnishing | None:
    if settings is None:
        return None
    room = Furnishing(scenario, task, settings[0])
    room.furnish(settings[1])
    return room


def _kept(criteria: CriteriaFile) -> dict[str, JsonValue]:
    """Return what nothing executes."""
    kept: dict[str, JsonValue] = {}
    if criteria.context is not None:
        kept[CONTEXT] = criteria.context
    if criteria.metadata is not None:
        kept[METADATA] = criteria.metadata
    if items := private_keys(criteria.checklist):
        kept[ITEMS] = items
    return kept
