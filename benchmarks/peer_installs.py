"""The programs that are measured beside skillgauge: which ones, where they are installed, and what they may see.

Everything is below `.peers`, each program in a folder of its own, so that neither the environment of the project nor
another program decides which versions of its dependencies it has. skillgauge itself is installed there from wheels that
are built from this checkout, as users have it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".peers"
PINS = Path(__file__).with_name("peers.toml")
SELF = "skillgauge"
LAUNCHER = ROOT / "plugins/sandboxes/bubblewrap/src/skillgauge_sandbox_bubblewrap/native/launcher"
ORIGINS = ("pypi", "npm", "engines", "checkout")
KEYS = frozenset(("from", "package", "version", "program"))
UV = Path(sys.executable).with_name("uv")
SILENT = {
    "CI": "true",
    "LANG": "C.UTF-8",
    "DO_NOT_TRACK": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "LOGFIRE_SEND_TO_LOGFIRE": "false",
    "LOGFIRE_IGNORE_NO_CONFIG": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
"""Nothing is told to anyone, and nothing is looked up."""
NOWHERE = "http://127.0.0.1:9"
"""A port where nothing listens: the way out for whatever asks for an address that is not this machine's."""
KEY = "no-key-is-needed-here-0123456789"
ENCLOSED = {
    name: value
    for upper, value in (("HTTP_PROXY", NOWHERE), ("HTTPS_PROXY", NOWHERE), ("NO_PROXY", "127.0.0.1"))
    for name in (upper, upper.lower())
}
"""Variables that keep a program on this machine."""


class PinError(ValueError):
    """A file of pins that cannot be meant; the text says which entry, and what to write."""


class AbsentError(Exception):
    """A program that cannot be had here; the text says why, and what to do about it."""


@dataclass(frozen=True)
class Pin:
    """One program in one version.

    Args:
        name: what it is called in the table.
        origin: one of `ORIGINS`.
        package: its name at its origin.
        version: exact version, or commit of a checkout; empty for `engines`, which has its own pins.
        program: path of the program in what was installed; empty if only its library is used.
    """

    name: str
    origin: str
    package: str
    version: str
    program: str


@dataclass(frozen=True)
class Tool:
    """An installed program: the words that start it, its version, and the interpreter that has its library."""

    version: str
    words: tuple[str, ...] = ()
    python: str = ""


