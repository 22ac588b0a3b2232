"""The check of damaged suites fails where a format would lose what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.api import Origin, Problem, SuiteError, read_document
from skillgauge_testkit import check_mutants

TEXT = "name: x\ncases:\n  - {prompt: '{{ a }}', id: 1}\n  - {prompt: b, id: 2}\n"


def strict(path: Path) -> None:
    """Anything but the whole document is refused, in its line or that of the problem."""
    if read_document(path, kind="yaml").value != read_document(path.with_name("good.yaml")).value:
        raise SuiteError([Problem("suite.value", "not this", origin=Origin(str(path)))])


def nowhere(_path: Path) -> None:
    """Refused, and nobody knows where."""
    raise SuiteError([Problem("suite.value", "not this")])


def test_good_formats_pass_and_the_file_is_as_it_was(tmp_path: Path) -> None:
    """Every mutant is read or has its line."""
    file = tmp_path / "a.yaml"
    for name in ("a.yaml", "good.yaml"):
        (tmp_path / name).write_text(TEXT)
    check_mutants(strict, file, 60)
    assert file.read_text() == TEXT


@pytest.mark.parametrize(("load", "words"), [(nowhere, "in which line"), (lambda _path: None, "mostly has to be")])
def test_others_do_not(tmp_path: Path, load: Callable[[Path], None], words: str) -> None:
    """A refusal without a line, and a format that takes everything."""
    (tmp_path / "a.yaml").write_text(TEXT)
    with pytest.raises(AssertionError, match=words):
        check_mutants(load, tmp_path / "a.yaml", 20)
