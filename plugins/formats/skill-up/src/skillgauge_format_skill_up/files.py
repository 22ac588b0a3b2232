"""The keys of eval.yaml and of case files.

Types are exact and unknown keys are errors: what is not read here would be lost. A key without a value counts as one
that is not there, as it does in skill-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skillgauge.api import Json, JsonObject

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Texts = tuple[Text, ...]
Words = tuple[Annotated[str, Field(min_length=1)], ...]
Whole = Annotated[int, Field(ge=0)]
"""0 is as good as nothing: the default holds."""


class Part(BaseModel):
    """Something in one of the files."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {key: item for key, item in value.items() if item is not None}


class StepFile(Part):
    """One of `environment.setup_steps`."""

    run: Text


class EnvironmentFile(Part):
    """`environment`."""

    type: Literal["none", "docker", "opensandbox"] = "none"
    env: dict[str, str] = {}
    setup_steps: tuple[StepFile, ...] = ()
    image: Json = None
    sandbox_template: Json = None
    workspace_mount: Json = None
    use_server_proxy: Json = None
    ready_timeout_seconds: Json = None
    sandbox_timeout_seconds: Json = None
    entrypoint: Json = None
    metadata: Json = None
    kwargs: Json = None
    network_policy: Json = None
    allowed_egress: Json = None


Transport = Literal["", "stdio", "http", "streamable_http", "streamable-http"]


class ServerEntry(Part):
    """One of `mcp.servers`."""

    name: Text
    mode: Literal["real", "mocked"]
    transport: Transport = ""
    command: str = ""
    args: tuple[str, ...] | None = None
    endpoint: str = ""
    config_ref: str = ""


class ServerConfigFile(Part):
    """The file that `config_ref` of a server names."""

    transport: Transport = ""
    command: str = ""
    args: tuple[str, ...] = ()
    endpoint: str = ""
    env: dict[str, str] = {}
    required_env: Texts = ()
    headers: dict[str, str] = {}
    tool_responses: JsonObject = {}


class McpFile(Part):
    """`mcp`."""

    servers: tuple[ServerEntry, ...] = ()


class SkillEntry(Part):
    """One of `skills`."""

    source: Literal["local_path", "registry"] = "local_path"
    path: Text = "."
    target: Json = None
    include: Texts = ()
    exclude: Texts = ()


class ModelFile(Part):
    """`engine.model`."""

    provider: str = ""
    name: str = ""
    base_url: str = ""
    params: Json = None


class EngineFile(Part):
    """`engine`."""

    name: Text
    version: Json = None
    entry: Json = None
    model: ModelFile = ModelFile()
    kwargs: Json = None
    custom: Json = None


class SimulatorFile(Part):
    """`user_simulator` of a suite, which names the model."""

    model: ModelFile | Text | None = None


class ScenarioFile(SimulatorFile):
    """`user_simulator` of a case."""

    scenario: Text


class ContentFile(Part):
    """One of `expect.file_contains`."""

    path: Text
    content: Annotated[str, Field(min_length=1)]


class ExpectFile(Part):
    """`expect`, of a case or of all of them."""

    must_contain: Words = ()
    must_not_contain: Words = ()
    exit_code: int | None = None
    files_exist: Texts = ()
    files_not_exist: Texts = ()
    file_contains: tuple[ContentFile, ...] = ()
    golden_file: Text | None = None


class OutputFile(Part):
    """`output_contains` and `output_matches`."""

    all: Words = ()
    any: Words = ()
    none: Words = Field(default=(), alias="not")


class ToolFile(Part):
    """`tool_called`."""

    name: Text
    args: JsonObject = {}


class TurnTextsFile(Part):
    """`turn_response_contains`."""

    turn: Annotated[int, Field(ge=1)]
    contains_all: Words = ()
    contains_any: Words = ()


class TurnLacksFile(Part):
    """`turn_response_not_contains`."""

    turn: Annotated[int, Field(ge=1)]
    not_contains: Words


class TurnCallFile(Part):
    """`tool_called_in_turn`."""

    turn: Annotated[int, Field(ge=1)]
    name: Text
    args: JsonObject = {}


class TurnNoCallFile(Part):
    """`tool_not_called_in_turn`."""

    turn: Annotated[int, Field(ge=1)]
    name: Text


