"""Documents as frozen values, their faults as problems, and the places of problems."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillgauge_documents
from skillgauge.config.documents import locate, located_all, parse_document, read_document
from skillgauge.errors import Origin, Problem, SourceSpan, SuiteError
from skillgauge_documents import MAX_DEPTH


def write(folder: Path, name: str, content: str) -> Path:
    """Make a file."""
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.YML"])
def test_value_is_frozen(tmp_path: Path, name: str) -> None:
    """Both syntaxes give the same deeply immutable value and keep the path as given."""
    path = write(tmp_path, name, '{"a": [1, 2.5, null, true, {"b": "c"}]}')
    document = read_document(path)
    assert document.value == {"a": (1, 2.5, None, True, {"b": "c"})}
    assert document.file == str(path)
    assert document.origin("a", 0) == Origin(str(path), ("a", 0))
    with pytest.raises(TypeError):
        document.value["a"] = 1  # type: ignore[index]  # that it fails is the point


def test_text_can_be_given() -> None:
    """Text cut out of a file reads like a file, with problems that name the file."""
    assert parse_document("a: 1", file="SKILL.md", kind="yaml").value == {"a": 1}
    with pytest.raises(SuiteError) as caught:
        parse_document("\n{", file="x.json", kind="json")
    assert str(caught.value.problems[0].span) == "x.json:2:2"


def test_faults_are_problems_of_the_file(tmp_path: Path) -> None:
    """Every fault is a problem of the family `document.*`, at its place and with its next step."""
    path = write(tmp_path, "a.yaml", "a: 1\na: 2\n")
    with pytest.raises(SuiteError) as caught:
        read_document(path)
    expected = Problem(
        "document.duplicate-key",
        "key 'a' is given twice",
        span=SourceSpan(str(path), 2, 1),
        hint="Remove or rename one of the two.",
    )
    assert caught.value.problems == (expected,)
    with pytest.raises(SuiteError) as caught:
        read_document(tmp_path / "absent.json")
    assert caught.value.problems[0].span == SourceSpan(str(tmp_path / "absent.json"))


def test_depth_that_is_read_can_be_frozen() -> None:
    """The limit of the readers is that of the values, so that the reader is the one who tells the place."""
    assert skillgauge_documents.MAX_DEPTH == MAX_DEPTH


def test_place_of_a_lost_file(tmp_path: Path) -> None:
    """A file that vanished since it was read still gives a place: its name."""
    assert locate(Origin(str(tmp_path / "gone.json"), ("a",))) == SourceSpan(str(tmp_path / "gone.json"))
    path = write(tmp_path, "here.json", '{\n"a": 1}')
    assert locate(Origin(str(path), ("a",))) == SourceSpan(str(path), 2, 1)


def test_a_place_that_a_format_knows_is_taken(tmp_path: Path) -> None:
    """Of a file in a syntax that only its format reads, the line is the one that the format gave."""
    path = write(tmp_path, "cases.csv", "a,b\n1,2\n")
    origin = Origin(str(path), place=(2, 3))
    assert locate(origin) == SourceSpan(str(path), 2, 3)
    assert [str(one.span) for one in located_all([Problem("a", "a", origin=origin)])] == [f"{path}:2:3"]


def test_problems_are_located_with_one_scan_per_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many problems of a file cost one scan; known places and problems without an origin stay as they are."""
    path = write(tmp_path, "a.json", '{"a": 1,\n "b": 2}')
    reads: list[Path] = []
    original = Path.is_file

    def is_file(self: Path) -> bool:
        reads.append(self)
        return original(self)

    monkeypatch.setattr(Path, "is_file", is_file)
    span = SourceSpan("else.json", 9, 9)
    problems = [
        Problem("a", "a", origin=Origin(str(path), ("a",))),
        Problem("b", "b", origin=Origin(str(path), ("b",))),
        Problem("c", "c", origin=Origin(str(path)), span=span),
        Problem("d", "d"),
    ]
    spans = [problem.span for problem in located_all(problems)]
    assert spans == [SourceSpan(str(path), 1, 2), SourceSpan(str(path), 2, 2), span, None]
    assert reads == [path]
