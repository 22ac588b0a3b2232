"""Announces the reporters of the format's own documents; what they do is in `reporter` and `jobs`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Reporter, hookimpl


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `benchflow` and `benchflow-jobs`."""
    yield Provider(
        name="benchflow",
        factory="skillgauge_format_benchflow.reporter:BenchflowReporter",
        summary="Lift of the reward by agent and model, with and without the skill, and every case.",
    )
    yield Provider(
        name="benchflow-jobs",
        factory="skillgauge_format_benchflow.jobs:JobsReporter",
        summary="The tree of results that BenchFlow keeps, a folder for each rollout; also read.",
    )
