"""One text for each session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from skillgauge.api import Artifact, Verdict
from skillgauge.api.report import GroupKey, RunView, case_by_case
from skillgauge_skillevaluation import transcript_of

_LONGEST_NAME = 80
INDEX = "index.json"
"""Says of each file what it is the transcript of."""


class TranscriptsReporter:
    """The actions of agents, as trajectory text."""

    suffix = "txt"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The texts, case by case, and a list of them; direct calls have none."""
        suites = {suite.id: suite for suite in view.head.suites}
        places = {(group.suite_id, group.runner, group.model) for group in view.summary.groups}
        paths: set[str] = set()
        index: list[dict[str, Any]] = []
        for case in case_by_case(view):
            for group, results in case.results.items():
                for result in results:
                    if result.verdict is Verdict.SKIPPED or result.execution.trajectory is None:
                        continue
                    suite = suites.get(group.suite_id)
                    run = f"__run{result.repeat}" if suite is not None and suite.runs > 1 else ""
                    name = f"{_plain(case.case.id)}__{_plain(group.arm)}{run}"
                    path = _free(f"{_folder(group)}/{name}" if len(places) > 1 else name, paths)
                    text = transcript_of(case.case.prompt, result.execution)
                    headline_ = {
                        "case": case.case.id,
                        "arm": group.arm,
                        "run": result.repeat,
                        "verdict": result.verdict,
                    }
                    index.append({"file": f"{path}.txt", **headline_, "engine": group.runner, "model": group.model})
                    yield Artifact(chunks=(f"{text}\n".encode(),), path=f"{path}.txt")
        listed = json.dumps(index, indent=1, ensure_ascii=False)
        yield Artifact(chunks=(f"{listed}\n".encode(),), path=INDEX)

    def read(self, path: Path) -> RunView | None:
        """Nothing: a transcript is no run."""
        return None


def _folder(group: GroupKey) -> str:
    return ".".join(_plain(part) for part in (group.suite_id, group.runner, group.model) if part)


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:_LONGEST_NAME].strip(".-") or "x"


def _free(path: str, paths: set[str]) -> str:
    """The path, or the first of its numbered ones that nobody has; upper and lower case are one on some systems."""
    free, number = path, 1
    while free.casefold() in paths:
        number += 1
        free = f"{path}-{number}"
    paths.add(free.casefold())
    return free
