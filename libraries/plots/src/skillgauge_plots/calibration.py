"""The calibration of a judge: how far it agrees with people, from the file that `judge calibrate` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from skillgauge.api import Problem, SourceSpan, UsageError
from skillgauge.api.report import percent

from .pictures import COLOURS, FAINT, MARKS, Picture, labelled, named, picture

_SCHEMA = "skillgauge-judge-calibration"
_RATES = {"sensitivity": "passes what people pass", "specificity": "fails what people fail"}
_Rate = tuple[str, Mapping[str, Any]]


def calibration_plot(file: str | os.PathLike[str] = "judge-calibration.json") -> Picture:
    """Draw how often a judge agrees with people on what they pass and on what they fail, in all and for each arm.

    Rates that differ between arms bias a lift, which is what this picture is looked at for.

    Args:
        file: the calibration that `skillgauge judge calibrate` wrote.

    Raises:
        UsageError: the file is no calibration.
    """
    document = _read(Path(file))
    lanes = [("all labels", document), *((named(arm["arm"]), arm) for arm in document["arms"])]
    described = [
        f"{name}: {_RATES[rate]} {percent(lane[rate]['rate'])} of {lane[rate]['n']}"
        for name, lane in lanes
        for rate in _RATES
    ]

    def draw(axes: Axes) -> None:
        for place, rate in enumerate(_RATES):
            _series(axes, lanes, rate, place)
        axes.set_yticks(range(len(lanes)), labels=[name for name, _ in reversed(lanes)], parse_math=False)
        axes.set_ylim(-0.6, len(lanes) - 0.4)
        axes.set_xlim(-2, 102)
        axes.axvline(50, color=FAINT, linewidth=1, linestyle=":")
        labelled(axes, "Share of labels in percent, with 95% intervals")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.5 / len(lanes)), ncols=2, frameon=False)

    return picture(
        draw,
        size=(6.5, 1.6 + 0.5 * len(lanes)),
        title=f"The judge beside people, {document['labels']} labels",
        description="; ".join(described),
    )


def _series(axes: Axes, lanes: Sequence[_Rate], rate: str, place: int) -> None:
    """Draw one of the rates of all lanes."""
    shift = 0.12 if place == 0 else -0.12
    label: str | None = f"The judge {_RATES[rate]}"
    for height, (_, lane) in enumerate(reversed(lanes)):
        value = lane[rate]
        if value["rate"] is None:
            continue
        if value["lower"] is not None and value["upper"] is not None:
            ends = [value["lower"] * 100, value["upper"] * 100]
            axes.plot(ends, [height + shift] * 2, color=COLOURS[place], linewidth=2)
        axes.plot(
            value["rate"] * 100,
            height + shift,
            MARKS[place],
            color=COLOURS[place],
            markersize=7,
            label=label,
            linestyle="none",
        )
        label = None


def _read(file: Path) -> Mapping[str, Any]:
    """Read a calibration.

    Raises:
        UsageError: the file is none.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(_problem(file, f"cannot be read: {error}")) from error
    if not isinstance(document, dict) or document.get("schema_name") != _SCHEMA:
        raise UsageError(_problem(file, "is no calibration of a judge"))
    return document


def _problem(file: Path, fault: str) -> Problem:
    hint = "Name the file that `skillgauge judge calibrate` wrote."
    return Problem("plots.calibration", f"{str(file)!r} {fault}", span=SourceSpan(str(file), 1, 1), hint=hint)
