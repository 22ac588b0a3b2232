"""From `cases` to cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from skillgauge.api import (
    Case,
    Check,
    Document,
    HostVariable,
    JsonObject,
    Origin,
    Problem,
    VerdictMode,
    VerdictRule,
    locate,
)
from skillgauge_skill_folders import Skill

from .files import CaseFile
from .options import BenchflowOptions, Compat

GROUND_TRUTH, RUBRIC = "ground-truth", "rubric"
SKILL, SCRIPT = "Expected skill fired", "Expected script was run"
"""Ids of the checks beside the reward, as reports call their figures."""
ABOVE_HALF = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5, above=True)
"""A case passes with more than half of its rubric."""
_TEMPLATE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?\}", re.DOTALL)


@dataclass
class CaseMaker:
    """Makes the cases of one file; what is wrong with them is collected."""

    document: Document
    skill: Skill
    options: BenchflowOptions
    problems: list[Problem] = field(default_factory=list)

    def cases(self, files: Iterable[CaseFile]) -> tuple[Case, ...]:
        """All of them, those with a fault too."""
        cases: list[Case] = []
        first: dict[str, Origin] = {}
        for index, file in enumerate(files):
            case_id = file.id if "id" in file.model_fields_set else f"case-{index:03}"
            origin = self.document.origin("cases", index)
            if not is_safe_name(case_id):
                message = f"id {case_id!r} cannot be the name of a folder"
                hint = "Leave out '/', '\\', a leading '-', and white space at its ends."
                self._error("value", message, index, "id", hint=hint)
            if case_id in first:
                message = f"id {case_id!r} is used twice, first at {locate(first[case_id])}"
                self._error("duplicate-id", message, index, "id", hint="Give every case an id of its own.")
            first.setdefault(case_id, origin)
            cases.append(self._case(file, case_id, index))
        return tuple(cases)

    def _case(self, file: CaseFile, case_id: str, index: int) -> Case:
        origin = self.document.origin("cases", index)
        extras: dict[str, Any] = {
            "has_id": "id" in file.model_fields_set,
            "ground_truth": file.ground_truth,
            "expected_skill": file.expected_skill,
            "expected_script": file.expected_script,
        }
        return Case(
            id=case_id,
            prompt=file.question,
            checks=(*self._reward(file, index), *self._beside(file, origin)),
            rule=ABOVE_HALF,
            env={name: value for name, value in file.environment.items() if not _TEMPLATE.fullmatch(value)},
            pass_env=tuple(_passed(file)),
            extras={key: value for key, value in extras.items() if value != ""},
            origin=origin,
        )

    def _reward(self, file: CaseFile, index: int) -> Iterator[Check]:
        """The rubric, each item by itself; without one the expected answer."""
        if file.expected_behavior:
            ids: dict[str, int] = {}
            for number, item in enumerate(file.expected_behavior):
                ids[item] = ids.get(item, 0) + 1
                suffix = f" ({ids[item]})" if ids[item] > 1 else ""
                options: JsonObject = {"claims": (item,)}
                if file.ground_truth.strip():
                    options = {**options, "reference": file.ground_truth}
                origin = self.document.origin("cases", index, "expected_behavior", number)
                yield Check(id=f"{item}{suffix}", scorer=RUBRIC, options=options, origin=origin)
        else:
            options = {"text": file.ground_truth.strip()}
            if self.options.compat is Compat.BENCHFLOW:
                options = {**options, "matching": "benchflow"}
            origin = self.document.origin("cases", index, "ground_truth")
            yield Check(id=GROUND_TRUTH, scorer=GROUND_TRUTH, options=options, origin=origin)

    def _beside(self, file: CaseFile, origin: Origin) -> Iterator[Check]:
        """Return the checks that only the arm with the skill can meet, so that they enter no reward."""
        skill = file.expected_skill or self.skill.name
        yield Check(id=SKILL, scorer="trigger", options={"skill": skill}, beside=True, origin=origin)
        if file.expected_script:
            name = PurePosixPath(file.expected_script).name
            yield Check(id=SCRIPT, scorer="tool-call", options={"words": (name,)}, beside=True, origin=origin)

    def _error(self, code: str, message: str, index: int, *pointer: str, hint: str | None = None) -> None:
        origin = self.document.origin("cases", index, *pointer)
        self.problems.append(Problem(f"suite.{code}", message, origin=origin, hint=hint))


def _passed(file: CaseFile) -> Iterator[HostVariable]:
    """Return the variables of a template: `${NAME}`, or `${NAME:-default}`, as the whole value."""
    for name, value in file.environment.items():
        if match := _TEMPLATE.fullmatch(value):
            yield HostVariable(name=name, host=match["name"], default=match["default"])


def is_safe_name(name: str) -> bool:
    """Tell whether an id or a skill's name can be that of a folder, by BenchFlow's rules."""
    return (
        bool(name)
        and name not in (".", "..")
        and not set("/\\\0") & set(name)
        and not name.startswith("-")
        and (name == name.strip())
    )
