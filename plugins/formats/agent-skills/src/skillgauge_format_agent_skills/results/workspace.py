"""Write a run as a workspace of skill-creator, which its programs aggregate and show for review."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from skillgauge.api import Artifact, CaseHead, EventKind, SuiteHead, TrialResult, Verdict
from skillgauge.api.report import CaseReport, RunView, case_by_case

from ..recognition.shapes import TRIGGERS
from .benchmark import Key, eval_id, is_graded, measures, run_document
from .reporter import document_of, drafts_of

INDEX = "index.json"
"""Says of each workspace what it is of."""
_LONGEST_NAME = 60


class WorkspaceReporter:
    """One folder for each skill, engine and model, or the workspace itself if there is only one of them."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The folders of all runs, eval by eval, and the benchmark.json of each workspace."""
        suites = {suite.id: suite for suite in view.head.suites if suite.dialect != TRIGGERS}
        roots = _roots(view, suites)
        yield from _evals(view, suites, roots)
        with drafts_of(view, suites) as drafts:
            for key, draft in drafts.items():
                chunks = chain(document_of(view, suites[key.suite_id], key, draft), [b"\n"])
                yield Artifact(chunks=chunks, path=f"{roots[key]}benchmark.json")
        artifacts = [
            {"folder": root or ".", "suite": key.suite_id, "engine": key.runner, "model": key.model}
            for key, root in roots.items()
        ]
        yield _json(INDEX, artifacts)

    def read(self, path: Path) -> RunView | None:
        """Nothing: the benchmark.json in it is read by itself."""
        return None


