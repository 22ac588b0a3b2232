"""Announces the format; its functions are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, SuiteFormat, format_of, hookimpl

from .options import BenchflowOptions


@hookimpl
def skillgauge_formats() -> Iterable[Provider[SuiteFormat]]:
    """Announce `benchflow`."""
    yield Provider(
        name="benchflow",
        options=BenchflowOptions,
        factory=format_of(
            claim="skillgauge_format_benchflow.claiming:claim",
            load="skillgauge_format_benchflow.loading:load",
            dump="skillgauge_format_benchflow.dumping:dump",
            figures="skillgauge_format_benchflow.figures:figures",
        ),
        summary="evals/evals.json beside SKILL.md with `cases`, as BenchFlow has it: lift of a reward.",
        schemas="skillgauge_format_benchflow.files:schemas",
    )
