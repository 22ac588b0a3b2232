"""Must never be imported."""

raise AssertionError("a plugin for another core was imported")
