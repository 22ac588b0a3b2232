"""A release from beginning to end against an index server on this machine, and the upgrade to the next one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

import dist
import publish
import version
from members import ROOT, read, workspace

from .conftest import TIME_LIMIT_S, once
from .test_installers import Account, account

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
__all__ = ["account"]  # the fixture

FIRST = read(ROOT).version
SECOND = f"{FIRST.rpartition('.')[0]}.{int(FIRST.rpartition('.')[2]) + 1}"
SKILL = "---\nname: my-skill\ndescription: Says good things.\n---\nSay GOOD.\n"
CASE = {"id": "one", "prompt": "Say GOOD.", "assertions": [{"text": "good", "type": "contains", "value": "GOOD"}]}


class Index:
    """An index server with a folder of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self._address = f"http://127.0.0.1:{port}"
        self.simple = f"{self._address}/simple/"
        self.upload = f"{self._address}/"

    def publish(self, wheels: Path) -> str:
        """Upload a release as a maintainer does; return what was said."""
        command = [sys.executable, ROOT / ".ci/publish.py", "--wheels", wheels]
        environment = {**_bare(), "UV_PUBLISH_USERNAME": "anyone", "UV_PUBLISH_PASSWORD": "anything"}
        done = subprocess.run(
            [*command, "--to", self.upload, "--check", self.simple],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIME_LIMIT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def holds(self) -> list[Path]:
        """The files that were uploaded, in their order."""
        return sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def _bare() -> Mapping[str, str]:
    return {"PATH": os.defpath, "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """A server that takes uploads from anybody on this machine, and holds nothing yet."""
    folder = tmp_path / "packages"
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with _serving(folder, port):
        yield Index(folder, port)


@contextmanager
def _serving(folder: Path, port: int) -> Iterator[None]:
    server = Path(sys.executable).with_name("pypi-server")
    options = ["run", "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--disable-fallback", str(folder)]
    process = subprocess.Popen([server, *options], env=_bare(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                with urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                assert process.poll() is None, "the index server ended"
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this release in the folder `first`, and of the next one, made by one command, in `second`."""
    return once(tmp_path_factory, "builds", _build)


def _build(made: Path) -> None:
    tree = made / "tree"
    tree.mkdir()
    dist.stage(tree, dist.address())
    dist.build_staged(tree, made / "first").check_returncode()
    version.bump(tree, SECOND)
    dist.build_staged(tree, made / "second").check_returncode()


def test_a_release_and_the_upgrade_to_the_next(account: Account, index: Index, builds: Path) -> None:
    """It is uploaded in order and installed by uv, pipx and pip; an upgrade keeps what users have (R3-F7)."""
    index.publish(builds / "first")
    uploaded = [dist.project_of(path) for path in index.holds()]
    assert set(uploaded) == {member.name for member in workspace()}
    place = {name: number for number, name in enumerate(uploaded)}
    assert place["skillgauge-documents"] < place["skillgauge-core"] < place["skillgauge-format-agent-skills"]
    assert uploaded[-1] == "skillgauge"
    stages = (ROOT / ".github/workflows/release.yml").read_text().count("packages-dir:")
    assert index.publish(builds / "first").count("stage ") == stages, (
        "an upload that broke off is repeated without harm"
    )

    _use(account, index)
    account.must("uv", "tool", "install", "skillgauge")
    account.must("python3", "-m", "venv", "venv")
    pip = account.home / "venv/bin/pip"
    account.must(pip, "install", "--quiet", "skillgauge")
    account.must("python3", "-m", "venv", "pipx")
    account.must(account.home / "pipx/bin/pip", "install", "--quiet", "pipx")
    pipx = account.home / "pipx/bin/pipx"
    kept = account.home / "pipx-home"
    account.environment |= {"PIPX_HOME": str(kept), "PIPX_BIN_DIR": str(kept / "bin")}
    account.must(pipx, "install", "skillgauge")
    commands = ("skillgauge", kept / "bin/skillgauge", account.home / "venv/bin/skillgauge")
    for command in commands:
        assert account.must(command, "--version").stdout == f"skillgauge {FIRST}\n"
    before = _evaluate(account)

    index.publish(builds / "second")
    account.must("uv", "tool", "upgrade", "skillgauge")
    account.must(pipx, "upgrade", "skillgauge")
    account.must(pip, "install", "--quiet", "--upgrade", "skillgauge")
    for command in commands:
        assert account.must(command, "--version").stdout == f"skillgauge {SECOND}\n"
        listed = json.loads(account.must(command, "plugins", "list", "--json").stdout)["plugins"]
        assert {one["version"] for one in listed} == {SECOND}, "an upgrade of the bundle upgrades everything"
        assert account.must(command, "config", "get", "concurrency").stdout == "7\n"
        history = json.loads(account.must(command, "history", "list", "--json").stdout)
        assert before in json.dumps(history)
        replayed = account.must(command, "eval", "my-skill", "--replay", "tapes", "--sandbox", "local", "--fresh")
        assert "1 of 1 passed" in replayed.stderr


def _use(account: Account, index: Index) -> None:
    """Let all installers of an account ask the server for our distributions, and the folder for those of others."""
    for path in (account.folder / "packages").glob("skillgauge*"):
        path.unlink()
    (account.folder / "uv.toml").write_text(f'[[index]]\nurl = "{index.simple}"\ndefault = true\n')
    del account.environment["PIP_NO_INDEX"]
    account.environment |= {"PIP_INDEX_URL": index.simple}


def _evaluate(account: Account) -> str:
    """Evaluate with a configuration, a store and recordings; return the id of the run."""
    files = {
        "my-skill/SKILL.md": SKILL,
        "my-skill/evals/evals.json": json.dumps({"skill_name": "my-skill", "evals": [CASE]}),
        "skillgauge.config.yaml": "concurrency: 7\n",
        "mock.yaml": "replies:\n  - { match: GOOD, skill: my-skill, text: GOOD }\n  - { match: GOOD, text: bad }\n",
    }
    for name, text in files.items():
        path = account.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in (account.home, *account.home.glob("my-skill"), *account.home.glob("my-skill/**/*")):
        os.chown(path, account.home.stat().st_uid, account.home.stat().st_gid)
    options = ("--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--record", "tapes", "--sandbox", "local")
    done = account.must("skillgauge", "eval", "my-skill", *options, "--json")
    return str(json.loads(done.stdout)["run"]["run_id"])


def test_the_stages_hold_everything_once() -> None:
    """Each distribution is in one stage, after all that it needs."""
    stages = list(publish.stages())
    assert sorted(name for names in stages for name in names) == sorted(member.name for member in workspace())
    assert stages[-1] == ("skillgauge",)
