"""Runs that are joined: further engines, models and repeats of the same suite in one document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Scripted

pytestmark = pytest.mark.e2e
PASSING = dict.fromkeys("1234", "p")
FAILING = dict.fromkeys("1234", "f")


def record(scripted: Scripted, name: str, model: str, *arguments: str) -> str:
    """Evaluate the suite with a model; the name of the record."""
    scripted.run(
        "eval", "s", "--engine", "scripted", "--model", model, *arguments, "--format", "record", "-o", "own.json"
    )
    newest = max(scripted.work.rglob("*.record.json"), key=lambda path: path.stat().st_mtime_ns)
    target = scripted.work / f"{name}.record.json"
    target.write_bytes(newest.read_bytes())
    return target.name


@pytest.fixture
def models(scripted: Scripted) -> Scripted:
    """An agent whose model `large` passes with the skill, while `small` never does."""
    scripted.script(FAILING, FAILING, large=PASSING)
    return scripted


@pytest.mark.slow
def test_runs_of_two_models_are_one_matrix(models: Scripted) -> None:
    """Every reporter renders it, the figures are those of one run of both, and it says where it comes from."""
    small, large = record(models, "small", "small"), record(models, "large", "large")
    done = models.run_plain("report", "join", small, large, "--output", "both.record.json")
    assert "record report: both.record.json" in done.stdout
    joined = json.loads((models.work / "both.record.json").read_text())
    ids = [json.loads((models.work / name).read_text())["run"]["run_id"] for name in (small, large)]
    assert joined["plan"]["origin"]["joined"] == ids
    assert joined["plan"]["models"] == ["small", "large"]
    assert joined["plan"]["trial_count"] == len(joined["results"]) == 16
    assert len({result["trial_id"] for result in joined["results"]}) == 16
    lifts = {pair["candidate"]["model"]: pair["evidence"]["estimate"] for pair in joined["summary"]["pairs"]}
    assert lifts == {"small": 0.0, "large": 1.0}
    assert len(joined["summary"]["engines"]) == 1
    whole = models.run("eval", "s", "--engine", "scripted", "--model", "small,large", "--json")
    together = json.loads(whole.stdout)["summary"]
    for part in ("counts", "pairs", "engines", "validity"):
        assert joined["summary"][part] == together[part], part
    for reporter in ("markdown", "html", "csv", "junit", "github", "gitlab"):
        text = models.run_plain("report", "convert", "--input", "both.record.json", "--format", reporter).stdout
        assert "large" in text, reporter
    markdown = models.run_plain("report", "join", small, large, "--format", "markdown").stdout
    assert all(run_id in markdown for run_id in ids)
    shown = models.run_plain("report", "join", small, large)
    assert f"joined from {ids[0]} (8 sessions), {ids[1]} (8 sessions)" in shown.stdout


def test_repeats_are_put_together_and_the_same_session_counts_once(models: Scripted) -> None:
    """Two runs of one model have both repeats, and a run that is there twice adds nothing; each run is a look."""
    first, second = record(models, "first", "large"), record(models, "second", "large", "--fresh")
    models.run_plain("report", "join", first, second, "--output", "both.record.json")
    both = json.loads((models.work / "both.record.json").read_text())
    assert (both["plan"]["runs"], both["plan"]["trial_count"]) == (2, 16)
    assert both["plan"]["suites"][0]["looks"] == [1]
    assert sorted({result["repeat"] for result in both["results"]}) == [1, 2]
    copy = models.work / "copy.record.json"
    text = json.loads((models.work / first).read_text())
    text["run"]["run_id"] = "a-copy"
    copy.write_text(json.dumps(text))
    done = models.run_plain("report", "join", "both.record.json", first, "copy.record.json", "--json")
    again = json.loads(done.stdout)
    assert again["summary"]["counts"]["total"] == 16
    assert again["summary"]["pairs"] == both["summary"]["pairs"]
    assert "16 sessions that several of them hold count once" in again["plan"]["origin"]["change"]


@pytest.mark.slow
def test_stored_runs_are_joined_by_their_ids(models: Scripted) -> None:
    """A run of the store counts as a file does."""
    for model in ("small", "large"):
        models.run("eval", "s", "--engine", "scripted", "--model", model, "--store", "runs.db")
    done = models.run_plain("report", "join", "latest~1", "latest", "--store", "runs.db", "--json")
    assert json.loads(done.stdout)["plan"]["models"] == ["small", "large"]


@pytest.mark.slow
def test_what_does_not_fit_is_refused_with_the_reason(models: Scripted, work: Path) -> None:
    """Another case, another skill, another suite, fewer cases and a lone run: each is named, and nothing is written."""
    first = record(models, "first", "small")

    def refused(*names: str) -> str:
        done = models.run_plain("report", "join", *names, "--output", "never.json", code=2)
        assert not (work / "never.json").exists()
        return " ".join(done.stderr.split() + done.stdout.split())

    assert "at least two different runs" in refused(first, first)
    some = record(models, "some", "large", "--case", "1")
    assert "only the first has 3 cases: 2, 3, 4" in refused(first, some)
    models.write(says="BETTER")
    assert "what is installed changed, as the skill itself, in with_skill" in refused(
        first, record(models, "skill", "large")
    )
    models.write(cases=5)
    assert "only the second has 1 case: 5" in refused(first, record(models, "more", "large"))
    models.write()
    evals = json.loads((work / "s/evals/evals.json").read_text())
    evals["evals"][0]["prompt"] = "number 1 and more"
    (work / "s/evals/evals.json").write_text(json.dumps(evals))
    assert "1 case ask or check something else: 1" in refused(first, record(models, "changed", "large"))
    models.write(name="t")
    models.run("eval", "t", "--engine", "scripted", "--model", "small", "--store", "other.db")
    done = models.run_plain("report", "join", first, "latest", "--store", "other.db", code=2)
    assert "no suite in common" in done.stderr + done.stdout
