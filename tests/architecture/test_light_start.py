"""The command line starts without what it does not need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("pydantic", "yaml", "httpx", "mcp", "structlog", "stevedore", "pluggy", "asyncio", "sqlite3")
SCRIPT = """
import json, sys
sys.argv = ["skillgauge", *{arguments!r}]
from skillgauge.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    """Top-level modules that a command line imports."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", SCRIPT.format(arguments=list(arguments))], capture_output=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["plugins", "--help"]])
def test_help_imports_no_plugin_and_nothing_heavy(arguments: list[str]) -> None:
    """The help of the program names every command without importing one, nor any plugin."""
    names = imported(*arguments)
    heavy = HEAVY if "plugins" not in arguments else ("httpx", "mcp", "sqlite3", "yaml")
    assert not names & set(heavy)
    assert not {name for name in names if name.startswith("skillgauge_")}


def test_version_imports_next_to_nothing() -> None:
    """The version is printed before even click is imported."""
    assert "click" not in imported("--version")


def test_listing_plugins_imports_none() -> None:
    """`plugins list` answers from the index."""
    names = imported("plugins", "list")
    assert not {name for name in names if name.startswith("skillgauge_")}
