"""Workspaces confined by bubblewrap, and whether that works here."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from skillgauge.api import Command, Finished, NoRoomError, Problem, SandboxReport, SandboxSpec, Tier, host_environment

from .cgroups import find_places
from .launching import Launchers
from .mounts import System
from .options import BubblewrapOptions
from .tools import tool_paths
from .workspace import BubblewrapWorkspace, Host, has_network

_INSTALL = "Install it (Debian, Ubuntu: apt install bubblewrap), or choose another sandbox with --sandbox."
_ALLOW = (
    "Let this account make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
    "AppArmor's restriction of them; containers need a seccomp profile that lets them), or choose another sandbox "
    "with --sandbox."
)
_PROBE_S = 20.0
# Nothing but what is built into a shell: a process for each question took a third of the time of all of them.
_PROBE = """
test ! -e "$1" || { echo 'sees files outside' >&2; exit 1; }
devices=
while read -r line; do case $line in *:*) devices=$devices+; esac; done </proc/net/dev
test -n "$3" || test "$devices" = + || { echo 'has a network' >&2; exit 1; }
test ! -e /proc/$2 || test "$2" -lt 50 || { echo 'sees processes outside' >&2; exit 1; }
echo x >"$HOME/x" && echo x >"$TMPDIR/x" && echo x >x || exit 1
for place in / /usr /etc /proc/sys/vm/overcommit_memory; do
    if test -d $place; then place=$place/skillgauge; fi
    if true 2>/dev/null >$place; then echo "writes to $place" >&2; exit 1; fi
done
"""


class BubblewrapSandbox:
    """Opens workspaces whose processes see no more than they need.

    Args:
        options: limits and further paths.
    """

    def __init__(self, options: BubblewrapOptions) -> None:
        self._options = options
        self._unproven = False
        self._proving = asyncio.Lock()

    async def check(self) -> SandboxReport:
        """Run a process in a sandbox, and let it look for what it must not find.

        The launcher has to pass the same before the first workspace is used, so that who opens none waits for none.
        """
        if sys.platform != "linux":
            return self._unusable("works on Linux only", "Choose another sandbox with --sandbox.")
        if not self._host.bwrap:
            return self._unusable("needs the program bwrap, which is not installed", _INSTALL)
        try:
            finished = await self._probe(replace(self._host, launchers=Launchers(are_usable=False)))
        except NoRoomError as error:
            return self._unusable(f"has no room: {error}", "Free some space, or set TMPDIR to a folder with more.")
        except OSError as error:
            return self._unusable(f"cannot start a process: {error}", _INSTALL)
        if finished.exit_code != 0:
            words = finished.stderr.decode(errors="replace").strip() or "nothing was said"
            return self._unusable(f"does not confine here: {words}", _ALLOW)
        self._unproven = self._host.launchers.are_usable
        return SandboxReport(self._tier)

    async def _prove_launcher(self) -> None:
        """Find out once whether the launcher confines as bwrap does; otherwise it is not used."""
        async with self._proving:
            if self._unproven:
                passed = False
                with suppress(OSError):
                    passed = (await self._probe(self._host)).exit_code == 0
                self._host.launchers.are_usable &= passed
                self._unproven = False

    async def _probe(self, host: Host) -> Finished:
        async with self._open(SandboxSpec(label="check", network=False), host) as workspace:
            network = "network" if self._options.network else ""
            words = (str(workspace.folder / "passwd"), str(os.getpid()), network)
            command = Command(argv=("sh", "-c", _PROBE, "probe", *words), timeout_s=_PROBE_S)
            return await (await workspace.start(command)).wait()

    def open(self, spec: SandboxSpec) -> BubblewrapWorkspace:
        """A fresh workspace."""
        return self._open(spec, self._host, prove=self._prove_launcher)

    def _open(
        self, spec: SandboxSpec, host: Host, prove: Callable[[], Awaitable[None]] | None = None
    ) -> BubblewrapWorkspace:
        name = "bubblewrap+network" if has_network(spec, self._options) else "bubblewrap"
        environ = host_environment()
        return BubblewrapWorkspace(spec, environ, self._options, host, tier=f"{name}/{self._tier}", prove=prove)

    @property
    def _tier(self) -> Tier:
        return Tier.PARTIAL if self._options.opens else Tier.STRICT

    @cached_property
    def _host(self) -> Host:
        environ = host_environment()
        bwrap = shutil.which("bwrap", path=environ.get("PATH")) or shutil.which("bwrap", path=os.defpath) or ""
        path = os.path.realpath(bwrap) if bwrap else ""
        return Host(path, tool_paths(environ), find_places(), System(), Launchers())

    def __reduce__(self) -> tuple[type[BubblewrapSandbox], tuple[BubblewrapOptions]]:
        return BubblewrapSandbox, (self._options,)

    def _unusable(self, reason: str, hint: str) -> SandboxReport:
        return SandboxReport(self._tier, (Problem("sandbox.unusable", f"sandbox 'bubblewrap' {reason}", hint=hint),))
