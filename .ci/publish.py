"""Upload what `make release` has built, each distribution after those that it needs.

    python .ci/publish.py [--stages] [--to ADDRESS --check ADDRESS]

A resolver that runs in between finds no distribution without its needs. Stages follow the dependencies: what the core
stands on, the core, libraries, plugins, and the bundle last. Files that the index has already are passed over, so an
upload that broke off is repeated, and a release of one plugin uploads one plugin.
`--stages` uploads nothing and lays the files out as `dist/upload/<number>`, for a publisher that takes folders.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from packaging.requirements import Requirement

import dist
from members import BUNDLE, ROOT, workspace

UPLOAD = ROOT / "dist/upload"


def stages() -> Iterator[tuple[str, ...]]:
    """Yield the names of the distributions that may go up together, those that others need first; the bundle last."""
    names = {member.name for member in workspace()}
    needs = {
        member.name: {Requirement(text).name for text in member.requirements} & names - {member.name}
        for member in workspace()
        if member.name != BUNDLE
    }
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    while sorter.is_active():
        ready = tuple(sorted(sorter.get_ready()))
        yield ready
        sorter.done(*ready)
    yield (BUNDLE,)


def files_of(wheels: Path, names: tuple[str, ...]) -> list[Path]:
    """The built files of some distributions."""
    return [path for path in dist.files(wheels) if dist.project_of(path) in names]


def lay_out(wheels: Path, folder: Path = UPLOAD) -> list[Path]:
    """Copy the files into a folder for each stage; return these in their order."""
    shutil.rmtree(folder, ignore_errors=True)
    places = []
    for number, names in enumerate(stages(), 1):
        place = folder / str(number)
        place.mkdir(parents=True)
        for path in files_of(wheels, names):
            shutil.copy(path, place)
        places.append(place)
    return places


def upload(place: Path, to: str | None, check: str | None) -> bool:
    """Upload the files of one stage by uv, which reads its credentials from the environment; return if it worked."""
    where = ["--publish-url", to] if to else []
    where += ["--check-url", check] if check else []
    files = [str(path) for path in dist.files(place)]
    return subprocess.run([dist.UV, "publish", "--quiet", *where, *files], env=os.environ, check=False).returncode == 0


def main() -> int:
    """Lay out or upload; return 1 at the first stage that fails, with what to do next."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", action="store_true", help="lay the files out and upload nothing")
    parser.add_argument("--to", help="address that takes uploads; default: that of uv's settings")
    parser.add_argument("--check", help="address of the index that is asked what it has already")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist/wheels", help="where the files are")
    options = parser.parse_args()
    places = lay_out(options.wheels)
    if options.stages:
        print(f"{len(places)} stages in {UPLOAD.relative_to(ROOT)}")
        return 0
    for number, place in enumerate(places, 1):
        print(f"stage {number} of {len(places)}: {len(dist.files(place))} files", flush=True)
        if not upload(place, options.to, options.check):
            print("this stage failed, and later ones were not begun: run the same command again once it can work")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
