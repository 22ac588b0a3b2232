"""The contract of reporters: every run can be rendered, the same way every time, and what comes out is well formed."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import NoReturn
from xml.etree import ElementTree

from skillgauge.api import CaseHead, ResultOrder, SuiteError, TrialResult
from skillgauge.api.report import GroupKey, Reporter, RunView

from .clauses import called, require, shown, unbroken
from .samples import HEADING, SCRIPT
from .shapes import require_shape
from .views import contract_views

_READS = 2
"""How often a reporter may read each result for one report."""

_TEXTS = {".md", ".markdown", ".html", ".htm", ".xml", ".svg", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".css", ".js"}

_GARBAGE = (
    ("nothing", b""),
    ("binary data", bytes(range(256)) * 8),
    ("a text", b"unrelated\n"),
    ("an empty object", b"{}"),
    ("an empty list", b"[]"),
    ("a list of numbers", b"[1, 2, 3]"),
    ("a JSON text", b'"unrelated"'),
    ("an unrelated object", b'{"name": "unrelated", "version": "1.0.0", "results": "none"}'),
    ("deep nesting", b"[" * 100_000),
    ("an XML document", b"<?xml version='1.0'?><unrelated/>"),
    ("a table", b"a,b\n1,2\n"),
)


def _summary(view: RunView) -> object:
    return view.summary


def _same(view: RunView) -> RunView:
    return view


def check_reporter(
    make: Callable[[], Reporter],
    *,
    reads_back: bool,
    adapt: Callable[[RunView], RunView] = _same,
    keeps: Callable[[RunView], object] = _summary,
) -> None:
    """Check a reporter on runs of every sort, from an empty one to one with a thousand results and hostile names.

    Example::

        def test_reporter():
            check_reporter(Maker(REPORTERS, "acme_wiki.plugin"), reads_back=False)

    Args:
        make: makes a reporter.
        reads_back: whether `read` understands what `render` wrote.
        adapt: changes the kit's runs into what this reporter is used for, for example into those of one format.
        keeps: what must be equal after reading back; default: the whole summary.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    reporter = called("making a reporter", make)
    require_shape(reporter, Reporter)
    right = not reporter.suffix.startswith(".") and "/" not in reporter.suffix
    require(right, f"Reporter.suffix must be an ending without its dot, not {reporter.suffix!r}")
    with tempfile.TemporaryDirectory(prefix="skillgauge-contract-") as folder:
        place = Path(folder)
        for number, (subject, plain) in enumerate(contract_views()):
            counted = _Counted(adapt(plain))
            files = _render(reporter, counted, subject)
            again = _render(called("making a reporter", make), _Counted(adapt(plain)), subject)
            require(files == again, f"Reporter.render of {subject} must give the same bytes every time")
            for path, content in files.items():
                _require_well_formed(PurePosixPath(path or f"report.{reporter.suffix}"), content, subject)
            written = place / str(number) / f"eval-result.{reporter.suffix}"
            for path, content in files.items():
                target = written.parent / path if path else written
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            if reads_back:
                _read_back(reporter, written, counted.view, subject, keeps)
            elif written.exists():
                _read(reporter, written, f"its own report of {subject}", may_be_damaged=True)
        _check_reading(reporter, place / "garbage", reporter.suffix)


class _Counted:
    """Counts how many of a run's results are read."""

    def __init__(self, view: RunView) -> None:
        self.read = 0
        self.source = view.source
        self.view = replace(view, source=self)

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        for result in self.source.results(order, group):
            self.read += 1
            yield result

    def cases(self) -> Iterator[CaseHead]:
        return self.source.cases()


def _render(reporter: Reporter, counted: _Counted, subject: str) -> dict[str, bytes]:
    """The files, each made while it is written, as the kernel does."""
    call = f"Reporter.render of {subject}"
    counted.read = 0
    with unbroken(call):
        rendered = [(artifact.path, b"".join(artifact.chunks)) for artifact in reporter.render(counted.view)]
    files = dict(rendered)
    require(len(files) == len(rendered), f"{call} must not give a file twice: {shown([path for path, _ in rendered])}")
    require(files, f"{call} must give at least one file")
    for path in files:
        pure = PurePosixPath(path)
        inside = not pure.is_absolute() and ".." not in pure.parts and "\\" not in path and path.isprintable()
        require(inside, f"{call} must give relative paths that stay in the reporter's folder, not {shown(path)}")
        fits = all(len(part.encode()) <= 255 for part in pure.parts)
        require(fits, f"{call} must give file names that a file system takes, of at most 255 bytes, not {shown(path)}")
    total = sum(1 for _ in counted.source.results(ResultOrder.PLAN))
    count_text = f"but read {counted.read} where there are {total}"
    require(counted.read <= _READS * total, f"{call} must read each result at most {_READS} times, {count_text}")
    return files