class _Names:
    """Names of folders that no two evals share, on systems too where upper and lower case are one."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()

    def of(self, place: str, text: str) -> str:
        """The text as a name that nobody has in a place."""
        name = free = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:_LONGEST_NAME].strip(".-") or "x"
        number = 1
        while (place, free.casefold()) in self._taken:
            number += 1
            stem, dot, suffix = name.rpartition(".")
            free = f"{stem}-{number}{dot}{suffix}" if stem else f"{name}-{number}"
        self._taken.add((place, free.casefold()))
        return free


def _roots(view: RunView, suites: Mapping[str, SuiteHead]) -> dict[Key, str]:
    """The start of every path in each workspace; empty if there is only one."""
    groups = (group for group in view.summary.groups if group.suite_id in suites)
    keys = list(dict.fromkeys(Key(group.suite_id, group.runner, group.model) for group in groups))
    if len(keys) == 1:
        return {keys[0]: ""}
    return {key: f"{name}/" for key, name in zip(keys, _folders(keys), strict=True)}


def _folders(keys: Sequence[Key]) -> list[str]:
    names = _Names()
    return [names.of("", ".".join(part for part in (key.suite_id, key.runner, key.model) if part)) for key in keys]


def _evals(view: RunView, suites: Mapping[str, SuiteHead], roots: Mapping[Key, str]) -> Iterator[Artifact]:
    """The folders of all evals, one case of the run after the other."""
    numbered = _numbered(view, suites)
    names = _Names()
    for case in case_by_case(view):
        for key, results in _results_by_key(case, roots).items():
            folder = f"{roots[key]}eval-{names.of(roots[key], case.case.id)}"
            yield from _eval(folder, suites[key.suite_id], case.case, results, is_number=key.suite_id in numbered)


def _results_by_key(case: CaseReport, keys: Container[Key]) -> dict[Key, list[TrialResult]]:
    """The trials of a case that were run, by the workspace that they belong to."""
    by_key: dict[Key, list[TrialResult]] = {}
    for group, results in case.results.items():
        key = Key(group.suite_id, group.runner, group.model)
        if key in keys:
            ran = [result for result in results if result.verdict is not Verdict.SKIPPED]
            by_key.setdefault(key, []).extend(ran)
    return by_key


def _numbered(view: RunView, suites: Iterable[str]) -> frozenset[str]:
    """Suites all of whose ids are numbers; the original sorts ids, which cannot be done with both kinds."""
    heads = {suite.id: suite for suite in view.head.suites}
    texts = {case.suite_id for case in view.cases() if isinstance(eval_id(heads[case.suite_id], case.id), str)}
    return frozenset(suites) - texts


def _eval(
    folder: str, suite: SuiteHead, case: CaseHead, results: Sequence[TrialResult], *, is_number: bool
) -> Iterator[Artifact]:
    texts = dict.fromkeys(score.check_id for result in results for score in result.scores if not score.beside)
    metadata = {
        "eval_id": eval_id(suite, case.id) if is_number else case.id,
        "eval_name": case.name or case.id,
        "prompt": case.prompt or "",
        "assertions": list(texts),
    }
    yield _json(f"{folder}/eval_metadata.json", metadata)
    for arm in dict.fromkeys(result.arm for result in results):
        yield _json(f"{folder}/{arm}/eval_metadata.json", metadata)  # where the page looks for the prompt
    keys: set[tuple[str, int]] = set()
    for result in results:
        number = result.repeat
        while (result.arm, number) in keys:  # several targets, of which the original knows nothing
            number += 1
        keys.add((result.arm, number))
        yield from _run(f"{folder}/{result.arm}/run-{number}", suite, result)


def _run(folder: str, suite: SuiteHead, result: TrialResult) -> Iterator[Artifact]:
    """A run without a result has no grading.json, so nobody counts it; its outputs say why."""
    document = run_document(suite, result)
    if is_graded(result):
        graded = {
            "expectations": document["expectations"],
            "summary": {name: document["result"][name] for name in ("passed", "failed", "total", "pass_rate")},
            "execution_metrics": _tools(result),
        }
        yield _json(f"{folder}/grading.json", graded)
    else:
        reasons = "\n".join(f"- {note}" for note in document["notes"]) or "- no reason is known"
        yield _text(
            f"{folder}/outputs/error.txt", f"This run was not graded, and is no failure of the skill:\n\n{reasons}\n"
        )
    values = measures(result)
    timing: dict[str, Any] = {}
    if (seconds := values["time_seconds"]) is not None:
        timing |= {"duration_ms": round(seconds * 1000), "total_duration_seconds": seconds}
    if (tokens := values["tokens"]) is not None:
        timing["total_tokens"] = int(tokens)
    yield _json(f"{folder}/timing.json", timing)
    yield from _outputs(f"{folder}/outputs", result)


def _outputs(folder: str, result: TrialResult) -> Iterator[Artifact]:
    """The answer, and the files that the agent made as far as they were kept; the page shows no folders in there."""
    names = _Names()
    for taken in ("answer.txt", "error.txt", "metrics.json", "transcript.md", "user_notes.md"):
        names.of("", taken)
    changes = result.execution.files or ()
    created = [change.path for change in changes if change.change != "deleted"]
    yield _json(f"{folder}/metrics.json", {**_tools(result), "files_created": created})
    if result.execution.text:
        yield _text(f"{folder}/answer.txt", f"{result.execution.text}\n")
    for change in changes:
        if change.text is not None and change.change != "deleted":
            name = names.of("", change.path.replace("/", "-")[-_LONGEST_NAME:])
            yield _text(f"{folder}/{name}", change.text)


def _tools(result: TrialResult) -> dict[str, Any]:
    """Return the known facts of the tools that were used; no number of characters, which would be taken for tokens."""
    trajectory = result.execution.trajectory
    if trajectory is None or trajectory.events is None:
        return {}
    calls = Counter(event.name or "unknown" for event in trajectory.events if event.kind is EventKind.TOOL_CALL)
    return {
        "tool_calls": dict(calls),
        "total_tool_calls": calls.total(),
        "errors_encountered": sum(event.is_error for event in trajectory.events),
    }


def _json(path: str, value: object) -> Artifact:
    return _text(path, f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")


def _text(path: str, text: str) -> Artifact:
    return Artifact(chunks=(text.encode(errors="replace"),), path=path)
