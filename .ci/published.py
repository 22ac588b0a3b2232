"""Write down which distribution of this project brings which plugin; install hints name nothing else."""

from __future__ import annotations

import json

from members import ROOT, libraries, plugins

TABLE = ROOT / "core/src/skillgauge/plugins/published.json"
_PREFIX = "skillgauge."


def table() -> str:
    """The table as it must be: by kind, and in it by the name that users type."""
    found: dict[str, dict[str, str]] = {}
    for member in [*libraries(), *plugins()]:
        for group, entries in member.pyproject["project"].get("entry-points", {}).items():
            kind = group.removeprefix(_PREFIX)
            if kind != group and not kind.startswith("config_"):
                found.setdefault(kind, {}).update(dict.fromkeys(entries, member.name))
    return json.dumps(found, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
