"""Keys of a configuration: read (an empty text), without an effect (what becomes of it), or refused (`!` and why)."""

from __future__ import annotations

from collections.abc import Mapping

CLUSTER = "cluster"
"""Of the `metadata` of a test: cases with the same rise and fall together."""
CONVERSATION = "conversationId"
"""Of the `metadata` of a test: tests that share it are turns of one conversation."""
ANCHORS = ("_", ".", "x-")
"""Beginnings of keys that hold nothing but parts which others repeat by their anchors."""
ANCHORED = "not read by itself; what repeats its anchor is"
_PEOPLE = "kept for people"
_SHOWN = "how promptfoo runs and shows it is no matter here"
_CODE = "! is code that changes prompts or outputs, which is not run"
CONFIG: Mapping[str, str] = {
    "$schema": _PEOPLE,
    "description": "",
    "tags": _PEOPLE,
    "metadata": _PEOPLE,
    "prompts": "",
    "providers": "",
    "targets": "",
    "tests": "",
    "defaultTest": "",
    "assertionTemplates": "",
    "evaluateOptions": "",
    "scenarios": "! are not read; write their tests out, or use lists of values in `vars`",
    "redteam": "! makes attacks by a service, which is not called here",
    "nunjucksFilters": _CODE,
    "extensions": _CODE,
    "env": "! is set for providers; set the variables where you start the run",
    "derivedMetrics": "figures are those of the reports here",
    "commandLineOptions": _SHOWN,
    "outputPath": _SHOWN,
    "sharing": _SHOWN,
    "writeLatestResults": _SHOWN,
    "tracing": _SHOWN,
}
EVALUATE: Mapping[str, str] = {
    "repeat": "",
    "timeoutMs": "",
    "maxConcurrency": "--concurrency says how many run at once",
    "delay": "--concurrency and the limits of a service say how fast",
    "showProgressBar": _SHOWN,
    "cache": _SHOWN,
    "maxEvalTimeMs": "! bounds the whole run; use --max-cost or --max-tokens",
    "generateSuggestions": "! has a model write prompts",
}
TEST: Mapping[str, str] = {
    "description": "",
    "vars": "",
    "assert": "",
    "threshold": "",
    "options": "",
    "prompts": "",
    "metadata": "",
    "provider": "",
    "providers": "! of a single test are not supported; put the test into a configuration of its own",
    "providerOutput": "! is an output that nobody asked for; there is nothing to run",
    "assertScoringFunction": _CODE,
}
OPTIONS: Mapping[str, str] = {
    "prefix": "",
    "suffix": "",
    "disableVarExpansion": "",
    "disableDefaultAsserts": "",
    "repeat": "! of a single test is not supported; set it in `evaluateOptions`",
    "provider": "the judge is chosen by --judge and --judge-model",
    "runSerially": "trials do not see each other",
    "storeOutputAs": "! passes an output to the next test, and every trial is fresh here",
    "rubricPrompt": "! is a prompt of a grader, which has its own here",
    "factuality": "! weighs answers of a grader, which has its own scale here",
    "transform": _CODE,
    "transformVars": _CODE,
    "postprocess": _CODE,
}
PROMPT: Mapping[str, str] = {
    "id": "",
    "raw": "",
    "label": "",
    "display": _PEOPLE,
    "config": "! is for a single provider's request, which is made otherwise here",
    "function": _CODE,
}
