"""Reports on disk: their names, whole files or none, and nothing outside their folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge.api import Kept
from skillgauge.contract.reporters import Artifact, stamp
from skillgauge.errors import PluginError, UsageError
from skillgauge.evaluation.reports import only_suites, write_report, write_whole
from skillgauge.types.results.runs import RunInfo, RunState, RunView
from skillgauge.types.results.summaries import Counts, GroupSummary, RateInterval, SuiteValidity, Summary
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.trial import Execution, PlanHead, SuiteHead

quick = settings(max_examples=60, deadline=None)

STARTED = 1_767_225_845.678
STAMP = "2026-01-01T00-04-05-678Z"


def result(suite: str) -> TrialResult:
    """A passed result."""
    return TrialResult(
        trial_id=f"t-{suite}",
        execution_id="x",
        score_id="",
        ordinal=0,
        suite_id=suite,
        case_id="c",
        case_index=0,
        target_id=None,
        arm="direct",
        runner="r",
        model=None,
        repeat=1,
        verdict=Verdict.PASS,
        execution=Execution(),
        started_at=0.0,
    )


def view(*suites: str) -> RunView:
    """A run of some suites with one passed trial each."""
    groups = tuple(
        GroupSummary(
            suite_id=name,
            target_id=None,
            arm="direct",
            runner="r",
            model=None,
            counts=Counts(total=1, passed=1),
            pass_rate=RateInterval(rate=1.0, n=1),
        )
        for name in suites
    )
    heads = tuple(
        SuiteHead(id=name, format="f", root="/", content_digest="", case_count=1, targets=(), arms=("direct",))
        for name in suites
    )
    return RunView(
        run=RunInfo(run_id="r", state=RunState.FINISHED, started_at=STARTED),
        head=PlanHead(plan_id="p", suites=heads, trial_count=len(suites), runs=1, seed=0),
        summary=Summary(
            counts=Counts(total=len(suites), passed=len(suites)),
            groups=groups,
            validity=tuple(SuiteValidity(suite_id=name, valid=True, error_share=0.0) for name in suites),
        ),
        source=Kept(lambda: map(result, suites)),
    )


class Reporter:
    """Renders what it was given."""

    def __init__(self, suffix: str, *artifacts: tuple[str, Iterable[bytes]]) -> None:
        self.suffix = suffix
        self._artifacts = artifacts

    def render(self, run: RunView) -> Iterator[Artifact]:
        """One artifact after another."""
        for path, chunks in self._artifacts:
            yield Artifact(chunks=chunks, path=path)

    def read(self, path: Path) -> RunView | None:
        """It reads nothing back."""
        return None


def files(folder: Path) -> dict[str, bytes]:
    """Content of every file below a folder, hidden ones included."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


# --- stamps -----------------------------------------------------------------------------------------------


def test_a_stamp_is_the_start_to_the_millisecond() -> None:
    """In UTC, without characters that a file system refuses."""
    assert stamp(STARTED) == STAMP
    assert stamp(0) == "1970-01-01T00-00-00-000Z"


@quick
@given(st.integers(0, 4_000_000_000_000), st.integers(0, 4_000_000_000_000))
def test_stamps_sort_as_their_runs(one: int, other: int) -> None:
    """The newest report is the last in an alphabetical listing, and all stamps are equally long."""
    stamps = [stamp(one / 1000), stamp(other / 1000)]
    assert sorted(stamps) == [stamp(min(one, other) / 1000), stamp(max(one, other) / 1000)]
    assert {len(text) for text in stamps} == {len(STAMP)}
    assert not set("".join(stamps)) & set(':/\\.<>|"*? ')


# --- names ------------------------------------------------------------------------------------------------


def test_a_suite_report_is_written_twice(tmp_path: Path) -> None:
    """Under the run's stamp and under the name that does not change; the stamped path is told."""
    path = write_report(view("s"), "markdown", Reporter("md", ("", [b"# a", b"\n"])), tmp_path / "reports")
    assert path == tmp_path / "reports" / f"eval-result-{STAMP}.md"
    assert files(tmp_path) == {
        f"reports/eval-result-{STAMP}.md": b"# a\n",
        "reports/eval-result.md": b"# a\n",
    }


