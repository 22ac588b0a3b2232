"""The surroundings of a command: nothing that the agent could have prepared for the programs that it calls.

Files that programs read unasked are left where they are, since a task may ask for them; variables, which are stronger
than such files, take their effect away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from skillgauge.api import Case

_PYTHON = {"PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1"}
"""No site-packages of a home, and neither the working directory nor that of a script on the path of modules."""
_GIT = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.sshCommand": "ssh",
    "core.askPass": "true",
    "credential.helper": "",
    "gpg.program": "gpg",
}
"""Settings of a repository by which git starts programs; those of the environment are stronger."""
_NPM = {"npm_config_script_shell": "/bin/sh", "npm_config_node_options": "--stack-trace-limit=10"}
_PYTEST = ("-p no:cacheprovider", "-o addopts=", "-o pythonpath=")
_PYTEST_SETTINGS = frozenset({"pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"})
_PYTEST_HOOKS = "conftest.py"


def surroundings(case: Case, root: Path) -> Mapping[str, str]:
    """Variables of a command that grades.

    Args:
        case: whose files tell what the suite itself brings.
        root: the working directory.
    """
    paths = {file.path for file in case.files}
    graders = {file.path for file in case.grader_files}
    env = {**_PYTHON, **_NPM, "GIT_CONFIG_COUNT": str(len(_GIT)), "GIT_CONFIG_NOSYSTEM": "1"}
    for number, (name, value) in enumerate(_GIT.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    names = {PurePosixPath(path).name for path in paths | graders}
    words = [] if names & _PYTEST_SETTINGS else list(_PYTEST)
    if _PYTEST_HOOKS not in names:
        words.append("--noconftest")
    env["PYTEST_ADDOPTS"] = " ".join(words)
    if folders := _modules_of_graders(sorted(graders), paths):
        env["PYTHONPATH"] = ":".join(str(root / folder) for folder in folders)
    return env


def _modules_of_graders(graders: Sequence[str], paths: set[str]) -> list[str]:
    """Folders with Python files of graders and nothing else, so that their scripts find what lies beside them."""
    shared = {parent for path in paths for parent in PurePosixPath(path).parents}
    folders = dict.fromkeys(PurePosixPath(path).parent for path in graders if path.endswith(".py"))
    return [str(folder) for folder in folders if folder.parts and folder not in shared]
