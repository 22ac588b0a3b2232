"""The run record keeps everything and reads what later minor versions write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge.api import Execution, Kept, PlanHead, Score, SuiteError, SuiteHead, TargetHead, TrialResult, Verdict
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, Summary, TagSummary
from skillgauge.stats import RateInterval
from skillgauge_reporter_record.reporter import RecordReporter


def result(number: int) -> TrialResult:
    """A result of the only group."""
    return TrialResult(
        trial_id=f"t{number}",
        execution_id=f"e{number}",
        score_id="s",
        ordinal=number,
        suite_id="suite",
        case_id=f"case {number}",
        case_index=number,
        target_id="target",
        arm="direct",
        runner="fake",
        model=None,
        repeat=1,
        verdict=Verdict.PASS,
        value=1.0,
        scores=(Score.passed("ok", evidence={"seen": [1, None, "é"]}),),
        execution=Execution(output={"result": "x"}, duration_s=0.25),
        started_at=1.5,
    )


def view(count: int = 3) -> RunView:
    """A run with some results."""
    suite = SuiteHead(
        id="suite",
        format="fake",
        root="suite",
        content_digest="d",
        case_count=count,
        targets=(TargetHead(id="target"),),
        arms=("direct",),
    )
    head = PlanHead(
        plan_id="p", suites=(suite,), trial_count=count, runs=1, seed=0, provenance={"skillgauge-core": "0"}
    )
    counts = Counts(total=count, passed=count)
    group = GroupSummary(
        suite_id="suite",
        target_id="target",
        arm="direct",
        runner="fake",
        model=None,
        counts=counts,
        pass_rate=RateInterval(rate=1.0, n=count, lower=0.4, upper=1.0, method="wilson"),
        pass_bounds=(0.75, 1.0),
        tags=(
            TagSummary(tag='=<b> "\u202e', counts=Counts(total=3, errors=3), pass_rate=RateInterval(rate=None, n=0)),
            TagSummary(
                tag="math",
                counts=Counts(total=3, passed=1, failed=1, errors=1),
                pass_rate=RateInterval(rate=0.5, n=2, lower=0.094531, upper=0.905469, method="wilson"),
            ),
        ),
    )
    info = RunInfo(run_id="r", state=RunState.FINISHED, started_at=1.0, finished_at=2.0)
    return RunView(info, head, Summary(counts=counts, groups=(group,)), Kept(lambda: [result(n) for n in range(count)]))


def written(tmp_path: Path, shown: RunView) -> Path:
    """The record of a run as a file."""
    (artifact,) = RecordReporter().render(shown)
    path = tmp_path / "run.record.json"
    path.write_bytes(b"".join(artifact.chunks))
    return path


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_record_reads_back_equal(tmp_path: Path, count: int) -> None:
    """Run, plan, summary and every result survive."""
    shown = view(count)
    read = RecordReporter().read(written(tmp_path, shown))
    assert read is not None
    assert (read.run, read.head, read.summary) == (shown.run, shown.head, shown.summary)
    assert list(read.results()) == list(shown.results()) == list(read.results())


@pytest.mark.requirement("ES-BENCH-009")
def test_a_rate_never_stands_alone(tmp_path: Path) -> None:
    """Every rate, those of tags too, has its n, interval, level and method in it, and the errors beside it."""
    (group,) = json.loads(written(tmp_path, view()).read_text())["summary"]["groups"]
    assert group["pass_rate"] == {
        "rate": 1,
        "n": 3,
        "lower": 0.4,
        "upper": 1,
        "level": 0.95,
        "method": "wilson",
        "clusters": None,
    }
    assert (group["counts"]["errors"], group["pass_bounds"]) == (0, [0.75, 1])
    unknown, math = group["tags"]
    assert (math["tag"], math["counts"]["errors"]) == ("math", 1)
    assert math["pass_rate"] == {
        "rate": 0.5,
        "n": 2,
        "lower": 0.094531,
        "upper": 0.905469,
        "level": 0.95,
        "method": "wilson",
        "clusters": None,
    }
    assert (unknown["tag"], unknown["pass_rate"]["rate"], unknown["pass_rate"]["n"]) == ('=<b> "\u202e', None, 0)


def changed(path: Path, **changes: object) -> Path:
    """The same record with some members replaced."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def test_a_newer_minor_version_is_readable(tmp_path: Path) -> None:
    """What this version does not know is passed over, at every depth."""
    path = written(tmp_path, view())
    tree = json.loads(path.read_text())
    tree["results"][0]["execution"]["novelty"] = 1
    tree["plan"]["novelty"] = {"a": 1}
    path.write_text(json.dumps(tree | {"novelty": [], "schema_version": "1.7"}))
    read = RecordReporter().read(path)
    assert read is not None
    assert read.summary == view().summary


def test_an_unknown_field_in_this_version_is_damage(tmp_path: Path) -> None:
    """In a record of this very version an unknown field means that something is wrong; all such places are named."""
    path = written(tmp_path, view())
    tree = json.loads(path.read_text())
    tree["results"][1]["novelty"] = 1
    del tree["plan"]["seed"]
    path.write_text(json.dumps(tree))
    with pytest.raises(SuiteError) as error:
        RecordReporter().read(path)
    text = str(error.value)
    assert "results.1.novelty" in text
    assert "plan.seed" in text


@pytest.mark.parametrize("version", ["2.0", "0.9", "one", None, "1"])
def test_another_major_version_is_refused(tmp_path: Path, version: object) -> None:
    """A version that cannot be understood is named, not guessed at."""
    path = changed(written(tmp_path, view()), schema_version=version)
    with pytest.raises(SuiteError, match=str(version)):
        RecordReporter().read(path)


@pytest.mark.parametrize("missing", ["run", "plan", "summary", "results"])
def test_a_missing_part_is_named(tmp_path: Path, missing: str) -> None:
    """A record without one of its parts is damaged."""
    path = written(tmp_path, view())
    tree = json.loads(path.read_text())
    del tree[missing]
    path.write_text(json.dumps(tree))
    with pytest.raises(SuiteError, match=missing):
        RecordReporter().read(path)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"schema_name": "other"}', b"[" * 100_000])
def test_other_files_are_not_records(tmp_path: Path, content: bytes) -> None:
    """Whatever is no record is left to other readers."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    assert RecordReporter().read(path) is None
