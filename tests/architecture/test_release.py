"""What users install: complete metadata, links that lead somewhere, an index that pip takes, a checked release."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import dist
import release
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
    assert len(wheels) == len(workspace())
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
