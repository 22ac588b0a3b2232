"""The calculator as a tool of an MCP server on stdin and stdout."""

from typing import Literal

from calculator import answer
from mcp.server import MCPServer

server = MCPServer("calculator", log_level="ERROR")


@server.tool()
def calculate(
    expression: str | None = None,
    operation: Literal["reverse", "is_palindrome"] | None = None,
    input: str = "",  # noqa: A002 - the tool's argument has this name
) -> str:
    """Compute an arithmetic expression or a factorial, reverse a text, or say whether it is a palindrome."""
    return answer({"expression": expression, "operation": operation, "input": input})


if __name__ == "__main__":
    server.run()
