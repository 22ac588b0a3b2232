"""A table that spreadsheets open, with the columns of eval-skills and nothing that runs as a formula."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api.report import Counts, Figure, GroupSummary, RunState, RunView, SuiteValidity, Summary, TagSummary
from skillgauge.stats import Latency, RateInterval
from skillgauge_reporter_csv.options import CsvOptions, Rows
from skillgauge_reporter_csv.reporter import COLUMNS, CsvReporter, share, text
from skillgauge_run_tables import columns_of, runs
from skillgauge_testkit import contract_views


def group(**changes: object) -> GroupSummary:
    """The group of the published example of eval-skills."""
    values: dict[str, object] = {
        "suite_id": "coding-easy",
        "target_id": "calculator",
        "arm": "direct",
        "runner": "subprocess",
        "model": None,
        "counts": Counts(total=20, passed=20),
        "pass_rate": RateInterval(rate=1.0, n=20, lower=0.838875, upper=1.0, method="wilson"),
        "latency": Latency(samples=20, p50_s=0.1934, p95_s=0.4206),
        "figures": (
            Figure(name="completionRate", label="Completion rate", value=1.0, unit="ratio"),
            Figure(name="partialScore", label="Partial score", value=1.0, unit="score"),
            Figure(name="errorRate", label="Error rate", value=0.0, unit="ratio"),
            Figure(name="compositeScore", label="Composite score", value=0.9972, unit="score"),
            Figure(name="p50Ms", label="P50 latency", value=193.0, unit="ms"),
            Figure(name="p95Ms", label="P95 latency", value=421.0, unit="ms"),
        ),
    }
    return GroupSummary.model_validate(values | changes)


def tables(*groups: GroupSummary) -> dict[str, str]:
    """The files of a run with these groups."""
    view: RunView = replace(contract_views()[0][1], summary=Summary(counts=Counts(), groups=groups))
    return {artifact.path: b"".join(artifact.chunks).decode() for artifact in CsvReporter().render(view)}


def table(*groups: GroupSummary) -> str:
    """The report of a run with these groups, which has no other file."""
    ((path, shown),) = tables(*groups).items()
    assert path == ""
    return shown


def cells(shown: str) -> list[dict[str, str]]:
    """The rows as a strict reader sees them."""
    return list(csv.DictReader(io.StringIO(shown, newline=""), strict=True))


def test_the_columns_of_eval_skills_come_first_and_ours_follow() -> None:
    """The published report of eval-skills is a prefix of each line."""
    header, line = table(group()).splitlines()
    assert header.startswith(
        "skillId,benchmarkId,completionRate,partialScore,errorRate,p50Ms,p95Ms,compositeScore,"
        "arm,runner,model,passRate,passRateLower,passRateUpper,passRateLevel,passRateMethod,cases,"
        "passed,failed,errors,skipped"
    )
    assert line == (
        "calculator,coding-easy,1.0000,1.0000,0.0000,193,421,0.9972,"
        "direct,subprocess,,1.0000,0.8389,1.0000,0.95,wilson,20,20,0,0,0,pass_rate,1.0000,0.8389,1.0000,wilson,finished,true,,,,,,,,,,,,,,,,,,,,,,,,"
    )


MATH = TagSummary(
    tag="math",
    counts=Counts(total=5, passed=3, failed=1, errors=1),
    pass_rate=RateInterval(rate=0.75, n=4, lower=0.300642, upper=0.954413, method="wilson"),
)


@pytest.mark.requirement("ES-BENCH-009")
def test_tags_are_a_table_of_their_own() -> None:
    """One row per group and tag with interval, n, errors and method; the first table is as it is without tags."""
    nothing = TagSummary(tag="net", counts=Counts(total=2, errors=2), pass_rate=RateInterval(rate=None, n=0))
    files = tables(group(tags=(MATH, nothing)), group(target_id="other", tags=(MATH,)))
    assert files[""] == table(group(), group(target_id="other"))
    assert files["tags.csv"] == (
        "skillId,benchmarkId,arm,runner,model,tag,passRate,passRateLower,passRateUpper,passRateLevel,passRateMethod,"
        "cases,passed,failed,errors,skipped\n"
        "calculator,coding-easy,direct,subprocess,,math,0.7500,0.3006,0.9544,0.95,wilson,4,3,1,1,0\n"
        "calculator,coding-easy,direct,subprocess,,net,,,,,,0,0,0,2,0\n"
        "other,coding-easy,direct,subprocess,,math,0.7500,0.3006,0.9544,0.95,wilson,4,3,1,1,0\n"
    )


def test_tags_from_outside_stay_in_their_field() -> None:
    """Formulas, quotes, line breaks, long texts and 200 tags at once: a strict reader finds each as one field."""
    names = ["=1+1", '"a",b', "line\r\nbreak", "\u202eright to left", "x" * 10_000, *(f"tag {n}" for n in range(200))]
    rows = cells(tables(group(tags=[MATH.model_copy(update={"tag": name}) for name in names]))["tags.csv"])
    assert [row["tag"] for row in rows] == [
        "'=1+1",
        '"a",b',
        "line break",
        "\N{REPLACEMENT CHARACTER}right to left",
        *names[4:],
    ]
    assert {(row["skillId"], row["passRate"]) for row in rows} == {("calculator", "0.7500")}


def test_one_row_per_group() -> None:
    """Arms and models are rows of their own; a run without groups is the header alone."""
    rows = cells(table(group(arm="with_skill", model="m-1"), group(arm="without_skill", model="m-1")))
    assert [(row["arm"], row["model"]) for row in rows] == [("with_skill", "m-1"), ("without_skill", "m-1")]
    assert table() == ",".join(COLUMNS) + "\n"


def test_what_must_be_known_of_a_rate_stands_beside_it() -> None:
    """As Markdown says it, in the last column: whoever sorts the table by rate has it there."""
    note = "9 checks decided by a judge that is not calibrated"
    judged = Figure(name="judged_checks", label="Judged checks that pass", value=0.5, unit="ratio", n=9, note=note)
    (row,) = cells(table(group(figures=(judged,))))
    assert list(row)[-1] == "notes"
    assert row["notes"] == note


def test_unknown_is_empty_and_never_zero() -> None:
    """What nobody measured leaves its field empty; counts that are zero are written."""
    nothing = group(
        target_id=None,
        counts=Counts(),
        pass_rate=RateInterval(rate=None, n=0),
        latency=Latency(),
        figures=(Figure(name="completionRate", label="Completion rate", value=None, unit="ratio"),),
    )
    of_run = "pass_rate,,,,,finished,true,,,,,,,,,,,,,,,,,,,,,,,,"
    assert table(nothing).splitlines()[1] == f",coding-easy,,,,,,,direct,subprocess,,,,,,,0,0,0,0,0,{of_run}"


def test_latencies_of_a_format_without_such_figures_are_ours() -> None:
    """Percentiles are known even where the format has no figures."""
    (row,) = cells(table(group(figures=())))
    assert (row["p50Ms"], row["p95Ms"], row["completionRate"]) == ("193", "421", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "' =1"),
        ("\u200b=1", "\N{REPLACEMENT CHARACTER}=1"),
        ("\ufeff=1", "\N{REPLACEMENT CHARACTER}=1"),
        ("\v=1", "\N{REPLACEMENT CHARACTER}=1"),
        ("\u00a0=1", "'\u00a0=1"),
        (" =1", "' =1"),
        (";=1", ";'=1"),
        ('a; "=1"', 'a;\' "=1"'),
        ("a;b=1", "a;b=1"),
        ("::error::x", ": :error::x"),
        ("\n=1", "' =1"),
        ("＝1", "'＝1"),
        ("a=1", "a=1"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        (None, ""),
    ],
)
def test_text_is_no_formula(value: str | None, shown: str) -> None:
    """A cell that a spreadsheet would run gets an apostrophe."""
    assert text(value) == shown
    (row,) = cells(table(group(target_id=value)))
    assert row["skillId"] == shown


@given(st.text(alphabet=";=+-@ \t\n\u00a0\ufeff\"',a1"))
def test_no_reader_finds_a_formula(value: str) -> None:
    """T-M7: neither one that splits lines at commas nor one that splits them at semicolons."""
    for separator in ",;":
        for row in csv.reader(
            io.StringIO(table(group(target_id=value, suite_id=value)), newline=""), delimiter=separator
        ):
            assert not [cell for cell in row if cell.lstrip()[:1] in set("=+@")], (separator, row)


def test_numbers_are_not_taken_for_formulas() -> None:
    """A negative figure stays a number."""
    (row,) = cells(table(group(figures=(Figure(name="compositeScore", label="C", value=-0.5),))))
    assert row["compositeScore"] == "-0.5000"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3))
def test_any_text_stays_in_its_field(values: list[str]) -> None:
    """Quotes, commas and line breaks survive a strict reader."""
    target, suite, model = values
    (row,) = cells(table(group(target_id=target, suite_id=suite, model=model)))
    assert (row["skillId"], row["benchmarkId"], row["model"]) == (text(target), text(suite), text(model))


def test_share_of_nothing_is_empty() -> None:
    """Unknown is never 0."""
    assert (share(None), share(0.0), share(0.12345)) == ("", "0.0000", "0.1235")


def test_csv_is_not_read_back(tmp_path: Path) -> None:
    """The reader says that it is not one of its documents, whatever it is given."""
    assert CsvReporter().read(tmp_path / "x.csv") is None


@pytest.mark.parametrize(("state", "valid"), [(RunState.FINISHED, False), (RunState.STOPPED, True)])
def test_a_row_tells_whether_its_run_proves_anything(state: RunState, valid: bool) -> None:
    """N-A4: a rate of an invalid or a stopped run does not look like any other."""
    validity = (SuiteValidity(suite_id="coding-easy", valid=valid, error_share=0.5),)
    known = contract_views()[0][1]
    summary = Summary(counts=Counts(), groups=(group(),), validity=validity)
    view = replace(known, summary=summary, run=known.run.model_copy(update={"state": state}))
    (artifact,) = CsvReporter().render(view)
    (row,) = cells(b"".join(artifact.chunks).decode())
    assert (row["state"], row["valid"]) == (state.value, "true" if valid else "false")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [rows for rows in Rows if rows is not Rows.GROUPS])
def test_a_row_is_a_record(rows: Rows) -> None:
    """Each kind of record is one file with the documented columns; unknown is empty, and no text is a formula."""
    for _, view in contract_views():
        (artifact,) = CsvReporter(CsvOptions(rows=rows)).render(view)
        assert artifact.path == ""
        written = list(csv.DictReader(io.StringIO(b"".join(artifact.chunks).decode(), newline="")))
        records = list(getattr(runs(view), rows.value)())
        assert len(written) == len(records)
        for line, record in zip(written, records, strict=True):
            assert list(line) == [column.name for column in columns_of(rows.value)]
            for name, value in record.items():
                if value is None:
                    assert line[name] == ""
                elif isinstance(value, bool):
                    assert line[name] == str(value).lower()
                elif isinstance(value, int | float):
                    assert float(line[name]) == value
                elif isinstance(value, str):
                    assert line[name] == text(value)
