"""Keys of a file: read (an empty text), without an effect (what becomes of it), or refused (`!` and why)."""

from __future__ import annotations

from collections.abc import Mapping

_PEOPLE = "kept for people"
_CODE = "! is code that changes prompts or outputs, which is not run"
_TARGET = "--engine and --model name who is asked"
_JUDGE = "the judge is chosen by --judge and --judge-model"
_RUN = "how agentv runs and shows it is no matter here"
_SHARED = "! is not supported; put the test into a file of its own"
SUITE: Mapping[str, str] = {
    **dict.fromkeys(("name", "description", "tests", "evalcases", "eval_cases"), ""),
    **dict.fromkeys(("prompts", "input", "input_files", "assert", "assertions"), ""),
    **dict.fromkeys(("default_test", "evaluate_options", "threshold", "timeout_seconds"), ""),
    **dict.fromkeys(("environment", "workspace", "execution", "providers"), ""),
    **dict.fromkeys(("$schema", "category", "version", "author", "license", "requires", "tags", "metadata"), _PEOPLE),
    **dict.fromkeys(("governance", "dataset"), _PEOPLE),
    **dict.fromkeys(("target", "targets", "model"), _TARGET),
    "defaults": _JUDGE,
    "extensions": "",
    "derived_metrics": "figures are those of the reports here",
    "output_path": _RUN,
    "scenarios": "! are not read; write their tests out",
    "imports": "! are not read; name several files instead",
    "env": "! is set for providers; set the variables where you start the run",
    "nunjucks_filters": _CODE,
    "preprocessors": _CODE,
}
EVALUATE: Mapping[str, str] = {
    "repeat": "",
    "timeout_ms": "",
    "max_concurrency": "--concurrency says how many run at once",
    "delay": "--concurrency and the limits of a service say how fast",
    "cache": _RUN,
    "budget_usd": "--max-cost is the budget of a run",
    "generate_suggestions": "! has a model write prompts",
    "max_eval_time_ms": "! bounds the whole run; use --max-cost or --max-tokens",
    "filter_range": "! leaves tests out; --case selects them",
}
DEFAULT_TEST: Mapping[str, str] = {
    "vars": "",
    "assert": "",
    "assertions": "",
    "threshold": "",
    "options": "",
    "metadata": "",
    "provider": _JUDGE,
    "providers": _SHARED,
    "prompts": "! of default_test are not read; write them into `prompts` of the file",
    "assert_scoring_function": _CODE,
}
TEST: Mapping[str, str] = {
    **dict.fromkeys(("id", "description", "vars", "prompts", "threshold", "run", "execution", "options"), ""),
    **dict.fromkeys(("assert", "assertions", "criteria", "expected_outcome", "rubrics"), ""),
    **dict.fromkeys(("input", "input_messages", "input_files", "expected_output", "expected_messages"), ""),
    **dict.fromkeys(("environment", "workspace", "metadata", "conversation_id"), ""),
    **dict.fromkeys(("suite", "note", "notes", "category"), _PEOPLE),
    "provider": _SHARED,
    "providers": _SHARED,
    "provider_output": "! is an output that nobody asked for; there is nothing to run",
    "assert_scoring_function": _CODE,
    "depends_on": "! lets a test wait for another, and every trial is fresh here",
    "on_dependency_failure": "! is about tests that wait for others, and every trial is fresh here",
    **dict.fromkeys(("mode", "turns", "aggregation", "on_turn_failure", "window_size"), ""),
}
TURN: Mapping[str, str] = dict.fromkeys(("input", "expected_output", "assert", "assertions"), "")
RUN: Mapping[str, str] = {
    "threshold": "",
    "timeout_seconds": "",
    "budget_usd": "--max-cost is the budget of a run",
    "repeat": "! is not supported; set it in `evaluate_options`",
}
EXECUTION: Mapping[str, str] = {
    **dict.fromkeys(("threshold", "assert", "assertions", "evaluators", "skip_defaults"), ""),
    **dict.fromkeys(("target", "targets"), _TARGET),
    **dict.fromkeys(("cache", "fail_on_error", "workers"), _RUN),
    "budget_usd": "--max-cost is the budget of a run",
    "trials": "! says how often; use `evaluate_options: {repeat: N}`",
}
OPTIONS: Mapping[str, str] = {
    "provider": _JUDGE,
    "repeat": "! is not supported; set it in `evaluate_options`",
    "rubric_prompt": "! is a prompt of a grader, which has its own here",
    **dict.fromkeys(("transform", "transform_vars", "postprocess"), _CODE),
}
ENVIRONMENT: Mapping[str, str] = {
    **dict.fromkeys(("type", "workdir", "template"), ""),
    "isolation": "every trial has a workspace of its own",
    "reset": "every trial has a workspace of its own",
    **dict.fromkeys(
        ("setup", "hooks", "scripts", "repos"),
        "! is run on this machine by agentv; put the files that it makes into `workdir`",
    ),
    **dict.fromkeys(("image", "context", "dockerfile", "resources", "docker", "mounts"), "! is about a container"),
    "env": "! is set for providers; set the variables where you start the run",
}
PROMPT: Mapping[str, str] = {
    **dict.fromkeys(("id", "label", "raw", "prompt", "path", "file"), ""),
    "config": "! is for a single provider's request, which is made otherwise here",
    **dict.fromkeys(("function", "function_file", "command", "prefix", "suffix"), _CODE),
}
