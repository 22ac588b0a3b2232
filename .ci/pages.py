"""Make the site from the pages of the repository: `dist/site`.

The pages are gathered in a folder of their own, since mkdocs takes pages from one folder only and ours lie beside what
they describe: `docs/`, the README of every distribution, the examples, the decision records, what is said of changes.
Links between them are followed wherever they lead; a link to a file that is no page becomes plain text. Pages of
reference are made from the program. A page that `.ci/mkdocs.yml` does not place gets into the site all the same, and
`tests/architecture/test_site.py` asks for its place.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

import reference
from members import ROOT, Member, foundations, libraries, plugins, read

CONFIG = ROOT / ".ci/mkdocs.yml"
GATHERED = ROOT / "build/pages"
SITE = ROOT / "dist/site"

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```.*?^```$|(?: {4}[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
_CHANGES = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}


def members() -> list[Member]:
    """Every distribution that has a page."""
    return [read(ROOT / "core"), *foundations(), *libraries(), *plugins()]


def pages() -> dict[Path, PurePosixPath]:
    """Every file that becomes a page or belongs to one, and its place in the site."""
    docs = ROOT / "docs"
    found = {
        path: PurePosixPath(path.relative_to(docs).as_posix())
        for path in sorted(docs.rglob("*"))
        if path.is_file() and path.suffix in {".md", ".png", ".svg", ".css", ".js", ".json", ".yaml"}
    }
    found |= {member.folder / "README.md": PurePosixPath(f"packages/{member.name}.md") for member in members()}
    for path in sorted(ROOT.glob("plugins/*/*/CONFORMANCE.md")):
        found[path] = PurePosixPath(f"packages/{path.parent.name}-conformance.md")
    found |= example_pages()
    found[ROOT / "CONTRIBUTING.md"] = PurePosixPath("contributing.md")
    found[ROOT / "benchmarks/RESULTS.md"] = PurePosixPath("benchmarks.md")
    for path in (ROOT / "CHANGELOG.md", ROOT / "changelog.d/README.md"):
        found[path] = PurePosixPath("changes.md")
    found[ROOT / "README.md"] = PurePosixPath("index.md")
    for index in (docs / "adr/README.md", docs / "adr"):
        found[index] = PurePosixPath("adr/index.md")
    return found


def linked(text: str, source: Path, places: Mapping[Path, PurePosixPath]) -> str:
    """A page with its links as they are in the site; what leads to no page keeps its words alone."""
    here = places[source].parent

    def replaced(match: re.Match[str]) -> str:
        is_image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
        place = places.get((source.parent / target).resolve())
        if place is None:
            return "" if is_image else words
        return f"{is_image}[{words}]({os.path.relpath(place, here)}{anchor})"

    pieces = _FENCE.split(text)
    return "".join(piece if number % 2 else _LINK.sub(replaced, piece) for number, piece in enumerate(pieces))


def changes(root: Path = ROOT) -> str:
    """The changelog, followed by the fragments that it does not hold yet."""
    sections = []
    for kind, title in _CHANGES.items():
        fragments = sorted((root / "changelog.d").glob(f"*.{kind}.md"))
        entries = [f"- {' '.join(fragment.read_text('utf-8').split())}\n" for fragment in fragments]
        if entries:
            sections.append(f"\n### {title}\n\n{''.join(entries)}")
    heading = "\n## Newest changes (unreleased)\n" if sections else ""
    return (root / "CHANGELOG.md").read_text("utf-8") + heading + "".join(sections)


def example_pages() -> dict[Path, PurePosixPath]:
    """The README of each example, by where it lies."""
    found = {}
    for path in sorted(ROOT.glob("examples/**/README.md")):
        folder = path.parent.relative_to(ROOT / "examples")
        found[path] = PurePosixPath("examples", f"{'-'.join(folder.parts)}.md")
    return found


def examples() -> str:
    """The list of examples."""
    lines = [
        "# Examples\n",
        "Projects in the folder `examples` of the repository; tests build, install and run them.\n",
    ]
    for path, place in example_pages().items():
        title, _, rest = path.read_text("utf-8").partition("\n")
        summary = _LINK.sub(r"\2", " ".join(rest.strip().partition("\n\n")[0].split()))
        lines.append(f"- [{title.removeprefix('# ')}]({place.name}): {summary}")
    return "\n".join(lines) + "\n"


def packages() -> str:
    """The list of libraries and of the core; plugins have a page of reference."""
    rows = "".join(
        f"| [{one.name}]({one.name}.md) | {one.pyproject['project']['description']} |\n"
        for one in members()
        if not one.folder.is_relative_to(ROOT / "plugins")
    )
    plugins_are_there = "[plugins](../reference/plugins.md) have a list of their own."
    head = "| distribution | what it is |\n|---|---|\n"
    return f"# Core and libraries\n\nWhat plugins have in common; {plugins_are_there}\n\n{head}{rows}"


def generated() -> Iterator[tuple[str, str]]:
    """Place and text of every page that is made from the program and from lists."""
    schemas = reference.schemas()
    yield "reference/commands.md", reference.commands_page()
    yield "reference/plugins.md", reference.plugins_page()
    yield "reference/schemas.md", reference.schemas_page(schemas)
    yield "reference/exit-codes.md", reference.exit_codes_page()
    for name, schema in schemas.items():
        yield f"reference/schemas/{name}.schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    yield "examples/index.md", examples()
    yield "packages/index.md", packages()


def gather(folder: Path = GATHERED) -> list[PurePosixPath]:
    """Lay all pages into a folder; the places of those that are text."""
    shutil.rmtree(folder, ignore_errors=True)
    places = pages()
    texts = {PurePosixPath(place): text for place, text in generated()}
    for source, place in places.items():
        if not source.is_file():
            continue
        if source.suffix != ".md":
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / place)
        elif place not in texts:
            texts[place] = _text_of_page(source, place, places)
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, "utf-8")
    return sorted(place for place in texts if place.suffix == ".md")


def _text_of_page(source: Path, place: PurePosixPath, places: Mapping[Path, PurePosixPath]) -> str:
    """The text of a page with its links and tables; that of a package ends with the options of its plugins."""
    if place.name == "changes.md":
        return linked(changes(), ROOT / "CHANGELOG.md", places)
    text = linked(reference.completed(source.read_text("utf-8")), source, places)
    if place.parts[0] == "packages" and place.stem in {member.name for member in members()}:
        text += reference.options_section(
            [plugin for plugin in reference.plugins() if plugin.distribution == place.stem]
        )
    return text


def placed(nav: Any) -> Iterator[str]:
    """The pages that a navigation names."""
    match nav:
        case str():
            yield nav
        case list():
            for one in nav:
                yield from placed(one)
        case dict():
            for one in nav.values():
                yield from placed(one)


def unplaced(nav: list[Any], found: list[PurePosixPath]) -> list[str]:
    """Pages that the navigation lacks; those of a folder with a list of its own need no place."""
    named = set(placed(nav))
    lists = {PurePosixPath(one).parent for one in named if one.endswith("/index.md")}
    return [str(one) for one in found if str(one) not in named and one.parent not in lists]


def configuration() -> dict[str, Any]:
    """What `.ci/mkdocs.yml` says."""
    found: dict[str, Any] = yaml.safe_load(CONFIG.read_text("utf-8"))
    return found


def build(site: Path = SITE, gathered: Path = GATHERED) -> int:
    """Make the site; the exit code of mkdocs, which takes every warning for an error."""
    found = gather(gathered)
    config = configuration()
    if missing := unplaced(config["nav"], found):
        config["nav"].append({"More": missing})
    config |= {"docs_dir": str(gathered), "site_dir": str(site)}
    file = gathered.with_suffix(".yml")
    file.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    # Not --quiet: then mkdocs does not see its own warnings, either, and finds nothing to be strict about.
    program = (sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(file))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(program, cwd=ROOT, check=False, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        print(f"{len(found)} pages in {site}")
    else:
        print(done.stdout + done.stderr, file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(build())
