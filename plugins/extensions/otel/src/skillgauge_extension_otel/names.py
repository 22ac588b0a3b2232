"""Names of attributes: those of OpenTelemetry's conventions for generative AI and for tests, and our own.

The conventions for generative AI are in development. These are the names of semantic-conventions-genai in autumn 2026.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from skillgauge.api import TrialResult

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
AGENT = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
CONVERSATION = "gen_ai.conversation.id"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE = "gen_ai.usage.cache_creation.input_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOKEN_TYPE = "gen_ai.token.type"
TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
EVALUATION = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
EVALUATION_VALUE = "gen_ai.evaluation.score.value"
EVALUATION_LABEL = "gen_ai.evaluation.score.label"
EVALUATION_TEXT = "gen_ai.evaluation.explanation"
ERROR = "error.type"
SUITE = "test.suite.name"
CASE = "test.case.name"
STATUS = "test.case.result.status"

TARGET = "skillgauge.target"
ARM = "skillgauge.arm"
RUNNER = "skillgauge.runner"
VERDICT = "skillgauge.verdict"

INVOKE_AGENT, CHAT, EXECUTE_TOOL = "invoke_agent", "chat", "execute_tool"

_PROVIDERS = (("*claude*", "anthropic"), ("gpt-*", "openai"), ("o[0-9]*", "openai"), ("*gemini*", "gcp.gemini"))


def provider_of(model: str | None, runner: str) -> str:
    """Return the well-known name of a model's provider, or the name of the engine, which the conventions allow.

    >>> provider_of("claude-sonnet-4-5", "acp"), provider_of("house-model", "acp"), provider_of(None, "mock")
    ('anthropic', 'acp', 'mock')
    """
    return next((name for pattern, name in _PROVIDERS if fnmatchcase(model or "", pattern)), runner)


def group_of(result: TrialResult) -> dict[str, str]:
    """Return the attributes of the group that a result belongs to."""
    parts = {
        SUITE: result.suite_id,
        TARGET: result.target_id,
        ARM: result.arm,
        RUNNER: result.runner,
        REQUEST_MODEL: result.model,
    }
    return {name: value for name, value in parts.items() if value}
