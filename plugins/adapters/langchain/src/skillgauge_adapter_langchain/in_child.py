"""Runs in the child process, given to it as text: what it means to invoke a runnable, and to read its result.

LangChain is never imported here before the user's code has done so: without it there are no objects of it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

METHODS = ("invoke", "ainvoke")


def prepare(
    runnable_found: Any, settings: dict[str, Any], wait: Callable[[Any], Any]
) -> Callable[[Any], dict[str, Any]]:
    """Return a function that invokes a runnable with an input.

    Args:
        runnable_found: the object of the entrypoint: it has `invoke` or `ainvoke`, or is a function of no
            argument that makes such an object.
        settings: `method` may name one of the two.
        wait: gives what an awaitable comes to, and anything else as it is.

    Raises:
        TypeError: it is neither, or lacks the method.
    """
    runnable = runnable_found
    if isinstance(runnable_found, type) or not any(hasattr(runnable_found, method) for method in METHODS):
        if not callable(runnable_found):
            raise TypeError(
                f"the entrypoint names an object of type {type(runnable_found).__name__}, which is no runnable"
            )
        runnable = wait(runnable_found())
    method = settings["method"] or next((name for name in METHODS if hasattr(runnable, name)), METHODS[0])
    if not callable(getattr(runnable, method, None)):
        origin = "" if runnable is runnable_found else "what the factory made, "
        raise TypeError(f"{origin}an object of type {type(runnable).__name__}, has no method {method!r}")

    invoke, handler_type = getattr(runnable, method), handler_type_for(runnable)

    def call(value: Any) -> dict[str, Any]:
        calls: list[Any] = []
        more = {} if handler_type is None else {"config": {"callbacks": [noting(handler_type(), calls)]}}
        return answer_of(wait(invoke(value, **more)), calls)

    return call


def handler_type_for(runnable: Any) -> Any:
    """The class of LangChain's callbacks; `None` for an object that only looks like a runnable and takes none."""
    runnables = sys.modules.get("langchain_core.runnables")
    if runnables is None or not isinstance(runnable, runnables.Runnable):
        return None
    return importlib.import_module("langchain_core.callbacks").BaseCallbackHandler


def noting(handler: Any, calls: list[Any]) -> Any:
    """The handler, made to add to `calls` what each model call tells of its tokens."""

    def note(response: Any, **_details: Any) -> None:
        first = response.generations[0][0] if response.generations and response.generations[0] else None
        calls.append(getattr(getattr(first, "message", None), "usage_metadata", None))

    handler.on_llm_end = note
    return handler


def answer_of(result: Any, calls: list[Any]) -> dict[str, Any]:
    """The answer that a result is, with the tokens of the model calls that were seen, else of the result's messages."""
    messages: list[Any] = []
    plain_result = plain(result, messages)
    usages = calls or [message.usage_metadata for message in messages if message.type == "ai"]
    notes = []
    silent = sum(not usage for usage in usages)
    if silent:
        notes.append(f"{silent} of {len(usages)} model calls did not tell their tokens, so the sum is unknown")
    if messages and messages[0] is result and getattr(result, "tool_calls", None):
        notes.append("the message asks for tool calls, which are not in the output")
    return {"result": plain_result, "usage": usage_of(usages), "notes": notes}


def plain(value: Any, messages: list[Any]) -> Any:
    """A result without objects of LangChain and pydantic, as far as it consists of them, lists and dicts.

    Args:
        value: a message, of which the content is taken; a model, which becomes a dict; or anything else.
        messages: gets every message that is found.
    """
    core = sys.modules.get("langchain_core.messages")
    if core is not None and isinstance(value, core.BaseMessage):
        messages.append(value)
        return plain(value.content, messages)
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: plain(item, messages) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, messages) for item in value]
    return value


def usage_of(usages: list[Any]) -> dict[str, int] | None:
    """Tokens of all model calls together; what one of them did not tell is unknown."""
    fields = [tokens(usage) for usage in usages if usage]
    if not fields or len(fields) < len(usages):
        return None
    names = set.intersection(*(set(one) for one in fields))
    return {name: sum(one[name] for one in fields) for name in sorted(names)}


def _written_to_cache(details: dict[str, Any]) -> int | None:
    """Return the tokens that were written to the cache, if they are known.

    Some providers tell apart how long an entry of the cache lives, and then leave `cache_creation` at 0.
    """
    numbers = [
        number
        for name, number in details.items()
        if (name == "cache_creation" or name.startswith("ephemeral_")) and is_count(number)
    ]
    return sum(numbers) if numbers else None


def tokens(usage: dict[str, Any]) -> dict[str, int]:
    """The tokens of one model call by the names of skillgauge, as far as they are known.

    LangChain's `input_tokens` holds those from and for the cache, ours does not.
    """
    into, out = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    fields: dict[str, Any] = {
        "input_tokens": usage.get("input_tokens"),
        "cache_read_tokens": into.get("cache_read"),
        "cache_write_tokens": _written_to_cache(into),
        "output_tokens": usage.get("output_tokens"),
        "reasoning_tokens": out.get("reasoning"),
        "total_tokens": usage.get("total_tokens"),
    }
    numbers: dict[str, int] = {name: number for name, number in fields.items() if is_count(number)}
    if "input_tokens" in numbers:
        numbers["input_tokens"] -= numbers.get("cache_read_tokens", 0) + numbers.get("cache_write_tokens", 0)
        if numbers["input_tokens"] < 0:
            del numbers["input_tokens"]  # the provider counts in another way
    return numbers


def is_count(number: Any) -> bool:
    """Tell whether a value is a number of tokens."""
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
