#!/usr/bin/env python3
"""Stands in for the command line of Docker where there is no daemon.

It knows the calls that the sandbox makes and no others, checks every argument, and runs processes on this machine,
apart from the call that asked for them: as with a daemon, they outlive it. It confines nothing. What a container is
lies in files below the folder that DOCKER_STAND_IN names; `journal` there has a line for each call, and a file `facts`,
if there is one, is what the probe of the sandbox gets to see. With a file `slow` there it takes its time wherever
somebody else could come in between; with a file `late` a container is made after somebody wanted to remove it, and is
never started.

Of the order of things it promises what a daemon does: a container is made before it is started, what is asked of one
that is being started waits until it runs, and nothing that was started in it outlives it.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

STATE = Path(os.environ["DOCKER_STAND_IN"])
CONTAINERS, IMAGES = STATE / "containers", STATE / "images"
MARK = "STAND_IN_CONTAINER"
PATIENCE_S = 5.0
DAWDLE_S = 0.3


class Strict(argparse.ArgumentParser):
    """Refuses what it does not know, as the true program does."""

    def error(self, message):
        """Say what is wrong, with Docker's exit code for it."""
        fail(message, 125)


def fail(message, code=1):
    """End with a message."""
    sys.stderr.write(f"docker: {message}\n")
    sys.exit(code)


def dawdle():
    """Take some time if somebody wants to see what that brings to light."""
    if (STATE / "slow").exists():
        time.sleep(DAWDLE_S)


def make(given):
    """Make a container, known to all but locked: who wants something of it waits until it runs."""
    temporary = CONTAINERS / f".{given.name}"
    temporary.write_text(json.dumps(vars(given)))
    file = temporary.open()
    fcntl.flock(file, fcntl.LOCK_EX)
    temporary.rename(CONTAINERS / given.name)
    return file


def held(name, lock):
    """The record of a container, locked: shared by those that start something in it, not by who removes it."""
    try:
        file = (CONTAINERS / name).open()
    except FileNotFoundError:
        return None
    fcntl.flock(file, lock)
    return file if os.fstat(file.fileno()).st_nlink else None


def absent(name):
    """Say that there is no such container."""
    fail(f"Error response from daemon: No such container: {name}")


def members(name):
    """Ids of the processes of a container."""
    wanted = f"{MARK}={name}\0".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (place / "environ").read_bytes():
                yield int(place.name)


def end(name):
    """End every process of a container, in which nothing can hide, and remove it; says whether there was one."""
    file = held(name, fcntl.LOCK_EX)
    if file is None:
        return False
    until = time.monotonic() + PATIENCE_S
    while (found := list(members(name))) and time.monotonic() < until:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    dawdle()
    (CONTAINERS / name).unlink()
    return True


def mount(text):
    """A mount, checked."""
    words = text.split(",")
    fields = dict(word.partition("=")[::2] for word in words)
    if set(fields) - {"type", "source", "target", "readonly"} or fields["type"] != "bind":
        fail(f"invalid argument {text!r} for --mount", 125)
    if not Path(fields["source"]).exists():
        fail(f"invalid mount config: bind source path does not exist: {fields['source']}", 125)
    return [fields["target"], "readonly" not in fields]


def size(text):
    """A size in MiB, checked."""
    if not text.endswith("m") or not text[:-1].isdigit():
        fail(f"invalid size {text!r}", 125)
    return int(text[:-1])


def run(words):
    """Make a container and stay with it."""
    parser = Strict(add_help=False, allow_abbrev=False)
    for flag in ("--rm", "--interactive", "--init", "--read-only", "--no-healthcheck"):
        parser.add_argument(flag, action="store_true", required=True)
    for option in ("--name", "--label", "--user", "--workdir", "--entrypoint", "--cidfile"):
        parser.add_argument(option, required=True)
    parser.add_argument("--tmpfs", action="append", required=True)
    parser.add_argument("--log-driver", choices=["none"], required=True)
    parser.add_argument("--ulimit", action="append", required=True)
    parser.add_argument("--cap-drop", choices=["ALL"], required=True)
    parser.add_argument("--security-opt", choices=["no-new-privileges"], required=True)
    parser.add_argument("--network", choices=["none"])
    parser.add_argument("--pids-limit", type=int, required=True)
    parser.add_argument("--memory", type=size, required=True)
    parser.add_argument("--memory-swap", type=size, required=True)
    parser.add_argument("--cpus", type=float)
    parser.add_argument("--mount", type=mount, action="append", required=True)
    parser.add_argument("image")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    if given.user != f"{os.getuid()}:{os.getgid()}":
        fail(f"user {given.user} would make files that nobody can remove", 125)
    env = {"PATH": os.environ["PATH"], MARK: given.name}
    if (STATE / "late").exists():
        return made_too_late(given)
    file = make(given)
    told, tell = os.pipe()
    # What a daemon starts is no child of the client, and goes on without it.
    if os.fork():
        os.close(tell)
        os.read(told, 1)  # nothing: the container has ended when nobody holds the other end
        return 0
    os.setsid()
    os.close(told)
    process = subprocess.Popen([given.entrypoint, *given.words], env=env, cwd=given.workdir)
    dawdle()
    fcntl.flock(file, fcntl.LOCK_UN)
    process.wait()
    end(given.name)
    os._exit(0)


def made_too_late(given):
    """Make a container that somebody wanted to remove before there was one, and get no further."""
    while (STATE / "late").exists():
        time.sleep(0.01)
    make(given).close()
    signal.pause()


