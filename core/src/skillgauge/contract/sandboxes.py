"""The places in which processes run: workspaces, processes, sandboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject
from skillgauge_documents.immutables import immutable

from ..errors import Problem, errors_among
from ..types.inputs import FileSpec

ALLOWED_ENV = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What processes in a workspace see of the user's environment unasked. `TERM` is missing on purpose: there is no
terminal."""


class SpoiledError(ValueError):
    """An agent left something in a workspace that keeps it from being read or graded: its failure, not an error."""


class NoRoomError(OSError):
    """The disk around a workspace is full, or nearly so: an error of the set-up, whatever the agent did meanwhile."""


class ModelRoute(Frozen):
    """A model API that processes of a workspace must reach, whatever else they may reach."""

    name: str
    """By which the workspace tells its address."""
    base_url: str
    """`http://` or `https://`, with the path that requests are added to."""
    requests: tuple[str, ...] = ("GET *", "POST *")
    """What may be asked: a method and a glob of the path below `base_url` each. All else is refused on its way."""
    headers: JsonObject = Field(default=EMPTY, repr=False)
    """Set on every request on its way, name to string, so that a key stays outside of the workspace."""


class Command(Frozen):
    """A process to start in a workspace."""

    argv: tuple[str, ...]
    cwd: str | None = None
    """Absolute, or relative to the workspace root; default: the workspace root."""
    env: JsonObject = EMPTY
    """Added to the allow-listed environment, name to string."""
    readable: tuple[str, ...] = ()
    """Absolute paths outside that this process must be able to read, beyond those of its workspace."""
    stdin: bytes = b""
    """Written and then closed, unless the process is interactive."""
    interactive: bool = False
    """Keep stdin open for `write` and hand out stdout by `lines`."""
    streamed: bool = False
    """Hand out stdout by `lines` as it comes, as from an interactive process, but close stdin after `stdin`."""
    timeout_s: float | None = None
    """Wall-clock seconds until the whole process group is killed."""
    output_bytes: int = 5 * 1024 * 1024
    """Bytes kept of each stream; the process may write more, which is dropped."""
    cpu_s: int | None = None
    file_bytes: int | None = None
    """Largest file it may write."""
    fresh: bool = False
    """For graders: with a `HOME`, a `TMPDIR` and, where the sandbox confines, a `/tmp` that nothing which ran in the
    workspace before has seen, and no process of it. Only the files below the root are shared."""


@immutable
class Finished:
    """The end of a process."""

    exit_code: int | None
    """`None` if a signal ended it."""
    signal: int | None
    stdout: bytes
    stderr: bytes
    duration_s: float
    timed_out: bool = False
    stdout_dropped: int = 0
    """Bytes beyond the limit."""
    stderr_dropped: int = 0
    left_behind: bool = False
    """Whether processes of its group were still alive and had to be killed."""
    sandbox_failure: str = ""
    """Why the sandbox itself broke while the process ran, so that the other fields say nothing about the process: an
    error of class `killed`. Empty if it did not break."""


class Running(Protocol):
    """A process that was started."""

    async def wait(self) -> Finished:
        """Wait for its end. Cancelling the caller kills the whole process group."""

    async def write(self, data: bytes) -> None:
        """Send bytes to an interactive process. Raises `BrokenPipeError` if it no longer reads."""

    def lines(self) -> AsyncIterator[bytes]:
        """Lines of the stdout of an interactive or streamed process, without their ends, until it closes it."""

    async def stop(self) -> Finished:
        """Kill the whole process group and report."""


class Workspace(Protocol):
    """A place where one target or one trial runs. Every process starts here, so limits live here once."""

    @property
    def root(self) -> Path:
        """The folder that processes see as their own."""

    @property
    def home(self) -> Path:
        """Home folder of its processes, empty at first; no snapshot shows it."""

    @property
    def tier(self) -> str:
        """Sandbox and tier, for example `local/none`."""

    @property
    def routes(self) -> Mapping[str, str]:
        """Address of each of its model routes as its processes see it, by name.

        Empty if the sandbox does not confine the network: processes then reach the API by themselves, with a key.
        """

    async def start(self, command: Command) -> Running:
        """Start a process. Raises `LaunchError` if it cannot be started."""

    async def put(self, files: Sequence[FileSpec], *, anew: bool = False) -> Sequence[str]:
        """Write files below the root. Raises `ValueError` for a path that leaves it.

        With `anew` an agent was at work before: a folder that these files alone furnish is emptied first, and what is
        in the way of one is set aside, which the answer names. Raises `SpoiledError` if that cannot be done.
        """

    async def snapshot(self) -> Mapping[str, str]:
        """Relative path to content digest of every file below the root.

        Raises:
            SpoiledError: the files have no end, or are more than the workspace may hold.
            NoRoomError: the disk was full at some time, so that what they are proves nothing.
        """

    async def collect(self, path: str, limit: int) -> bytes:
        """Read a file below the root, at most `limit` bytes, following no link out of it."""


