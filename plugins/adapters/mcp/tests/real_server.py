"""A server made with the library, over stdio or, given a port, over streamable HTTP."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server import MCPServer

server = MCPServer("real", log_level="ERROR")


@server.tool()
async def echo(value: str, wait_s: float = 0) -> dict[str, str]:
    """Answer with what was given."""
    await asyncio.sleep(wait_s)
    return {"echo": value}


@server.tool()
def plain(value: str) -> str:
    """Answer with a text."""
    return value


@server.tool()
def fail() -> str:
    """Raise."""
    raise ValueError("out of order")


@server.tool()
def die() -> str:
    """End the process."""
    os._exit(5)


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
