"""For authors of plugins: fakes to test against, and a contract kit that checks a plugin against its kind."""

from .fakes import FakeAdapter, FakeEngine, FakeSandbox, FakeScorer, FakeWorkspace

__all__ = ["FakeAdapter", "FakeEngine", "FakeSandbox", "FakeScorer", "FakeWorkspace"]
