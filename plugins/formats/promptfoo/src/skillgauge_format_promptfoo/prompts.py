"""The prompts of a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillgauge_assertions import FILE, Node, Reading

from .keys import PROMPT

DEFAULT = "{{prompt}}"
"""What promptfoo asks where no prompt is written."""
_TEXTS = (".txt", ".md", ".j2")
_OTHERS = (".py", ".js", ".cjs", ".mjs", ".ts", ".json", ".yaml", ".yml", ".csv", ".jsonl", ".sh", ".rb")
_BETWEEN = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """One text with variables."""

    text: str
    label: str
    node: Node


def prompts_of(reading: Reading, node: Node) -> tuple[Prompt, ...]:
    """Every prompt; files with several count for each."""
    if node.value is None:
        return (Prompt(DEFAULT, "", node),)
    if isinstance(node.value, str):
        return tuple(_of_text(reading, node, node.value, ""))
    if not isinstance(node.value, tuple) or not node.value:
        reading.refuse(node, "prompts are a list of texts and files", code="suite.wrong-type")
        return ()
    return tuple(prompt for one in node.items() for prompt in _of_item(reading, one))


def _of_item(reading: Reading, node: Node) -> Iterator[Prompt]:
    if isinstance(node.value, str):
        yield from _of_text(reading, node, node.value, "")
    elif reading.only(node, PROMPT, "a prompt"):
        raw, label = node.at("raw").value or node.at("id").value, node.at("label").value
        if isinstance(raw, str) and raw:
            yield from _of_text(reading, node, raw, label if isinstance(label, str) else "")
        else:
            reading.refuse(node, "a prompt needs `raw` or `id`, a text or a file", code="suite.missing-key")


def _of_text(reading: Reading, node: Node, written: str, label: str) -> Iterator[Prompt]:
    plain = written.strip()
    if plain.startswith(FILE) or ("\n" not in plain and " " not in plain and plain.endswith((*_TEXTS, *_OTHERS))):
        place = plain.removeprefix(FILE)
        if "*" in place:
            paths = sorted(path for path in reading.root.glob(place.removeprefix("./")) if path.is_file())
            if not paths:
                reading.refuse(node, f"no file is called {place!r}", code="suite.missing-file")
            for path in paths:
                yield from _of_file(reading, node, path.relative_to(reading.root).as_posix(), label)
        else:
            yield from _of_file(reading, node, place, label)
    elif plain.startswith(("[", "exec:", "python:")):
        hint = "Write one text; an agent is asked that."
        reading.refuse(node, "a prompt of several messages, or one that code makes, is not supported", hint)
    elif not plain:
        reading.refuse(node, "this prompt is empty", code="suite.value")
    else:
        yield Prompt(written, label, node)


def _of_file(reading: Reading, node: Node, place: str, label: str) -> Iterator[Prompt]:
    if not place.endswith(_TEXTS):
        hint = f"Name a file that ends with {', '.join(_TEXTS)}."
        reading.refuse(node, f"{place!r} is a prompt of several messages, or code that makes one", hint)
        return
    parts = [part.strip() for part in _BETWEEN.split(reading.text(node, place))]
    texts = [part for part in parts if part]
    for number, part in enumerate(texts, 1):
        name = label or place
        yield Prompt(part, f"{name} {number}" if len(texts) > 1 else name, node)
