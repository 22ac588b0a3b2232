"""The end and the usage of a session of Claude Code, by the last `result` line, and the remedies where it failed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from skillgauge.api import Failure, FailureClass, JsonValue, Usage
from skillgauge_agent_programs.claude.skills import Remedies
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.json_lines import count_at, dig, items_at, text_at, texts_at

_ERRORS: Mapping[str, FailureClass] = {
    "authentication_failed": FailureClass.AUTH,
    "billing_error": FailureClass.BUDGET,
    "model_not_found": FailureClass.MODEL_NOT_FOUND,
    "overloaded": FailureClass.OVERLOADED,
    "rate_limit": FailureClass.RATE_LIMITED,
    "server_error": FailureClass.NETWORK,
    "invalid_request": FailureClass.BAD_REQUEST,
}
"""What the program calls a failure of its API that has no HTTP status."""
REMEDIES = Remedies(
    allow="Take Skill out of permissions.deny and permissions.ask in the engine's option `settings` "
    "and in the .claude/settings.json of the workspace",
    unhook="Take the hook for the tool Skill out of the engine's option `settings`, "
    "out of the .claude/settings.json of the workspace, or out of what the arm installs",
)
_RELAY, _RELAYS_OWN = "skillgauge relay: ", re.compile(r"[^.]*\(127\.0\.0\.1:\d+\)\.?")
"""What the relay of a sandbox answers, and a sentence with its address, which is of no use outside."""
_PAUSED = (FailureClass.RATE_LIMITED, FailureClass.OVERLOADED)


def failure_of(result: JsonValue, api_error: JsonValue, retry_delay_s: float | None) -> Failure | None:
    """Return the failure of the session, by `is_error`: a `subtype` of `success` means nothing.

    Args:
        result: the last `result` line; `None` if there is none.
        api_error: the last message that the program wrote because its API failed.
        retry_delay_s: how long it waited before it asked its API for the last time. What the service asks for is in it.
    """
    if dig(result, "is_error") is not True:
        return None
    message = text_at(result, "result") or "; ".join(texts_at(result, "errors")) or text_at(result, "subtype") or ""
    kind = _class_of(result, text_at(api_error, "error"), message)
    message = _RELAYS_OWN.sub("", message) if _RELAY in message else message
    return failed(kind, message, retry_after_s=retry_delay_s if kind in _PAUSED else None)


def _class_of(result: JsonValue, error: str | None, message: str) -> FailureClass:
    match text_at(result, "subtype"):
        case "error_max_turns":
            return FailureClass.MAX_TURNS
        case "error_max_budget_usd":
            return FailureClass.BUDGET
        case "error_during_execution":
            return FailureClass.CRASH
        case _:
            pass
    if text_at(result, "terminal_reason") == "prompt_too_long":
        return FailureClass.CONTEXT_TOO_LONG
    if text_at(result, "stop_reason") == "refusal":
        return FailureClass.REFUSED
    if error == "billing_error":
        return FailureClass.BUDGET
    status = count_at(result, "api_error_status")
    if status:
        return class_of_status(status, message)
    return _ERRORS.get(error or "") or class_of_text(message) or FailureClass.PROTOCOL


def usage_of(result: JsonValue) -> Usage | None:
    """Tokens and money of the whole session, summed over its models.

    `usage` beside it is of the last part of a session only. Without a model that was asked there is nothing to tell.
    """
    models = dig(result, "modelUsage")
    used = list(models.values()) if isinstance(models, Mapping) else []
    if not used:
        return None
    parts = {
        "input_tokens": _sum(used, "inputTokens"),  # without what a cache held
        "cache_read_tokens": _sum(used, "cacheReadInputTokens"),
        "cache_write_tokens": _sum(used, "cacheCreationInputTokens"),
        "output_tokens": _sum(used, "outputTokens"),
    }
    counts = [count for count in parts.values() if count is not None]
    if not any(counts):
        return None  # of a service that tells nothing the program says 0
    told = dig(result, "total_cost_usd")
    cost = float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
    basis = "price-list" if all(text_at(one, "costBasis") == "list" for one in used) else "reported"
    return Usage(
        **parts,
        reasoning_tokens=_sum(used, "thinkingTokens"),
        total_tokens=sum(counts) if len(counts) == len(parts) else None,
        cost_usd=cost,
        cost_basis=basis if cost is not None else None,
    )


_LOST = {"failed": "could not be started, or did not answer", "needs-auth": "refused: it wants another authorization"}
"""What has become of servers that an agent has not, by the program's words."""


def without_servers(start: Mapping[str, JsonValue], servers: Collection[str]) -> Failure | None:
    """Return the failure of a session that lacks a server which it was given; `None` if all of them are there.

    Args:
        start: the first line, which lists the servers with what has become of each.
        servers: names of those that have to be there.
    """
    listed = items_at(start, "mcp_servers")
    for server in listed:
        name, status = text_at(server, "name"), text_at(server, "status") or ""
        if name in servers and status in _LOST:
            return failed(FailureClass.SETUP, f"MCP server {name!r} {_LOST[status]}")
    return None


def _sum(used: list[JsonValue], key: str) -> int | None:
    counts = [count for one in used if (count := count_at(one, key)) is not None]
    return sum(counts) if counts else None
