"""Skill folders as the Agent Skills specification has them: what formats of suites about skills have in common."""

from .bundles import DOCKERFILE, bundled_files, bytes_of, contained, file_spec, image_files, shell_words
from .folders import files_of, skill_ref
from .headed import Headed, head_of, read_headed
from .leaks import LEAKS, Leaks, leaks_of
from .loading import load_each, object_in
from .plugin_parts import PluginParts, manifest_of
from .repositories import folders_around, plugin_around, repository_around, roots_around, skills_of
from .skill_file import DRAFTS_FILE, SKILL_FILE, Skill, find_skill, read_skill

__all__ = [
    "DOCKERFILE",
    "DRAFTS_FILE",
    "LEAKS",
    "SKILL_FILE",
    "Headed",
    "Leaks",
    "PluginParts",
    "Skill",
    "bundled_files",
    "bytes_of",
    "contained",
    "file_spec",
    "files_of",
    "find_skill",
    "folders_around",
    "head_of",
    "image_files",
    "leaks_of",
    "load_each",
    "manifest_of",
    "object_in",
    "plugin_around",
    "read_headed",
    "read_skill",
    "repository_around",
    "roots_around",
    "shell_words",
    "skill_ref",
    "skills_of",
]
