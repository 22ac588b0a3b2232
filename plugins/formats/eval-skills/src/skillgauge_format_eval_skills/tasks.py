"""From a benchmark or task file to a suite's cases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from skillgauge.api import (
    EMPTY,
    NO_LIMITS,
    Case,
    Check,
    Document,
    JsonObject,
    JsonValue,
    Limits,
    Origin,
    Problem,
    SuiteError,
    digest,
    locate,
)
from skillgauge_documents.immutables import immutable

from .checks import CheckMaker
from .files import BenchmarkFile, TaskFile, keys_of
from .findings import Findings, OriginOf

CUSTOM = "custom"
"""Id of a benchmark that a file of tasks makes without naming one."""


@immutable
class Source:
    """A document with tasks, and where it is."""

    document: Document
    path: Path | None = None
    """`None` for a built-in benchmark."""


@immutable
class Benchmark:
    """A benchmark, ready to become a suite."""

    source: Source
    file: BenchmarkFile
    cases: tuple[Case, ...]
    digest: str
    warnings: tuple[Problem, ...]


def load_benchmark(source: Source, *, evaluator: str | None, cwd: Path) -> Benchmark:
    """Check everything in a benchmark and make its cases.

    Args:
        source: the document: a benchmark, or a bare list of tasks.
        evaluator: the scorer of tasks that name none, if the user gave one.
        cwd: second place, after the file's own folder, where scorer scripts are looked for.

    Raises:
        SuiteError: with every problem of the file.
    """
    document, findings = source.document, Findings()
    value = document.value
    bare = isinstance(value, tuple)
    if bare:
        value = {"id": CUSTOM, "tasks": value}
    elif isinstance(value, Mapping) and "tasks" in value:
        value = {"id": CUSTOM, **value}

    def origin_of(*pointer: str | int) -> Origin:
        return document.origin(*(pointer[1:] if bare else pointer))

    tasks = value.get("tasks") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and isinstance(tasks, tuple):
        value = {**value, "tasks": ()}  # they are checked one by one, so that one bad task does not hide the others
    file = findings.validated(BenchmarkFile, value, origin_of)
    folders = () if source.path is None else (source.path.parent, cwd)
    checks = CheckMaker(evaluator, folders, findings)
    cases = _cases(tasks, checks, findings, origin_of) if isinstance(tasks, tuple) else ()
    if findings.errors or file is None:
        raise SuiteError(findings.errors)
    findings.unknown_keys(file.model_extra, keys_of(BenchmarkFile), origin_of)
    if file.metadata.get("placeholder") is True:
        findings.warning(
            "placeholder",
            f"{file.id!r} is a placeholder: {len(cases)} sample tasks, not the published benchmark of that name",
            origin_of(),
            "Give the real tasks with --tasks FILE or --benchmark FILE.",
        )
    return Benchmark(source, file, cases, digest(document.value, evaluator), findings.warnings)


def _cases(
    tasks: tuple[JsonValue, ...], checks: CheckMaker, findings: Findings, origin_of: OriginOf
) -> tuple[Case, ...]:
    cases: list[Case] = []
    first: dict[str, Origin] = {}
    if not tasks:
        findings.error("no-cases", "there is no task in it", origin_of("tasks"), "Add at least one task.")
    for index, raw in enumerate(tasks):
        where = partial(origin_of, "tasks", index)
        task = findings.validated(TaskFile, raw, where)
        check = checks.make(raw, where) if isinstance(raw, Mapping) else None
        name = raw.get("id") if isinstance(raw, Mapping) else None
        if isinstance(name, str):
            if name in first:
                message = f"task id {name!r} is used twice, first at {locate(first[name])}"
                findings.error("duplicate-id", message, where("id"), "Give every task an id of its own.")
            first.setdefault(name, where("id"))
        if task is not None:
            findings.unknown_keys(task.model_extra, keys_of(TaskFile), where)
            if check is not None:
                cases.append(_case(task, *check, where()))
    return tuple(cases)


def _case(task: TaskFile, check: Check, unknown: JsonObject, origin: Origin) -> Case:
    input_: JsonObject = {} if task.prompt is None else {"prompt": task.prompt}
    return Case(
        id=task.id,
        description=task.description or task.prompt or "",
        input=input_ if task.input_data is None else task.input_data,
        checks=(check,),
        tags=task.tags,
        cluster=task.cluster,
        weight=task.weight,
        limits=NO_LIMITS if task.timeout_ms is None else Limits(timeout_s=task.timeout_ms / 1000),
        extras={**task.model_extra, **unknown} if task.model_extra else unknown or EMPTY,
        origin=origin,
    )
