"""Plots are SVG documents that say in words what they show, the same each time, whatever names a run brings."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import skillgauge
from skillgauge.api import UsageError
from skillgauge.api.report import GroupKey, RunView
from skillgauge_plots import Picture, calibration_plot, cost_plot, forest_plot
from skillgauge_run_tables import runs
from skillgauge_testkit import contract_views

SVG = "{http://www.w3.org/2000/svg}"
ODD = r"</text><script>x</script> $\frac{1}{$ & 漢字"


def compared() -> RunView:
    """A run with a comparison that proves something, whose skill has an odd name."""
    view = next(view for _, view in contract_views() if any(row["lift_lower"] for row in runs(view).comparisons()))

    def renamed(group: GroupKey) -> GroupKey:
        return replace(group, target_id=ODD)

    summary = view.summary
    changes = {
        "pairs": tuple(
            pair.model_copy(update={"candidate": renamed(pair.candidate), "baseline": renamed(pair.baseline)})
            for pair in summary.pairs
        ),
        "groups": tuple(group.model_copy(update={"target_id": ODD}) for group in summary.groups),
    }
    return replace(view, summary=summary.model_copy(update=changes))


def texts(picture: Picture) -> str:
    """The words of a picture."""
    return "\n".join("".join(one.itertext()) for one in ET.fromstring(picture.svg()).iter(f"{SVG}text"))


def rate(share: float | None, n: int = 20) -> dict[str, Any]:
    """A rate as a calibration has it."""
    bounds = (None, None) if share is None else (max(0.0, share - 0.1), min(1.0, share + 0.1))
    return {"rate": share, "n": n, "lower": bounds[0], "upper": bounds[1]}


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    """A calibration with an arm in which people failed nothing."""
    arms = [
        {"arm": ODD, "sensitivity": rate(0.95), "specificity": rate(0.7)},
        {"arm": "without_skill", "sensitivity": rate(0.85), "specificity": rate(None, 0)},
    ]
    document = {
        "schema_name": "skillgauge-judge-calibration",
        "labels": 40,
        "sensitivity": rate(0.9),
        "specificity": rate(0.8),
        "arms": arms,
    }
    path = tmp_path / "judge-calibration.json"
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def drawers(calibration: Path) -> dict[str, Callable[[], Picture]]:
    """Every plot, of things with odd names."""
    view = compared()
    return {
        "forest": lambda: forest_plot(runs(view)),
        "cost": lambda: cost_plot(runs(view), by="duration_s"),
        "calibration": lambda: calibration_plot(calibration),
    }


@pytest.mark.parametrize("name", ["forest", "calibration"])
def test_a_picture_is_a_document_with_words(name: str, drawers: dict[str, Callable[[], Picture]]) -> None:
    """It parses, has a role, a title and a description, and an odd name is text in it and nothing else."""
    picture = drawers[name]()
    root = ET.fromstring(picture.svg())
    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == root.attrib["aria-label"] == picture.title
    assert root.findtext(f"{SVG}desc") == picture.description
    assert list(root.iter(f"{SVG}script")) == []
    assert r"$\frac{1}{$ & 漢字" in texts(picture)
    assert picture._repr_svg_().startswith("<svg ")


@pytest.mark.parametrize("name", ["forest", "calibration"])
def test_a_picture_is_the_same_each_time(name: str, drawers: dict[str, Callable[[], Picture]]) -> None:
    """Equal runs make equal bytes, and nothing of matplotlib's settings is changed."""
    before = dict(mpl.rcParams)
    assert drawers[name]().svg() == drawers[name]().svg()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_a_picture_is_saved_as_its_ending_says(ending: str, calibration: Path, tmp_path: Path) -> None:
    """The file is what its name says."""
    calibration.write_text(calibration.read_text().replace("\\u6f22\\u5b57", ""))
    path = calibration_plot(calibration).save(tmp_path / f"picture.{ending}")
    begins = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    assert path.read_bytes().startswith(begins[ending])


def test_a_forest_has_each_comparison(drawers: dict[str, Callable[[], Picture]]) -> None:
    """Its words are those of the reports."""
    (row,) = [row for row in runs(compared()).comparisons() if row["lift_lower"] is not None]
    words = f"{row['lift'] * 100:+.1f} ({row['lift_lower'] * 100:+.1f} to {row['lift_upper'] * 100:+.1f})"
    assert words in texts(drawers["forest"]())


def test_cost_is_not_invented(tmp_path: Path) -> None:
    """Groups of which a trial does not report its cost are named and not drawn; where none does, that is said."""
    for _, view in contract_views():
        found = runs(view)
        known: dict[str, list[object]] = {}
        for trial in found.trials():
            if trial["passed"] is not None:
                known.setdefault(trial["arm"], []).append(trial["cost_usd"])
        if all(None in costs for costs in known.values()):
            with pytest.raises(UsageError, match="cost_usd"):
                cost_plot(found)


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_name": "other"}', None])
def test_what_is_no_calibration_is_told(content: str | None, tmp_path: Path) -> None:
    """The error names the file and the command that writes one."""
    path = tmp_path / "labels.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError) as caught:
        calibration_plot(path)
    (problem,) = caught.value.problems
    assert str(path) in problem.message
    assert "judge calibrate" in (problem.hint or "")


def test_without_comparisons_there_is_no_forest() -> None:
    """An empty picture is not drawn."""
    view = next(view for _, view in contract_views() if not view.summary.pairs)
    with pytest.raises(UsageError):
        forest_plot(runs(view))


def test_the_functions_are_part_of_the_package() -> None:
    """They are found under `skillgauge`."""
    assert skillgauge.forest_plot is forest_plot
    assert skillgauge.cost_plot is cost_plot
    assert skillgauge.calibration_plot is calibration_plot