@dataclass
class Tools:
    """Everything that was installed, by name, and for each program that could not be, the reason."""

    found: dict[str, Tool] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def read_pins(text: str) -> dict[str, Pin]:
    """Return the pins of a file.

    Raises:
        PinError: an entry is not a table, lacks what its origin needs, or has a key that means nothing.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PinError(f"no TOML: {error}") from error
    return {name: _pin(name, entry) for name, entry in document.items()}


def _pin(name: str, entry: object) -> Pin:
    if not isinstance(entry, dict):
        raise PinError(f"{name}: a table [{name}] is expected")
    if unknown := sorted(entry.keys() - KEYS):
        raise PinError(f"[{name}]: {', '.join(unknown)}: unknown; the keys are {', '.join(sorted(KEYS))}")
    if wrong := sorted(key for key, value in entry.items() if not isinstance(value, str) or not value):
        raise PinError(f"[{name}]: {', '.join(wrong)}: a text is expected")
    origin = entry.get("from")
    if origin not in ORIGINS:
        raise PinError(f"[{name}]: from: one of {', '.join(ORIGINS)} is expected")
    needed = {"engines": ("package", "program"), "checkout": ("version", "program")}.get(origin, ("version",))
    if missing := [key for key in needed if key not in entry]:
        raise PinError(f"[{name}]: {', '.join(missing)}: needed with from = {json.dumps(origin)}")
    if any(sign in entry.get("version", "") for sign in "<>=~^*, "):
        raise PinError(f"[{name}]: version: one exact version is expected, without a sign before it")
    return Pin(name, origin, entry.get("package", name), entry.get("version", ""), entry.get("program", ""))


def install(pins: Mapping[str, Pin], checkouts: Mapping[str, Path]) -> Tools:
    """Install what is not there yet; a program that cannot be installed is among the absent ones."""
    tools = Tools()
    for pin in pins.values():
        print(f"peers: {pin.name} {pin.version}".rstrip(), file=sys.stderr)
        try:
            tools.found[pin.name] = _installed(pin, checkouts)
        except AbsentError as error:
            tools.absent[pin.name] = str(error)
            print(f"peers: {pin.name} is left out: {error}", file=sys.stderr)
    return tools


def _installed(pin: Pin, checkouts: Mapping[str, Path]) -> Tool:
    if pin.origin == "pypi":
        return _from_pypi(pin)
    if pin.origin == "npm":
        return _from_npm(pin)
    if pin.origin == "engines":
        return _from_engines(pin)
    return _from_checkout(pin, checkouts.get(pin.name))


def _from_pypi(pin: Pin) -> Tool:
    folder = CACHE / pin.name
    if not _stamped(folder, pin.version):
        _new_environment(folder)
        _run(UV, "pip", "install", "--quiet", "--python", folder / "bin/python", f"{pin.package}=={pin.version}")
        _stamp(folder, pin.version)
    program = (str(folder / "bin" / pin.program),) if pin.program else ()
    return Tool(pin.version, program, str(folder / "bin/python"))


def _from_npm(pin: Pin) -> Tool:
    folder = CACHE / pin.name
    if not _stamped(folder, pin.version):
        if not shutil.which("npm"):
            raise AbsentError("npm is not installed; Node 20 or newer brings it")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        options = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder)
        _run("npm", "install", *options, f"{pin.package}@{pin.version}")
        _stamp(folder, pin.version)
    return Tool(pin.version, (str(folder / "node_modules/.bin" / pin.program),))


def _from_engines(pin: Pin) -> Tool:
    program = ROOT / ".engines/node_modules/.bin" / pin.program
    if not program.exists():
        raise AbsentError("it is not in .engines; `make engines` installs it")
    package = json.loads((ROOT / ".engines/node_modules" / pin.package / "package.json").read_text("utf-8"))
    pinned = json.loads((ROOT / ".ci/engines/package.json").read_text("utf-8"))["dependencies"][pin.package]
    if package["version"] != pinned:
        raise AbsentError(f"{package['version']} is in .engines and {pinned} is pinned; `make engines` installs it")
    return Tool(pinned, (str(program),))


def _from_checkout(pin: Pin, folder: Path | None) -> Tool:
    if folder is None:
        raise AbsentError(f"it is on no registry; name a built checkout: --checkout {pin.name}=FOLDER")
    program = (folder / pin.program).resolve()
    if not program.is_file():
        raise AbsentError(f"{folder} has no {pin.program}; build it there")
    commit = _run("git", "-C", folder, "rev-parse", "HEAD").strip()
    if not commit.startswith(pin.version):
        raise AbsentError(f"{folder} is at commit {commit[:7]}; check out {pin.version} and build it there")
    node = shutil.which("node")
    if node is None:
        raise AbsentError("node is not installed; Node 20 or newer is needed")
    return Tool(pin.version, (node, str(program)))


def install_self() -> Tool:
    """Build wheels of this checkout, unless those that are there are of the same files, and install them.

    The version says so if no launcher is in them as the published ones have it, without which `bubblewrap` takes twice
    as long.

    Raises:
        AbsentError: they cannot be built or installed.
    """
    folder, built = CACHE / SELF, CACHE / "dist"
    compiled = LAUNCHER.read_bytes() if LAUNCHER.exists() else b""
    commit = _run("git", "-C", ROOT, "rev-parse", "--short=8", "HEAD").strip()
    sources = ("core", "libraries", "plugins", "pyproject.toml")
    changes = _run("git", "-C", ROOT, "status", "--porcelain", "--", *sources)
    difference = _run("git", "-C", ROOT, "diff", "HEAD", "--", *sources)
    version = f"commit {commit}" + (", changed since" if changes else "")
    key = hashlib.sha256(f"{commit}\n{changes}\n{difference}".encode() + compiled).hexdigest()
    if not _stamped(folder, key):
        print("peers: building wheels of this checkout", file=sys.stderr)
        _run(sys.executable, ROOT / ".ci/dist.py", built)
        _new_environment(folder)
        (wheel,) = (built / "wheels").glob("skillgauge-[0-9]*.whl")
        install_wheels(built / "wheels", folder, f"skillgauge[all] @ {wheel.as_uri()}")
        _stamp(folder, key)
    if not has_launcher(folder):
        version += " without a compiled launcher"
    return Tool(version, (str(folder / "bin/skillgauge"),), str(folder / "bin/python"))


def has_launcher(folder: Path) -> bool:
    """Tell whether the sandbox `bubblewrap` of an environment has its compiled launcher."""
    return any(folder.glob(f"lib/python*/site-packages/{LAUNCHER.relative_to(LAUNCHER.parents[2])}"))


def install_wheels(links: Path, folder: Path, requirement: str, *options: str) -> None:
    """Install what is required into an environment, from a folder of wheels as far as it has them.

    Nothing comes from the cache of the installer: it takes a wheel of the same name for the same wheel, though it was
    built from other sources since.

    Raises:
        AbsentError: it cannot be installed.
    """
    where = ("--no-cache", "--find-links", links, "--python", folder / "bin/python")
    _run(UV, "pip", "install", "--quiet", *where, *options, requirement)


def environment(home: Path, *, peer: bool) -> dict[str, str]:
    """Return all that a program sees: nothing of the user's, made-up keys, and for peers no way out of this machine."""
    node = shutil.which("node")
    folders = [str(Path(node).parent)] if node else []
    path = os.pathsep.join(dict.fromkeys([*folders, "/usr/bin", "/bin"]))
    seen = {"PATH": path, **SILENT, "HOME": str(home), "TMPDIR": str(home), "ANTHROPIC_API_KEY": KEY}
    return {**seen, **ENCLOSED, "OPENAI_API_KEY": KEY} if peer else seen


def _new_environment(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _run(UV, "venv", "--quiet", "--python", sys.executable, folder)


def _stamped(folder: Path, key: str) -> bool:
    stamp = folder / ".installed"
    return stamp.is_file() and stamp.read_text() == key


def _stamp(folder: Path, key: str) -> None:
    (folder / ".installed").write_text(key)


def _run(*words: str | Path) -> str:
    """Return the output of a command.

    Raises:
        AbsentError: it could not be started or failed; the text ends with its last line.
    """
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise AbsentError(f"{Path(words[0]).name}: {error.strerror}") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise AbsentError(f"{Path(words[0]).name} {words[1]} failed: {last[:300]}")
    return done.stdout
