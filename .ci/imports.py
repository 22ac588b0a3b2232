"""Run the import contracts of the root `pyproject.toml` with every plugin of the workspace filled in.

import-linter wants each top-level package by name. So that a new plugin needs no entry, `skillgauge_*` in a
contract stands for all of them: each text that holds it is repeated once per plugin.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from members import ROOT, plugins, read

PLUGINS = "skillgauge_*"


def expanded(value: Any, modules: list[str]) -> Any:
    """`value` with `skillgauge_*` replaced by each plugin's module in turn."""
    if not isinstance(value, list):
        return value
    result = []
    for text in value:
        result += [text.replace(PLUGINS, module) for module in modules] if PLUGINS in text else [text]
    return result


def table(heading: str, values: dict[str, Any]) -> str:
    """A TOML table; JSON's texts, lists of texts and booleans are TOML's too."""
    return heading + "\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()) + "\n"


def main() -> int:
    """Write the completed configuration to a temporary file and let import-linter judge; return its exit code."""
    modules = [plugin.module for plugin in plugins()]
    settings = dict(read(ROOT).pyproject["tool"]["importlinter"])
    contracts = settings.pop("contracts")
    text = table("[tool.importlinter]", {key: expanded(value, modules) for key, value in settings.items()})
    for contract in contracts:
        complete = {key: expanded(value, modules) for key, value in contract.items()}
        if [] not in complete.values():  # without a plugin some contracts are about nothing
            text += table("[[tool.importlinter.contracts]]", complete)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "contracts.toml")
        config.write_text(text, encoding="utf-8")
        program = Path(sys.executable).parent / "lint-imports"
        return subprocess.run([program, "--no-logo", "--config", config], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
