"""The rubric of a stimulus and the prompt of a grader, as one criterion."""

from __future__ import annotations

from collections.abc import Sequence

_ALONE = "The output meets each of these criteria:"
_BESIDE = "Criteria:"


def criterion(prompt: str | None, rubric: Sequence[str]) -> str:
    """Return the text by which a judge decides."""
    if prompt is not None and not rubric:
        return prompt
    lines = "".join(f"\n- {line}" for line in rubric)
    return f"{_ALONE}{lines}" if prompt is None else f"{prompt.rstrip()}\n\n{_BESIDE}{lines}"


def rubric_of(text: str) -> list[str]:
    """Return the rubric of which a text was made without a prompt; empty if it is another text."""
    first, *lines = text.split("\n")
    if first != _ALONE or not all(line.startswith("- ") and line[2:].strip() for line in lines):
        return []
    return [line[2:] for line in lines]