def test_the_copy_is_that_of_the_newest_report(tmp_path: Path) -> None:
    """A later run replaces the copy and leaves the earlier stamped report."""
    write_report(view("s"), "json", Reporter("json", ("", [b"a longer old one"])), tmp_path)
    later = view("s")
    later = RunView(later.run.model_copy(update={"started_at": STARTED + 60}), later.head, later.summary, later.source)
    write_report(later, "json", Reporter("json", ("", [b"new"])), tmp_path)
    assert files(tmp_path) == {
        f"eval-result-{STAMP}.json": b"a longer old one",
        f"eval-result-{stamp(STARTED + 60)}.json": b"new",
        "eval-result.json": b"new",
    }


def test_the_record_of_a_run_has_a_name_of_its_own(tmp_path: Path) -> None:
    """A glob for results never matches it, and there is no copy that could be taken for a result."""
    path = write_report(view("s"), "record", Reporter("record.json", ("", [b"{}"])), tmp_path)
    assert path == tmp_path / f"run-{STAMP}.record.json"
    assert list(files(tmp_path)) == [f"run-{STAMP}.record.json"]


def test_another_ending_may_be_given(tmp_path: Path) -> None:
    """Where two reports of a run would have the same name."""
    path = write_report(view("s"), "json", Reporter("json", ("", [b"[]"])), tmp_path, suffix="eval-skills.json")
    assert path.name == f"eval-result-{STAMP}.eval-skills.json"
    assert "eval-result.eval-skills.json" in files(tmp_path)


def test_further_files_have_a_folder_of_their_own(tmp_path: Path) -> None:
    """Below the run's stamp and the reporter's name; they have no copies. The first file's path is told."""
    reporter = Reporter("html", ("index.html", [b"i"]), ("data/a b.json", [b"d"]), ("", [b"report"]))
    path = write_report(view("s"), "site", reporter, tmp_path)
    assert path == tmp_path / STAMP / "site" / "index.html"
    assert files(tmp_path) == {
        f"{STAMP}/site/index.html": b"i",
        f"{STAMP}/site/data/a b.json": b"d",
        f"eval-result-{STAMP}.html": b"report",
        "eval-result.html": b"report",
    }


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", ".."])
def test_a_reporter_cannot_leave_its_folder(tmp_path: Path, path: str) -> None:
    """Absolute paths and steps upwards are refused, and nothing is written."""
    with pytest.raises(PluginError, match="outside its folder"):
        write_report(view("s"), "evil", Reporter("txt", (path, [b"x"])), tmp_path / "reports")
    assert files(tmp_path) == {}


def test_reports_are_rendered_one_after_another(tmp_path: Path) -> None:
    """A reporter with many files needs memory for one: the next is made when the last is on disk."""
    reporter = Reporter("txt")

    def render(run: RunView) -> Iterator[Artifact]:
        for name in ("a", "b"):
            assert len(files(tmp_path)) == ("a", "b").index(name)
            yield Artifact(chunks=iter([name.encode()]), path=name)

    reporter.render = render  # type: ignore[method-assign]  # a reporter of its own would say no more
    write_report(view("s"), "many", reporter, tmp_path)
    assert len(files(tmp_path)) == 2


def test_a_reporter_without_any_file(tmp_path: Path) -> None:
    """A reporter that posts its report somewhere renders no file, and none is named."""
    assert write_report(view("s"), "webhook", Reporter("txt"), tmp_path) is None
    assert files(tmp_path) == {}


# --- whole files ------------------------------------------------------------------------------------------


def test_a_file_appears_whole(tmp_path: Path) -> None:
    """While its chunks are being made, the old content stands, and only the finished file replaces it."""
    path = tmp_path / "a" / "b" / "report.txt"
    write_whole(path, [b"old"])

    def chunks() -> Iterator[bytes]:
        yield b"ne"
        assert path.read_bytes() == b"old"
        yield b"w"

    write_whole(path, chunks())
    assert files(tmp_path) == {"a/b/report.txt": b"new"}


@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt()], ids=["exception", "Ctrl-C"])
def test_a_file_that_could_not_be_made_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    """The old content stays, no partial file is left, and the exception gets through."""
    path = tmp_path / "report.txt"
    write_whole(path, [b"old"])

    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise error

    with pytest.raises(type(error)):
        write_whole(path, chunks())
    assert files(tmp_path) == {"report.txt": b"old"}


