"""What users install: complete metadata, links that lead somewhere, an index that pip takes, a checked release."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

import dist
import publish
import release
import version
from members import ROOT, read, workspace

HOME = "https://git.example/acme/skillgauge"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All wheels and their index, as made for a release from some repository."""
    folder = tmp_path_factory.mktemp("dist")
    assert dist.make(folder, HOME) == 0
    return folder


@pytest.mark.slow
def test_every_wheel_says_who_what_and_where(built: Path) -> None:
    """Licence text, URLs and classifiers are in each, no link of a README is relative, and an index would take them."""
    wheels = dist.files(built / "wheels")
    assert {dist.project_of(path) for path in wheels} == {member.name for member in workspace()}
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
            assert b"Apache License" in wheel.read(f"{info}/licenses/LICENSE"), path.name
            metadata = message_from_bytes(wheel.read(f"{info}/METADATA"))
        assert metadata["License-Expression"] == "Apache-2.0"
        assert len(metadata.get_all("Project-URL", [])) == 4, path.name
        assert "Programming Language :: Python :: 3 :: Only" in metadata.get_all("Classifier", [])
        text = metadata.get_payload()
        assert re.findall(r"\]\((?!https?:|#)[^)]*\)", str(text)) == [], path.name
    assert release.refused(built / "wheels") == ""


