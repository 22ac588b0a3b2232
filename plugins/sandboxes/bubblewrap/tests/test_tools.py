"""Which folders are shown because programs live there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skillgauge_sandbox_bubblewrap.tools import tool_paths


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home like many."""
    home = tmp_path / "home"
    for path in (
        ".local/bin",
        ".local/lib/python3.11",
        ".local/share/app/versions",
        ".ssh",
        "bin",
        "lib",
        ".pyenv/shims",
        ".pyenv/versions/3.12/bin",
        "node/lib/node_modules/agent",
        "project/node_modules/tool",
        "venv/bin",
        "base/bin",
        "base/lib",
    ):
        (home / path).mkdir(parents=True)
    return home


def program(path: Path) -> Path:
    """Something that can be run."""
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def shown(home: Path, *path: str) -> set[str]:
    """What is shown of the home for a search path, relative to it."""
    environ = {"HOME": str(home), "PATH": ":".join(path)}
    return {str(one.relative_to(home)) for one in tool_paths(environ) if one.is_relative_to(home)}


def test_folder_and_its_libraries(home: Path) -> None:
    """Of a prefix the programs and libraries are shown, what else it holds is not."""
    assert shown(home, f"{home}/.local/bin") == {".local/bin", ".local/lib"}


def test_folder_of_the_home_itself(home: Path) -> None:
    """Of `~/bin` only itself is shown: `~/lib` need have nothing to do with it."""
    assert shown(home, f"{home}/bin") == {"bin"}


@pytest.mark.parametrize("entry", ["{home}", "{home}/..", "/", "", ".", "relative/bin", "/tmp", "/no/such/bin"])
def test_half_of_the_machine_is_no_tool(home: Path, entry: str) -> None:
    """A search path that names a home, what holds it, or no absolute folder, shows nothing of it."""
    places = tool_paths({"HOME": str(home), "PATH": entry.format(home=home)})
    assert not [place for place in places if home.is_relative_to(place) or place.is_relative_to(home)]


def test_shims_need_what_is_around_them(home: Path) -> None:
    """A folder of shims shows the whole that it belongs to."""
    assert shown(home, f"{home}/.pyenv/shims") == {".pyenv"}


def test_links_lead_into_other_installations(home: Path) -> None:
    """A linked program is shown with its prefix, with its node_modules, or alone, depending on where it lies."""
    program(home / ".local/share/app/versions/2.1")
    program(home / "project/node_modules/tool/cli.js")
    program(home / "base/bin/other")
    (home / "bin/app").symlink_to(home / ".local/share/app/versions/2.1")
    (home / "bin/tool").symlink_to("../project/node_modules/tool/cli.js")
    (home / "bin/other").symlink_to(home / "base/bin/other")
    (home / "bin/gone").symlink_to(home / "nothing")
    (home / "bin/key").symlink_to(home / ".ssh")
    wanted = {"bin", ".local/share/app/versions/2.1", "project/node_modules", "base/bin", "base/lib"}
    assert shown(home, f"{home}/bin") == wanted


def test_virtual_environment_and_what_it_rests_on(home: Path) -> None:
    """A virtual environment is shown as a whole, and so is the Python that its settings name."""
    (home / "venv/pyvenv.cfg").write_text(f"home = {home}/base/bin\nversion = 3.11\n")
    assert shown(home, f"{home}/venv/bin") == {"venv", "venv/bin", "base/bin", "base/lib"}


def test_our_own_python_is_shown(home: Path) -> None:
    """The interpreter that runs skillgauge can be run inside, whatever the search path says."""
    places = tool_paths({"HOME": str(home), "PATH": "/usr/bin"})
    for path in (Path(sys.executable), Path(sys.executable).resolve()):
        assert path.parts[1] == "usr" or any(path.is_relative_to(place) for place in places)
