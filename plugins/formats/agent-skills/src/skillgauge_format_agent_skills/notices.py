"""Remarks on runs, which every run is asked for: little is imported until one is of this format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api.report import Figure, GroupKey, RunView

from .options import FORMAT


def draft_figures(view: RunView, _folder: Path) -> Iterator[tuple[GroupKey, Figure]]:
    """Yield, for each group of a run whose suite has evals that nobody accepted yet, how many these are.

    They were kept because they told the arms apart once, so nothing follows from them for other prompts.
    """
    ours = {suite.id for suite in view.head.suites if suite.format == FORMAT}
    if not ours:
        return
    from .recognition.drafts import DRAFT  # noqa: PLC0415 - imports how suites are found, which few runs need again

    drafts = Counter(case.suite_id for case in view.cases() if case.suite_id in ours and DRAFT in case.tags)
    note = "nobody has accepted these drafts, and tasks among them were chosen because the skill made a difference"
    for group in view.summary.groups:
        if number := drafts[group.suite_id]:
            yield group.key, Figure(name="drafts", label="Cases that are drafts", value=number, note=note)
            note = ""  # once is enough
