"""Addresses of pages: on the server, and as files that lie beside each other."""

from __future__ import annotations

import hashlib
import re
from typing import Protocol
from urllib.parse import quote, urlencode

_SIMPLE = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Ids of runs that may stand in an address and in a file name; others are named by a digest."""


def key_of(run_id: str) -> str:
    """The name of a run in addresses: its id, or a digest of an id that cannot stand there."""
    if _SIMPLE.fullmatch(run_id):
        return run_id
    return hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Links(Protocol):
    """The addresses that pages name each other by."""

    is_served: bool
    """True if a server answers, so that a page can be asked with a query."""

    @property
    def has_list(self) -> bool:
        """True if there is a list of runs."""

    def runs(self, **query: str) -> str:
        """The list of runs."""

    def run(self, key: str, **query: str) -> str:
        """A run."""

    def case(self, key: str, case: str) -> str:
        """A case of a run."""

    def trial(self, key: str, ordinal: int, **query: str) -> str:
        """A trial with its whole session."""

    def comparison(self, before: str, after: str) -> str:
        """The comparison of two runs."""

    def labels(self, key: str, **query: str) -> str:
        """The next check of a run to label."""

    def judges(self, key: str) -> str:
        """The labels of a run beside what its judges said."""

    def notes(self, key: str) -> str:
        """Takes what a person says of a run."""

    def stop(self, key: str) -> str:
        """Stops a run that goes on."""

    def trial_notes(self, key: str, ordinal: int) -> str:
        """Takes what a person says of a trial."""

    def report(self, key: str, reporter: str) -> str:
        """A run as a report, to be downloaded."""

    def history(self, target: str) -> str:
        """The runs of a skill."""

    def map(self, key: str) -> str:
        """The map of a catalogue."""


class ServedLinks:
    """Addresses on the server."""

    is_served = True
    has_list = True

    def runs(self, **query: str) -> str:
        """See `Links.runs`."""
        return f"/runs{_query(query)}"

    def run(self, key: str, **query: str) -> str:
        """See `Links.run`."""
        return f"/runs/{key}{_query(query)}"

    def case(self, key: str, case: str) -> str:
        """See `Links.case`."""
        return f"/runs/{key}/cases/{case}"

    def trial(self, key: str, ordinal: int, **query: str) -> str:
        """See `Links.trial`."""
        return f"/runs/{key}/trials/{ordinal}{_query(query)}"

    def comparison(self, before: str, after: str) -> str:
        """See `Links.comparison`."""
        return f"/compare{_query({'a': before, 'b': after})}"

    def labels(self, key: str, **query: str) -> str:
        """See `Links.labels`."""
        return f"/runs/{key}/labels{_query(query)}"

    def judges(self, key: str) -> str:
        """See `Links.judges`."""
        return f"/runs/{key}/judges"

    def notes(self, key: str) -> str:
        """See `Links.notes`."""
        return f"/runs/{key}/notes"

    def stop(self, key: str) -> str:
        """See `Links.stop`."""
        return f"/runs/{key}/stop"

    def trial_notes(self, key: str, ordinal: int) -> str:
        """See `Links.trial_notes`."""
        return f"/runs/{key}/trials/{ordinal}/notes"

    def report(self, key: str, reporter: str) -> str:
        """See `Links.report`."""
        return f"/runs/{key}/reports/{quote(reporter, safe='')}"

    def history(self, target: str) -> str:
        """See `Links.history`."""
        return f"/history{_query({'skill': target})}"

    def map(self, key: str) -> str:
        """See `Links.map`."""
        return f"/maps/{key}"


class FileLinks:
    """Names of files in one folder; queries are dropped, since nothing answers them.

    Args:
        first: the run whose page is `index.html`; `None` if that is the list of runs.
    """

    is_served = False

    def __init__(self, first: str | None) -> None:
        self._first = first

    @property
    def has_list(self) -> bool:
        """See `Links.has_list`."""
        return self._first is None

    def runs(self, **_query: str) -> str:
        """See `Links.runs`."""
        return "index.html"

    def run(self, key: str, **_query: str) -> str:
        """See `Links.run`."""
        return "index.html" if key == self._first else f"run-{key}.html"

    def case(self, key: str, case: str) -> str:
        """See `Links.case`."""
        return f"run-{key}-case-{case}.html"

    def trial(self, key: str, ordinal: int, **_query: str) -> str:
        """See `Links.trial`."""
        return f"run-{key}-trial-{ordinal}.html"

    def comparison(self, before: str, after: str) -> str:
        """See `Links.comparison`."""
        return f"compare-{before}-{after}.html"

    def labels(self, key: str, **_query: str) -> str:
        """See `Links.labels`; only a server takes labels."""
        return self.run(key)

    def judges(self, key: str) -> str:
        """See `Links.judges`."""
        return self.run(key)

    def notes(self, key: str) -> str:
        """See `Links.notes`; only a server takes them."""
        return self.run(key)

    def stop(self, key: str) -> str:
        """See `Links.stop`; only a server stops runs."""
        return self.run(key)

    def trial_notes(self, key: str, ordinal: int) -> str:
        """See `Links.trial_notes`; only a server takes them."""
        return self.trial(key, ordinal)

    def report(self, key: str, reporter: str) -> str:
        """See `Links.report`."""
        return self.run(key)

    def history(self, target: str) -> str:
        """See `Links.history`."""
        return f"history-{key_of(target)}.html"

    def map(self, key: str) -> str:
        """See `Links.map`."""
        return f"map-{key}.html"


def _query(values: dict[str, str]) -> str:
    kept = {name: value for name, value in values.items() if value}
    return f"?{urlencode(kept)}" if kept else ""
