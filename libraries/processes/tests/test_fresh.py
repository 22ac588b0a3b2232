"""Commands that share nothing with others: each finds an empty home, and folders are made only where one is used."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from skillgauge.contract.sandboxes import Command, SandboxSpec
from skillgauge_processes._fresh import FreshHomes
from skillgauge_processes.running import Process
from skillgauge_processes.workspace import DirectoryWorkspace

GENEROUS_S = 30.0
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the commands are of a POSIX shell")

TRACES = {
    "a file in the home": 'echo x > "$HOME/.profile"',
    "a file for temporary ones": 'echo x > "$TMPDIR/left"',
    "a file beside both": 'echo x > "$HOME/../left"',
    "a file that is gone again": 'sleep 0.05; echo x > "$HOME/left"; rm "$HOME/left"',
    "other rights": 'chmod 755 "$HOME"',
    "rights that were there before": 'sleep 0.05; chmod 755 "$TMPDIR"; chmod 700 "$TMPDIR"',
    "no home at all": 'rmdir "$HOME"',
    "a link in place of the home": 'rmdir "$HOME"; ln -s /tmp "$HOME"',
    "another folder in its place": 'rmdir "$TMPDIR"; mkdir -m 700 "$TMPDIR"',
}


def within(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that must end at all."""
    return asyncio.run(asyncio.wait_for(coroutine, GENEROUS_S))


def opened() -> DirectoryWorkspace:
    """A workspace that is not open yet."""
    environ = {"PATH": os.environ["PATH"]}
    return DirectoryWorkspace(SandboxSpec(label="test"), environ, tier="local/none")


def shell(text: str) -> Command:
    """A command that shares nothing with others, and tells its home at the end."""
    return Command(argv=("sh", "-c", f'{text}; echo "$HOME"'), fresh=True)


async def home(place: DirectoryWorkspace, text: str = ":") -> str:
    """Run a command, and return the home that it had."""
    return (await (await place.start(shell(text))).wait()).stdout.decode().strip()


def test_what_was_left_as_it_was_is_used_again() -> None:
    """And nothing else is made: no home of the session, which only commands of an agent would have."""

    async def main() -> None:
        async with opened() as place:
            homes = {await home(place, "ls -A $HOME $TMPDIR") for _ in range(4)}
            assert len(homes) == 1
            made = sorted(str(path.relative_to(place.folder)) for path in place.folder.rglob("*"))
            assert made == ["fresh-1", "fresh-1/home", "fresh-1/tmp", "work"]

    within(main())


def test_a_home_goes_to_a_command_with_another_search_path(tmp_path: Path) -> None:
    """Who has it next finds his own programs, not those of the command before."""

    async def main() -> None:
        homes = FreshHomes(AsyncMock())
        ended = Mock(Process, has_ended=True)
        for path in ("/usr/bin", "/usr/bin", "/bin"):
            given = await homes.take(tmp_path, path)
            assert given.env == {"PATH": path, "HOME": f"{tmp_path}/fresh-1/home", "TMPDIR": f"{tmp_path}/fresh-1/tmp"}
            homes.lend(given, ended)

    within(main())


@pytest.mark.parametrize("trace", TRACES)
def test_a_home_with_a_trace_is_gone(trace: str) -> None:
    """The next command has another one, which is empty."""

    async def main() -> None:
        async with opened() as place:
            first = await home(place, TRACES[trace])
            second = await home(place, 'test -z "$(ls -A "$HOME" "$TMPDIR" | grep -v :)" || echo not empty')
            assert second
            assert second != first
            assert not Path(first).parent.exists()

    within(main())


def test_commands_at_once_have_homes_of_their_own() -> None:
    """One that still runs keeps its home, though it has written nothing there."""

    async def main() -> None:
        async with opened() as place:
            running = await place.start(shell('echo "$HOME" > begun; exec sleep 60'))
            begun = place.root / "begun"
            while not (begun.exists() and begun.read_text().endswith("\n")):
                await asyncio.sleep(0.01)
            assert await home(place) not in ("", begun.read_text().strip())
            await running.stop()

    within(main())


def test_a_home_of_the_session_is_made_when_it_is_wanted() -> None:
    """By a command without one of its own, or by the engine that asks for its path."""

    async def main() -> None:
        async with opened() as place:
            await home(place)
            assert not (place.folder / "home").exists()
            assert place.home.is_dir()
            assert place.tmp.is_dir()
        async with opened() as place:
            shown = await (await place.start(Command(argv=("sh", "-c", 'cd "$HOME" && cd "$TMPDIR" && pwd')))).wait()
            assert shown.stdout.decode().strip() == str(place.folder.resolve() / "tmp")

    within(main())
