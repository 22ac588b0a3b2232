"""Enter a report into a JSON document that others keep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import ExitCode, Problem, SourceSpan, UsageError, read_document, thaw
from skillgauge.api.report import RunView
from skillgauge.api.run import Invocation, write_whole
from skillgauge_run_views.delivery import Delivered, reporter_for


def enter(call: Invocation, view: RunView, name: str, target: Path) -> ExitCode:
    """Enter the one JSON report of a reporter into the object of a file; nothing is written if it says nothing.

    Raises:
        SkillgaugeError: the file holds no JSON object, or the reporter gives no single JSON object.
    """
    document = read_document(target, kind="json").value
    if not isinstance(document, Mapping):
        message = f"{str(target)!r} holds no JSON object that a report could be entered into"
        place = SourceSpan(str(target), 1, 1)
        raise UsageError(Problem("report.into", message, span=place, hint="Name a manifest."))
    artifacts = list(reporter_for(call, name, view).render(view))
    try:
        (only,) = artifacts
        report = json.loads(b"".join(only.chunks))
    except ValueError:
        report = None
    if not isinstance(report, dict):
        hint = "Use a reporter that writes one JSON object, agentversion for example."
        raise UsageError(Problem("report.into", f"the report of {name!r} is no single JSON object", hint=hint))
    if not _says_anything(report):
        call.output.document(Delivered(format=name, files=(), content=None).model_dump(mode="json"))
        call.output.verdict(f"nothing is entered into {target}: the run is invalid, or measured nothing")
        return ExitCode.INVALID_RUN
    text = json.dumps(merged(thaw(document), report), indent=2, ensure_ascii=False)
    write_whole(target, [f"{text}\n".encode()])
    call.output.document(Delivered(format=name, files=(str(target),), content=None).model_dump(mode="json"))
    call.output.verdict(f"{name} report: entered into {target}")
    return ExitCode.OK


def merged(into: Any, report: Any) -> Any:
    """Objects key by key, lists of named items by name; anything else is replaced.

    >>> merged({"a": 1, "l": [{"name": "x", "v": 1}]}, {"l": [{"name": "x", "v": 2}, {"name": "y"}]})
    {'a': 1, 'l': [{'name': 'x', 'v': 2}, {'name': 'y'}]}
    """
    if isinstance(into, dict) and isinstance(report, dict):
        return into | {key: merged(into.get(key), value) for key, value in report.items()}
    if isinstance(into, list) and isinstance(report, list) and all(_name(item) is not None for item in report):
        ours = {_name(item): item for item in report}
        kept = [ours.pop(_name(item)) if _name(item) in ours else item for item in into]
        return [*kept, *ours.values()]
    return report


def _name(item: Any) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _says_anything(value: Any) -> bool:
    """Tell whether there is anything but empty objects and lists."""
    if isinstance(value, dict):
        return any(map(_says_anything, value.values()))
    return bool(value) if isinstance(value, list) else True
