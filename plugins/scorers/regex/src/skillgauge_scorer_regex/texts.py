"""The text that a check searches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from skillgauge.api import EventKind, Score, ScoreContext, TrajectoryEvent, thaw

from .options import RegexOptions, Source

_MAX_BYTES = 10 * 1024 * 1024
"""Of a file that is looked into."""
_UNKNOWN = {
    Source.MESSAGES: "There is no record of what an agent said",
    Source.EVENTS: "The engine keeps no events of the agent's program",
    Source.MOCKED: "There is no record of what an agent called",
}


async def searched_text(options: RegexOptions, context: ScoreContext) -> str | Score:
    """Return the text, or the score of a check whose text is not there."""
    if options.file is not None:
        return await _text_of_file(options.file, context)
    if options.source is Source.ANSWER:
        return context.answer.text
    if options.source is Source.CREATED:
        return "\n".join(sorted(one.path for one in context.execution.files if one.change == "created"))
    trajectory = context.execution.trajectory
    if trajectory is None:
        return Score.ungraded(_UNKNOWN[options.source])
    match options.source:
        case Source.MESSAGES:
            said = [one.text for one in trajectory.events if one.kind is EventKind.MESSAGE]
            return "\n".join([*said, context.answer.text])
        case Source.EVENTS:
            return Score.ungraded(_UNKNOWN[options.source]) if trajectory.raw is None else trajectory.raw
        case Source.MOCKED:
            return "\n".join(_mocked(trajectory.events))
        case _:
            assert_never(options.source)


def _mocked(events: Sequence[TrajectoryEvent]) -> Iterator[str]:
    """Yield the calls whose results have the verdict of a stand-in."""
    calls = {one.call_id: one for one in events if one.kind is EventKind.TOOL_CALL and one.call_id}
    for event in events:
        call = calls.get(event.call_id or "")
        if event.kind is not EventKind.TOOL_RESULT or call is None or not isinstance(event.data, Mapping):
            continue
        if (verdict := event.data.get("verdict")) is not None:
            written = {"tool": call.name, "input": thaw(call.data), "output": event.text}
            written |= {"isError": True} if event.is_error else {}
            yield json.dumps({**written, "verdict": verdict}, ensure_ascii=False, separators=(",", ":"))


async def _text_of_file(path: str, context: ScoreContext) -> str | Score:
    if context.workspace is None:
        return Score.ungraded("The workspace is gone, so nobody knows what is in its files")
    try:
        data = await context.workspace.collect(path, _MAX_BYTES + 1)
    except (OSError, ValueError, KeyError) as error:
        return Score.failed(f"File {path!r} cannot be read: {error}")
    if len(data) > _MAX_BYTES:
        return Score.failed(f"File {path!r} is longer than {_MAX_BYTES:,} bytes")
    return data.decode("utf-8-sig", "replace")
