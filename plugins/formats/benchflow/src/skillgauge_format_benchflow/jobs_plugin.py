"""Announces the reporter of BenchFlow's tree of results; what it does is in `jobs`.

It is not in `reporter_plugin`, so that each of the two reporters can be blocked alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, hookimpl
from skillgauge.api.report import Reporter


@hookimpl
def skillgauge_reporters() -> Iterable[Provider[Reporter]]:
    """Announce `benchflow-jobs`."""
    yield Provider(
        name="benchflow-jobs",
        factory="skillgauge_format_benchflow.jobs:JobsReporter",
        summary="The tree of results that BenchFlow keeps, a folder for each rollout; also read.",
    )
