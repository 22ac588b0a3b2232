"""The options of loading."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillgauge.api import Frozen, LoadOption

OPTION = "--real-servers"


class PluginEvalOptions(Frozen):
    """Options of the commands that load suites, and of the configuration."""

    real_servers: Annotated[bool, LoadOption(OPTION)] = Field(
        default=False,
        description="Start the MCP servers of a Claude Code plugin under test that no folder `mocks` answers for.",
    )