class RuleFile(Part):
    """One of `success` and `failure`."""

    output_contains: OutputFile | None = None
    output_matches: OutputFile | None = None
    exit_code: int | None = None
    tool_called: ToolFile | None = None
    files_exist: Texts | None = None
    files_not_exist: Texts | None = None
    turn_response_contains: TurnTextsFile | None = None
    turn_response_not_contains: TurnLacksFile | None = None
    tool_called_in_turn: TurnCallFile | None = None
    tool_not_called_in_turn: TurnNoCallFile | None = None


class JudgeFile(Part):
    """`judge`, or one of `judges`."""

    id: Text | None = None
    type: Literal["rule_based", "script", "agent_judge"] | None = None
    success: tuple[RuleFile, ...] = ()
    failure: tuple[RuleFile, ...] = ()
    script_path: Text | None = None
    criteria: Texts = ()
    pass_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    model: Text | None = None
    timeout_seconds: Whole | None = None
    context: JsonObject | None = None
    skills: tuple[JsonObject, ...] = ()


class DefaultsFile(Part):
    """`cases.defaults`."""

    timeout_seconds: Whole = 0
    max_turns: Whole = 0
    collect_artifacts: Texts = ()
    expect: ExpectFile = ExpectFile()


class CasesFile(Part):
    """`cases`."""

    files: Texts = ()
    defaults: DefaultsFile = DefaultsFile()
    parallelism: Whole | None = None
    retry_policy: JsonObject | None = None


class BenchmarkFile(Part):
    """`benchmark`."""

    enabled: bool = False


class EvalFile(Part):
    """The whole eval.yaml."""

    schema_version: Literal["v1alpha1"]
    environment: EnvironmentFile = EnvironmentFile()
    mcp: McpFile = McpFile()
    skills: tuple[SkillEntry, ...] = ()
    engine: EngineFile | None = None
    cases: CasesFile
    judge: JudgeFile = JudgeFile()
    judges: tuple[JudgeFile, ...] | None = None
    benchmark: BenchmarkFile = BenchmarkFile()
    user_simulator: SimulatorFile | None = None
    report: JsonObject | None = None


class ConditionFile(Part):
    """`post_condition` of a turn."""

    must_contain_all: Words = ()
    must_contain_any: Words = ()
    must_not_contain: Words = ()
    on_fail: Literal["fail", "skip_remaining", ""] = ""

    def lists(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the lists that are not empty, by their keys."""
        keys = ("must_contain_all", "must_contain_any", "must_not_contain")
        return [(key, texts) for key in keys if (texts := getattr(self, key))]


class CaptureFile(Part):
    """One of `capture` of a turn."""

    variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    pattern: str = ""
    jsonpath: str = ""


class TurnFile(Part):
    """One of `input.turns`."""

    role: Literal["user"]
    content: str | None = None
    respond: str | None = None
    timeout_seconds: Whole = 0
    post_condition: ConditionFile | None = None
    capture: tuple[CaptureFile, ...] = ()


class InputFile(Part):
    """`input`."""

    prompt: str = ""
    turns: tuple[TurnFile, ...] = ()


class RemoteFile(Part):
    """One of `context.git.remotes`."""

    name: Text
    url: Text


class GitFile(Part):
    """`context.git`."""

    init: bool = False
    checkout: Text | None = None
    apply_diff: Text | None = None
    remotes: tuple[RemoteFile, ...] = ()


class ContextFile(Part):
    """`context`."""

    repo_fixture: Text | None = None
    git: GitFile = GitFile()
    files: dict[str, str] = {}


class ConstraintsFile(Part):
    """`constraints`."""

    timeout_seconds: Whole = 0
    max_turns: Whole = 0


class CaseFile(Part):
    """A case file."""

    id: Text | None = None
    title: str = ""
    description: str = ""
    tag: Text | None = None
    input: InputFile
    context: ContextFile = ContextFile()
    constraints: ConstraintsFile = ConstraintsFile()
    expect: ExpectFile = ExpectFile()
    judge: JudgeFile = JudgeFile()
    judges: tuple[JudgeFile, ...] | None = None
    mcp: McpFile = McpFile()
    user_simulator: ScenarioFile | None = None
    collect_artifacts: Texts = ()
