"""No file of the repository says where its author's machine keeps things or gets them from."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from members import ROOT

# Written in pieces, so that this file passes its own test.
REGISTRIES = ("pypi.org/" + "simple", "files." + "pythonhosted.org", "registry." + "npmjs.org")
FOLDERS = ["/work" + "/", "/root" + "/"]
if len(ROOT.parts) > 3:  # this clone's own place, unless that is as short as a word
    FOLDERS.append(f"{ROOT}/")
FORBIDDEN = re.compile(
    "|".join([*map(re.escape, REGISTRIES), *(rf"(?<![\w.~*)}}-]){re.escape(folder)}" for folder in FOLDERS)])
)


def tracked() -> list[Path]:
    """The files of the repository: those that git knows, and new ones that it does not ignore."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git clone")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(listing, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()
    return [ROOT / name for name in sorted(set(output.split("\0"))) if name and (ROOT / name).is_file()]


def test_no_address_of_a_registry_and_no_path_of_a_machine() -> None:
    """Anyone may use another index, and a clone works wherever it lies."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if (match := FORBIDDEN.search(line))
    ]
    assert found == []


def test_no_package_is_tracked() -> None:
    """What a package index or a build made is fetched or built again, and never part of the history."""
    packages = [path.name for path in tracked() if path.suffix in {".whl", ".egg", ".zip", ".tgz"}]
    assert packages == []


def test_no_lock_with_addresses_is_tracked() -> None:
    """Lock formats that record registry addresses stay out; npm's can do without them, which test_engines checks."""
    names = {path.name for path in tracked()}
    assert names.isdisjoint({"uv.lock", "pylock.toml", "poetry.lock", "npm-shrinkwrap.json"})
    assert [path.parent.name for path in tracked() if path.name == "package-lock.json"] == ["collector", "engines"]
