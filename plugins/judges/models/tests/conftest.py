"""The judges of this distribution, and a server that plays their models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillgauge_judges import anthropic_plugin, gemini_plugin, openai_plugin
from skillgauge_testkit import ModelServer

PLUGINS = (anthropic_plugin, gemini_plugin, openai_plugin)
PROVIDERS = {provider.name: provider for plugin in PLUGINS for provider in plugin.skillgauge_judges()}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server
