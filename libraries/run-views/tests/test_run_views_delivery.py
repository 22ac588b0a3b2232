"""Runs through reporters, to files and to stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge.api import PluginError, UsageError
from skillgauge.api.report import RunView
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_run_views.delivery import Delivered, deliver, reporter_for
from skillgauge_testkit import contract_views

VIEW = dict(contract_views())["a run that passed and failed"]
PLUGIN = """
from skillgauge.api import Artifact, Provider, hookimpl

class Pages:
    suffix = "txt"
    def __init__(self, paths):
        self.paths = paths
    def render(self, view):
        for path in self.paths:
            yield Artifact(chunks=iter([b"run ", path.encode() or b"itself"]), path=path)
    def read(self, path):
        return None

REPORTERS = {"one": ("",), "more": ("", "a/b.txt"), "pages": ("index.txt", "a/b.txt", ""), "outside": ("../x",)}
REPORTERS["many"] = ("", *(f"part/{number}.txt" for number in range(100)))

@hookimpl
def skillgauge_reporters():
    for name, paths in REPORTERS.items():
        yield Provider(name=name, factory=lambda paths=paths: Pages(paths), summary="Some files.")
"""


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invocation:
    """A command line in an empty folder, with reporters of several sorts."""
    plugin = tmp_path / "plugin.py"
    plugin.write_text(PLUGIN)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path))
    return invocation(Globals(plugin=(str(plugin),)))


def files() -> dict[str, str]:
    """Every file below the current folder."""
    return {path.as_posix(): path.read_text() for path in sorted(Path().rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", {"out": "run itself"}),
        ("more", {"out": "run itself", "out.files/a/b.txt": "run a/b.txt"}),
        ("pages", {"out/index.txt": "run index.txt", "out/a/b.txt": "run a/b.txt", "out/report.txt": "run itself"}),
    ],
)
def test_to_files(call: Invocation, capsys: pytest.CaptureFixture[str], name: str, expected: dict[str, str]) -> None:
    """One file is the output; a report that begins with a file of its own name makes a folder of it."""
    deliver(call, VIEW, name, "out")
    assert files() == expected
    assert capsys.readouterr().out.splitlines() == [f"{name} report: {path}" for path in expected]


def test_very_many_files_are_counted(call: Invocation, capsys: pytest.CaptureFixture[str]) -> None:
    """The file to begin with is named, the others by their folder."""
    deliver(call, VIEW, "many", "out")
    assert capsys.readouterr().out.splitlines() == ["many report: out", "many report: and 100 files in out.files/part"]
    assert len(files()) == 101


@pytest.mark.parametrize("output", [None, "-"])
def test_to_stdout(call: Invocation, capfd: pytest.CaptureFixture[str], output: str | None) -> None:
    """A report of one file can be printed; one of several needs a folder."""
    deliver(call, VIEW, "one", output)
    assert capfd.readouterr().out == "run itself"
    with pytest.raises(UsageError, match="consists of several files"):
        deliver(call, VIEW, "pages", output)
    assert files() == {}


@pytest.mark.parametrize("output", [None, "out"])
def test_as_json(call: Invocation, capsys: pytest.CaptureFixture[str], output: str | None) -> None:
    """One document: the report itself, or where it is."""
    call.output.as_json = True
    deliver(call, VIEW, "one", output)
    document = Delivered.model_validate(json.loads(capsys.readouterr().out))
    if output is None:
        assert (document.files, document.content) == ((), "run itself")
    else:
        assert (document.files, document.content) == (("out",), None)
        assert files() == {"out": "run itself"}


def test_nothing_is_written_outside(call: Invocation) -> None:
    """A reporter cannot leave the folder."""
    with pytest.raises(PluginError, match="outside its folder"):
        deliver(call, VIEW, "outside", "out")
    assert files() == {}


def with_documents(*documents: str | None) -> RunView:
    """A run whose suites' formats have these documents."""
    suite = VIEW.head.suites[0]
    suites = tuple(suite.model_copy(update={"id": str(n), "document": one}) for n, one in enumerate(documents))
    return RunView(VIEW.run, VIEW.head.model_copy(update={"suites": suites}), VIEW.summary, VIEW.source)


def test_the_document_of_the_format_itself(call: Invocation) -> None:
    """`json` is what the suites' one format writes, and an error that says what to do if there is no such thing."""
    assert reporter_for(call, "json", with_documents("more", None, "more")).suffix == "txt"
    with pytest.raises(UsageError, match=r"several formats.*more, one\n  next: Name one"):
        reporter_for(call, "json", with_documents("one", "more"))
    with pytest.raises(UsageError, match=r"no document of its own\n  next: Use --format record"):
        reporter_for(call, "json", with_documents(None))
    with pytest.raises(PluginError, match="did you mean pages"):
        reporter_for(call, "page", VIEW)
