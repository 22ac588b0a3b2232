"""`map`: which skills of a catalogue fire for whose queries, which shadow others, and what to do about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click

from skillgauge.api import JsonObject
from skillgauge.api.run import EvaluationCommand, configured, evaluation_options, invocation

_TAKEN = frozenset(
    {
        "engine",
        "model",
        "record",
        "only_missing",
        "replay",
        "executor",
        "runs",
        "concurrency",
        "retries",
        "max_turns",
        "max_cost",
        "max_tokens",
        "seed",
        "timeout",
        "fresh",
        "untrusted",
        "sandbox",
        "keep_workspaces",
        "output_dir",
        "store",
        "dry_run",
    }
)
"""Options of `eval` that a map has as well: it grades nothing but firing, and writes reports of its own."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from skillgauge_skill_maps import MapDocument, MapPlanDocument  # noqa: PLC0415 - `--help` needs none of it

    return {"map": MapDocument.model_json_schema(), "map-plan": MapPlanDocument.model_json_schema()}


def _map(**values: Any) -> int:
    from .conclusion import make_map  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(click.get_current_context().obj, configured(values))
    return asyncio.run(make_map(call, values))


command = EvaluationCommand(
    "map",
    params=[
        click.Argument(["paths"], nargs=-1, required=True, metavar="SKILLS..."),
        click.Option(
            ["--leave-out", "leave_out"],
            type=click.IntRange(0),
            default=2,
            show_default=True,
            metavar="N",
            help="Suspects that are left out, at most, for each skill that fires too seldom; 0 leaves out none.",
        ),
        *(option for option in evaluation_options() if option.name in _TAKEN),
    ],
    callback=_map,
    examples=(
        "skillgauge map skills --engine claude-code --dry-run",
        "skillgauge map skills --engine claude-code --max-cost 20",
        "skillgauge map skills --replay recordings --json",
    ),
    help="Install all SKILLS together, ask every suite's queries, and show which skills shadow which.",
)
