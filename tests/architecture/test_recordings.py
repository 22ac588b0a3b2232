"""What agent programs say at length is not kept in recordings: a marker of the same length stands for it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from members import ROOT

DOZEN = 12
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
PROSE = re.compile(rf"(?:{WORD.pattern}[ \n,.;:!?()\"'`—·]+){{{DOZEN - 1},}}{WORD.pattern}")
MARKER = re.compile(r"\[(\d+) characters of [a-z ]+\.*\]")
OUR_TEXTS = ("core", "examples", "libraries", "plugins", "skills", "tests")


def words(text: str) -> str:
    """Nothing but the words of a text, so that neither line breaks nor markup tell it from a quotation."""
    return f" {' '.join(WORD.findall(text)).lower()} "


def forgotten(text: str, ours: str) -> list[str]:
    """Sentences of a recorded text that are in no file of ours, and markers that are not as long as they say."""
    wrong = [marker[0] for marker in MARKER.finditer(text) if len(marker[0]) != int(marker[1])]
    return wrong + [prose for prose in PROSE.findall(MARKER.sub("0", text)) if words(prose) not in ours]


def texts(value: Any) -> Iterator[str]:
    """Every text in a document, also those of the stream that a recording keeps compressed."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            is_packed = key == "raw" and isinstance(inner, str)
            yield from texts(lines(gzip.decompress(base64.b64decode(inner)).decode()) if is_packed else inner)


def lines(stream: str) -> list[Any]:
    """The documents of a stream, one a line; a line that is none, for example one that was cut, is a text."""
    found: list[Any] = []
    for line in stream.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            found.append(line)
    return found


def recorded() -> list[Path]:
    """Files that hold what programs said: streams with what they tell, and recorded sessions."""
    sessions = [path for folder in ("examples", "skills") for path in ROOT.glob(f"{folder}/**/*.cassette.json")]
    return sorted([*ROOT.glob("plugins/engines/*/tests/data/**/*.json*"), *sessions])


@pytest.fixture(scope="module")
def ours() -> str:
    """The words of all code and pages, and of the examples' evals, whose prompts are in recorded sessions."""
    files = [path for folder in OUR_TEXTS for kind in ("*.py", "*.md") for path in (ROOT / folder).rglob(kind)]
    files += [path for folder in ("examples", "skills") for path in (ROOT / folder).rglob("*evals.json")]
    return words("\n".join(path.read_text(encoding="utf-8") for path in sorted(files)))


@pytest.mark.slow
def test_recordings_hold_no_sentences_of_vendors(ours: str) -> None:
    """A dozen words in a row that are not ours give way to `[n characters of ...]`, padded with dots to n."""
    files = recorded()
    assert {path.suffix for path in files} == {".json", ".jsonl"}
    found = []
    for path in files:
        content = path.read_text(encoding="utf-8")
        for text in texts(lines(content) if path.suffix == ".jsonl" else json.loads(content)):
            found += [f"{path.relative_to(ROOT)}: {sentence}" for sentence in forgotten(text, ours)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two three four five six seven eight nine ten eleven twelve", 1),
        ("One, two (three)\nfour — five; six: seven. Eight 'nine' don't eleven-a twelve!", 1),
        ("one two three four five six seven eight nine ten eleven", 0),
        ("one two three four five six 7 eight nine ten eleven twelve thirteen", 0),
        ("A sentence of ours is here, and it may be as long as it likes to be.", 0),
        ("one two three four five six [30 characters of advice.....] seven eight nine ten eleven twelve", 0),
        ("[30 characters of advice....]", 1),
        ("[31 characters of advice.....] one two three four five six seven eight nine ten eleven twelve", 2),
    ],
)
def test_what_is_a_sentence_and_what_a_marker(text: str, count: int) -> None:
    """Words in a row count, whatever stands between them; what a marker says of its length is true."""
    assert (
        len(forgotten(text, words("# A sentence of ours\nis here, and it may be as *long* as it likes to be.")))
        == count
    )


def test_compressed_streams_are_looked_into() -> None:
    """A sentence is found in every part of a recording."""
    stream = '{"type": "user", "content": [{"text": "deep"}]}\n{"cut": "sho'
    packed = base64.b64encode(gzip.compress(stream.encode())).decode()
    assert list(texts({"events": [{"text": "said"}], "raw": packed})) == ["said", "user", "deep", '{"cut": "sho']