@pytest.mark.skipif(os.name != "posix", reason="modes mean something else there")
def test_reports_are_for_their_owner_only(tmp_path: Path) -> None:
    """What agents said and did may be confidential: no file is readable for others, the copy included."""
    write_report(view("s"), "json", Reporter("json", ("", [b"[]"]), ("more/data", [b""])), tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_file()}
    assert modes == {f"eval-result-{STAMP}.json": 0o600, "eval-result.json": 0o600, "data": 0o600}


def test_a_folder_that_cannot_be_made_is_the_users_problem(tmp_path: Path) -> None:
    """A file is in the way: the message names the path and asks for another one."""
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(UsageError) as caught:
        write_report(view("s"), "json", Reporter("json", ("", [b"[]"])), tmp_path / "reports")
    (problem,) = caught.value.problems
    assert problem.code == "usage.unwritable"
    assert str(tmp_path / "reports") in problem.message
    assert problem.hint is not None
    assert "another place" in problem.hint


def test_a_file_that_cannot_be_opened_is_the_users_problem(tmp_path: Path) -> None:
    """Whatever the system says against the name or the folder is told like any other reason."""
    with pytest.raises(UsageError, match="cannot write"):
        write_whole(tmp_path / ("x" * 300), [b""])


def test_a_folder_in_the_place_of_a_file_is_the_users_problem(tmp_path: Path) -> None:
    """A name that is taken by a folder cannot be written, and no partial file is left."""
    (tmp_path / "report.txt").mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        write_whole(tmp_path / "report.txt", [b"x"])
    assert files(tmp_path) == {}


def test_a_folder_in_the_place_of_the_copy_is_the_users_problem(tmp_path: Path) -> None:
    """The stamped report is there; that it could not be copied is told as such, and nothing partial is left."""
    (tmp_path / "eval-result.json").mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        write_report(view("s"), "json", Reporter("json", ("", [b"[]"])), tmp_path)
    assert list(files(tmp_path)) == [f"eval-result-{STAMP}.json"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    """It is no file that another one could replace: whoever reads it gets the report, and the pipe stays."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # does not wait for a writer that may never come
    try:
        write_whole(pipe, [b"a", b"b"])
        assert os.read(reader, 10) == b"ab"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_redirected_stdout_is_written_into(tmp_path: Path) -> None:
    """`/dev/stdout` leads to a file then; the link stays, and so does what was printed before."""
    link, target = tmp_path / "stdout", tmp_path / "printed.txt"
    link.symlink_to(target)
    code = (
        "import sys; from pathlib import Path; from skillgauge.config.whole_files import write_whole\n"
        "print('first', flush=True); write_whole(Path(sys.argv[1]), [b'report'])"
    )
    with target.open("wb") as stdout:
        subprocess.run([sys.executable, "-c", code, link], stdout=stdout, check=True)
    assert link.is_symlink()
    assert target.read_text() == "first\nreport"


def test_a_link_to_a_file_is_replaced_as_a_file(tmp_path: Path) -> None:
    """A place that leads to some other file is no stream: nobody ever sees half of a report there."""
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "report.txt").symlink_to(tmp_path / "kept.txt")
    write_whole(tmp_path / "report.txt", [b"new"])
    assert files(tmp_path) == {"kept.txt": b"kept", "report.txt": b"new"}


# --- parts of a run ---------------------------------------------------------------------------------------


def test_a_part_of_a_run_holds_only_its_suites() -> None:
    """Head, groups, validity and results are those of the suites asked for; run and order stay."""
    whole = view("a", "b", "c")
    part = only_suites(whole, frozenset({"c", "a"}))
    assert part.run == whole.run
    assert [one.id for one in part.head.suites] == ["a", "c"]
    assert [one.suite_id for one in part.summary.groups] == ["a", "c"]
    assert [one.suite_id for one in part.summary.validity] == ["a", "c"]
    for _ in range(2):
        assert [one.suite_id for one in part.results()] == ["a", "c"]


def test_a_part_of_a_run_counts_only_its_trials() -> None:
    """A report on one suite does not claim the trials of another."""
    assert only_suites(view("a", "b", "c"), frozenset({"b"})).summary.counts == Counts(total=1, passed=1)
