"""What a session has used beyond what its program tells: requests that the agent's own commands made."""

from __future__ import annotations

from skillgauge.api import Execution, Usage, Workspace


def with_relayed(execution: Execution, workspace: Workspace) -> Execution:
    """The execution with all tokens that went through the workspace's relay.

    A sandbox with a relay has an attribute `relayed`: the `Usage` of all answers. What it has seen and the program does
    not tell was asked for by somebody else with the same key, in the end the agent's shell. Its price is unknown, so
    the cost grows in proportion: a budget must not be passed by because nobody told the dollars.
    """
    seen, told = getattr(workspace, "relayed", None), execution.usage
    if not isinstance(seen, Usage):
        return execution
    if told is None or seen.all_tokens <= told.all_tokens:
        return execution if told else execution.model_copy(update={"usage": seen})
    changes: dict[str, object] = {"total_tokens": seen.all_tokens}
    more = seen.all_tokens - told.all_tokens
    if told.cost_usd is not None and told.all_tokens:
        changes["cost_usd"] = told.cost_usd * seen.all_tokens / told.all_tokens
        changes["cost_basis"] = f"{told.cost_basis or 'reported'}, in proportion to all tokens"
    note = f"{more} tokens beside those that the program tells went through the relay: somebody else inside asked"
    return execution.model_copy(update={"usage": told.model_copy(update=changes), "notes": (*execution.notes, note)})
