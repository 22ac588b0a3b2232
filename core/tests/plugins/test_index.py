"""The index of installed plugins, as names are looked up in it."""

from __future__ import annotations

import pytest

from skillgauge.plugins.index import IndexEntry, PluginIndex


class TestNames:
    """How users mean an entry."""

    def test_find(self) -> None:
        """A short name finds every distribution's entry; a full one at most one, in any spelling."""
        index = PluginIndex(IndexEntry("scorers", "tolerance", "m", name, "1") for name in ("rival", "Acme.Scorers"))
        assert [entry.distribution for entry in index.find("scorers", "tolerance")] == ["Acme.Scorers", "rival"]
        assert [e.full_name for e in index.find("scorers", "acme_scorers:tolerance")] == ["Acme.Scorers:tolerance"]
        assert index.find("scorers", "nobody:tolerance") == ()
        assert [e.full_name for e in index.find("scorers", "scorers:tolerance")] == ["Acme.Scorers:tolerance"]
        assert index.find("scorers", "corers:tolerance") == ()
        assert index.find("engines", "tolerance") == ()

    @pytest.mark.parametrize("name", ["tolerance", "acme-scorers", "ACME_scorers", "acme.scorers:tolerance"])
    def test_is_named_by(self, name: str) -> None:
        """Entry name, distribution and both together mean an entry."""
        entry = IndexEntry("scorers", "tolerance", "m", "Acme-Scorers", "1")
        assert entry.is_named_by({name})
        assert not entry.is_named_by({"other", "other:tolerance", "acme-scorers:other"})

    @pytest.mark.parametrize("name", ["a", "alias", "acme", "other:far"])
    def test_meant_by(self, name: str) -> None:
        """Any name of a plugin means each of its entries: those of its kind that lead to the same place."""
        places = {"a": "m:x", "alias": "m : x", "b": "m:y", "c": "m"}
        entries = [IndexEntry("scorers", name, place, "acme", "1") for name, place in places.items()]
        far, judge = (
            IndexEntry("scorers", "far", "m:x [extra]", "other", "1"),
            IndexEntry("judges", "j", "m:x", "d", "1"),
        )
        meant = {entry.name for entry in PluginIndex([*entries, far, judge]).meant_by({name})}
        assert meant == {"a", "alias", "far"} | ({"b", "c"} if name == "acme" else set())

    def test_plus(self) -> None:
        """More entries make another index, sorted like the first."""
        index = PluginIndex([IndexEntry("scorers", "b", "m", "d", "1")])
        more = index.plus([IndexEntry("scorers", "a", "m", "d", "1")])
        assert [[one.name for one in each.entries()] for each in (index, more)] == [["b"], ["a", "b"]]

    def test_failure(self) -> None:
        """A failure is that of a module in one version, whatever name it goes by, until the plugin loads."""
        entries = [
            IndexEntry("scorers", name, module, "acme", version)
            for name, module, version in (("a", "m", "1"), ("alias", "m", "1"), ("b", "other", "1"), ("a", "m", "2"))
        ]
        index = PluginIndex(entries)
        index.record_failure(entries[1], "ImportError: no")
        assert index.recorded_failures() == dict.fromkeys(entries[:2], "ImportError: no")
        index.clear_failure(entries[0])
        assert index.recorded_failures() == {}
