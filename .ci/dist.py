"""Build what users install: `dist/wheels`, and `dist/index`, which pip takes for an index.

    python .ci/dist.py [--sdist] [--repository ADDRESS] [DIR]

Each distribution is built from a copy to which is added what is the same for all of them: the text of the licence,
classifiers, and project URLs. The links of its README lead into the repository, since an index shows the README far
from the files beside it. The address of the repository is that of `[tool.release]` in pyproject.toml, unless
`--repository` names another.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from members import ROOT, Member, read, workspace

UV = Path(sys.executable).parent / "uv"
CLASSIFIERS = (
    "Development Status :: 3 - Alpha",
    "Environment :: Console",
    "Intended Audience :: Developers",
    "Operating System :: MacOS",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: Python :: 3 :: Only",
    "Programming Language :: Python :: 3.11",
    "Programming Language :: Python :: 3.12",
    "Programming Language :: Python :: 3.13",
    "Topic :: Software Development :: Testing",
    "Typing :: Typed",
)
COMPILED = {
    "skillgauge-sandbox-bubblewrap": Path(
        "plugins/sandboxes/bubblewrap/src/skillgauge_sandbox_bubblewrap/native/launcher",
    )
}
"""Programs in distributions, which `.ci/launcher` has compiled where there is a compiler."""
PLATFORM = "manylinux_2_17_{0}.musllinux_1_1_{0}"
"""Machines that a program runs on which needs nothing but the kernel."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)")
_REMOTE = re.compile(r"(?:https://|git@|ssh://git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?$")


def address() -> str:
    """The address of the repository, as `[tool.release]` of the bundle has it."""
    return str(read(ROOT).pyproject["tool"]["release"]["repository"])