def write(path, text):
    """Write a file in one step."""
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(text)
    temporary.rename(path)


def execute(words):
    """Run a process in a container."""
    parser = Strict(add_help=False, allow_abbrev=False)
    parser.add_argument("--interactive", action="store_true")
    parser.add_argument("--workdir")
    parser.add_argument("--env-file")
    parser.add_argument("container")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    file = held(given.container, fcntl.LOCK_SH) or absent(given.container)
    known = json.load(file)
    env = {"PATH": os.environ["PATH"], MARK: given.container}
    if given.env_file:
        lines = Path(given.env_file).read_text(encoding="utf-8").splitlines()
        env |= dict(line.split("=", 1) for line in lines)
    folder = given.workdir or known["workdir"]
    if not any(Path(folder).is_relative_to(target) for target, _ in known["mount"]):
        fail(f"OCI runtime exec failed: chdir to cwd ({folder!r}) failed: no such file or directory", 126)
    facts = STATE / "facts"
    if "probe" in given.words and facts.exists():
        sys.stdout.write(facts.read_text())
        return 0
    source = sys.stdin if given.interactive else subprocess.DEVNULL
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        code = os.read(told, 16)
        return int(code) if code else 137
    os.setsid()
    os.close(told)
    dawdle()
    process = subprocess.Popen(given.words, env=env, cwd=folder, stdin=source)
    fcntl.flock(file, fcntl.LOCK_UN)
    code = process.wait()
    with suppress(BrokenPipeError):
        os.write(tell, b"%d" % (code if code >= 0 else 128 - code))
    os._exit(0)


def remove(words):
    """Remove containers with all that runs in them."""
    parser = Strict(add_help=False, allow_abbrev=False)
    parser.add_argument("--force", action="store_true", required=True)
    parser.add_argument("container")
    name = parser.parse_args(words).container
    (STATE / "late").unlink(missing_ok=True)
    return 0 if end(name) else absent(name)


def listing(words):
    """List containers by a label."""
    parser = Strict(add_help=False, allow_abbrev=False)
    parser.add_argument("--all", action="store_true", required=True)
    parser.add_argument("--filter", required=True)
    parser.add_argument("--format", required=True)
    given = parser.parse_args(words)
    label = given.filter.removeprefix("label=")
    if given.format != f'{{{{.ID}}}} {{{{.Label "{label}"}}}}':
        fail(f"template parsing error: {given.format}")
    for path in sorted(CONTAINERS.glob("[!.]*")):
        with suppress(OSError):
            key, _, value = json.loads(path.read_text())["label"].partition("=")
            if key == label:
                sys.stdout.write(f"{path.name} {value}\n")
    return 0


def build(words):
    """Make an image of a Dockerfile, which may fail, but does nothing."""
    parser = Strict(add_help=False, allow_abbrev=False)
    for option in ("--tag", "--file", "--ulimit", "--cpu-period", "--cpu-quota"):
        parser.add_argument(option, required=option in ("--tag", "--file", "--ulimit"))
    for option in ("--memory", "--memory-swap"):
        parser.add_argument(option, type=size, required=True)
    parser.add_argument("--network", choices=["none"])
    parser.add_argument("context")
    given = parser.parse_args(words)
    context, lines = Path(given.context), Path(given.file).read_text().splitlines()
    if not lines or not lines[0].startswith("FROM "):
        fail("failed to solve: dockerfile parse error on line 1: unknown instruction")
    for line in lines:
        if line.startswith("COPY ") and not (context / line.split()[1]).exists():
            fail(f"failed to solve: {line.split()[1]!r}: not found")
    names = sorted(path.relative_to(context).as_posix() for path in context.rglob("*"))
    write(IMAGES / given.tag.replace(":", "@"), json.dumps({"lines": lines, "files": names}))
    return 0


def image(words):
    """Tell whether an image is there: those that were built, and all others whose name does not say otherwise."""
    parser = Strict(add_help=False, allow_abbrev=False)
    parser.add_argument("action", choices=["inspect"])
    parser.add_argument("--format", choices=["{{.Id}}", "{{json .Config.Volumes}}"], required=True)
    parser.add_argument("name")
    given = parser.parse_args(words)
    built = (IMAGES / given.name.replace(":", "@")).exists()
    if given.name.startswith("absent") or (given.name.startswith("skillgauge-") and not built):
        fail(f"Error response from daemon: No such image: {given.name}")
    sys.stdout.write("sha256:0\n" if given.format == "{{.Id}}" else "null\n")
    return 0


def pull(words):
    """Fetch an image, which fails: no registry can be reached."""
    parser = Strict(add_help=False, allow_abbrev=False)
    parser.add_argument("--quiet", action="store_true", required=True)
    parser.add_argument("name")
    return fail(f"Error response from daemon: pull access denied for {parser.parse_args(words).name}")


CALLS = {"run": run, "exec": execute, "rm": remove, "ps": listing, "build": build, "image": image, "pull": pull}

for place in (CONTAINERS, IMAGES):
    place.mkdir(parents=True, exist_ok=True)
line = json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}) + "\n"
journal = os.open(STATE / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
os.write(journal, line.encode())  # in one piece, since others write, too
os.close(journal)
if (STATE / "down").exists():
    fail("Cannot connect to the Docker daemon. Is the docker daemon running?")
if len(sys.argv) < 2 or sys.argv[1] not in CALLS:
    fail(f"{sys.argv[1:2]} is no command that this stand-in knows", 125)
sys.exit(CALLS[sys.argv[1]](sys.argv[2:]))
