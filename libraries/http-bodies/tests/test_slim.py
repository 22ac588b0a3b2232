"""httpx is whole, and nobody pays for its command-line program."""

from __future__ import annotations

import subprocess
import sys

import pytest


def imported(program: str) -> list[str]:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_its_program_is_not_imported() -> None:
    """Neither the program nor what it alone needs is there, and nothing stands in its place."""
    program = """import sys
from skillgauge_http_bodies.slim import httpx
print(httpx.URL("http://a/b").path, *({"httpx._main", "rich", "pygments", "click"} & set(sys.modules)))
"""
    assert imported(program) == ["/b"]


def test_its_program_can_be_imported_later() -> None:
    """Whoever wants the program gets it."""
    pytest.importorskip("rich")
    program = """from skillgauge_http_bodies.slim import httpx
import httpx._main
print(httpx._main.main.name)
"""
    assert imported(program) == ["main"]


def test_a_library_that_is_there_already_is_left_alone() -> None:
    """The same module is given, with its program if it has one."""
    program = """import httpx, sys
before = set(sys.modules)
from skillgauge_http_bodies.slim import httpx as given
print(given is httpx, *(before - set(sys.modules)))
"""
    assert imported(program) == ["True"]
