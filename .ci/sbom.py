"""Write the bill of materials of everything that requirements.lock pins, as CycloneDX: `dist/sbom.cdx.json`.

Made from the lock and the projects here alone, so it needs no network and is the same for the same commit.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from members import ROOT

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def pinned(lock: str) -> list[dict[str, Any]]:
    """A component for each pin, with the hashes of all its files."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if match := _PIN.match(line):
            name, version = re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]
            place = f"pkg:pypi/{name}@{version}"
            found.append({"type": "library", "bom-ref": place, "name": name, "version": version, "purl": place})
        if hashes := _HASH.findall(line):
            found[-1].setdefault("hashes", []).extend({"alg": "SHA-256", "content": one} for one in hashes)
    return found


def own(root: Path) -> list[dict[str, Any]]:
    """A component for each distribution of this project."""
    projects = [
        tomllib.loads(path.read_text("utf-8"))["project"]
        for pattern in ("core", "libraries/*", "plugins/*/*")
        for path in sorted(root.glob(f"{pattern}/pyproject.toml"))
    ]
    return [
        {
            "type": "application" if project["name"] == "skillgauge-core" else "library",
            "bom-ref": f"pkg:pypi/{project['name']}@{project['version']}",
            "name": project["name"],
            "version": project["version"],
            "purl": f"pkg:pypi/{project['name']}@{project['version']}",
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }
        for project in projects
    ]


def document(root: Path = ROOT) -> dict[str, Any]:
    """The whole bill."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "skillgauge", "version": version}},
        "components": [*own(root), *pinned((root / "requirements.lock").read_text("utf-8"))],
    }


def main() -> int:
    """Write it, and say how many components it names."""
    path = ROOT / "dist/sbom.cdx.json"
    path.parent.mkdir(exist_ok=True)
    bill = document()
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {len(bill['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())