def origin() -> str | None:
    """The address of the repository that this clone was made from, if it is one of a host that shows files."""
    asked = subprocess.run(
        ["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    match = _REMOTE.fullmatch(asked)
    return f"https://{match[1]}/{match[2]}" if match else None


def readme(text: str, folder: Path, repository: str | None, version: str) -> str:
    """A README as an index may show it: every link leads somewhere, or is words."""

    def absolute(match: re.Match[str]) -> str:
        is_image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
        if repository is None:
            return "" if is_image else words
        place = Path(os.path.relpath(folder / target, ROOT)).as_posix()
        return f"{is_image}[{words}]({repository}/{'raw' if is_image else 'blob'}/v{version}/{place}{anchor})"

    return _LINK.sub(absolute, text)


def pyproject(member: Member, repository: str | None) -> str:
    """The project file with what is the same for all."""
    text = (member.folder / "pyproject.toml").read_text("utf-8")
    added = 'license = "Apache-2.0"\nlicense-files = ["LICENSE"]\n'
    if "classifiers" not in member.pyproject["project"]:
        added += f"classifiers = {json.dumps(CLASSIFIERS)}\n"
    if repository:
        place = member.folder.relative_to(ROOT).as_posix()
        urls = {
            "Source": f"{repository}/tree/v{member.version}/{place}".rstrip("/."),
            "Documentation": f"{repository}/tree/v{member.version}/docs",
            "Issues": f"{repository}/issues",
            "Changes": f"{repository}/blob/v{member.version}/CHANGELOG.md",
        }
        added += "urls = { " + ", ".join(f"{name} = {json.dumps(url)}" for name, url in urls.items()) + " }\n"
    assert text.count('license = "Apache-2.0"\n') == 1, member.name
    return text.replace('license = "Apache-2.0"\n', added)


def stage(folder: Path, repository: str | None) -> None:
    """Lay a copy of every distribution into a folder."""
    skip: Callable[..., set[str]] = shutil.ignore_patterns("__pycache__", *(path.name for path in COMPILED.values()))
    for member in workspace():
        copy = folder / member.folder.relative_to(ROOT)
        copy.mkdir(parents=True, exist_ok=True)
        if member.module:
            shutil.copytree(member.folder / "src", copy / "src", ignore=skip)
        shown = readme((member.folder / "README.md").read_text("utf-8"), member.folder, repository, member.version)
        (copy / "README.md").write_text(shown, "utf-8")
        (copy / "pyproject.toml").write_text(pyproject(member, repository), "utf-8")
        shutil.copyfile(ROOT / "LICENSE", copy / "LICENSE")


def build(wheels: Path, repository: str | None = None, *, sdist: bool = False) -> subprocess.CompletedProcess[str]:
    """Build all wheels, and with `sdist` the source distributions, too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        stage(folder, repository)
        return build_staged(folder, wheels, sdist=sdist)


def build_staged(folder: Path, wheels: Path, *, sdist: bool = False) -> subprocess.CompletedProcess[str]:
    """Build what `stage` has laid out.

    Where a program of a distribution was compiled here, it has a wheel for every machine, and one with the program. One
    that holds parts of glibc is not given to others, since its licence asks for more than ours.
    """
    done = _build(folder, wheels, "--all-packages", *(() if sdist else ("--wheel",)))
    for name, path in COMPILED.items():
        if done.returncode == 0 and (ROOT / path).exists() and b"glibc" not in (ROOT / path).read_bytes():
            shutil.copy2(ROOT / path, folder / path)
            apart = folder / "dist"
            done = _build(folder, apart, "--package", name, "--wheel")
            words = ("--platform-tag", PLATFORM.format(os.uname().machine), *apart.glob("*.whl"))
            subprocess.run([UV.with_name("wheel"), "tags", "--remove", *words], check=True, capture_output=True)
            (built,) = apart.glob("*.whl")
            shutil.move(built, wheels / built.name)
            (folder / path).unlink()
    return done


def _build(folder: Path, wheels: Path, *what: str) -> subprocess.CompletedProcess[str]:
    command = (UV, "build", "--quiet", "--offline", *what, "-o", wheels)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def files(wheels: Path) -> list[Path]:
    """What was built."""
    return sorted(path for path in wheels.iterdir() if path.suffix in {".whl", ".gz"})


def project_of(path: Path) -> str:
    """The name of the distribution that a built file is of."""
    return path.name.split("-")[0].replace("_", "-")


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_index(index: Path, wheels: Path) -> None:
    """Lay out a folder as pip asks an index: a page for each project, with links to its files and their digests."""
    shutil.rmtree(index, ignore_errors=True)
    projects: dict[str, list[Path]] = {}
    for path in files(wheels):
        projects.setdefault(project_of(path), []).append(path)
    for project, built in projects.items():
        place = index / project
        place.mkdir(parents=True)
        links = ((os.path.relpath(path, place), path.name, digest(path)) for path in built)
        rows = "".join(
            f'<a href="{html.escape(where)}#sha256={found}" data-requires-python="&gt;=3.11">{name}</a><br>\n'
            for where, name, found in links
        )
        (place / "index.html").write_text(f"<!DOCTYPE html><title>{project}</title>\n{rows}", "utf-8")
    rows = "".join(f'<a href="{project}/">{project}</a><br>\n' for project in sorted(projects))
    (index / "index.html").write_text(f"<!DOCTYPE html><title>skillgauge</title>\n{rows}", "utf-8")


def make(folder: Path, repository: str | None, *, sdist: bool = False) -> int:
    """Wheels, index and digests below a folder."""
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    done = build(wheels, repository, sdist=sdist)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return 1
    write_index(folder / "index", wheels)
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in files(wheels))
    (wheels / "SHA256SUMS").write_text(sums, "utf-8")
    shown = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    print(f"{len(files(wheels))} files in {shown}/wheels, version {read(ROOT).version}; install them with")
    for install in ("uv tool install --reinstall", "pip install"):  # uv's cache has the wheels of before
        print(f"  {install} --find-links {shown}/wheels skillgauge")
    return 0


def main() -> int:
    """Build into `dist`, or into the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", metavar="DIR")
    parser.add_argument("--sdist", action="store_true", help="source distributions, too")
    parser.add_argument("--repository", default=address(), help="address of the repository, for URLs and links")
    given = parser.parse_args()
    return make(given.folder.resolve(), given.repository, sdist=given.sdist)


if __name__ == "__main__":
    sys.exit(main())
