"""From a tool's result to an output."""

from __future__ import annotations

import json

from mcp.types import CallToolResult, TextContent

from skillgauge.api import JsonValue, canonical_json, freeze

from .transports import TOO_LARGE


def output_of(result: CallToolResult, limit: int) -> JsonValue:
    """Structured content if there is some, else the text, as JSON where it is that.

    Raises:
        ValueError: it is no JSON value, or too large.
    """
    output = freeze(result.structured_content) if result.structured_content is not None else _value(text_of(result))
    if len(output if isinstance(output, str) else canonical_json(output)) > limit:
        raise ValueError(TOO_LARGE.format(limit))
    return output


def text_of(result: CallToolResult) -> str:
    """All text blocks, joined by newlines."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def notes_of(result: CallToolResult) -> tuple[str, ...]:
    """Return the parts of an answer that are not in the output."""
    others = [block.type for block in result.content if not isinstance(block, TextContent)]
    if not others:
        return ()
    return (f"blocks of the answer that are no text were left out: {', '.join(others)}",)


def _value(text: str) -> JsonValue:
    try:
        return freeze(json.loads(text))
    except (ValueError, RecursionError):
        return freeze(text)
