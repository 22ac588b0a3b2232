"""The rubric of a stimulus and the prompt of a grader, as one criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillgauge.api import JsonObject, JsonValue

from ..source.reading import Reading

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


def with_text_rubric(reading: Reading, stimulus: JsonObject, *pointer: str | int) -> JsonObject:
    """Return a stimulus with each line of its rubric as a text, also one that YAML takes for a key and a value.

    A line such as `- Names the cause: a missing file` is an object to YAML, and prose to the person who wrote it.
    """
    rubric = stimulus.get("rubric")
    if not isinstance(rubric, tuple):
        return stimulus
    lines: list[JsonValue] = []
    for number, line in enumerate(rubric):
        text = _prose(line)
        if text is not None:
            message = "this line is no text to YAML, for its colon, and is read as one; put it into quotation marks"
            reading.tell(message, *pointer, "rubric", number)
        lines.append(line if text is None else text)
    return {**stimulus, "rubric": tuple(lines)}


def _prose(line: JsonValue) -> str | None:
    """Return the text that was meant by an object of one key and one text; `None` for anything else."""
    if not isinstance(line, Mapping) or len(line) != 1:
        return None
    ((key, value),) = line.items()
    if isinstance(value, tuple):  # the text went on with a bracket
        value = f"[{', '.join(map(str, value))}]"
    return f"{key}: {value}" if isinstance(value, str) and value.strip() else None
