"""The failures that the exit code of a shell command hides."""

from __future__ import annotations

import re

from skillgauge_documents.immutables import immutable

_STRING = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_GRANTED = re.compile(r"\s*(?:\|\||;)\s*(?:true|:|exit\s+0)\s*;?\s*$")
_ALWAYS = re.compile(r"(?:true|:|exit(?:\s+0)?|echo\b.*|printf\b.*)")
_SETS = re.compile(r"(?:cd|set|export|unset|trap|umask|shopt|source|\.)\b|\w+=|mkdir -p\b|(?:then|do|else|fi|done)\b")
_COMPOUND = re.compile(r"\b(?:if|for|while|until|case|function)\b|[{}()`]|<<")
_STRICT = re.compile(r"\bset\s+-\w*e|pipefail")
_INVERTED_GREP = re.compile(r"(?:^|[|&]\s*)grep\b(?=[^|&]*\s-\w*v)(?![^|&]*\s-\w*L)")
_INDIFFERENT = frozenset(("tee", "cat", "head", "tail", "sort", "wc", "sed", "tr", "cut", "uniq", "nl", "column"))
"""Programs that end with 0 whatever they are given."""


@immutable
class Trap:
    """The reason why an exit code means something else than it seems to."""

    reason: str
    ending: str = ""
    """The text at the end that does it, where the command means what it says without it."""


def cannot_fail(command: str) -> Trap | None:
    """Say why a command passes whatever there is, if it does."""
    plain = _without_strings(command)
    granted = _GRANTED.search(plain)
    if granted and plain[: granted.start()].strip():
        ending = command[granted.start() :]
        return Trap(f"it ends with `{ending.strip()}`, so its exit code is 0 whatever happened before", ending)
    parts = [part.strip() for part in re.split(r"&&|\|\||[;\n]", plain) if part.strip()]
    if parts and all(_ALWAYS.fullmatch(part) for part in parts) and "|" not in plain.replace("||", ""):
        return Trap("nothing in it can fail")
    return None


def trap(command: str) -> Trap | None:
    """Return what goes unnoticed in the exit code of a command, if anything."""
    plain = _without_strings(command)
    if _COMPOUND.search(plain) or _STRICT.search(plain):
        return None
    commands = [part.strip() for part in re.split(r"[;\n]", plain) if part.strip()]
    if any(_is_lost(part) for part in commands[:-1]):
        return Trap("only the exit code of the last command counts; join them with `&&`, or begin with `set -e`")
    last = commands[-1] if commands else ""
    return _pipe_trap(last) or _grep_trap(last)


def _is_lost(command: str) -> bool:
    """Return whether the failure of a command that others follow would matter and is not seen."""
    return not _SETS.match(command) and not command.endswith("exit 1")


def _pipe_trap(command: str) -> Trap | None:
    *before, reader = re.split(r"(?<!\|)\|(?!\|)", command)
    words = reader.split()
    if not before or not words or words[0] not in _INDIFFERENT:
        return None
    return Trap(f"the exit code of a pipe is that of its last command, and `{words[0]}` ends with 0 whatever it reads")


def _grep_trap(command: str) -> Trap | None:
    is_piped = "|" in command.replace("||", "")
    if is_piped or not _INVERTED_GREP.search(command):
        return None
    return Trap('`grep -v` passes as soon as any other line is there; for "is not in it" write `! grep -q`')


def _without_strings(command: str) -> str:
    """The command with what is quoted blanked out, so that places stay where they are."""
    return _STRING.sub(lambda found: "_" * len(found[0]), command)