def _read_back(reporter: Reporter, path: Path, view: RunView, subject: str, keeps: Callable[[RunView], object]) -> None:
    again = _read(reporter, path, f"its own report of {subject}")
    require(again is not None, f"Reporter.read of its own report of {subject} must recognise it")
    assert again is not None
    expected, got = keeps(view), keeps(again)
    difference = f"{shown(expected, 900)} became {shown(got, 900)}"
    require(expected == got, f"Reporter.read of its own report of {subject} must keep what it tells: {difference}")
    with unbroken(f"RunView.results of a report of {subject} that was read"):
        same = list(again.results()) == list(again.results())
    require(same, f"Reporter.read of a report of {subject} must give results as often as they are asked for")


def _read(reporter: Reporter, path: Path, subject: str, *, may_be_damaged: bool = False) -> RunView | None:
    call = f"Reporter.read of {subject}"
    with unbroken(call):
        try:
            view = reporter.read(path)
        except SuiteError:
            if may_be_damaged:
                return None
            raise
    require(view is None or isinstance(view, RunView), f"{call} must give a RunView or None, not {shown(view)}")
    return view


def _check_reading(reporter: Reporter, folder: Path, suffix: str) -> None:
    folder.mkdir()
    for number, (subject, content) in enumerate(_GARBAGE):
        path = folder / f"garbage-{number}.{suffix}"
        path.write_bytes(content)
        view = _read(reporter, path, subject)
        require(view is None, f"Reporter.read of {subject} must give None, because that is no report of its own")
    for subject, path in (("a folder", folder), ("a file that is absent", folder / f"absent.{suffix}")):
        require(_read(reporter, path, subject) is None, f"Reporter.read of {subject} must give None")
    whole = next(iter(folder.parent.glob(f"2/eval-result.{suffix}")), None)
    if whole is not None:
        content = whole.read_bytes()
        for share in (0.1, 0.5, 0.9):
            path = folder / f"cut.{suffix}"
            path.write_bytes(content[: int(len(content) * share)])
            _read(reporter, path, f"its own report, cut off after {share:.0%},", may_be_damaged=True)


def _require_well_formed(path: PurePosixPath, content: bytes, subject: str) -> None:
    """Check that the opened file shows the text of the run and nothing that the text smuggles in."""
    suffix = path.suffix.lower()
    if suffix not in _TEXTS:
        return
    name = f"Reporter.render of {subject}: {path.name}"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AssertionError(f"{name} must be UTF-8, but {error}") from error
    examine = _EXAMINATIONS.get(suffix)
    if examine:
        try:
            fault = examine(text)
        except (ValueError, ElementTree.ParseError, csv.Error) as error:
            fault = str(error)
        require(not fault, f"{name} must be a well-formed {suffix} file: {fault}")


def _json_fault(text: str) -> str:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise ValueError(f"a key comes twice among {[key for key, _ in pairs][:20]}")
        return members

    json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    return ""


def _lines_fault(text: str) -> str:
    for line in text.splitlines():
        _json_fault(line)
    return ""


def _table_fault(text: str) -> str:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    widths = {len(row) for row in rows if row}
    return f"its rows have {sorted(widths)} fields" if len(widths) > 1 else ""


def _xml_fault(text: str) -> str:
    root = ElementTree.fromstring(text)
    return "a text became an element" if any(node.tag.endswith("script") for node in root.iter()) else ""


def _markdown_fault(text: str) -> str:
    if any(line.startswith(HEADING) for line in text.splitlines()):
        return "a line break in a text begins a line of the report"
    plain = re.sub(r"(`+)(?:.|\n)*?\1", "", text)
    return "markup in a text is markup of the report" if SCRIPT.partition("(")[0] in plain else ""


class _Page(HTMLParser):
    """Looks for what the hostile texts would be if they were not escaped."""

    def __init__(self) -> None:
        super().__init__()
        self.fault = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Attributes come from the report alone."""
        self._in_script = tag == "script"
        if any(name == "onmouseover" and value == "alert(1)" for name, value in attrs):
            self.fault = "a text became an attribute"

    def handle_endtag(self, tag: str) -> None:
        """Scripts end here."""
        self._in_script = False

    def handle_data(self, data: str) -> None:
        """Scripts come from the report alone."""
        if self._in_script and data.strip().startswith('alert("skillgauge")'):
            self.fault = "a text became a script"


def _html_fault(text: str) -> str:
    page = _Page()
    page.feed(text)
    page.close()
    return page.fault


_EXAMINATIONS: dict[str, Callable[[str], str]] = {
    ".json": _json_fault,
    ".jsonl": _lines_fault,
    ".csv": _table_fault,
    ".xml": _xml_fault,
    ".svg": _xml_fault,
    ".md": _markdown_fault,
    ".markdown": _markdown_fault,
    ".html": _html_fault,
    ".htm": _html_fault,
}
