"""Size of the core installed alone, with what it stands on, from wheels, in a clean environment.

Run: python benchmarks/footprint.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from measure import machine, verdict

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).parent / "uv"
MAX_MB, MAX_DISTRIBUTIONS = 25, 13


def main() -> None:
    """Measure and print."""
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for member in (ROOT / "libraries/documents", ROOT / "core"):
            subprocess.run([UV, "build", "--quiet", "--wheel", "-o", folder, member], check=True)
        site = folder / "site"
        lock = ROOT / "requirements.lock"
        pins = [line.split(" ;")[0].rstrip(" \\") for line in lock.read_text().splitlines() if "==" in line]
        constraints = folder / "constraints.txt"
        constraints.write_text("\n".join(pins))
        command = [UV, "pip", "install", "--quiet", "--python", sys.executable, "--target", site]
        subprocess.run([*command, "--constraint", constraints, *folder.glob("*.whl")], check=True)
        size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
        distributions = len(list(site.glob("*.dist-info")))
    print(f"{size:.1f} MB (goal {MAX_MB}): {verdict(size <= MAX_MB)}")
    print(f"{distributions} distributions (goal {MAX_DISTRIBUTIONS}): {verdict(distributions <= MAX_DISTRIBUTIONS)}")


if __name__ == "__main__":
    main()
