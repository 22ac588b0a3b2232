"""The files in the workspace of a case, and the commands that prepare it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from skillgauge.api import FileSpec
from skillgauge_skill_folders import file_spec, files_of

from .files import ContextFile, EnvironmentFile, GitFile
from .reading import Reading

DIFF = "context.git.patch"
"""Name of the patch in the workspace, where it lies as long as it is applied."""
INIT = "git init -q && git config user.name skill-up && git config user.email skill-up@example.invalid"
APPLY = f"git apply -- {DIFF}"
_BRANCH, _REMOTE = "git symbolic-ref HEAD", "git remote add"
_GIT = ("context", "git")


def files(reading: Reading, context: ContextFile) -> tuple[FileSpec, ...]:
    """The files of a case, by their paths; those that are written out come in place of those of the template."""
    specs: dict[str, FileSpec] = {}
    place = ("context", "repo_fixture")
    if context.repo_fixture is not None:
        folder = reading.place(context.repo_fixture, *place, is_folder=True)
        paths = files_of(folder) if folder is not None else []
        if any(".git" in path.split("/") for path in paths):
            hint = "Take .git out of the folder, and write git: {init: true}"
            reading.refuse("the template holds a repository of git, which is not copied", *place, hint=hint)
            paths = []
        specs = {path: file_spec(folder / path, path) for path in paths if folder is not None}
    for written, text in context.files.items():
        path = str(PurePosixPath(written))
        if path == "." or path.startswith("/") or ".." in path.split("/") or "\\" in path:
            hint = "Give a relative path."
            reading.refuse(f"{written!r} is no place in the workspace", "context", "files", written, hint=hint)
        else:
            specs[path] = FileSpec(path=path, text=text)
    return tuple(specs[path] for path in sorted(specs))


def environment(reading: Reading, written: EnvironmentFile) -> dict[str, str]:
    """The variables of all cases, after refusing or telling what else is set there."""
    place = ("environment",)
    if written.type != "none":
        hint = "Write type: none, and choose it by --sandbox docker --set sandboxes.docker.image=IMAGE"
        reading.refuse(f"a suite does not choose where it runs: {written.type}", *place, "type", hint=hint)
    else:
        for key in sorted(written.model_fields_set - {"type", "env", "setup_steps"}):
            reading.tell(f"{key} has no effect where the environment is none", *place, key)
    if written.setup_steps:
        message = "setup steps run when the files of a case are there; in skill-up they run before"
        reading.tell(message, *place, "setup_steps")
    for name, value in written.env.items():
        if "$" in value:
            hint = "Write the value itself."
            message = f"the value of {name} refers to another variable, and is not filled in"
            reading.refuse(message, *place, "env", name, hint=hint)
    return dict(written.env)


def setup(reading: Reading, common: EnvironmentFile, git: GitFile) -> tuple[tuple[str, ...], tuple[FileSpec, ...]]:
    """The commands of a case with the files that only they need: steps of all cases, then a repository of git."""
    commands = [step.run for step in common.setup_steps]
    if git.init:
        commands += [INIT, *_remotes(reading, git)]
    elif git.remotes:
        reading.tell("remotes have no effect without init", *_GIT, "remotes")
    if git.checkout is not None:
        commands += _checkout(reading, git, git.checkout)
    path = reading.place(git.apply_diff, *_GIT, "apply_diff") if git.apply_diff is not None else None
    if path is None:
        return tuple(commands), ()
    patch = FileSpec(path=DIFF, text=reading.text(path, *_GIT, "apply_diff"))
    return (*commands, APPLY), (patch,)


def _remotes(reading: Reading, git: GitFile) -> Iterator[str]:
    for number, remote in enumerate(git.remotes):
        if _is_word(remote.name) and _is_word(remote.url):
            yield f"{_REMOTE} {shlex.quote(remote.name)} {shlex.quote(remote.url)}"
        else:
            place = (*_GIT, "remotes", number)
            reading.refuse("a name or address of a remote is one word", *place, hint="Take out blanks and the dash.")


def _checkout(reading: Reading, git: GitFile, branch: str) -> Iterator[str]:
    place = (*_GIT, "checkout")
    if not git.init:
        reading.refuse("there is no repository to check a branch out from", *place, hint="Add init: true.")
    elif not _is_word(branch):
        reading.refuse(f"{branch!r} is no name of a branch", *place, hint="Take out blanks and the dash.")
    else:
        # The repository has no commit yet, so that the branch begins with it.
        yield f"{_BRANCH} {shlex.quote(f'refs/heads/{branch}')}"


def _is_word(text: str) -> bool:
    return not text.startswith("-") and text.split() == [text] and text.isprintable()


def git_of(commands: Sequence[str], patch: str | None) -> dict[str, object] | None:
    """Return `context.git` of which such commands are made; `None` if they are others.

    Args:
        commands: all of them, in their order.
        patch: path of the file that is applied.
    """
    git: dict[str, object] = {}
    remotes: list[dict[str, str]] = []
    for command in commands:
        words = shlex.split(command)
        if command == INIT and not git:
            git["init"] = True
        elif command == APPLY and patch is not None:
            git["apply_diff"] = patch
        elif command.startswith(_REMOTE) and len(words) == 5:
            remotes.append({"name": words[3], "url": words[4]})
        elif command.startswith(_BRANCH) and len(words) == 4:
            git["checkout"] = words[3].removeprefix("refs/heads/")
        else:
            return None
    return git | ({"remotes": remotes} if remotes else {})


def is_of_git(command: str) -> bool:
    """Tell whether a command can be one of those that make a repository."""
    return command in (INIT, APPLY) or command.startswith((_REMOTE, _BRANCH))
