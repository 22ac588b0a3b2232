"""Names of tools: those of Copilot, for which Vally is made, and those of other agents that do the same."""

from __future__ import annotations

import re

_SHELL = ("bash", "powershell", "shell", "exec_command")
_ALIKE = {
    "bash": _SHELL,
    "powershell": _SHELL,
    "view": ("view", "read", "read_file"),
    "edit": ("edit", "multiedit", "str_replace_editor", "apply_patch"),
    "create": ("create", "write", "write_file", "apply_patch"),
    "grep": ("grep", "grep_search"),
    "glob": ("glob", "file_search"),
}
PLAIN = re.compile(r"[\w:/-]+")
"""A name of a tool, as a pattern, that finds nothing but itself."""


def alike(name: str) -> str | None:
    """Return a pattern for all tools that do the same as one of Copilot's; `None` if it is none of Copilot's."""
    names = _ALIKE.get(name)
    return f"^(?:{'|'.join(names)})$" if names is not None else None


def copilot_name(pattern: str) -> str | None:
    """Return the tool of Copilot for which `alike` gives a pattern; `None` if it is another pattern."""
    return next((name for name in _ALIKE if alike(name) == pattern), None)
