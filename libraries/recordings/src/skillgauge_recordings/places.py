"""Names for the folders of a workspace, which tell of a machine and are others in every session."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property

from skillgauge.api import Execution, Workspace

_MARK = "[skillgauge:"
_NAMED = re.compile(rf"{re.escape(_MARK)}(?:(:)|(\w+)\])")
_NO_NAME = re.compile(r"[^A-Za-z0-9]")
"""What programs replace that make the name of a file of a path."""
_END = r"(?![\w-]|\.\w)"
"""What goes on here is a longer name, which stands for something else."""


class Places:
    """The folders of one workspace, by name.

    Texts come back as they were, with the folders of another workspace in place of those that were recorded: what looks
    like a name already is marked as none.

    Args:
        workspace: whose folders they are.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @cached_property
    def _folders(self) -> Mapping[str, str]:
        home = self._workspace.home
        folders = {"workspace": self._workspace.root, "home": home, "tmp": home.with_name("tmp"), "around": home.parent}
        spelled = {f"{name}_as_name": _NO_NAME.sub("-", str(folder)) for name, folder in folders.items()}
        return spelled | {name: str(folder) for name, folder in folders.items()}

    def _nameable(self) -> Mapping[str, str]:
        """Return the folders that a text may name: none, while nobody has been told where they will be."""
        return self._folders if getattr(self._workspace, "has_folders", True) else {}

    def named(self, text: str) -> str:
        """A text with names for the folders."""
        return _named(text, self._nameable())

    def restored(self, text: str) -> str:
        """A text with the folders that the names stand for."""
        return _restored(text, self._folders) if _MARK in text else text

    def named_in(self, execution: Execution) -> Execution:
        """Return the events with names for the folders."""
        text = execution.model_dump_json()
        named = _named(text, _escaped(self._nameable()))
        return execution if named == text else Execution.model_validate_json(named)

    def restored_in(self, execution: Execution) -> Execution:
        """Return the events with the folders that the names stand for."""
        text = execution.model_dump_json()
        return Execution.model_validate_json(_restored(text, _escaped(self._folders))) if _MARK in text else execution


def _escaped(folders: Mapping[str, str]) -> Mapping[str, str]:
    """Return the folders as JSON writes them."""
    return {name: json.dumps(folder, ensure_ascii=False)[1:-1] for name, folder in folders.items()}


def _named(text: str, folders: Mapping[str, str]) -> str:
    text = text.replace(_MARK, f"{_MARK}:")
    if not folders:
        return text
    names = {folder: name for name, folder in folders.items()}
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, longest_first))}){_END}")
    return pattern.sub(lambda found: f"{_MARK}{names[found[1]]}]", text)


def _restored(text: str, folders: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda found: _MARK if found[1] else folders.get(found[2], found[0]), text)
