"""The run record: one JSON document from which every other report can be made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from skillgauge.api import (
    Artifact,
    CaseHead,
    Frozen,
    JsonObject,
    Kept,
    Origin,
    PlanHead,
    Problem,
    SuiteError,
    TrialResult,
    json_text,
)
from skillgauge.api.report import Decided, RunInfo, RunVerdict, RunView, Summary

SCHEMA: Literal["skillgauge.run"] = "skillgauge.run"
VERSION = "1.4"
_MAJOR = int(VERSION.split(".")[0])
_MINOR = int(VERSION.split(".")[1])

M = TypeVar("M", bound=BaseModel)


class RunRecord(Frozen):
    """The document's shape, for `skillgauge schema record`."""

    schema_name: Literal["skillgauge.run"] = SCHEMA
    schema_version: str = VERSION
    run: RunInfo
    plan: PlanHead
    summary: Summary
    verdict: RunVerdict | None = None
    """As the exit code had it; `null` if the run was written without one. A record before version 1.2 has none."""
    decided: Decided | None = None
    """The answers of its gates, and what changed since an earlier run. A record before version 1.3 has none."""
    results: tuple[TrialResult, ...]
    cases: tuple[CaseHead, ...] = ()
    """What was asked in each case; a record of version 1.0 does not tell it."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schema of the document, for `skillgauge schema`."""
    return {"record": RunRecord.model_json_schema()}


class RecordReporter:
    """Writes and reads run records."""

    suffix = "record.json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """One document; results are written as they are read, so their number does not matter."""
        yield Artifact(chunks=_chunks(view))

    def read(self, path: Path) -> RunView | None:
        """A record written by this or a later minor version."""
        try:
            tree = json.loads(path.read_text("utf-8-sig"))
        except (ValueError, RecursionError, OSError):
            return None
        if not isinstance(tree, dict) or tree.get("schema_name") != SCHEMA:
            return None
        lenient = _is_newer(path, tree.get("schema_version"))
        problems: list[Problem] = []
        run = _part(RunInfo, tree, "run", path, problems, lenient=lenient)
        plan = _part(PlanHead, tree, "plan", path, problems, lenient=lenient)
        summary = _part(Summary, tree, "summary", path, problems, lenient=lenient)
        results = [
            _model(TrialResult, item, path, ("results", index), problems, lenient=lenient)
            for index, item in enumerate(_items(tree.get("results"), "results", path, problems))
        ]
        cases = [
            _model(CaseHead, item, path, ("cases", index), problems, lenient=lenient)
            for index, item in enumerate(_items(tree.get("cases", []), "cases", path, problems))
        ]
        verdict = _verdict(tree.get("verdict"), path, problems)
        decided = _optional(Decided, tree, "decided", path, problems, lenient=lenient)
        if problems or run is None or plan is None or summary is None:
            raise SuiteError(problems)
        kept = Kept(lambda: filter(None, results), filter(None, cases))
        return RunView(run, plan, summary, kept, verdict, decided)


def _chunks(view: RunView) -> Iterator[bytes]:
    head = {"schema_name": SCHEMA, "schema_version": VERSION}
    yield json.dumps(head, indent=1)[:-2].encode()
    for name, part in (("run", view.run), ("plan", view.head), ("summary", view.summary)):
        yield f',\n "{name}": '.encode() + json_text(part.model_dump_json()).encode()
    yield f',\n "verdict": {json.dumps(view.verdict)}'.encode()
    if view.decided is not None:
        yield b',\n "decided": ' + json_text(view.decided.model_dump_json()).encode()
    yield from _list("results", view.results())
    yield from _list("cases", view.cases())
    yield b"\n}\n"


def _list(name: str, items: Iterable[BaseModel]) -> Iterator[bytes]:
    yield f',\n "{name}": ['.encode()
    separator = b"\n  "
    for item in items:
        yield separator + json_text(item.model_dump_json(exclude_defaults=True)).encode()
        separator = b",\n  "
    yield b"\n ]"


def _is_newer(path: Path, version: object) -> bool:
    """Tell whether unknown fields are to be expected. Raises `SuiteError` for another major version."""
    parts = version.split(".") if isinstance(version, str) else []
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        raise SuiteError(_damaged(path, ("schema_version",), f"{version!r} is no version"))
    major, minor = int(parts[0]), int(parts[1])
    if major != _MAJOR:
        hint = "Read it with the skillgauge that wrote it, or a later one."
        raise SuiteError(
            Problem(
                "record.version", f"record version {version}; this one reads {_MAJOR}.x", Origin(str(path)), hint=hint
            )
        )
    return minor > _MINOR


def _verdict(value: object, path: Path, problems: list[Problem]) -> RunVerdict | None:
    """Return the verdict of a record, if it has one that is known."""
    words = {verdict.value: verdict for verdict in RunVerdict}
    if value is None or (isinstance(value, str) and value in words):
        return words.get(str(value))
    problems.append(_damaged(path, ("verdict",), f"{value!r} is no verdict"))
    return None


def _part(
    model: type[M], tree: Mapping[str, object], name: str, path: Path, problems: list[Problem], *, lenient: bool
) -> M | None:
    if name not in tree:
        problems.append(_damaged(path, (name,), "is missing"))
        return None
    return _model(model, tree[name], path, (name,), problems, lenient=lenient)


def _optional(
    model: type[M], tree: Mapping[str, object], name: str, path: Path, problems: list[Problem], *, lenient: bool
) -> M | None:
    if tree.get(name) is None:
        return None
    return _model(model, tree[name], path, (name,), problems, lenient=lenient)


def _model(
    model: type[M], value: object, path: Path, pointer: tuple[str | int, ...], problems: list[Problem], *, lenient: bool
) -> M | None:
    try:
        return model.model_validate_json(json.dumps(value), extra="ignore" if lenient else None)
    except ValidationError as error:
        problems.extend(_damaged(path, (*pointer, *one["loc"]), one["msg"]) for one in error.errors())
        return None


def _items(value: object, name: str, path: Path, problems: list[Problem]) -> list[object]:
    """Return a list of a record, or note that it is none."""
    if isinstance(value, list):
        return value
    problems.append(_damaged(path, (name,), "must be a list"))
    return []


def _damaged(path: Path, pointer: tuple[str | int, ...], message: str) -> Problem:
    place = ".".join(str(part) for part in pointer)
    return Problem("record.damaged", f"{place}: {message}", Origin(str(path), pointer))
