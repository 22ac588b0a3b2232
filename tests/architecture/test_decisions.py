"""The decision records have an index, stand by themselves, and are there wherever one is named."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from members import ROOT

RECORDS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
INDEX = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((\S+\.md)\) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"\badr/(?P<file>\d{4}[\w-]*)|\bADRs? (?P<number>\d{1,3})\b")
_LINK = r"\[ADR \d+\]\([\w-]+\.md\)"
STATUS = re.compile(rf"accepted(; [a-z ]+ {_LINK}((, | and ){_LINK})*)*")
LINE_LIMIT = 80


def number(record: Path) -> int:
    """The number in the name of a record."""
    return int(record.name[:4])


def status(record: Path) -> str:
    """The status that a record gives itself."""
    found = re.search(r"^Status: (.+)$", record.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, record.name
    return found[1]


def amended(record: Path) -> set[int]:
    """Records that a record changes: those that its status names after any other words than "adds to"."""
    return {
        int(named)
        for clause in status(record).split(";")
        if not clause.strip().startswith("adds to ")
        for named in re.findall(r"\bADR (\d+)", clause)
    }


def test_every_record_is_in_the_index_once() -> None:
    """A row has the number, the title and the file of a record, and every record has one row."""
    rows = {(int(row[1]), row[2], row[3]) for row in ROW.finditer(INDEX)}
    titles = {record: record.read_text(encoding="utf-8").partition("\n")[0] for record in RECORDS}
    assert {(f"# {number}. {title}", file) for number, title, file in rows} == {
        (title, record.name) for record, title in titles.items()
    }
    assert len(ROW.findall(INDEX)) == len(RECORDS)
    assert all(title.startswith(f"# {number(record)}. ") for record, title in titles.items())


def test_a_number_is_used_once() -> None:
    """Two records that were written at the same time do not share a number."""
    numbers = [number(record) for record in RECORDS]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name[:4])
def test_a_record_is_short_and_has_its_parts(record: Path) -> None:
    """Status, context and decision are there, in at most 80 lines; a status names other records by links."""
    text = record.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINE_LIMIT
    assert STATUS.fullmatch(status(record)), status(record)
    assert "\n## Context\n" in text
    assert "\n## Decision\n" in text


def test_no_record_is_amended_in_a_chain() -> None:
    """A record that another one changes changes none itself, so a reader follows one link at most."""
    changes = {number(record): amended(record) for record in RECORDS}
    assert [(later, earlier) for later in changes for earlier in changes[later] if changes.get(earlier)] == []


def tracked_texts() -> Iterator[tuple[Path, str]]:
    """Our own documents and sources."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git clone")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md", "*.py", "*.toml", "*.yml"]
    listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()
    for name in sorted(set(listing.split("\0"))):
        if name and (ROOT / name).is_file():
            yield ROOT / name, (ROOT / name).read_text(encoding="utf-8", errors="replace")


def test_whoever_names_a_record_finds_it() -> None:
    """Numbers and file names of records in documents and sources are those of records that exist."""
    numbers = {number(record) for record in RECORDS}
    names = {record.stem for record in RECORDS}
    seen, missing = 0, []
    for path, text in tracked_texts():
        for named in NAMED.finditer(text):
            seen += 1
            file = named["file"]
            there = int(file or named["number"]) in numbers if not file or len(file) == 4 else file in names
            if not there:
                missing.append(f"{path.relative_to(ROOT)}: {named[0]}")
    assert missing == []
    assert seen > len(RECORDS)