@pytest.mark.slow
def test_a_wheelhouse_needs_no_index(built: Path, tmp_path: Path) -> None:
    """R3-F8: the command of `make wheelhouse` gathers all that an installation without an index takes, in silence."""
    recipe = re.search(r"^wheelhouse: dist\n\t@\$\(BIN\)/python (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    house = tmp_path / "wheelhouse"
    words = (
        recipe[1].replace('"skillgauge$(EXTRAS)"', "skillgauge").replace("dist/wheels", str(built / "wheels")).split()
    )
    gathered = subprocess.run(
        [sys.executable, *(str(house) if word == "dist/wheelhouse" else word for word in words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert gathered.returncode == 0, gathered.stderr
    install = [
        "pip",
        "install",
        "--offline",
        "--no-config",
        "--no-index",
        "--find-links",
        house,
        "--target",
        tmp_path / "to",
    ]
    subprocess.run([dist.UV, *install, "--quiet", "skillgauge"], check=True)
    assert (tmp_path / "to/skillgauge/__main__.py").is_file()


@pytest.mark.slow
def test_pip_takes_the_index_and_the_folder(built: Path, tmp_path: Path) -> None:
    """Both ways that the pages name find our distributions; the index vouches for each file by its digest."""
    for number, source in enumerate(
        (("--index-url", (built / "index").as_uri()), ("--no-index", "--find-links", str(built / "wheels")))
    ):
        folder = tmp_path / str(number)
        done = subprocess.run(
            [
                dist.UV,
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--no-config",
                "--target",
                folder,
                *source,
                "skillgauge-scorer-exact",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "skillgauge_scorer_exact/scorer.py").is_file()
    page = (built / "index/skillgauge-scorer-exact/index.html").read_text()
    (found,) = re.findall(r'href="([^"#]+)#sha256=([0-9a-f]+)"', page)
    wheel = built / "index/skillgauge-scorer-exact" / found[0]
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == found[1]


@pytest.mark.slow
def test_provenance_names_every_file(built: Path) -> None:
    """The statement has the digest of each file, and the commit and the lock that they were made from."""
    statement = json.loads(json.dumps(release.provenance(built / "wheels", HOME)))
    sums = (built / "wheels/SHA256SUMS").read_text().splitlines()
    assert [f"{one['digest']['sha256']}  {one['name']}" for one in statement["subject"]] == sums
    source, lock = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert source["uri"] == f"git+{HOME}"
    assert lock["digest"]["sha256"] == dist.digest(ROOT / "requirements.lock")


def test_a_tag_that_does_not_fit_is_refused() -> None:
    """Nothing is built for it; the program names the distributions whose version differs."""
    done = subprocess.run(
        [sys.executable, ROOT / ".ci/release.py", "v9.9.9"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == len(workspace())
    assert list(release.wrong_versions(f"v{read(ROOT).version}")) == []


def test_links_of_a_readme_lead_into_the_repository_or_are_words() -> None:
    """An index shows a README far from the files beside it."""
    folder = ROOT / "plugins/judges/agent"
    text = "[judging](../../../docs/judging.md#who-judges), ![picture](../../../docs/images/cases.png), [x](#y)"
    assert dist.readme(text, folder, HOME, "1.0.0") == (
        f"[judging]({HOME}/blob/v1.0.0/docs/judging.md#who-judges), "
        f"![picture]({HOME}/raw/v1.0.0/docs/images/cases.png), [x](#y)"
    )
    assert dist.readme(text, folder, None, "1.0.0") == "judging, , [x](#y)"


def test_the_workflow_publishes_every_stage_in_order() -> None:
    """One step a stage, the bundle's last; nothing but the publishing step may prove who it is to an index (R3-F7)."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    assert workflow["permissions"] == {}
    owner = dist.address().removeprefix("https://github.com/")
    assert workflow["jobs"]["build"]["if"] == f"github.repository == '{owner}'", "no fork publishes"
    steps = [step for step in workflow["jobs"]["publish"]["steps"] if "pypi-publish" in step["uses"]]
    folders = [step["with"]["packages-dir"] for step in steps]
    assert folders == [f"dist/upload/{number}" for number, _ in enumerate(publish.stages(), 1)]
    assert all(step["with"]["attestations"] and step["with"]["skip-existing"] for step in steps)


def test_pages_name_the_one_address_and_the_one_version() -> None:
    """A reader who copies a line of a page gets this project, in this version."""
    owner = dist.address().removeprefix("https://github.com/")
    for page in ROOT.glob("docs/*.md"):
        for address, tag in re.findall(r"([\w-]+/skillgauge)/action@(\S+)", page.read_text()):
            assert (address, tag) == (owner, f"v{read(ROOT).version}"), page.name
        assert set(re.findall(r"github\.com/([\w-]+/skillgauge)\b", page.read_text())) <= {owner}, page.name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A working tree with every project file, and what else names a version."""
    for path in (*(member.folder / "pyproject.toml" for member in workspace()), *map(ROOT.joinpath, NAMING)):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
    return tmp_path


NAMING = ("core/src/skillgauge/_version.py", "CHANGELOG.md", "CONTRIBUTING.md", "docs/ci.md", version.CONFORMANCE)


def versions(tree: Path) -> dict[str, str]:
    """The version of each distribution of a tree."""
    projects = [tomllib.loads(path.read_text())["project"] for path in tree.rglob("pyproject.toml")]
    return {project["name"]: project["version"] for project in projects}


def test_one_command_bumps_everything(tree: Path) -> None:
    """Versions, ranges, pages and the change log; the bundle asks for what it is released with."""
    old = read(ROOT).version
    version.bump(tree, "0.2.0")
    assert set(versions(tree).values()) == {"0.2.0"}
    assert '__version__ = "0.2.0"' in (tree / "core/src/skillgauge/_version.py").read_text()
    bundle = (tree / "pyproject.toml").read_text()
    assert '"skillgauge-core>=0.2.0,<0.3"' in bundle
    assert '"skillgauge-core>=0.2,<0.3"' in (tree / "plugins/engines/codex/pyproject.toml").read_text()
    projects = [path.read_text() for path in tree.rglob("pyproject.toml")]
    ours = [text for project in projects for text in re.findall(r'"skillgauge[^"]*>=[^"]*"', project)]
    assert ours
    assert [text for text in ours if "<0.3" not in text] == []
    assert "action@v0.2.0" in (tree / "docs/ci.md").read_text()
    assert not [name for name in NAMING[2:] if f"v{old}" in (tree / name).read_text()]
    log = (tree / "CHANGELOG.md").read_text()
    assert log.index("## 0.2.0 (unreleased)") < log.index(f"## {old}\n")
    version.bump(tree, "0.2.1")
    assert (tree / "CHANGELOG.md").read_text().count("(unreleased)") == 1
    assert '"skillgauge-core>=0.2,<0.3"' in (tree / "plugins/engines/codex/pyproject.toml").read_text()


def test_one_plugin_is_released_alone(tree: Path) -> None:
    """It alone gets the version, and the tag names it."""
    old = read(ROOT).version
    changed = version.bump(tree, "0.1.9", ["skillgauge-engine-codex"])
    assert [path.relative_to(tree).as_posix() for path in changed] == ["plugins/engines/codex/pyproject.toml"]
    assert versions(tree).pop("skillgauge-engine-codex") == "0.1.9"
    assert list(release.wrong_versions(f"skillgauge-engine-codex-v{old}")) == []
    (told,) = release.wrong_versions("skillgauge-engine-codex-v0.1.9")
    assert "skillgauge-engine-codex has version" in told
    assert "there is no distribution skillgauge-x" in "".join(release.wrong_versions(f"skillgauge-x-v{old}"))


@pytest.mark.parametrize(
    ("new", "names", "why"),
    [("0.0.9", (), "is not above"), ("one", (), "no version"), ("9.9", ("skillgauge-x",), "no distribution")],
)
def test_a_version_that_cannot_be_given(tree: Path, new: str, names: tuple[str, ...], why: str) -> None:
    """Nothing is written."""
    before = versions(tree)
    with pytest.raises(version.BadVersionError, match=why):
        version.bump(tree, new, names)
    assert versions(tree) == before


def test_the_image_is_made_from_the_wheels() -> None:
    """The recipe takes our wheels where a folder of them is named, and runs as nobody in particular."""
    recipe = (ROOT / "container/Dockerfile").read_text()
    assert '--find-links /tmp/wheels "skillgauge[${EXTRAS}]' in recipe
    assert "USER skillgauge" in recipe
