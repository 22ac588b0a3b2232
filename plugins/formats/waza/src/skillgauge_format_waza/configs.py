"""The keys of `config` of a grader, by its type."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skillgauge.api import JsonObject

from .files import Count, Part, Text

Texts = tuple[Text, ...]
Some = Annotated[Texts, Field(min_length=1)]


class CodeConfig(Part):
    """Expressions that have to be true."""

    assertions: Some
    language: Literal["python", "javascript"] = "python"


class TextConfig(Part):
    """The texts that have to be in the output, or may not be in it."""

    contains: Texts = ()
    not_contains: Texts = ()
    contains_cs: Texts = ()
    not_contains_cs: Texts = ()
    regex_match: Texts = ()
    regex_not_match: Texts = ()


class RegexConfig(Part):
    """The same as patterns alone, in older files."""

    must_match: Texts = ()
    must_not_match: Texts = ()


class KeywordConfig(Part):
    """The same as texts alone, in older files."""

    must_contain: Texts = ()
    must_not_contain: Texts = ()


class ContentFile(Part):
    """Patterns for one file."""

    path: Text
    must_match: Texts = ()
    must_not_match: Texts = ()


class FileConfig(Part):
    """Files that have to be there, or may not be there, and what is in them."""

    must_exist: Texts = ()
    must_not_exist: Texts = ()
    content_patterns: tuple[ContentFile, ...] = ()


class ComparedFile(Part):
    """One file and what it has to be."""

    path: Text
    snapshot: Text | None = None
    contains: Texts = ()


class DiffConfig(Part):
    """Files compared with others."""

    expected_files: Annotated[tuple[ComparedFile, ...], Field(min_length=1)]
    context_dir: Text | None = None


class SchemaConfig(Part):
    """A JSON Schema of the output, here or in a file."""

    json_schema: JsonObject | None = Field(default=None, alias="schema")
    schema_file: Text | None = None


class ProgramConfig(Part):
    """A program that gets the output on stdin."""

    command: Text
    args: tuple[str, ...] = ()
    timeout: Count = 30


class BehaviorConfig(Part):
    """Limits of a session, and tools."""

    max_tool_calls: Count | None = None
    max_tokens: Count | None = None
    max_duration_ms: Count | None = None
    required_tools: Texts = ()
    forbidden_tools: Texts = ()


class ActionsConfig(Part):
    """Tools in their order."""

    matching_mode: Literal["exact_match", "in_order_match", "any_order_match"]
    expected_actions: Some


class SkillsConfig(Part):
    """Skills in their order."""

    mode: Literal["exact_match", "in_order", "any_order"]
    required_skills: Some
    allow_extra: bool = True


class ToolPart(Part):
    """A call of a tool."""

    tool: Text
    command_pattern: Text | None = None
    skill_pattern: Text | None = None
    path_pattern: Text | None = None


class ToolsConfig(Part):
    """Calls that there have to be, or may not be."""

    expect_tools: tuple[ToolPart, ...] = ()
    reject_tools: tuple[ToolPart, ...] = ()


class PromptConfig(Part):
    """The question to a judge."""

    prompt: Text | None = None
    model: Text | None = None
    continue_session: bool = False
    mode: Literal["independent", "pairwise"] = "independent"
