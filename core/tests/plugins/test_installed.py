"""What is installed: found completely, never stale, and nothing is imported for it."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge import __version__
from skillgauge.plugins import installed
from skillgauge.plugins.index import IndexEntry, PluginIndex
from skillgauge.plugins.installed import read_index
from skillgauge_testkit.program import Program


def install(
    site: Path,
    name: str = "acme-scorers",
    version: str = "1.0",
    points: Sequence[str] = ("[skillgauge.scorers]", "tolerance = acme_scorers.plugin"),
    requires: Sequence[str] = (),
    summary: str = "Scorers of ACME.",
) -> Path:
    """Write the metadata of a distribution, without any code."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    header += [f"Summary: {summary}"] * bool(summary) + [f"Requires-Dist: {text}" for text in requires]
    (folder / "METADATA").write_text("\n".join(header) + "\n\nLong text.\n")
    if points:
        (folder / "entry_points.txt").write_text("\n".join(points) + "\n")
    settle(folder)
    return folder


def settle(folder: Path) -> None:
    """Let a distribution look as if it had been installed long ago, but after all that this was said of before."""
    for file in folder.iterdir():
        os.utime(file, (moment := next(CLOCK), moment))


CLOCK = itertools.count(1_000_000_000)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder to install into."""
    return tmp_path / "site"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A folder for caches, not made yet."""
    return tmp_path / "cache" / "deep"


def names(index: PluginIndex, kind: str | None = None) -> list[str]:
    """Kind and name of each entry."""
    return [f"{entry.kind}.{entry.name}" for entry in index.entries(kind)]