PackedKind = Literal["file", "link", "folder", "other"]
"""What something with a name in a workspace is."""


class PackedFile(NamedTuple):
    """A file, a link, a folder, or something else that has a name in a workspace, with the facts that `tar` keeps."""

    path: str
    """Relative to the root, with forward slashes; `.` is the root."""
    kind: PackedKind
    mode: int
    mtime: int
    """Whole seconds since the epoch."""
    content: bytes = b""
    target: str = ""
    """The path that a link leads to."""


@runtime_checkable
class PackingWorkspace(Protocol):
    """The abilities of a workspace whose files can be packed without a process in it. In any other one `tar` does so.

    It may also say `has_folders`, `False` as long as its folders are not made, so that no text can name one.
    """

    async def packed(self, limit: int) -> tuple[PackedFile, ...]:
        """Return the root and all below it; not all of it if the contents are longer than `limit` bytes together.

        Raises:
            OSError: something cannot be read.
        """


class Tier(StrEnum):
    """The strength of a sandbox."""

    STRICT = "strict"
    PARTIAL = "partial"
    NONE = "none"


@immutable
class SandboxReport:
    """The abilities of a sandbox on this machine, found by trying."""

    tier: Tier
    problems: tuple[Problem, ...] = ()
    """Errors if it cannot be used at all; warnings for what it does not confine here as it should."""
    runs_images: bool = False
    """Whether a workspace runs the image that its `image_files` make; where not, cases that bring one are refused."""
    is_remote: bool = False
    """Whether its processes run on another machine: folders that it is given are copied there and what is written to
    them stays there, `root` and `home` are no folders here, and agents whose engine needs those are refused."""

    @property
    def is_usable(self) -> bool:
        """True if processes can be run in it."""
        return not errors_among(self.problems)


class SandboxSpec(Frozen):
    """The purpose of a workspace."""

    label: str
    """For messages. Nothing that runs in the workspace may see it: the id of a case can give its answer away."""
    readable: tuple[str, ...] = ()
    """Absolute paths outside that its processes must be able to read."""
    writable: tuple[str, ...] = ()
    program_files: tuple[str, ...] = ()
    """Further such paths, of the program that is to run, where all that is seen is an image; not for graders."""
    pass_env: tuple[str, ...] = ()
    """Names of variables that its processes may see beyond the allow list."""
    env: JsonObject = EMPTY
    network: bool = True
    routes: tuple[ModelRoute, ...] = ()
    """Model APIs to be reached although there is no network."""
    hosts: tuple[str, ...] = ()
    """Further hosts, `name` or `name:port`, to be reached by TLS although there is no network."""
    image_files: tuple[FileSpec, ...] = ()
    """A `Dockerfile` and what it copies; empty unless the sandbox runs images."""
    room_mb: int = Field(default=1, ge=1)
    """MiB that must be free on the disk when it is opened; where not, opening raises `NoRoomError`."""
    untrusted: bool = False
    """Whether the suite is a stranger's: its image is built only if the user's own options ask for it, and confined."""
    keep: bool = False
    """Leave the folders behind for inspection."""
    conceal: JsonObject = Field(default=EMPTY, repr=False)
    """Secrets, name to value, that no file may hold which is left behind."""


@immutable
class ImagePlan:
    """The image that the files of a case make, as it would be built."""

    name: str
    """The sandbox's name for it."""
    file: str
    """Path of the Dockerfile, as the user can open it."""
    is_there: bool
    """Whether it has been built already."""
    bases: tuple[str, ...] = ()
    """Names of the images that it is built from."""
    fetched: tuple[str, ...] = ()
    """Those of them that are not on this machine, so that a build fetches them."""
    removal: str = ""
    """Command line that removes it."""
    problems: tuple[Problem, ...] = ()
    """Why it is not built; warnings for what the user should know."""


class Sandbox(Protocol):
    """Make workspaces."""

    async def check(self) -> SandboxReport:
        """Try it once by running something."""

    def open(self, spec: SandboxSpec) -> AbstractAsyncContextManager[Workspace]:
        """A fresh workspace, removed at the end together with every process started in it."""


@runtime_checkable
class ImageSandbox(Protocol):
    """The abilities of a sandbox that runs images, beyond `Sandbox`. Any other runs no image of an untrusted suite."""

    async def image(self, spec: SandboxSpec) -> ImagePlan:
        """Return what the `image_files` of a workspace would make. Builds and fetches nothing."""
