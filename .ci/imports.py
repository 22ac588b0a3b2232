"""Run the import contracts of the root `pyproject.toml` with every package of the workspace filled in.

import-linter wants each top-level package by name. So that a new one needs no entry, a contract holds words that stand
for many: `skillgauge_*` for every library and plugin, `skillgauge_<library>` and `skillgauge_<plugin>` for those alone;
`skillgauge_<foundation>` for the libraries that the core itself stands on, which are among none of these.
Each text with such a word is repeated once per package.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from members import ROOT, foundations, libraries, plugins, read


def expanded(value: Any, modules: dict[str, list[str]]) -> Any:
    """`value` with each word replaced by the modules that it stands for, in turn."""
    if not isinstance(value, list):
        return value
    result = []
    for text in value:
        word = next((word for word in modules if word in text), None)
        result += [text.replace(word, module) for module in modules[word]] if word else [text]
    return result


def table(heading: str, values: dict[str, Any]) -> str:
    """A TOML table; JSON's texts, lists of texts and booleans are TOML's too."""
    return heading + "\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()) + "\n"


def main() -> int:
    """Write the completed configuration to a temporary file and let import-linter judge; return its exit code."""
    shared, announced = ([member.module for member in members()] for members in (libraries, plugins))
    modules = {
        "skillgauge_*": [*shared, *announced],
        "skillgauge_<library>": shared,
        "skillgauge_<plugin>": announced,
        "skillgauge_<foundation>": [member.module for member in foundations()],
    }
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
