"""Skill folders as the Agent Skills specification has them: what formats of suites about skills have in common."""

from .bundles import bundled_files, contained, file_spec
from .folders import files_of, skill_ref
from .leaks import LEAKS, Leaks, leaks_of
from .skill_file import SKILL_FILE, Skill, find_skill, read_skill

__all__ = [
    "LEAKS",
    "SKILL_FILE",
    "Leaks",
    "Skill",
    "bundled_files",
    "contained",
    "file_spec",
    "files_of",
    "find_skill",
    "leaks_of",
    "read_skill",
    "skill_ref",
]
