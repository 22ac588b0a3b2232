"""The text that a check searches."""

from __future__ import annotations

from typing import assert_never

from skillgauge.api import EventKind, Score, ScoreContext

from .options import RegexOptions, Source

_MAX_BYTES = 10 * 1024 * 1024
"""Of a file that is looked into."""


async def searched_text(options: RegexOptions, context: ScoreContext) -> str | Score:
    """Return the text, or the score of a check whose text is not there."""
    if options.file is not None:
        return await _text_of_file(options.file, context)
    trajectory = context.execution.trajectory
    match options.source:
        case Source.ANSWER:
            return context.answer.text
        case Source.CREATED:
            return "\n".join(sorted(one.path for one in context.execution.files if one.change == "created"))
        case Source.MESSAGES:
            if trajectory is None:
                return Score.ungraded("There is no record of what an agent said")
            said = [one.text for one in trajectory.events if one.kind is EventKind.MESSAGE]
            return "\n".join([*said, context.answer.text])
        case Source.EVENTS:
            if trajectory is None or trajectory.raw is None:
                return Score.ungraded("The engine keeps no events of the agent's program")
            return trajectory.raw
        case _:
            assert_never(options.source)


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
