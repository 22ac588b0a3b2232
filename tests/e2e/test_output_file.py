"""`-o FILE` loses nothing of a report that is several files; `-o -` and other streams are written into."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

PLUGIN = '''
"""A format whose own document comes with further files."""
from pathlib import Path
from skillgauge.api import *


TARGETS = (Target(id="t", digest=""),)


class Several:
    def claim(self, path):
        return Claim(reason="its ending") if path.name.endswith(".several") else None

    def load(self, request):
        path = Path(next(iter((*request.paths, *request.searched))))
        case = Case(id="a", prompt="Go", checks=(Check(id="c", scorer="contains", options={"keywords": ["mock"]}),))
        arms = (Arm(name="agent", kind=ArmKind.AGENT),)
        common = {"id": "s", "format": "several", "root": str(path), "document": "several"}
        return Loaded((Suite(**common, cases=(case,), arms=arms, targets=TARGETS),))

    def dump(self, suite):
        raise NotImplementedError

    def figures(self, summary):
        return {}


class Files:
    suffix = "json"

    def render(self, view):
        yield Artifact(chunks=[b"document"])
        for name in NAMES:
            yield Artifact(chunks=[name.encode()], path=name)

    def read(self, path):
        return None


@hookimpl
def skillgauge_formats():
    yield Provider("several", Several, "Several.")


@hookimpl
def skillgauge_reporters():
    yield Provider("several", Files, "Several files.")
'''


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("names", "code", "written"),
    [
        (("one.txt", "deep/two.txt"), None, {"out.json": "document", "out.json.files/one.txt": "one.txt"}),
        (("one.txt", "one.txt"), 2, {"out.json": "document"}),
        (("../outside.txt",), 2, {"out.json": "document"}),
    ],
)
def test_every_file_of_a_report_is_kept(
    program: Program, work: Path, names: tuple[str, ...], code: int | None, written: dict[str, str]
) -> None:
    """The document goes to FILE, the others beside it into a folder; two of one name or one outside are refused."""
    (work / "several.py").write_text(PLUGIN.replace("NAMES", repr(names)))
    (work / "s.several").touch()
    done = program("--plugin", "several.py", "eval", "s.several", "--engine", "mock", "-o", "out.json")
    assert "passed" in done.stdout, done.stderr
    for name, text in written.items():
        assert (work / name).read_text() == text
    assert not (work / "outside.txt").exists()
    if code is None:
        assert (work / "out.json.files/deep/two.txt").read_text() == "deep/two.txt"
    else:
        assert "reporter 'several' wants to write" in done.stderr
        assert done.code == code


@pytest.mark.e2e
@pytest.mark.parametrize("place", ["-", "/dev/fd/1"])
def test_stdout_has_the_document_alone(program: Program, work: Path, place: str) -> None:
    """With `--quiet` nothing else stands there, so that another program can read it.

    Not `/dev/stdout`: if this broke, root's tests would put a file into the place of that link of the whole machine.
    """
    (work / "several.py").write_text(PLUGIN.replace("NAMES", "()"))
    (work / "s.several").touch()
    done = program("--plugin", "several.py", "eval", "s.several", "--engine", "mock", "--quiet", "-o", place)
    assert (done.code, done.stdout) == (0, "document")
    assert not (work / "-").exists()


@pytest.mark.e2e
def test_a_stream_holds_one_file(program: Program, work: Path) -> None:
    """The document is there, and what belongs to it is said to be lost."""
    (work / "several.py").write_text(PLUGIN.replace("NAMES", repr(("one.txt",))))
    (work / "s.several").touch()
    done = program("--plugin", "several.py", "eval", "s.several", "--engine", "mock", "--quiet", "-o", "-")
    assert (done.code, done.stdout) == (2, "document")
    assert "the report 'several' consists of several files, and a stream such as stdout holds only one" in done.stderr


@pytest.mark.e2e
def test_a_folder_in_the_place_of_the_document_is_refused_before_anything_runs(program: Program, work: Path) -> None:
    """Nothing is paid for a report that cannot be written, and the message names what the user wrote."""
    (work / "several.py").write_text(PLUGIN.replace("NAMES", "()"))
    (work / "s.several").touch()
    (work / "out").mkdir()
    done = program("--plugin", "several.py", "eval", "s.several", "--engine", "mock", "-o", "out")
    assert done.code == 2
    assert (
        "cannot write 'out': it is a folder\n  next: Name a file; only several documents get a folder." in done.stderr
    )
    assert not (work / "skillgauge.db").exists()
    assert list((work / "out").iterdir()) == []
