"""All that a command prints passes one filter, however it is printed and in whatever pieces."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO, cast

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.terminal.streams import Shown, shown_streams


@given(st.lists(st.text(alphabet=": \n\tab", max_size=6), max_size=8))
def test_pieces_make_no_difference_to_commands(pieces: list[str]) -> None:
    """However a line is cut into writes, it begins no command, and nothing but a blank is added."""
    below = io.StringIO()
    Shown(below).writelines(pieces)
    written = below.getvalue()
    assert not [line for line in written.split("\n") if line.strip().startswith("::")]
    assert written.replace(" ", "") == "".join(pieces).replace(" ", "")


def test_whoever_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """click, Python's own functions and streams: on both, for as long as a command runs, and no longer."""
    before = sys.stdout, sys.stderr
    with shown_streams():
        for stream in (sys.stdout, sys.stderr):
            click.echo("a\x1bb", file=stream)
            print("c\x9bd", file=stream)
        click.echo("e\rf")
        click.echo("::g", err=True)
    assert (sys.stdout, sys.stderr) == before
    told = capsys.readouterr()
    assert told.out == "a�b\nc�d\ne�f\n"
    assert told.err == "a�b\nc�d\n: :g\n"


def test_what_click_puts_in_place_stays() -> None:
    """Of a pipe that nobody reads, click makes a stream that says nothing when it is flushed at the very end."""
    before, other = sys.stdout, io.StringIO()
    try:
        with shown_streams():
            sys.stdout = other
        assert sys.stdout is other
    finally:
        sys.stdout = before


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", "é✓🐍"), ("latin-1", "é\\u2713\\ud83d\\udc0d"), ("ascii", "\\u00e9\\u2713\\ud83d\\udc0d")],
)
def test_what_a_stream_cannot_hold(encoding: str, shown: str) -> None:
    """It is escaped as in JSON, so that documents stay documents (F-8)."""
    below = io.BytesIO()
    stream = cast("TextIO", Shown(io.TextIOWrapper(below, encoding=encoding)))
    stream.write("é✓🐍")
    stream.flush()
    assert below.getvalue().decode(encoding) == shown


ORDER = """
import sys
from skillgauge.terminal.streams import shown_streams

with shown_streams():
    for number in range(2000):
        print("out", number)
        if number % 7 == 0:
            sys.stderr.write(f"err {number}\\n")
"""


def test_both_streams_keep_their_order_in_one_log(tmp_path: Path) -> None:
    """R3-F18: with both in one file every line stands where it was written, however much is buffered."""
    log = tmp_path / "log"
    with log.open("w") as file:
        subprocess.run([sys.executable, "-c", ORDER], stdout=file, stderr=subprocess.STDOUT, check=True)
    lines = log.read_text().splitlines()
    assert len(lines) == 2000 + 286
    for place, line in enumerate(lines):
        if line.startswith("err"):
            assert lines[place - 1] == f"out {line.split()[1]}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_of_one_stream_costs_no_message_on_the_other() -> None:
    """What goes to stderr arrives, though stdout cannot be written out."""
    below = io.StringIO()
    with suppress(OSError), Path("/dev/full").open("w") as full:
        full.write("a report")
        Shown(below, after=full).write("what went wrong")
    assert below.getvalue() == "what went wrong"
