"""The surroundings of a session: files, commands, variables, skills and servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from skillgauge.api import FileSpec, Install, JsonObject, did_you_mean, text_of
from skillgauge_skill_folders import SKILL_FILE, file_spec, files_of

from .source.files import CopyFile, EnvironmentFile, ServerFile
from .source.reading import MISSING_FILE, Pointer, Reading
from .source.settings import Settings

MOST_FILES = 2_000
_NOISE = frozenset({".git", "__pycache__", ".DS_Store"})


@dataclass(frozen=True)
class Environment:
    """The surroundings that a file asks for, or several of them together."""

    files: Mapping[str, FileSpec] = field(default_factory=dict)
    """By their place in the workspace."""
    commands: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    skills: tuple[Path, ...] | None = None
    """`None`: nothing is said about skills."""
    servers: Mapping[str, JsonObject] = field(default_factory=dict)

    def with_inner(self, inner: Environment) -> Environment:
        """Return these surroundings joined with narrower ones, which win."""
        skills = None
        if self.skills is not None or inner.skills is not None:
            skills = tuple(dict.fromkeys((*(self.skills or ()), *(inner.skills or ()))))
        return Environment(
            files={**self.files, **inner.files},
            commands=(*self.commands, *inner.commands),
            env={**self.env, **inner.env},
            skills=skills,
            servers={**self.servers, **inner.servers},
        )

    def installs(self, name: str) -> tuple[Install, ...]:
        """Return the servers as arms install them."""
        return (Install(kind="servers", name=name, content={"servers": self.servers}),) if self.servers else ()


def environment_of(
    reading: Reading, settings: Settings | None, value: JsonObject | str | None, *pointer: str | int
) -> Environment:
    """Return an environment; what is wrong with it is noted.

    Args:
        reading: the file in which it stands.
        settings: where its name is looked up.
        value: the environment, or its name.
        pointer: its place.
    """
    if value is None:
        return Environment()
    if not isinstance(value, str):
        return _read(reading, value, pointer)
    named = settings.environment(value) if settings is not None else None
    if settings is None or named is None:
        names = tuple(settings.file.environments) if settings is not None else ()
        hint = "Define it in .vally.yaml at the root of the repository: environments."
        reading.refuse(f"there is no environment {value!r}{did_you_mean(value, names)}", *pointer, hint=hint)
        return Environment()
    return _read(settings.reading, *named)


def _read(reading: Reading, value: object, pointer: Pointer) -> Environment:
    read = reading.part(EnvironmentFile, value, *pointer)
    if read is None:
        return Environment()
    if read.git is not None:
        hint = "Clone it by a command of `commands`, or put what is needed of it into `files`."
        reading.cannot("a repository is not checked out for a session", *pointer, "git", hint=hint)
    files: dict[str, FileSpec] = {}
    for number, entry in enumerate(read.files):
        files |= {spec.path: spec for spec in _files(reading, entry, (*pointer, "files", number))}
    skills = None
    if read.skills is not None:
        listed = enumerate(read.skills)
        skills = tuple(one for number, text in listed for one in _skills(reading, text, (*pointer, "skills", number)))
    return Environment(
        files=files,
        commands=(read.commands,) if isinstance(read.commands, str) else read.commands,
        env={name: text_of(value) for name, value in read.env.items()},
        skills=skills,
        servers=dict(_servers(reading, read.mcp_servers, (*pointer, "mcpServers"))),
    )


def _files(reading: Reading, entry: CopyFile, pointer: Pointer) -> Iterator[FileSpec]:
    """Yield a file, or those of a folder, each at its place in the workspace."""
    source = reading.place(entry.src)
    if source is None or not (source.is_file() or source.is_dir()):
        hint = "Paths start at the folder of this file, and do not leave its repository; what is made is made first."
        message = f"there is no file or folder {entry.src!r}"
        reading.refuse(message, *pointer, "src", hint=hint, code=MISSING_FILE)
        return
    target = PurePosixPath(entry.dest)
    if target.is_absolute() or ".." in target.parts or "\\" in entry.dest:
        reading.refuse(f"{entry.dest!r} is no place in the workspace", *pointer, "dest", hint="Give a relative path.")
        return
    if source.is_file():
        is_folder = entry.dest.endswith("/") or not target.parts
        yield from _spec(reading, source, target / source.name if is_folder else target, pointer)
        return
    paths = [path for path in files_of(source) if not _NOISE & set(path.split("/"))]
    if len(paths) > MOST_FILES:
        message = f"{entry.src!r} has {len(paths):,} files, and {MOST_FILES:,} are the most"
        reading.refuse(message, *pointer, "src", hint="Name the folder inside of it that is needed.")
        return
    for path in paths:
        yield from _spec(reading, source / path, target / path, pointer)


def _spec(reading: Reading, source: Path, target: PurePosixPath, pointer: Pointer) -> Iterator[FileSpec]:
    """Yield a file but for the suite itself, which holds the answers."""
    if source.resolve() == Path(reading.document.file).resolve():
        reading.tell("this file is not put into the workspace, since it holds the answers", *pointer)
        return
    if source.name == SKILL_FILE:
        reading.tell(f"a {SKILL_FILE} lies in the workspace of each arm, also of that without the skill", *pointer)
    yield file_spec(source, str(target))


def _skills(reading: Reading, written: str, pointer: Pointer) -> Iterator[Path]:
    """Yield the folder of a skill, named by itself or by its SKILL.md, or those of a folder of skills."""
    for place in reading.places(written):
        if skills := skills_in(place.parent if place.name == SKILL_FILE else place):
            break
    else:
        hint = "Name the folder of a skill, from the folder of this file on and inside its repository."
        reading.cannot(f"there is no skill at {written!r}", *pointer, hint=hint)
        return
    if place != reading.place(written):
        inside = os.path.relpath(place, reading.folder)
        reading.tell(f"this skill is found from a folder above: write {inside!r}", *pointer)
    yield from skills


def skills_in(place: Path) -> tuple[Path, ...]:
    """Return the skill that a folder is, or the skills directly in it; links lead to none."""
    if (place / SKILL_FILE).is_file():
        return (place,)
    folders = sorted(file.parent for file in place.glob(f"*/{SKILL_FILE}"))
    return tuple(folder for folder in folders if folder.resolve().is_relative_to(place.resolve()))


def _servers(reading: Reading, servers: Mapping[str, JsonObject], pointer: Pointer) -> Iterator[tuple[str, JsonObject]]:
    """Yield the servers of an environment by their names."""
    for name, value in servers.items():
        read = reading.part(ServerFile, value, *pointer, name)
        if read is None:
            continue
        if (read.command is None) is (read.url is None):
            reading.refuse("a server has either a command or a url", *pointer, name, hint="Give one of them.")
        if read.tools is not None:
            reading.tell("an agent may use all tools of a server", *pointer, name, "tools")
        if read.command is not None:
            reading.tell("a server starts in the workspace, so paths in its command start there, too", *pointer, name)
        keys = {"command", "args", "env"} if read.command is not None else {"type", "url", "headers"}
        yield name, read.model_dump(mode="json", include=keys, exclude_defaults=True)
