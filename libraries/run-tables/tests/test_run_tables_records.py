"""Flat records of runs of every kind: complete, typed as they are documented, and honest about what is unknown."""

from __future__ import annotations

import asyncio
import json
import re
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import skillgauge
from skillgauge.api import SkillgaugeError
from skillgauge.api.report import RunView
from skillgauge.api.run import Globals, invocation
from skillgauge_run_tables import ROWS, Records, Runs, columns_of, json_schema, runs
from skillgauge_testkit import contract_views

ROOT = Path(__file__).parents[3]
KINDS = tuple(ROWS)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """A folder and a home with nothing in them."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", environment["HOME"])


def views() -> list[RunView]:
    """Runs of every sort, each with an id of its own."""
    return [
        replace(view, run=view.run.model_copy(update={"run_id": f"run{n}", "started_at": 1_700_000_000.0 + n}))
        for n, (_, view) in enumerate(contract_views())
    ]


def records(found: Runs, kind: str) -> Records:
    """The records of a kind."""
    return found if kind == "runs" else getattr(found, kind)()


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_has_every_column_with_its_type(kind: str) -> None:
    """Runs of every sort become records that the documented type accepts, in the order of the columns."""
    rows = list(records(runs(*views()), kind))
    names = [column.name for column in columns_of(kind)]
    assert rows
    assert all(list(row) == names for row in rows)
    TypeAdapter(list[ROWS[kind]], config=None).validate_python(rows, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_every_column(kind: str) -> None:
    """`docs/data.md` has a row for each column, in the order and with the type, unit and meaning of the code."""
    page = (ROOT / "docs/data.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^### {kind.capitalize()}\n(.*?)(?=^### |\Z)", page, re.DOTALL | re.MULTILINE)
    written = re.findall(r"^\| (`\w+` \| .*) \|$", section, re.MULTILINE)
    declared = [
        f"`{one.name}` | {one.type.__name__}{' or None' if one.can_be_none else ''} | {one.unit} | {one.meaning}"
        for one in columns_of(kind)
    ]
    assert written == declared


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_describes_each_record(kind: str) -> None:
    """Each column is required, with its meaning, and JSON lines hold exactly these."""
    schema = json_schema(kind)
    names = [column.name for column in columns_of(kind)]
    assert schema["required"] == names == list(schema["properties"])
    assert all(one["description"] for one in schema["properties"].values())
    lines = list(records(runs(*views()), kind).to_json_lines())
    assert all(list(json.loads(line)) == names for line in lines)


def test_an_error_is_no_result() -> None:
    """Trials and checks that could not be graded have neither an answer nor a value."""
    found = runs(*views())
    trials, checks = list(found.trials()), list(found.checks())
    assert {trial["verdict"] for trial in trials} >= {"pass", "fail", "error", "skipped"}
    for trial in trials:
        is_graded = trial["verdict"] in ("pass", "fail")
        assert (trial["passed"] is not None) == is_graded
        assert trial["value"] is None or is_graded
    for check in checks:
        assert (check["passed"] is None) == (check["status"] == "ungraded")
        assert check["value"] is None or check["status"] != "ungraded"


def test_unknown_is_none_and_never_nothing() -> None:
    """Tokens that nobody reported are unknown; those of a free session are 0."""
    for view in views():
        for result, trial in zip(view.results(), runs(view).trials(), strict=True):
            usage = result.execution.usage
            assert trial["output_tokens"] == (usage.output_tokens if usage else None)
            assert trial["cost_usd"] == (usage.cost_usd if usage else None)
            if usage is None:
                assert trial["total_tokens"] is None


def test_what_proves_nothing_has_no_interval() -> None:
    """A comparison with too many errors has neither finding nor bounds, and the table says so."""
    proof = ("finding", "lift_lower", "lift_upper", "chance", "new_lower", "new_upper", "new_chance")
    seen = 0
    for view in map(invalid, views()):
        found = runs(view)
        for row in found.comparisons():
            seen += 1
            assert row["is_valid"] is False
            assert [row[name] for name in proof] == [None] * len(proof)
            assert any("proves nothing" in cells for cells in found.table().rows)
    assert seen


def invalid(view: RunView) -> RunView:
    """The same run, had it had too many errors."""
    summary = view.summary
    changes = {
        "validity": tuple(one.model_copy(update={"valid": False}) for one in summary.validity),
        "pairs": tuple(pair.model_copy(update={"is_valid": False}) for pair in summary.pairs),
    }
    return replace(view, summary=summary.model_copy(update=changes))


Evaluate = Callable[..., skillgauge.Evaluated]


@pytest.fixture
def evaluate() -> Evaluate:
    """Evaluates the example, which needs no agent."""
    evals = ROOT / "examples/agent/release-notes/evals/evals.json"
    script = {"engines.mock.script": str(ROOT / "examples/agent/release-notes.mock.yaml")}
    return lambda **settings: skillgauge.evaluate(evals, engine="mock", options=script, sandbox="local", **settings)


def rows_of(*places: Any, **chosen: Any) -> list[dict[str, Any]]:
    """The trials of some places, without what differs by the place."""
    return list(runs(*places, **chosen).trials())


def document(run: RunView, folder: Path, name: str = "a") -> Path:
    """Write the record of a run, with a page beside it."""
    folder.mkdir(exist_ok=True)
    call = invocation(Globals(quiet=True), {})
    for reporter, file in (("record", f"{name}.record.json"), ("html", f"{name}.html")):
        (artifact, *_) = call.reporter(reporter).render(run)
        (folder / file).write_bytes(b"".join(artifact.chunks))
    return folder / f"{name}.record.json"


@pytest.mark.slow
def test_every_place_gives_the_same_records(evaluate: Evaluate) -> None:
    """A store, by its path or as configured, a record, a folder of records and a run in memory tell the same."""
    run = evaluate(store="skillgauge.db")
    record = document(run, Path("reports"))
    expected = rows_of(run)
    assert len(expected) == 8
    for place in ("skillgauge.db", Path("skillgauge.db"), record, "reports", str(record)):
        assert rows_of(place) == expected
    assert rows_of() == expected
    assert rows_of("skillgauge.db", "reports", run) == expected  # the same run counts once
    assert [row["is_own"] for row in runs("skillgauge.db")] == [True]
    assert [row["is_own"] for row in runs(record)] == [None]


@pytest.mark.slow
def test_runs_are_chosen(evaluate: Evaluate) -> None:
    """The newest ones, or those of a suite or a skill, whatever the place."""
    for _ in range(3):
        evaluate(store="skillgauge.db")
    ids, starts = zip(*((row["run_id"], row["started_at"]) for row in runs("skillgauge.db")), strict=True)
    assert len(set(ids)) == 3
    assert list(starts) == sorted(starts, reverse=True)
    assert [row["run_id"] for row in runs("skillgauge.db", limit=1)] == [ids[0]]
    assert len(list(runs("skillgauge.db", target="release-notes"))) == 3
    assert list(runs("skillgauge.db", target="other")) == list(runs("skillgauge.db", suite="other")) == []
    assert len({row["run_id"] for row in runs("skillgauge.db").trials()}) == 3


@pytest.mark.parametrize("place", ["absent.db", "empty", "words.txt", "missing-scheme://host/db"])
def test_a_place_without_runs_is_told(place: str) -> None:
    """A place that is not there or holds no runs raises an error with advice."""
    Path("empty").mkdir()
    Path("words.txt").write_text("no run\n")
    with pytest.raises(SkillgaugeError) as caught:
        list(runs(place))
    assert caught.value.problems[0].message
    assert any(problem.hint for problem in caught.value.problems)
    assert not Path("absent.db").exists()


def test_a_large_store_is_not_read_as_a_document() -> None:
    """A binary file goes to the stores at once; reporters, which read all of a file, are not asked."""
    with Path("large.db").open("wb") as file:
        file.truncate(200 * 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(SkillgaugeError):
            list(runs("large.db"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20


@pytest.mark.slow
def test_a_notebook_has_a_loop_that_runs(evaluate: Evaluate) -> None:
    """Records can be read in the thread of an event loop, as the cells of a notebook are."""
    evaluate(store="skillgauge.db")

    async def cell() -> int:
        return len(list(runs("skillgauge.db").trials()))

    assert asyncio.run(cell()) == 8


@pytest.mark.slow
def test_records_stream(evaluate: Evaluate) -> None:
    """The first record is there before the rest is read, and each iteration reads anew."""
    evaluate(store="skillgauge.db")
    found = runs("skillgauge.db").trials()
    with closing(iter(found)) as first, closing(iter(found)) as again:
        assert next(first) == next(again)
    evaluate(store="skillgauge.db")
    assert len(list(found)) == 16


@pytest.mark.slow
def test_a_notebook_links_to_the_page(evaluate: Evaluate) -> None:
    """Runs and cases link to the page beside the record, cases to their place in it; names are escaped."""
    run = evaluate()
    shown = runs(document(run, Path("reports")))
    assert '<a href="reports/a.html">' in shown._repr_html_()
    assert '<a href="reports/a.html#case-1-0">' in shown.cases()._repr_html_()
    assert "<a " not in runs(run).cases()._repr_html_()
    Path("reports/a.html").unlink()
    assert "<a " not in shown._repr_html_()


def test_hostile_names_stay_text() -> None:
    """Nothing of a run becomes markup in a notebook."""
    for view in views():
        for kind in KINDS:
            html = records(runs(view), kind)._repr_html_()
            assert re.sub(r"</?(table|thead|tbody|tr|th|td|p|a)\b[^<>]*>", "", html).count("<") == 0
