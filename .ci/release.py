"""Make and check everything of a release, and publish nothing: `dist/` holds what is to be uploaded afterwards.

    python .ci/release.py [TAG] [--built]

From a tag `v<version>` of the bundle (default: that of today's version), or `<distribution>-v<version>` of another one
that is released alone: the versions fit the tag; wheels and source distributions are built; an index would take them
(twine, check-wheel-contents); the bill of materials; and a statement of provenance in the form of in-toto and SLSA,
which names every file by its digest and the commit it was made from. `dist/upload` has them in order.
CI does the same on every push, so that a release is no adventure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dist
import publish
import sbom
from members import BUNDLE, ROOT, read, workspace

DIST = ROOT / "dist"
PROVENANCE = "provenance.intoto.json"
ACCEPTED = "W002,W007,W008"
"""What check-wheel-contents says and is meant: files of templates that are alike, and a bundle without code."""


def wrong_versions(tag: str) -> Iterator[str]:
    """Distributions that a tag does not fit: the one it names, and all that are of another minor version."""
    if "-v" in tag:
        named, _, version = tag.rpartition("-v")
    else:
        named, version = BUNDLE, tag.removeprefix("v")
    series = version.rpartition(".")[0]
    for member in workspace():
        wanted = version if member.name == named else f"{series}.*"
        if member.version != wanted and (member.name == named or member.version.rpartition(".")[0] != series):
            yield f"{member.name} has version {member.version}, and the tag {tag} wants {wanted}"
    if named not in {member.name for member in workspace()}:
        yield f"there is no distribution {named}, which the tag {tag} names"


def refused(wheels: Path) -> str:
    """What an index would object to; empty if nothing."""
    programs = Path(sys.executable).parent
    files = [str(path) for path in dist.files(wheels)]
    told = ""
    for command in (
        [programs / "twine", "check", "--strict", *files],
        [programs / "check-wheel-contents", "--ignore", ACCEPTED, *(name for name in files if name.endswith(".whl"))],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            told += done.stdout + done.stderr
    return told


def commit() -> str:
    """The commit that is built; marked if something was changed since."""
    git = ("git", "-C", str(ROOT))
    found = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False).stdout
    return f"{found or 'unknown'}{'-changed' if changed else ''}"


def provenance(wheels: Path, repository: str | None) -> dict[str, Any]:
    """The statement: what was made, from what, by which steps."""
    source = {"uri": f"git+{repository or 'file:.'}", "digest": {"gitCommit": commit()}}
    lock = {"uri": "requirements.lock", "digest": {"sha256": dist.digest(ROOT / "requirements.lock")}}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path.name, "digest": {"sha256": dist.digest(path)}} for path in dist.files(wheels)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:skillgauge:ci-dist",
                "externalParameters": {"command": "python .ci/release.py", "version": read(ROOT).version},
                "resolvedDependencies": [source, lock],
            },
            "runDetails": {"builder": {"id": repository or "urn:skillgauge:local"}},
        },
    }


def main() -> int:
    """Make and check all; say what is wrong; return 1 if something is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tag", nargs="?", default=f"v{read(ROOT).version}")
    parser.add_argument("--repository", default=dist.address(), help="address of the repository, for URLs and links")
    parser.add_argument("--built", action="store_true", help="take dist/wheels as `make wheels` has just left it")
    given = parser.parse_args()
    if wrong := list(wrong_versions(given.tag)):
        print("\n".join(wrong))
        return 1
    wheels = DIST / "wheels"
    if not given.built and dist.make(DIST, given.repository, sdist=True):
        return 1
    if told := refused(wheels):
        print(told)
        return 1
    statement = provenance(wheels, given.repository)
    (DIST / PROVENANCE).write_text(json.dumps(statement, indent=1) + "\n", "utf-8")
    publish.lay_out(wheels)
    print(f"{given.tag}: {len(statement['subject'])} files that an index would take; nothing was published")
    return sbom.main()


if __name__ == "__main__":
    sys.exit(main())
