"""The server as a process, and a client of the protocol's library that speaks with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client

from skillgauge_testkit.program import PROGRAM, Program

ROOT = Path(__file__).resolve().parents[4]
AGENT = ROOT / "examples/agent"


class Session:
    """A client that is connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        """Take the client."""
        self._portal = portal
        self._client = client

    @property
    def instructions(self) -> str:
        """The words with which the server introduces itself."""
        return str(self._client.instructions)

    def tools(self) -> dict[str, Any]:
        """The tools by name."""
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def result(self, tool: str, **arguments: object) -> Any:
        """The result of a call."""
        return self._portal.call(self._client.call_tool, tool, arguments)

    def ask(self, tool: str, **arguments: object) -> Any:
        """The document or text of a call that succeeds."""
        result = self.result(tool, **arguments)
        assert not result.is_error, result.content
        structured = result.structured_content
        return structured["result"] if set(structured) == {"result"} else structured

    def refusal(self, tool: str, **arguments: object) -> str:
        """The words of a call that fails."""
        result = self.result(tool, **arguments)
        assert result.is_error, result
        return str(result.content[0].text)


Serve = Callable[..., AbstractContextManager[Session]]


@pytest.fixture
def skills(work: Path) -> Path:
    """A folder with the skill of the example, and a secret beside it."""
    shutil.copytree(AGENT / "release-notes", work / "skills/release-notes")
    shutil.copytree(AGENT / "recordings", work / "skills/recordings")
    (work / "outside").mkdir()
    (work / "outside/SKILL.md").write_text("---\nname: outside\ndescription: x\n---\nSecret.\n")
    return work / "skills"


@pytest.fixture
def serve(program: Program, skills: Path) -> Serve:
    """Start the server in a process, with a client."""

    @contextmanager
    def start(*arguments: str) -> Iterator[Session]:
        command = StdioServerParameters(
            command=str(PROGRAM), args=["mcp", str(skills), *arguments], env=dict(program.environment), cwd=program.work
        )
        with (program.work / "server.txt").open("w") as errors, start_blocking_portal() as portal:
            client = Client(stdio_client(command, errlog=errors))
            with portal.wrap_async_context_manager(client):
                yield Session(portal, client)

    return start
