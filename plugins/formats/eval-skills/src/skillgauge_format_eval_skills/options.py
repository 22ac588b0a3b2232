"""The options of loading."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillgauge.api import HARMLESS, RUN_PLACE, Frozen, LoadOption


class EvalSkillsOptions(Frozen):
    """Options of the commands that load suites, as eval-skills spells them."""

    skills: Annotated[tuple[str, ...], LoadOption("--skills", metavar="PATH...", several_words=True, paths=True)] = (
        Field(default=(), description="Skills to evaluate: skill.json files, or folders to search for them.")
    )
    benchmark: Annotated[str | None, LoadOption("--benchmark", metavar="ID-or-PATH")] = Field(
        default=None,
        description="Benchmark to evaluate them on: an id or a file. Default: coding-easy.",
        json_schema_extra=RUN_PLACE,
    )
    tasks: Annotated[str | None, LoadOption("--tasks", metavar="FILE")] = Field(
        default=None, description="File of tasks to use instead of a benchmark.", json_schema_extra=RUN_PLACE
    )
    benchmarks_dir: Annotated[str, LoadOption("--benchmarks-dir", metavar="DIR")] = Field(
        default="./benchmarks",
        description="Folder with further benchmarks. Default: ./benchmarks.",
        json_schema_extra=RUN_PLACE,
    )
    evaluator: Annotated[str | None, LoadOption("--evaluator", metavar="NAME")] = Field(
        default=None, description="Scorer of the tasks that name none. Default: exact.", json_schema_extra=HARMLESS
    )
