"""Announces the format; what it does is in `suite_format`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, hookimpl

from .options import BenchflowOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `benchflow`."""
    yield Provider(
        name="benchflow",
        options=BenchflowOptions,
        factory="skillgauge_format_benchflow.suite_format:BenchflowFormat",
        summary="evals/evals.json beside SKILL.md with `cases`, as BenchFlow has it: lift of a reward.",
        schemas="skillgauge_format_benchflow.files:schemas",
    )
