"""What skill-creator's own programs make of what is written: their expectations, told once more in our words."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from skillgauge.api import CaseHead, Execution, FileChange, Kept, Score, TrialResult, Usage
from skillgauge.api.report import Counts, GroupSummary, RunView, Summary
from skillgauge.stats import RateInterval
from skillgauge_format_agent_skills.results.workspace import WorkspaceReporter

from .test_agent_skills_document import trial
from .test_agent_skills_document import view as view_of

USED: dict[str, Any] = {"usage": Usage(total_tokens=100), "duration_s": 2.0}
RESULTS = (
    trial("1", "with_skill", 2, **USED),
    trial("1", "with_skill", 1, repeat=2, **USED),
    trial("1", "without_skill", 1, duration_s=1.0),
    trial("2", "with_skill", 2, duration_s=4.0),
    trial("2", "without_skill", None),
)


def run_of(*results: TrialResult) -> RunView:
    """A run with what is known of its cases and groups."""
    base = view_of(*results)
    heads = {
        (one.suite_id, one.case_index): CaseHead(
            suite_id=one.suite_id, index=one.case_index, id=one.case_id, prompt=f"Do {one.case_id}."
        )
        for one in results
    }
    groups = {
        one.group: GroupSummary(
            suite_id=one.suite_id,
            target_id=one.target_id,
            arm=one.arm,
            runner=one.runner,
            model=one.model,
            counts=Counts(),
            pass_rate=RateInterval(rate=None, n=0),
        )
        for one in results
    }
    return replace(
        base,
        summary=Summary(counts=Counts(), groups=tuple(groups.values())),
        source=Kept(lambda: results, heads.values()),
    )


def written(root: Path, *results: TrialResult) -> Path:
    """The workspace of a run."""
    for artifact in WorkspaceReporter().render(run_of(*results)):
        path = root / artifact.path
        assert not path.exists(), "each file is written once"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(artifact.chunks))
    return root


@dataclass(frozen=True)
class Counted:
    """A run as the aggregator counts it."""

    eval_id: object
    number: int
    pass_rate: float
    counts: tuple[int, int, int]
    seconds: float
    tokens: float
    texts: tuple[str, ...]


def aggregated(root: Path) -> dict[str, list[Counted]]:
    """The aggregator: every `eval-*`, every folder in it with `run-*`, each with a number and a grading.json."""
    found: dict[str, list[Counted]] = {}
    for place in sorted(root.glob("eval-*")):
        eval_id = json.loads((place / "eval_metadata.json").read_text())["eval_id"]
        for folder in sorted(one for one in place.iterdir() if one.is_dir()):
            for run in sorted(folder.glob("run-*")):
                runs = found.setdefault(folder.name, [])
                number = int(run.name.split("-")[1])
                if not (run / "grading.json").exists():
                    continue  # it warns, and goes on
                grading = json.loads((run / "grading.json").read_text())
                assert "timing" not in grading, "else tokens in timing.json would not be read"
                timing = json.loads((run / "timing.json").read_text())
                metrics = grading["execution_metrics"]
                summary = grading["summary"]
                tokens = timing.get("total_tokens", 0) or metrics.get("output_chars", 0)
                assert all({"text", "passed", "evidence"} <= one.keys() for one in grading["expectations"])
                runs.append(
                    Counted(
                        eval_id,
                        number,
                        summary["pass_rate"],
                        (summary["passed"], summary["failed"], summary["total"]),
                        timing.get("total_duration_seconds", 0.0),
                        tokens,
                        tuple(one["text"] for one in grading["expectations"]),
                    )
                )
    sorted({one.eval_id for runs in found.values() for one in runs})  # type: ignore[type-var]  # fails for mixed ids
    return found


def reviewed(root: Path) -> dict[str, dict[str, Any]]:
    """The review page: every folder with `outputs`, its prompt beside it or in the folder around it."""
    found = {}
    for outputs in sorted(root.rglob("outputs")):
        run = outputs.parent
        places = [run / "eval_metadata.json", run.parent / "eval_metadata.json"]
        metadata = next(json.loads(one.read_text()) for one in places if one.exists())
        grading = run / "grading.json"
        hidden = {"metrics.json", "transcript.md", "user_notes.md"}
        found["-".join(run.relative_to(root).parts)] = {
            "prompt": metadata["prompt"],
            "eval_id": metadata["eval_id"],
            "shown": [one.name for one in sorted(outputs.iterdir()) if one.is_file() and one.name not in hidden],
            "grading": json.loads(grading.read_text()) if grading.exists() else None,
        }
    sorted((one["eval_id"], name) for name, one in found.items())  # as the page does
    return found


def drawn(benchmark: Any) -> list[str]:
    """The benchmark tab: a mean and a spread of each measure that is there, and every run with its share."""
    lines = []
    for name, arm in benchmark["run_summary"].items():
        if name == "delta":
            continue
        for measure, factor in (("pass_rate", 100), ("time_seconds", 1), ("tokens", 1)):
            stat = arm.get(measure)
            shown = "-" if not stat else f"{stat['mean'] * factor:.1f} {stat['stddev'] * factor:.1f}"
            lines.append(f"{name} {measure} {shown}")
    for run in benchmark["runs"]:
        result = run["result"]
        rate = (result["pass_rate"] or 0) * 100
        lines.append(f"{run['eval_id']} {run['configuration']} {rate:.0f}% ({result['passed']}/{result['total']})")
    return lines


def test_the_aggregator_counts_what_we_count(tmp_path: Path) -> None:
    """The same runs, the same rates, means and spreads; an error is in none of them."""
    root = written(tmp_path, *RESULTS)
    benchmark = json.loads((root / "benchmark.json").read_text())
    found = aggregated(root)
    assert {arm: [(one.eval_id, one.number, one.pass_rate) for one in runs] for arm, runs in found.items()} == {
        "with_skill": [(1, 1, 1.0), (1, 2, 0.5), (2, 1, 1.0)],
        "without_skill": [(1, 1, 0.5)],
    }
    ours = [
        (run["configuration"], run["eval_id"], run["run_number"], run["result"]["pass_rate"])
        for run in benchmark["runs"]
    ]
    theirs = [(arm, one.eval_id, one.number, one.pass_rate) for arm, runs in found.items() for one in runs]
    assert sorted(ours) == sorted(theirs)
    for arm, runs in found.items():
        rates = [one.pass_rate for one in runs]
        told = benchmark["run_summary"][arm]["pass_rate"]
        assert told["mean"] == pytest.approx(mean(rates), abs=1e-4)
        assert told["stddev"] == pytest.approx(stdev(rates) if len(rates) > 1 else 0.0, abs=1e-4)
    first = found["with_skill"][0]
    assert (first.counts, first.seconds, first.tokens) == ((2, 0, 2), 2.0, 100)
    assert first.texts == ("a0", "a1")
    assert found["without_skill"][0].tokens == 0, "what is unknown is no number of characters"


def test_the_page_shows_no_error_as_a_failure(tmp_path: Path) -> None:
    """Every run is there with its prompt and outputs; one that was not graded has no grade, and says why."""
    found = reviewed(written(tmp_path, *RESULTS))
    assert len(found) == len(RESULTS)
    assert {one["prompt"] for one in found.values()} == {"Do 1.", "Do 2."}
    error = found["eval-2-without_skill-run-1"]
    assert (error["grading"], error["shown"]) == (None, ["error.txt"])
    assert "no key" in (tmp_path / "eval-2/without_skill/run-1/outputs/error.txt").read_text()
    assert [name for name, one in found.items() if one["grading"] is None] == ["eval-2-without_skill-run-1"]


def test_the_benchmark_tab_is_drawn(tmp_path: Path) -> None:
    """Measures that nobody knows are a dash, and errors are no rows of 0 %."""
    benchmark = json.loads((written(tmp_path, *RESULTS) / "benchmark.json").read_text())
    lines = drawn(benchmark)
    assert "without_skill tokens -" in lines
    assert "with_skill tokens 100.0 0.0" in lines
    assert [line for line in lines if "%" in line] == [
        "1 with_skill 100% (2/2)",
        "1 with_skill 50% (1/2)",
        "1 without_skill 50% (1/2)",
        "2 with_skill 100% (2/2)",
    ]


def test_outputs_are_the_answer_and_the_files_that_were_kept(tmp_path: Path) -> None:
    """The page lists files of one folder only, so a path becomes a name."""
    kept = (
        FileChange(path="out/a.txt", change="created", text="A"),
        FileChange(path="out-a.txt", change="created", text="B"),
        FileChange(path="big.bin", change="created", left_out="binary"),
        FileChange(path="answer.txt", change="created", text="C"),
    )
    result = trial("1", "with_skill", 2).model_copy(update={"execution": Execution(text="Done.", files=kept)})
    written(tmp_path, result)
    outputs = tmp_path / "eval-1/with_skill/run-1/outputs"
    texts = {one.name: one.read_text() for one in outputs.iterdir() if one.name != "metrics.json"}
    assert texts == {"answer.txt": "Done.\n", "out-a.txt": "A", "out-a-2.txt": "B", "answer-2.txt": "C"}
    metrics = json.loads((outputs / "metrics.json").read_text())
    assert metrics["files_created"] == ["out/a.txt", "out-a.txt", "big.bin", "answer.txt"]


def test_ids_of_both_kinds_can_be_sorted(tmp_path: Path) -> None:
    """Where one id is text, all are: the original sorts them."""
    root = written(tmp_path, trial("1", "with_skill", 2), trial("c", "with_skill", 2))
    assert [one.eval_id for one in aggregated(root)["with_skill"]] == ["1", "c"]


def test_several_models_have_a_workspace_each(tmp_path: Path) -> None:
    """Its page shows one benchmark; each folder is a workspace of its own, as the programs want it."""
    other = trial("1", "with_skill", 0).model_copy(update={"model": "n"})
    written(tmp_path, trial("1", "with_skill", 2), other)
    folders = sorted(one for one in tmp_path.iterdir() if one.is_dir())
    assert [one.name for one in folders] == ["tables.codex.m", "tables.codex.n"]
    assert [aggregated(one)["with_skill"][0].pass_rate for one in folders] == [1.0, 0.0]
    assert [len(json.loads((one / "benchmark.json").read_text())["runs"]) for one in folders] == [1, 1]


def test_what_was_not_graded_is_left_out(tmp_path: Path) -> None:
    """A check beside the verdict is no expectation, nor is it an assertion of the eval."""
    beside = Score.failed("no").model_copy(update={"check_id": "Fired when it should", "beside": True})
    met = trial("1", "with_skill", 2)
    written(tmp_path, met.model_copy(update={"scores": (*met.scores, beside)}))
    assert aggregated(tmp_path)["with_skill"][0].texts == ("a0", "a1")
    assert json.loads((tmp_path / "eval-1/eval_metadata.json").read_text())["assertions"] == ["a0", "a1"]
