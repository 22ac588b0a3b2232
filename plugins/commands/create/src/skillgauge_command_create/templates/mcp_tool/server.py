"""The skill as a tool of an MCP server, which skillgauge starts and speaks to over stdin and stdout.

`invoke` is what the skill does. Nothing else may write to stdout; logs belong on stderr.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

try:
    from mcp.server import MCPServer
except ImportError as error:
    sys.exit(f"{error}. This server needs the package mcp, version 2.3 or later: see README.md.")

server = MCPServer(Path(__file__).resolve().parent.name, log_level="WARNING")


@dataclass
class Answer:
    """What the tool returns; `outputSchema` in skill.json describes the same."""

    result: str


@server.tool()
def invoke(query: str) -> Answer:
    """Answer a query.

    Agents choose a tool by this text and by its parameters' names and types, which `inputSchema` in skill.json repeats.
    """
    return Answer(result=f"You asked: {query}")


if __name__ == "__main__":
    server.run()
