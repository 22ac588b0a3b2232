"""Records of many jobs: each run once, and a clear word for each file that holds none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge_command_history.documents import ImportDocument
from skillgauge_testkit.program import Done, Program

Evaluate = Callable[..., Done]


@pytest.fixture
def record(program: Program, evaluate: Evaluate, work: Path) -> Path:
    """The record of a run, which is no longer in the store of this folder."""
    evaluate({"one": "one", "two": "two"})
    assert program("history", "show", "latest", "--format", "record", "--output", "night.record.json").code == 0
    (work / "skillgauge.db").rename(work / "elsewhere.db")
    return work / "night.record.json"


def changed(record: Path, name: str, **changes: Any) -> Path:
    """A copy of a record in a folder of its own, with other values at some of its keys."""
    tree = json.loads(record.read_text())
    for key, value in changes.items():
        part, _, field = key.partition("__")
        if field:
            tree[part][field] = value
        else:
            tree[part] = value
    file = record.parent / "artifacts" / name / "run.record.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(tree))
    return file


def imported(program: Program, *paths: str, code: int = 0) -> ImportDocument:
    """Import and return the document."""
    done = program("history", "import", *paths, "--json")
    assert done.code == code, done.stdout + done.stderr
    return ImportDocument.model_validate(done.document)


def test_a_run_keeps_its_id(program: Program, record: Path, work: Path) -> None:
    """Imported into a store that has it already, it is passed over, whatever the file is called."""
    run_id = json.loads(record.read_text())["run"]["run_id"]
    (run,) = imported(program, "night.record.json").imported
    assert run.run_id == run_id
    copy = record.rename(work / "copy.json")
    again = imported(program, str(copy))
    assert ([run.run_id for run in again.present], again.imported) == ([run_id], ())
    present = program("history", "import", "copy.json", "--store", "elsewhere.db")
    assert present.verdict == "imported 0 runs into elsewhere.db, 1 had been imported before"


def test_artifacts_of_many_jobs(program: Program, record: Path, work: Path) -> None:
    """Folders are searched to the bottom; the other reports of a run, and files that are none, are no further runs."""
    changed(record, "night-1/deep/deeper", run__run_id="one")
    changed(record, "night-2", run__run_id="two")
    changed(record, "night-2-again", run__run_id="two")
    other = ("report", "convert", "--input", str(record), "--format", "json", "--output", "artifacts/other.json")
    assert program(*other).code == 0
    (work / "artifacts/package.json").write_text('{"name": "x"}')
    document = imported(program, "artifacts")
    assert [run.run_id for run in document.imported] == ["one", "two"]
    assert document.imported[0].evaluation == "night-1/deep/deeper/run.record.json"
    assert [run.run_id for run in document.present] == ["two"]
    assert (document.not_imported, document.passed_over) == ((), 2)
    done = program("history", "import", "artifacts", str(record))
    assert done.verdict.endswith("3 had been imported before; 2 further JSON files hold no other run")
    assert "imported 1 run into" in done.verdict


def test_each_file_that_holds_no_run_is_named_with_its_reason(program: Program, record: Path, work: Path) -> None:
    """Damaged, cut off, of a later version, not finished, or an id that another run has: the others are imported."""
    changed(record, "good")
    changed(record, "damaged", summary={"counts": 3})
    changed(record, "newer", schema_version="2.0")
    changed(record, "stopped", run__state="interrupted", run__run_id="three")
    changed(record, "impostor", plan__plan_id="another")
    (work / "artifacts/cut").mkdir()
    (work / "artifacts/cut/run.record.json").write_text(record.read_text()[:500])
    document = imported(program, "artifacts", code=2)
    assert len(document.imported) == 1
    reasons = {entry.evaluation.split("/")[0]: (entry.reason, entry.damaged) for entry in document.not_imported}
    assert set(reasons) == {"damaged", "newer", "stopped", "cut", "impostor"}
    assert reasons["damaged"][0].startswith("summary.counts: ")
    newer = "record version 2.0; this one reads 1.x. Read it with the skillgauge that wrote it, or a later one."
    assert reasons["newer"] == (newer, True)
    assert reasons["stopped"] == ("the run did not finish: interrupted", False)
    assert reasons["cut"][0] == "it is a run record that was cut off or damaged"
    assert reasons["impostor"][0].startswith("another run with the id ")
    shown = program("history", "import", "artifacts")
    assert shown.code == 2
    assert "1 did not finish and are left out, 4 cannot be read" in shown.verdict
    for name in reasons:
        assert f"{name}/run.record.json" in shown.stdout


def test_a_file_that_is_named_has_to_hold_a_run(program: Program, work: Path) -> None:
    """In a folder it is counted; named, it is a mistake."""
    (work / "package.json").write_text('{"name": "x"}')
    done = program("history", "import", "package.json")
    assert done.code == 2
    assert "no installed reporter knows this document" in done.stdout
    assert imported(program, ".").passed_over == 1
    assert program("history", "import").code == 2
