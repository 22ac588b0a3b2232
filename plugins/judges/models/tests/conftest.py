"""The judges of this distribution, and a server that plays their models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillgauge_judges.plugin import skillgauge_judges
from skillgauge_testkit import ModelServer

PROVIDERS = {provider.name: provider for provider in skillgauge_judges()}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server for one test."""
    with ModelServer() as server:
        yield server
