"""Write `requirements.lock`: every third-party package of every member, pinned, hashed, without an address.

    python .ci/lock.py                  # keep today's pins, add what is missing, drop what nobody needs
    python .ci/lock.py --upgrade        # the newest of everything
    python .ci/lock.py --upgrade A B    # the newest of these, today's pins for the rest

The lock is resolved in a temporary copy of the workspace's `pyproject.toml` files, because uv's own `uv.lock`
records registry addresses and so has no place in the repository.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from members import ROOT, read, workspace

LOCK = ROOT / "requirements.lock"
EXPORT = ["--all-packages", "--all-extras", "--no-emit-workspace", "--no-header", "--no-annotate"]
HEADER = "# Written by `make lock`. What every member and development need, for every supported Python.\n"


def pins(text: str) -> list[str]:
    """The `name==version ; marker` part of each entry of a lock."""
    return re.findall(r"^([a-zA-Z0-9][^\\\n]*?) *\\?$", text, flags=re.MULTILINE)


def name_of(pin: str) -> str:
    """The normalised name in a pin."""
    return re.sub(r"[-_.]+", "-", re.split(r"[=\[; ]", pin, maxsplit=1)[0]).lower()


def root_pyproject(constraints: list[str]) -> str:
    """The root's `pyproject.toml` with the pins to keep and with each member as a source."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = sorted(member.name for member in workspace())
    others = [name for name in names if name not in read(ROOT).pyproject["tool"]["uv"]["sources"]]
    sources = "".join(f"{name} = {{ workspace = true }}\n" for name in others)
    quoted = "".join(f"    {pin!r},\n" for pin in constraints)
    for heading, replacement in {
        "[tool.uv.workspace]\n": f"[tool.uv]\nconstraint-dependencies = [\n{quoted}]\n\n[tool.uv.workspace]\n",
        "[tool.uv.sources]\n": f"[tool.uv.sources]\n{sources}",
    }.items():
        if text.count(heading) != 1:
            sys.exit(f"pyproject.toml: expected {heading.strip()} exactly once")
        text = text.replace(heading, replacement)
    return text


def resolve(folder: Path, constraints: list[str]) -> str:
    """Resolve the workspace copied into `folder` and return the lock's text."""
    for member in workspace():
        copy = folder / member.folder.relative_to(ROOT)
        copy.mkdir(parents=True, exist_ok=True)
        (copy / "pyproject.toml").write_bytes((member.folder / "pyproject.toml").read_bytes())
    (folder / "pyproject.toml").write_text(root_pyproject(constraints), encoding="utf-8")
    uv = [str(Path(sys.executable).parent / "uv"), "--quiet", "--project", str(folder)]
    if subprocess.run([*uv, "lock"], check=False).returncode:
        sys.exit("no solution; if today's pins stand in the way: make lock UPGRADE=1, or UPGRADE='name name'")
    done = subprocess.run([*uv, "export", "--frozen", *EXPORT], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def main() -> None:
    """Resolve, check and write the lock."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upgrade", nargs="*", metavar="NAME", help="all, or only these, to their newest version")
    upgrade: list[str] | None = parser.parse_args().upgrade
    old = pins(LOCK.read_text(encoding="utf-8")) if LOCK.exists() and upgrade != [] else []
    keep = [pin for pin in old if name_of(pin) not in {name_of(name) for name in upgrade or []}]
    with tempfile.TemporaryDirectory() as folder:
        text = resolve(Path(folder), keep)
    if "://" in text or "file:" in text:
        sys.exit("an address got into the lock; it was not written")
    LOCK.write_text(HEADER + text, encoding="utf-8")
    print(f"{LOCK.name}: {len(pins(text))} packages")


if __name__ == "__main__":
    main()
