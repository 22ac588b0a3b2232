"""Names that people know from elsewhere lead to an engine."""

from __future__ import annotations

import pytest

from skillgauge.plugins.installed import read_index
from skillgauge.plugins.registry import Registry


@pytest.mark.requirement("BF-RUN-004")
@pytest.mark.parametrize("name", ["claude-agent-acp", "codex-acp", "gemini"])
def test_agents_of_benchflow(name: str) -> None:
    """Alone and with the plugin's short name they mean an engine that is installed."""
    registry = Registry(read_index())
    for asked in (name, f"acp:{name}", f"skillgauge-engine-acp:{name}"):
        resolved = registry.resolve("engines", asked)
        assert (resolved.name, resolved.distribution) == (name, "skillgauge-engine-acp")
