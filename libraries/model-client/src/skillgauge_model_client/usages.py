"""Tokens of an answer, from each API's own words: unknown what it does not tell, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import Usage

from .answers import amount, count, dig, known
from .options import Prices

_MILLION = 1_000_000


def priced(usage: Usage, prices: Prices | None) -> Usage:
    """The usage with what it costs by a list of prices; without one, or where input or output is unknown, as it is."""
    input_count, output_count = usage.input_tokens, usage.output_tokens
    if prices is None or input_count is None or output_count is None:
        return usage
    read = (usage.cache_read_tokens or 0) * (prices.input if prices.cache_read is None else prices.cache_read)
    wrote = (usage.cache_write_tokens or 0) * (prices.input if prices.cache_write is None else prices.cache_write)
    cost = (input_count * prices.input + output_count * prices.output + read + wrote) / _MILLION
    return usage.model_copy(update={"cost_usd": cost, "cost_basis": "price-list"})


def anthropic_usage(counts: object) -> Usage | None:
    """`usage` of the Messages API, where input is told without what a cache held."""
    return known(
        Usage(
            input_tokens=count(dig(counts, "input_tokens")),
            cache_read_tokens=count(dig(counts, "cache_read_input_tokens")),
            cache_write_tokens=count(dig(counts, "cache_creation_input_tokens")),
            output_tokens=count(dig(counts, "output_tokens")),
        )
    )


def openai_usage(counts: object) -> Usage | None:
    """`usage` of Chat Completions, where input includes what a cache held, and output what was thought."""
    input_count, cached = (
        count(dig(counts, "prompt_tokens")),
        count(dig(counts, "prompt_tokens_details", "cached_tokens")),
    )
    return known(
        Usage(
            input_tokens=input_count if input_count is None or cached is None else max(0, input_count - cached),
            cache_read_tokens=cached,
            output_tokens=count(dig(counts, "completion_tokens")),
            reasoning_tokens=count(dig(counts, "completion_tokens_details", "reasoning_tokens")),
            total_tokens=count(dig(counts, "total_tokens")),
            **_reported_cost(counts),
        )
    )


def _reported_cost(counts: object) -> Mapping[str, Any]:
    """Return what a gateway charges for the answer, where it says so: in US dollars, as OpenRouter has it.

    Who brings a key of his own for the service behind it pays there, too.
    """
    cost = amount(dig(counts, "cost"))
    if cost is None:
        return {}
    upstream = (
        amount(dig(counts, "cost_details", "upstream_inference_cost")) if dig(counts, "is_byok") is True else None
    )
    return {"cost_usd": cost + (upstream or 0.0), "cost_basis": "reported"}


def gemini_usage(counts: object) -> Usage | None:
    """`usageMetadata`, where input includes what a cache held, and output does not include what was thought."""
    input_count, cached = count(dig(counts, "promptTokenCount")), count(dig(counts, "cachedContentTokenCount"))
    output, thought = count(dig(counts, "candidatesTokenCount")), count(dig(counts, "thoughtsTokenCount"))
    return known(
        Usage(
            input_tokens=input_count if input_count is None or cached is None else max(0, input_count - cached),
            cache_read_tokens=cached,
            output_tokens=output if output is None or thought is None else output + thought,
            reasoning_tokens=thought,
            total_tokens=count(dig(counts, "totalTokenCount")),
        )
    )