class TestWhatIsInstalled:
    """Facts come from metadata alone."""

    def test_every_fact_of_an_entry(self, site: Path, cache: Path) -> None:
        """An entry tells kind, name, module, distribution, version, summary and core range."""
        install(site, requires=["numpy", "skillgauge-core>=0.0.1,<9", "skillgauge_core-extra>=77"])
        index = read_index(path=[str(site)], cache_dir=cache)
        assert index.entries() == (
            IndexEntry(
                kind="scorers",
                name="tolerance",
                module="acme_scorers.plugin",
                distribution="acme-scorers",
                version="1.0",
                summary="Scorers of ACME.",
                core_range="<9,>=0.0.1",
                problem=None,
            ),
        )

    def test_only_our_groups_and_sorted(self, site: Path, cache: Path) -> None:
        """Foreign groups are left out; entries are sorted by kind, name and distribution."""
        points = ["[console_scripts]", "x = y:z", "[skillgauge.scorers]", "b = m", "a = m", "[skillgauge.commands]"]
        install(site, "zeta", points=[*points, "hello = cli:hello"])
        install(site, "alpha", points=["[skillgauge.scorers]", "b = other"])
        install(site, "unrelated", points=["[console_scripts]", "x = y:z"])
        index = read_index(path=[str(site)], cache_dir=cache)
        assert names(index) == ["commands.hello", "scorers.a", "scorers.b", "scorers.b"]
        assert [entry.distribution for entry in index.entries("scorers")] == ["zeta", "alpha", "zeta"]
        assert index.entries("commands")[0].module == "cli:hello"
        assert {entry.kind for entry in index.entries()} == {"commands", "scorers"}

    def test_sys_path_is_the_default(self, site: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a path, what Python itself would import is listed."""
        install(site)
        monkeypatch.syspath_prepend(str(site))
        assert read_index(cache_dir=cache).find("scorers", "tolerance")

    def test_current_folder_on_the_path(self, site: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The empty path entry of `python -c` means the working directory."""
        install(site)
        monkeypatch.chdir(site)
        assert read_index(path=[""], cache_dir=cache).find("scorers", "tolerance")

    def test_first_distribution_of_a_name_wins(self, tmp_path: Path, cache: Path) -> None:
        """As for imports, the folder that comes first decides, also if its version has no entry points."""
        for folder, version, points in (
            ("a", "2.0", ["[skillgauge.scorers]", "new = m"]),
            ("b", "1.0", ["[skillgauge.scorers]", "old = m"]),
            ("c", "3.0", []),
        ):
            install(tmp_path / folder, "Acme.Scorers" if folder == "a" else "acme-scorers", version, points)
        a, b, c = (str(tmp_path / folder) for folder in "abc")
        assert names(read_index(path=[a, b], cache_dir=cache)) == ["scorers.new"]
        assert names(read_index(path=[b, a, b], cache_dir=cache)) == ["scorers.old"]
        assert names(read_index(path=[c, a], cache_dir=cache)) == []

    def test_archives_on_the_path(self, tmp_path: Path, cache: Path) -> None:
        """Distributions in a zip file are found, and a new zip file is read again."""
        archive = tmp_path / "bundle.zip"
        for name in ("one", "another"):
            with ZipFile(archive, "w") as bundle:
                bundle.writestr("acme-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
                bundle.writestr("acme-1.dist-info/entry_points.txt", f"[skillgauge.scorers]\n{name} = m\n")
            os.utime(archive, (moment := next(CLOCK), moment))
            assert names(read_index(path=[str(archive)], cache_dir=cache)) == [f"scorers.{name}"]

    def test_what_is_no_distribution_is_passed_over(self, site: Path, cache: Path) -> None:
        """Absent folders, leftovers of installers and damaged lists do not hide the healthy plugins."""
        install(site)
        (site / "~cme-1.0.dist-info").mkdir()
        (site / "nameless-1.dist-info").mkdir()
        (site / "nameless-1.dist-info" / "entry_points.txt").write_text("[skillgauge.scorers]\nx = m\n")
        (site / "old.egg-info").write_text("Name: old\nVersion: 1\n")
        install(site, "damaged", points=["[skillgauge.scorers]", "no equals sign"])
        index = read_index(path=[str(site / "absent"), str(site)], cache_dir=cache)
        assert names(index) == ["scorers.tolerance"]

    def test_egg_info(self, site: Path, cache: Path) -> None:
        """Metadata in the older layout counts too, and its changes are seen."""
        folder = site / "acme.egg-info"
        folder.mkdir(parents=True)
        (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
        (folder / "entry_points.txt").write_text("[skillgauge.scorers]\nx = m\n")
        settle(folder)
        (entry,) = read_index(path=[str(site)], cache_dir=cache).entries()
        assert (entry.version, entry.summary, entry.core_range) == ("1", "", None)
        (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.1\n")
        assert read_index(path=[str(site)], cache_dir=cache).entries()[0].version == "1.1"


class TestCoreRange:
    """A plugin for another core is listed with the reason."""

    @pytest.mark.parametrize(
        ("requires", "core_range"),
        [
            (["skillgauge-core"], None),
            (["Skillgauge.Core>=0.0.1"], ">=0.0.1"),
            (["skillgauge-core[testing]>=0.0.1"], ">=0.0.1"),
            (["skillgauge-core>=0.0.1 ; python_version >= '3'", "skillgauge-core>=99 ; extra == 'next'"], ">=0.0.1"),
        ],
    )
    def test_range_that_admits_this_core(
        self, site: Path, cache: Path, requires: list[str], core_range: str | None
    ) -> None:
        """Spelling, extras and markers are read as installers read them."""
        install(site, requires=requires)
        (entry,) = read_index(path=[str(site)], cache_dir=cache).entries()
        assert (entry.core_range, entry.problem) == (core_range, None)

    def test_range_that_does_not(self, site: Path, cache: Path) -> None:
        """The problem names what is needed and what is here."""
        install(site, requires=["skillgauge-core>=99"])
        (entry,) = read_index(path=[str(site)], cache_dir=cache).entries()
        assert entry.core_range == ">=99"
        assert entry.problem == f"needs skillgauge-core >=99, and this is {__version__}"

    def test_range_that_cannot_be_read(self, site: Path, cache: Path) -> None:
        """A requirement that no installer could read is a problem of the plugin, not of the tool."""
        install(site, requires=["skillgauge-core=>1"])
        (entry,) = read_index(path=[str(site)], cache_dir=cache).entries()
        assert entry.core_range is None
        assert entry.problem is not None
        assert entry.problem.startswith("asks for skillgauge-core in a way that cannot be read")
        assert "\n" not in entry.problem


class TestCache:
    """Quick when nothing has changed, right when something has."""

    def test_answer_comes_from_the_cache(self, site: Path, cache: Path) -> None:
        """An unchanged installation is not looked at again: what the cache file says is believed."""
        install(site)
        read_index(path=[str(site)], cache_dir=cache)
        (file,) = cache.iterdir()
        file.write_text(file.read_text().replace('"Scorers of ACME."', '"From the cache."'))
        assert read_index(path=[str(site)], cache_dir=cache).entries()[0].summary == "From the cache."

    def test_cached_lookup_imports_little(self, site: Path, cache: Path) -> None:
        """With a warm cache neither importlib.metadata nor pathlib, hashlib, packaging or a plugin is imported."""
        install(site, requires=["skillgauge-core"])
        code = (
            "import sys; before = set(sys.modules)\n"
            "from skillgauge.plugins.installed import read_index\n"
            f"print(len(read_index(path={[str(site)]!r}).entries()))\n"
            "print(*sorted(set(sys.modules) - before))"
        )
        environment = {"XDG_CACHE_HOME": str(cache), "PATH": os.environ["PATH"]}
        for _ in range(2):
            command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        count, modules = done.stdout.splitlines()
        heavy = {"importlib.metadata", "pathlib", "hashlib", "packaging", "tempfile", "email", "pydantic", "pluggy"}
        assert count == "1"
        assert heavy.isdisjoint(modules.split())

    def test_new_entry_point_at_the_same_version(self, site: Path, cache: Path) -> None:
        """An editable plugin that got a second entry point is seen at once (stevedore's cache missed that)."""
        install(site)
        read_index(path=[str(site)], cache_dir=cache)
        install(site, points=["[skillgauge.scorers]", "tolerance = m", "alias = m"])
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.alias", "scorers.tolerance"]

    def test_same_time_and_size(self, site: Path, cache: Path) -> None:
        """A replaced file of equal size and time stamp, as a package cache may link it, is still another file."""
        folder = install(site, points=["[skillgauge.scorers]", "aaa = m"])
        file = folder / "entry_points.txt"
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.aaa"]
        times = file.stat()
        other = folder / "other.txt"
        other.write_text(file.read_text().replace("aaa", "bbb"))
        other.replace(file)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.bbb"]

    @settings(max_examples=25, deadline=None)
    @given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans()), max_size=8))
    def test_never_stale(self, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]) -> None:
        """After any sequence of installations, changes and removals the cached answer is the fresh one."""
        site, cache = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("cache")
        no_cache = site / "file"
        no_cache.touch()
        for name, version, is_old in steps:
            folder = site / f"{name}-1.dist-info"
            if version == 0:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                install(site, name, "1", ["[skillgauge.scorers]", f"p{version} = m"], [f"skillgauge-core>={version}"])
                if not is_old:
                    os.utime(folder / "entry_points.txt")
            cached = read_index(path=[str(site)], cache_dir=cache)
            assert cached.entries() == read_index(path=[str(site)], cache_dir=no_cache).entries()

    def test_rewritten_in_the_same_instant(self, site: Path, cache: Path) -> None:
        """A file may change twice within one tick of the file system's clock, so a fresh one is not cached."""
        folder = install(site, points=["[skillgauge.scorers]", "aaa = m"])
        now = time.time()
        for name in ("aaa", "bbb"):
            (folder / "entry_points.txt").write_text(f"[skillgauge.scorers]\n{name} = m\n")
            os.utime(folder / "entry_points.txt", (now, now))
            assert names(read_index(path=[str(site)], cache_dir=cache)) == [f"scorers.{name}"]
        assert not cache.exists()

    def test_verdict_belongs_to_a_core_version(self, site: Path, cache: Path) -> None:
        """A cache that another version of the core wrote is not believed."""
        install(site)
        read_index(path=[str(site)], cache_dir=cache)
        (file,) = cache.iterdir()
        stored = json.loads(file.read_text())
        stored["key"][0], stored["entries"] = "0.0.0", []
        file.write_text(json.dumps(stored))
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.tolerance"]

    @pytest.mark.parametrize("damage", ["", "{", "[1]", "[" * 100_000, '{"key": 1}', "no entries", "short row"])
    def test_damaged_cache_is_made_anew(self, site: Path, cache: Path, damage: str) -> None:
        """Whatever the cache file holds, the answer is right and the file is sound afterwards."""
        install(site)
        read_index(path=[str(site)], cache_dir=cache)
        (file,) = cache.iterdir()
        sound = file.read_text()
        stored = json.loads(sound)
        if damage == "no entries":
            del stored["entries"]
            damage = json.dumps(stored)
        elif damage == "short row":
            stored["entries"] = [["scorers"]]
            damage = json.dumps(stored)
        file.write_text(damage)
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.tolerance"]
        assert file.read_text() == sound

    def test_cache_is_private_and_leaves_nothing_behind(self, site: Path, cache: Path) -> None:
        """Cache files are readable by their owner only, and no temporary file stays."""
        install(site)
        read_index(path=[str(site)], cache_dir=cache)
        (file,) = cache.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(cache.stat().st_mode) == 0o700

    def test_without_a_usable_cache(self, site: Path, tmp_path: Path) -> None:
        """A cache folder that cannot be made, or a cache file that cannot be replaced, changes no answer."""
        install(site)
        blocked = tmp_path / "file"
        blocked.write_text("in the way")
        assert names(read_index(path=[str(site)], cache_dir=blocked)) == ["scorers.tolerance"]
        cache = tmp_path / "cache"
        read_index(path=[str(site)], cache_dir=cache)
        (file,) = cache.iterdir()
        file.unlink()
        file.mkdir()
        assert names(read_index(path=[str(site)], cache_dir=cache)) == ["scorers.tolerance"]
        assert list(cache.iterdir()) == [file]

    def test_folders_without_distributions_share_a_cache(self, site: Path, tmp_path: Path, cache: Path) -> None:
        """Each working directory on the path of `python -m` does not get a cache file of its own."""
        install(site)
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            read_index(path=[str(tmp_path / folder), str(site)], cache_dir=cache)
        assert len(list(cache.iterdir())) == 1

    def test_default_folder(self, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Caches go where the desktop standard says, and nowhere if there is no home."""
        install(site)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        read_index(path=[str(site)])
        assert list((tmp_path / "xdg" / "skillgauge").glob("index-*.json"))
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        read_index(path=[str(site)])
        assert list((tmp_path / "home" / ".cache" / "skillgauge").glob("index-*.json"))
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
        monkeypatch.chdir(tmp_path)
        index = read_index(path=[str(site)])
        index.record_failure(index.entries()[0], "lost")
        assert index.recorded_failures() == {}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "site", "xdg"]


class TestFailures:
    """What went wrong last is known to the next process."""

    def test_recorded_and_cleared(self, site: Path, cache: Path) -> None:
        """A failure survives, is replaced by a newer one, and goes when the plugin loads again."""
        install(site, points=["[skillgauge.scorers]", "a = m", "alias = m", "b = other"])

        def index() -> PluginIndex:
            return read_index(path=[str(site)], cache_dir=cache)

        a, alias, b = index().entries()
        index().record_failure(a, "ImportError: no")
        index().record_failure(b, "SystemExit: 3")
        index().record_failure(a, "ImportError: still no")
        assert index().recorded_failures() == {
            a: "ImportError: still no",
            alias: "ImportError: still no",
            b: "SystemExit: 3",
        }
        index().clear_failure(alias)
        assert index().recorded_failures() == {b: "SystemExit: 3"}

    def test_clearing_nothing_writes_nothing(self, site: Path, cache: Path) -> None:
        """A plugin that never failed costs no file."""
        install(site)
        index = read_index(path=[str(site)], cache_dir=cache)
        index.clear_failure(index.entries()[0])
        assert [file.name.partition("-")[0] for file in cache.iterdir()] == ["index"]

    def test_another_version_starts_clean(self, site: Path, cache: Path) -> None:
        """A failure belongs to one version of a distribution."""
        folder = install(site)
        index = read_index(path=[str(site)], cache_dir=cache)
        index.record_failure(index.entries()[0], "ImportError: no")
        shutil.rmtree(folder)
        install(site, version="1.1")
        assert read_index(path=[str(site)], cache_dir=cache).recorded_failures() == {}


def test_a_command_looks_once(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a command asks what is installed, it looks once; the next one looks again."""
    looks: list[object] = []
    marks = installed._marks

    def looking(path: Sequence[str]) -> object:
        looks.append(path)
        return marks(path)

    monkeypatch.setattr(installed, "_marks", looking)
    for number in (1, 2):
        program("validate", ".")
        assert len(looks) == number
    read_index()
    assert len(looks) == 3
    read_index()
    assert len(looks) == 4


def test_descriptions_are_not_parsed(site: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata is read up to its description, once a distribution, and fields in the description do not count."""
    folder = install(site, requires=["skillgauge-core"])
    with (folder / "METADATA").open("a") as file:
        file.write("Name: other\nVersion: 2.0\n")
    settle(folder)
    monkeypatch.setattr("email.message_from_string", None)
    (entry,) = read_index(path=[str(site)], cache_dir=cache).entries()
    assert (entry.distribution, entry.version) == ("acme-scorers", "1.0")
