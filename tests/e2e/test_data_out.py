"""From a store to what papers need: the notebook of the examples, CSV of trials, completion, pictures in a browser."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

import skillgauge
from skillgauge_testkit.program import Program

from .catalogue_suites import ENGINE, write_skills
from .conftest import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NOTEBOOK = ROOT / "examples/notebook/runs.ipynb"
KINDS = {"alpha": "helps", "beta": "useless", "delta": "hurts"}
pytestmark = pytest.mark.e2e


@pytest.fixture
def store(program: Program, work: Path) -> Path:
    """A store with a run of three skills, one of which hurts."""
    write_skills(work, KINDS)
    done = program("eval", "skills", *ENGINE, "--store", "skillgauge.db", "--output-dir", "reports")
    assert done.code == 0, done.stderr
    return work / "skillgauge.db"


def shown(notebook: Any, kind: str) -> list[str]:
    """Everything of one kind that the cells of a notebook show."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


@pytest.mark.slow
def test_a_notebook_goes_from_a_store_to_a_paper(
    store: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3-F26: a table with intervals, a LaTeX table and a forest plot, in ten lines of code."""
    monkeypatch.setenv("HOME", environment["HOME"])
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(store.parent)}}).execute()
    first = [cell.source for cell in notebook.cells if cell.cell_type == "code"][:3]
    assert sum(bool(line.strip()) for line in "\n".join(first).splitlines()) <= 10
    tables = shown(notebook, "text/html")
    assert "+100.0 (+66.6 to +100.0)" in tables[0]
    (latex,) = [output.text for cell in notebook.cells for output in cell.get("outputs", ()) if "text" in output]
    assert "delta & 4 & 0.0\\% (0.0\\% to 49.0\\%) &" in latex
    assert "$-$100.0 ($-$100.0 to $-$66.6)" in latex
    (picture,) = shown(notebook, "image/svg+xml")
    assert all(name in picture for name in KINDS)


@pytest.mark.slow
def test_trials_as_csv(program: Program, work: Path, store: Path) -> None:
    """A stored run is converted to a table of trials, checks or cases, and `eval` writes one as well."""
    trials = list(skillgauge.runs(store).trials())
    for rows, count in (("trials", len(trials)), ("checks", len(trials)), ("cases", 24), ("comparisons", 3)):
        done = program("report", "convert", "--input", "latest", "--format", "csv", "--rows", rows)
        assert done.code == 0, done.stderr
        assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == count
    done = program("report", "convert", "--input", "latest", "--format", "csv", "--rows", "sessions")
    assert done.code == 2
    assert "'groups', 'comparisons', 'cases', 'trials' or 'checks'" in done.stderr
    done = program(
        "eval", "skills", *ENGINE, "--format", "csv", "--set", "reporters.csv.rows=trials", "--output-dir", "out"
    )
    assert done.code == 0, done.stderr
    with (work / "out/eval-result.csv").open(newline="") as file:
        verdicts = [row["verdict"] for row in csv.DictReader(file)]
    assert sorted(verdicts) == sorted(trial["verdict"] for trial in trials)


@pytest.mark.slow
def test_tab_completes_in_ipython(environment: dict[str, str], tmp_path: Path) -> None:
    """R3-F26: a real IPython lists what programs use."""
    script = (
        "from IPython.core.interactiveshell import InteractiveShell as Shell\n"
        "from IPython.core.completer import provisionalcompleter\n"
        "shell = Shell.instance()\n"
        "shell.run_cell('import skillgauge')\n"
        "with provisionalcompleter():\n"
        "    print(*(one.text for one in shell.Completer.completions('skillgauge.', 11)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    words = {word.removeprefix(".") for word in done.stdout.splitlines()[-1].split()}
    assert words >= {"evaluate", "planned_cases", "runs", "forest_plot", "to_pandas", "api"}
    assert words.isdisjoint({"TYPE_CHECKING", "annotations"})


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the search path (make browser)")
@pytest.mark.parametrize("plot", ["forest_plot", "cost_plot"])
def test_pictures_are_whole_in_a_browser(store: Path, plot: str) -> None:
    """Every text of a picture lies inside of it, no two texts overlap, and it has a name for screen readers.

    `SCREENSHOTS=DIR` keeps pictures.
    """
    found = skillgauge.runs(store)
    more = {"by": "total_tokens"} if plot == "cost_plot" else {}
    path = getattr(skillgauge, plot)(found, **more).save(store.with_name(f"{plot}.svg"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_content(f"<body style='margin:0'>{path.read_text().partition('?>')[2]}")
        cut, overlaps = page.evaluate(_LOOK)
        assert page.get_by_role("img").count() == 1
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder, f"{plot}.png"))
        browser.close()
    assert cut == []
    assert overlaps == []


_LOOK = """() => {
    const whole = document.querySelector('svg').getBoundingClientRect();
    const texts = [...document.querySelectorAll('svg text')].map(
        one => [one.textContent, one.getBoundingClientRect()]);
    const cut = texts.filter(([, at]) => at.left < whole.left - 1 || at.right > whole.right + 1
        || at.top < whole.top - 1 || at.bottom > whole.bottom + 1).map(([words]) => words);
    const overlaps = texts.flatMap(([a, one], place) => texts.slice(place + 1).filter(([, other]) =>
        one.left < other.right - 1 && other.left < one.right - 1
        && one.top < other.bottom - 2 && other.top < one.bottom - 2).map(([b]) => `${a} / ${b}`));
    return [cut, overlaps];
}"""
