"""Every promise of the systems that skillgauge unites, with an id and what it waits for, if anything.

A test claims a promise with `@pytest.mark.requirement("ES-EVAL-001")`. `test_requirements` holds both directions: no kept
promise without a test, no claimed id without a promise, and nothing open that a test already claims.
"""

# ruff: noqa: E501 - a table: one promise per line reads better than wrapped ones

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Requirement:
    """One promise."""

    section: str
    """Where the original states it."""
    promise: str
    waits_for: str = ""
    """What has to come first; empty if the promise is kept."""


REQUIREMENTS: dict[str, Requirement] = {
    "ES-FIND-001": Requirement(
        "1 Find",
        "find lists skills from skill.json files found recursively under --skills-dir; default ./skills",
    ),
    "ES-FIND-002": Requirement(
        "1 Find",
        "find -q/--query matches name, description or any tag",
    ),
    "ES-FIND-003": Requirement(
        "1 Find",
        "find -q is short for --query; no global option takes that letter there",
    ),
    "ES-FIND-004": Requirement(
        "1 Find",
        "find -t/--tag takes several words and keeps only skills having all of them",
    ),
    "ES-FIND-005": Requirement(
        "1 Find",
        "find -a/--adapter keeps only skills of that adapter type",
    ),
    "ES-FIND-006": Requirement(
        "1 Find",
        "find --min-completion filters on historical completion rate between 0 and 1",
    ),
    "ES-FIND-007": Requirement(
        "1 Find",
        "find --limit caps the results, default 20",
    ),
    "ES-FIND-008": Requirement(
        "1 Find",
        "find ranks by relevance when --query is given",
    ),
    "ES-FIND-009": Requirement(
        "1 Find",
        "find ranks by historical completion rate, descending, without --query",
    ),
    "ES-CREATE-001": Requirement(
        "2 Create",
        "create requires --name and says so with exit 2",
    ),
    "ES-CREATE-002": Requirement(
        "2 Create",
        "create --from-template defaults to http_request; python_script and mcp_tool also exist",
    ),
    "ES-CREATE-003": Requirement(
        "2 Create",
        "create --output-dir defaults to ./skills",
    ),
    "ES-CREATE-004": Requirement(
        "2 Create",
        "create --description is embedded in skill.json",
    ),
    "ES-CREATE-005": Requirement(
        "2 Create",
        "create writes skill.json, adapter.config.json and tests/basic.eval.json holding one sample task",
    ),
    "ES-CREATE-006": Requirement(
        "2 Create",
        "create python_script also writes a skill.py that speaks JSON-RPC",
    ),
    "ES-CREATE-007": Requirement(
        "2 Create",
        "a created skill passes its own starter benchmark through --benchmark and through --tasks",
    ),
    "ES-EVAL-001": Requirement(
        "3 Evaluate",
        "eval --skills takes several files and directories",
    ),
    "ES-EVAL-002": Requirement(
        "3 Evaluate",
        "eval with neither --skills nor PATH: searches the current folder or fails with exit 2, as documented",
    ),
    "ES-EVAL-003": Requirement(
        "3 Evaluate",
        "eval of a skill.json without --benchmark runs coding-easy, by --skills and by PATH alike",
    ),
    "ES-EVAL-004": Requirement(
        "3 Evaluate",
        "eval --benchmark takes a built-in id or a path; default coding-easy",
    ),
    "ES-EVAL-005": Requirement(
        "3 Evaluate",
        "eval --tasks replaces the benchmark by a task file",
    ),
    "ES-EVAL-006": Requirement(
        "3 Evaluate",
        "eval --concurrency defaults to 4",
    ),
    "ES-EVAL-007": Requirement(
        "3 Evaluate",
        "eval --timeout is milliseconds per task; default 30000",
    ),
    "ES-EVAL-008": Requirement(
        "3 Evaluate",
        "eval --retries defaults to 0 and waits incrementally longer between attempts",
    ),
    "ES-EVAL-009": Requirement(
        "3 Evaluate",
        "eval --runs N repeats the whole evaluation; default 1",
    ),
    "ES-EVAL-010": Requirement(
        "3 Evaluate",
        "eval --evaluator sets the scorer of tasks that name none; default exact",
    ),
    "ES-EVAL-011": Requirement(
        "3 Evaluate",
        "eval --format takes several of json, markdown, html; default json and markdown",
    ),
    "ES-EVAL-012": Requirement(
        "3 Evaluate",
        "eval --output-dir defaults to ./reports",
    ),
    "ES-EVAL-013": Requirement(
        "3 Evaluate",
        "eval --exit-on-fail ends with 1 when any skill's completion rate is below the threshold",
    ),
    "ES-EVAL-014": Requirement(
        "3 Evaluate",
        "eval --min-completion sets that threshold, default 0.7; alone it gates nothing and the user is told",
    ),
    "ES-EVAL-015": Requirement(
        "3 Evaluate",
        "eval --dry-run checks skill paths, benchmark and task count and executes nothing",
    ),
    "ES-EVAL-016": Requirement(
        "3 Evaluate",
        "eval --benchmarks-dir names the folder of further benchmarks; default ./benchmarks",
    ),
    "ES-EVAL-017": Requirement(
        "3 Evaluate",
        "eval --store names the SQLite file that keeps results",
    ),
    "ES-EVAL-018": Requirement(
        "3 Evaluate",
        "eval --store given the original's own eval-skills.db reads or refuses it by name and never overwrites it",
    ),
    "ES-EVAL-019": Requirement(
        "3 Evaluate",
        "eval -c/--config names the config file; otherwise it is found by itself",
    ),
    "ES-EVAL-020": Requirement(
        "3 Evaluate",
        "eval runs the product skills x tasks x runs",
    ),
    "ES-EVAL-021": Requirement(
        "3 Evaluate",
        "tasks run concurrently with timeout and retry",
    ),
    "ES-EVAL-022": Requirement(
        "3 Evaluate",
        "one SkillCompletionReport per skill is produced",
    ),
    "ES-EVAL-023": Requirement(
        "3 Evaluate",
        "an eval command given again after a finished run evaluates again and adds a history row",
    ),
    "ES-EVAL-024": Requirement(
        "3 Evaluate",
        "a remote skill (http, mcp url) is called again on every new run",
    ),
    "ES-EVAL-025": Requirement(
        "3 Evaluate",
        "one always-crashing skill among candidates leaves the others' results valid; with --exit-on-fail the code is 1, not 3",
    ),
    "ES-SELECT-001": Requirement(
        "4 Select",
        "select --from takes a folder or a JSON file of candidates; required",
    ),
    "ES-SELECT-002": Requirement(
        "4 Select",
        "select --reports takes the evaluation report",
    ),
    "ES-SELECT-003": Requirement(
        "4 Select",
        "select --reports accepts the several files that the seed's own glob eval-result-*.json expands to; newest report of a skill wins",
    ),
    "ES-SELECT-004": Requirement(
        "4 Select",
        "select --strategy takes YAML or JSON; otherwise a built-in default",
    ),
    "ES-SELECT-005": Requirement(
        "4 Select",
        "select --min-completion overrides the strategy's filter",
    ),
    "ES-SELECT-006": Requirement(
        "4 Select",
        "select --top-k keeps the best K; default all",
    ),
    "ES-SELECT-007": Requirement(
        "4 Select",
        "select --output writes the selected skills to a file; default standard output",
    ),
    "ES-SELECT-008": Requirement(
        "4 Select",
        "select filters by completion rate, error rate, p95 latency, adapter type and required tags",
    ),
    "ES-SELECT-009": Requirement(
        "4 Select",
        "select sorts by compositeScore, completionRate, latency or tokenCost, asc or desc",
    ),
    "ES-SELECT-010": Requirement(
        "4 Select",
        "strategy keys filters.minCompletionRate/maxErrorRate/maxLatencyP95Ms/adapterTypes/requiredTags, sortBy, order, topK are read",
    ),
    "ES-SELECT-011": Requirement(
        "4 Select",
        "sortBy tokenCost ranks by a real figure; an unknown cost is shown as unknown",
    ),
    "ES-RUN-001": Requirement(
        "5 Run",
        "run does find, eval, select and report in one command",
    ),
    "ES-RUN-002": Requirement(
        "5 Run",
        "run takes --query, --benchmark, --skills-dir, --top-k, --min-completion, --strategy, --format, --output-dir",
    ),
    "ES-RUN-003": Requirement(
        "5 Run",
        "run --min-completion is a selection filter, not a gate",
    ),
    "ES-RUN-004": Requirement(
        "5 Run",
        "run writes every requested report format",
    ),
    "ES-REPORT-001": Requirement(
        "6 Reports",
        "report convert --input FILE --format markdown|html --output FILE",
    ),
    "ES-REPORT-002": Requirement(
        "6 Reports",
        "report diff A B with --label-a, --label-b and --output",
    ),
    "ES-REPORT-003": Requirement(
        "6 Reports",
        "report diff shows per skill, with arrows, by how much composite, completion rate, error rate and p95 latency differ",
    ),
    "ES-REPORT-004": Requirement(
        "6 Reports",
        "the shell glob eval-result-*.json matches suite reports only, never our record or other JSON",
    ),
    "ES-REPORT-005": Requirement(
        "6 Reports",
        "./reports/eval-result.json as written in the select example exists after eval",
    ),
    "ES-INIT-001": Requirement(
        "7 Init",
        "init --dir makes a config file and skills/, benchmarks/, reports/",
    ),
    "ES-INIT-002": Requirement(
        "7 Init",
        "init never overwrites",
    ),
    "ES-CONFIG-001": Requirement(
        "8 Config",
        "config list shows all values in force",
    ),
    "ES-CONFIG-002": Requirement(
        "8 Config",
        "config get takes a dotted key",
    ),
    "ES-CONFIG-003": Requirement(
        "8 Config",
        "config set persists to the user file",
    ),
    "ES-CONFIG-004": Requirement(
        "8 Config",
        "config accepts the documented keys concurrency, timeoutMs, outputDir, llm.model, llm.temperature although unknown keys are errors",
    ),
    "ES-CONFIG-005": Requirement(
        "8 Config",
        "llm.model and llm.temperature reach the rubric judge",
    ),
    "ES-CONFIG-006": Requirement(
        "8 Config",
        "order: flag, file in the current folder, user file, defaults; per key",
    ),
    "ES-CONFIG-007": Requirement(
        "8 Config",
        "defaults are concurrency 4, timeoutMs 30000, outputDir ./reports",
    ),
    "ES-CONFIG-008": Requirement(
        "8 Config",
        "eval-skills.config.yaml in the current folder is read as a fallback",
    ),
    "ES-CONFIG-009": Requirement(
        "8 Config",
        "~/.eval-skills/config.yaml is read as a fallback too",
    ),
    "ES-SCORE-001": Requirement(
        "Scorer types",
        "exact and exact_match are one scorer, strict equality, 0 or 1",
    ),
    "ES-SCORE-002": Requirement(
        "Scorer types",
        "exact honours caseSensitive",
    ),
    "ES-SCORE-003": Requirement(
        "Scorer types",
        "contains gives matched/total keywords as partial credit",
    ),
    "ES-SCORE-004": Requirement(
        "Scorer types",
        "contains honours caseSensitive false",
    ),
    "ES-SCORE-005": Requirement(
        "Scorer types",
        "json_schema and schema validate the output, 0 or 1",
    ),
    "ES-SCORE-006": Requirement(
        "Scorer types",
        "llm_judge rates output and rubric by a configurable model, 0 to 1",
    ),
    "ES-SCORE-007": Requirement(
        "Scorer types",
        "custom loads the scorer named by expectedOutput.customScorerPath, 0 to 1",
    ),
    "ES-SCORE-008": Requirement(
        "Scorer types",
        "existing custom scorers written in JavaScript run (node installed) or are refused by name with the port described",
    ),
    "ES-SCORE-009": Requirement(
        "Scorer types",
        "an installed private scorer can be named in evaluator.type and by --evaluator",
    ),
    "ES-METRIC-001": Requirement(
        "Metrics",
        "completion rate = passed / all tasks, errored and timed-out tasks in the divisor",
    ),
    "ES-METRIC-002": Requirement(
        "Metrics",
        "partial score = mean of task scores",
    ),
    "ES-METRIC-003": Requirement(
        "Metrics",
        "error rate = (errors + timeouts) / all tasks",
    ),
    "ES-METRIC-004": Requirement(
        "Metrics",
        "consistency = 1 - stddev of per-run completion rates, from 2 runs on",
    ),
    "ES-METRIC-005": Requirement(
        "Metrics",
        "p50, p95, p99 latency by sorted percentile",
    ),
    "ES-METRIC-006": Requirement(
        "Metrics",
        "composite = 0.5 CR + 0.2 (1 - normalised p95) + 0.3 (1 - ER)",
    ),
    "ES-METRIC-007": Requirement(
        "Metrics",
        "a task that exceeds its limit has status timeout",
    ),
    "ES-BENCH-001": Requirement(
        "Built-in and custom benchmarks",
        "coding-easy: 20 tasks, exact",
    ),
    "ES-BENCH-002": Requirement(
        "Built-in and custom benchmarks",
        "skill-quality: 5 tasks, contains",
    ),
    "ES-BENCH-003": Requirement(
        "Built-in and custom benchmarks",
        "web-search-basic: 8 tasks, contains and schema",
    ),
    "ES-BENCH-004": Requirement(
        "Built-in and custom benchmarks",
        "gaia-v1 and toolbench-lite exist as placeholders and are shown as such",
    ),
    "ES-BENCH-005": Requirement(
        "Built-in and custom benchmarks",
        "a benchmark.json with id, name, version, domain, scoringMethod, maxLatencyMs, metadata and tasks loads",
    ),
    "ES-BENCH-006": Requirement(
        "Built-in and custom benchmarks",
        "a task has id, description, inputData, expectedOutput, evaluator, timeoutMs, tags",
    ),
    "ES-BENCH-007": Requirement(
        "Built-in and custom benchmarks",
        "a task's own timeoutMs rules over --timeout",
    ),
    "ES-BENCH-008": Requirement(
        "Built-in and custom benchmarks",
        "tasks can be selected by tag",
    ),
    "ES-BENCH-009": Requirement(
        "Built-in and custom benchmarks",
        "results are broken down by task tag",
    ),
    "ES-ADAPT-001": Requirement(
        "Adapters",
        "http posts skillId, version and input to the entrypoint",
    ),
    "ES-ADAPT-002": Requirement(
        "Adapters",
        "http sends Bearer or API-Key auth from the variable named by authTokenEnvKey",
    ),
    "ES-ADAPT-003": Requirement(
        "Adapters",
        "http reads baseUrl, authType, authTokenEnvKey from adapter.config.json",
    ),
    "ES-ADAPT-004": Requirement(
        "Adapters",
        "subprocess writes one JSON-RPC 2.0 request to stdin and reads the answer from stdout",
    ),
    "ES-ADAPT-005": Requirement(
        "Adapters",
        "subprocess reads command and args from adapter.config.json",
    ),
    "ES-ADAPT-006": Requirement(
        "Adapters",
        "mcp calls a tool by the Model Context Protocol",
    ),
    "ES-ADAPT-007": Requirement(
        "Adapters",
        "adapterType langchain and custom are accepted and served by plugins",
    ),
    "ES-SKILL-001": Requirement(
        "skill.json",
        "id matches lowercase alphanumeric with _ or -, non-empty",
    ),
    "ES-SKILL-002": Requirement(
        "skill.json",
        "version is X.Y.Z",
    ),
    "ES-SKILL-003": Requirement(
        "skill.json",
        "adapterType is one of http, subprocess, mcp, langchain, custom, or an installed adapter's name",
    ),
    "ES-SKILL-004": Requirement(
        "skill.json",
        "entrypoint is non-empty: URL for http, command for subprocess",
    ),
    "ES-SKILL-005": Requirement(
        "skill.json",
        "inputSchema and outputSchema are JSON Schemas; a malformed one is reported",
    ),
    "ES-SKILL-006": Requirement(
        "skill.json",
        "metadata author, license, homepage are kept",
    ),
    "ES-GLOBAL-001": Requirement(
        "Global options",
        "-c --json --no-color -v --version -h work on every command, before or after its name",
    ),
    "ES-GLOBAL-002": Requirement(
        "Global options",
        "--json prints machine-readable output on every command",
    ),
    "ES-GLOBAL-003": Requirement(
        "Global options",
        "-h and --help show help",
    ),
    "ES-FLOW-001": Requirement(
        "Workflows and best practice",
        "single-skill workflow (create, implement, eval --runs 3, read the report) works as written",
    ),
    "ES-FLOW-002": Requirement(
        "Workflows and best practice",
        "candidate workflow (find, eval three, select with a glob, diff) works as written",
    ),
    "ES-FLOW-003": Requirement(
        "Workflows and best practice",
        "full pipeline in one command works as written",
    ),
    "ES-FLOW-004": Requirement(
        "Workflows and best practice",
        "CI gate: eval --exit-on-fail --min-completion 0.8 --format json fails a bad build",
    ),
    "ES-FLOW-005": Requirement(
        "Workflows and best practice",
        "regression workflow: diff of baseline and latest written to a file",
    ),
    "ES-FLOW-006": Requirement(
        "Workflows and best practice",
        "fewer than 3 runs in a gated run is pointed out, as the page advises",
    ),
    "ES-FLOW-007": Requirement(
        "Workflows and best practice",
        "history of a skill can be queried as a trend from the store",
    ),
    "ES-FLOW-008": Requirement(
        "Workflows and best practice",
        "--concurrency 1 runs strictly one after another and in order",
    ),
    "ES-FLOW-009": Requirement(
        "Workflows and best practice",
        "custom benchmarks can be used without installing anything",
    ),
    "ES-DEFECT-01": Requirement(
        "defects",
        "A task over its time limit has the status timeout, not error",
    ),
    "ES-DEFECT-02": Requirement(
        "defects",
        "A skill named by its file runs in its own folder, not in the caller's",
    ),
    "ES-DEFECT-03": Requirement(
        "defects",
        "A skill that closes its input early costs its own task and not the run",
    ),
    "ES-DEFECT-04": Requirement(
        "defects",
        "caseSensitive of a task reaches the scorer",
    ),
    "ES-DEFECT-05": Requirement(
        "defects",
        "Configuration values and -c take effect",
    ),
    "ES-DEFECT-06": Requirement(
        "defects",
        "report convert --format html writes the page, to a file and to standard output",
    ),
    "ES-DEFECT-07": Requirement(
        "defects",
        "The difference of composite scores is shown with three decimals",
    ),
    "ES-DEFECT-09": Requirement(
        "defects",
        "Skills in Node start: no limit on address space is set",
    ),
    "ES-DEFECT-10": Requirement(
        "defects",
        "A killed skill is reported with its signal and nothing is guessed about memory",
    ),
    "ES-DEFECT-11": Requirement(
        "defects",
        "A custom scorer that ends its process neither hangs the run nor fails the skill",
    ),
    "ES-DEFECT-12": Requirement(
        "defects",
        "adapter.config.json, llm.*, resuming and checks of an adapter are reachable from the command line",
    ),
    "ES-DEFECT-13": Requirement(
        "defects",
        "With --json standard output is exactly one JSON document, for every command",
    ),
    "ES-DEFECT-14": Requirement(
        "defects",
        "select --from takes a JSON file, and a strategy needs no filters",
    ),
    "ES-DEFECT-15": Requirement(
        "defects",
        "A dry run writes nothing and shows its counts",
    ),
    "ES-DEFECT-16": Requirement(
        "defects",
        "Skills, benchmarks and numbers on the command line are checked before anything runs; no threshold is NaN",
    ),
    "ES-DEFECT-17": Requirement(
        "defects",
        "Text of skills and tasks is escaped in Markdown and HTML",
    ),
    "ES-DEFECT-18": Requirement(
        "defects",
        "A judge that fails makes an error, never a score of the skill",
    ),
    "ES-DEFECT-19": Requirement(
        "defects",
        "HTTP 5xx and 429 and refused JSON-RPC calls are retried where that may help, after the pause asked for",
    ),
    "ES-DEFECT-20": Requirement(
        "defects",
        "The MCP adapter keeps a task's limit and takes isError for a failure",
    ),
    "ES-DEFECT-22": Requirement(
        "defects",
        "Failed attempts have their time, which counts in the percentiles",
    ),
    "ES-DEFECT-23": Requirement(
        "defects",
        "Intervals are resampled with a seed and repeat exactly",
    ),
    "ES-DEFECT-24": Requirement(
        "defects",
        "Output is quoted in errors up to a bound, never whole",
    ),
    "ES-DEFECT-25": Requirement(
        "defects",
        "Built-in benchmarks are found from every folder",
    ),
    "ES-DEFECT-26": Requirement(
        "defects",
        "create never overwrites",
    ),
    "ES-DEFECT-27": Requirement(
        "defects",
        "The documents name exactly the options that exist",
    ),
    "ES-DEFECT-28": Requirement(
        "defects",
        "Ctrl-C ends with 130 and writes what is finished",
    ),
    "SE-FORMAT-001": Requirement(
        "60-second format",
        "eval.yaml lies next to SKILL.md and is found from the skill folder",
    ),
    "SE-FORMAT-002": Requirement(
        "60-second format",
        "a case has name, prompt, expectations, validators",
    ),
    "SE-FORMAT-003": Requirement(
        "60-second format",
        "a validator is a shell command graded by exit code",
    ),
    "SE-FORMAT-004": Requirement(
        "60-second format",
        "an expectation is a claim graded by a model judge",
    ),
    "SE-FORMAT-005": Requirement(
        "60-second format",
        "both kinds can be mixed in one case",
    ),
    "SE-FORMAT-006": Requirement(
        "60-second format",
        "a case with neither is refused",
    ),
    "SE-FORMAT-007": Requirement(
        "60-second format",
        "the page's own two-case example loads and runs",
    ),
    "SE-FORMAT-008": Requirement(
        "60-second format",
        "a validator that finds no output file (jq on output.json) is a fail of the model, not silently dropped; lint points at it",
    ),
    "SE-FORMAT-009": Requirement(
        "60-second format",
        "validators may call files bundled with the skill (python3 scripts/x.py from the workspace), in both arms",
    ),
    "SE-FORMAT-010": Requirement(
        "60-second format",
        "bundled answer keys named by a validator are not readable by the with-arm agent while it works",
    ),
    "SE-ARM-001": Requirement(
        "A/B execution",
        "each case runs once with the skill loaded and once without",
    ),
    "SE-ARM-002": Requirement(
        "A/B execution",
        "expectations and validators are the same for both arms",
    ),
    "SE-ARM-003": Requirement(
        "A/B execution",
        "two results of the same cases can be compared to find a regression",
    ),
    "SE-ARM-004": Requirement(
        "A/B execution",
        "the skill is loaded into the agent's own manifest, not pasted, when the engine can",
    ),
    "SE-VERDICT-001": Requirement(
        "Outcomes",
        "flip_to_pass: fails without, passes with",
    ),
    "SE-VERDICT-002": Requirement(
        "Outcomes",
        "pass_kept: both pass",
    ),
    "SE-VERDICT-003": Requirement(
        "Outcomes",
        "fail_kept: both fail",
    ),
    "SE-VERDICT-004": Requirement(
        "Outcomes",
        "flip_to_fail: passes without, fails with; shown as harm",
    ),
    "SE-VERDICT-005": Requirement(
        "Outcomes",
        "error: a transient failure; never counted as pass or fail",
    ),
    "SE-HEAD-001": Requirement(
        "Aggregate",
        "the run prints a headline with pass-rate points gained",
    ),
    "SE-HEAD-002": Requirement(
        "Aggregate",
        "the headline also carries the relative change in agent turns (e.g. fewer turns)",
    ),
    "SE-HEAD-003": Requirement(
        "Aggregate",
        "the delta table covers pass rate, duration, turns, tokens, tool calls",
    ),
    "SE-RUN-001": Requirement(
        "Run it locally",
        "one install command with an extra gives a complete runner",
    ),
    "SE-RUN-002": Requirement(
        "Run it locally",
        "one skill folder, one model id and that provider's key are enough to run; no account",
    ),
    "SE-RUN-003": Requirement(
        "Run it locally",
        "without an engine named, a stated default is used (reference: one completion per arm by the model's provider)",
    ),
    "SE-RUN-004": Requirement(
        "Run it locally",
        "a model id alone picks the provider for agent and judge",
    ),
    "SE-RUN-005": Requirement(
        "Run it locally",
        "the judge defaults to the agent's model",
    ),
    "SE-RUN-006": Requirement(
        "Run it locally",
        "the command word run with a skill folder works or points at eval",
    ),
    "SE-RUN-007": Requirement(
        "Run it locally",
        "a results.json conforming to the open schema is written without being asked for",
    ),
    "SE-RUN-008": Requirement(
        "Run it locally",
        "the without-skill baseline is cached locally",
    ),
    "SE-RUN-009": Requirement(
        "Run it locally",
        "re-runs while editing SKILL.md reuse the baseline, so cost half",
    ),
    "SE-RUN-010": Requirement(
        "Run it locally",
        "--fail-on-verdict fail gates the run",
    ),
    "SE-RUN-011": Requirement(
        "Run it locally",
        "--fail-on-verdict mixed and error can be given too, each with a stated exit code",
    ),
    "SE-RUN-012": Requirement(
        "Run it locally",
        "--min-delta-pts 10 gates the run; null fails",
    ),
    "SE-RUN-013": Requirement(
        "Run it locally",
        "--adapter mock runs the whole pipeline without a model or a charge (here --engine mock)",
    ),
    "SE-RUN-014": Requirement(
        "Run it locally",
        "--adapter NAME is accepted as the old spelling of --engine",
    ),
    "SE-RUN-015": Requirement(
        "Run it locally",
        "nothing is sent to a third party; no account; no metering",
    ),
    "SE-RUN-016": Requirement(
        "Run it locally",
        "local runs can be repeated without limit",
    ),
    "SE-SCHEMA-001": Requirement(
        "Package and schema",
        "the JSON Schema of eval.yaml ships in an installed package and can be printed or loaded",
    ),
    "SE-SCHEMA-002": Requirement(
        "Package and schema",
        "the schema of results.json ships too",
    ),
    "SE-SCHEMA-003": Requirement(
        "Package and schema",
        "results validate against the reference package's schemas",
    ),
    "SE-SCHEMA-004": Requirement(
        "Package and schema",
        "open source under Apache-2.0",
    ),
    "SE-HOST-001": Requirement(
        "Push and hosted runs",
        "results.json is accepted unchanged by consumers of the open schema (vendor's push command)",
    ),
    "SE-HOST-002": Requirement(
        "Push and hosted runs",
        "pushing, hosted verified runs, quotas, rankings and SkillScore are the vendor's platform; docs name them as not offered",
    ),
    "SE-HOST-003": Requirement(
        "Push and hosted runs",
        "a result names the model and date it was made with",
    ),
    "SE-HOST-004": Requirement(
        "Push and hosted runs",
        "publishing a skill carries its eval suite with it (suite lies beside SKILL.md)",
    ),
    "SE-CONFORM-001": Requirement(
        "Bring your own runner",
        "all golden fixtures of the reference package are reproduced",
    ),
    "SE-CONFORM-002": Requirement(
        "Bring your own runner",
        "goldens also pass through the whole pipeline with a scripted engine",
    ),
    "SE-CONFORM-003": Requirement(
        "Bring your own runner",
        "runner contract and goldens are loadable from an installed package, so that someone else's runner can be checked",
    ),
    "SE-CONFORM-004": Requirement(
        "Bring your own runner",
        "an outside runner (command line) can be run against the goldens by one command and gets a conformance report",
    ),
    "SE-CONFORM-005": Requirement(
        "Bring your own runner",
        "CONFORMANCE statement of skillgauge names version, categories passed and exceptions",
    ),
    "SE-GATE-001": Requirement(
        "Composing with agentversion",
        "gate.name = skillevaluation:<skill>",
    ),
    "SE-GATE-002": Requirement(
        "Composing with agentversion",
        "gate.actual_score = with-skill pass rate 0..1",
    ),
    "SE-GATE-003": Requirement(
        "Composing with agentversion",
        "gate.threshold is settable by the user; where it comes from is stated",
    ),
    "SE-GATE-004": Requirement(
        "Composing with agentversion",
        "gate.passed = actual_score meets threshold",
    ),
    "SE-GATE-005": Requirement(
        "Composing with agentversion",
        "gate.evaluator_ref = skillevaluation://<suite hash>@v<version>",
    ),
    "SE-GATE-006": Requirement(
        "Composing with agentversion",
        "gate.ran_at is ISO 8601 completion time",
    ),
    "SE-GATE-007": Requirement(
        "Composing with agentversion",
        "the gate can be added to evaluation.gates[] of an existing manifest, not only written alone",
    ),
    "SE-GATE-008": Requirement(
        "Composing with agentversion",
        "no gate is written for an invalid run",
    ),
    "UA-LAYOUT-001": Requirement(
        "2 Directory structure",
        "a folder with package.agent.json is a package; nothing else is required",
    ),
    "UA-LAYOUT-002": Requirement(
        "2 Directory structure",
        "package.agent.lock is tolerated",
    ),
    "UA-LAYOUT-003": Requirement(
        "2 Directory structure",
        "skills/NAME/SKILL.md with scripts, references, assets is installed whole",
    ),
    "UA-LAYOUT-004": Requirement(
        "2 Directory structure",
        "skills/NAME/tests/{test-config.json,fixtures,cases} are found and run",
    ),
    "UA-LAYOUT-005": Requirement(
        "2 Directory structure",
        "commands/NAME.md are installed where the engine reads them",
    ),
    "UA-LAYOUT-006": Requirement(
        "2 Directory structure",
        "agents/NAME/{agent.yaml,system-prompt.md} are installed and can be a target",
    ),
    "UA-LAYOUT-007": Requirement(
        "2 Directory structure",
        "rules/NAME/RULE.md are installed",
    ),
    "UA-LAYOUT-008": Requirement(
        "2 Directory structure",
        "hooks/hooks.json with scripts is installed and works",
    ),
    "UA-LAYOUT-009": Requirement(
        "2 Directory structure",
        "hooks/tests/{test-config.json,fixtures,cases} are found and run",
    ),
    "UA-LAYOUT-010": Requirement(
        "2 Directory structure",
        "mcp/servers.json is installed; its secrets are not leaked",
    ),
    "UA-LAYOUT-011": Requirement(
        "2 Directory structure",
        "evals/{eval-config.json,fixtures,cases,reports} are found",
    ),
    "UA-LAYOUT-012": Requirement(
        "2 Directory structure",
        "AGENTS.md of the package reaches the agent",
    ),
    "UA-LAYOUT-013": Requirement(
        "2 Directory structure",
        "README, CHANGELOG, LICENSE have no effect",
    ),
    "UA-LAYOUT-014": Requirement(
        "2 Directory structure",
        "a skill in a package may hold tests/ and still be installed without them",
    ),
    "UA-TIER-001": Requirement(
        "Tests vs evals",
        "tests run as subprocess checks with zero model calls and no agent",
    ),
    "UA-TIER-002": Requirement(
        "Tests vs evals",
        "tests take milliseconds per case",
    ),
    "UA-TIER-003": Requirement(
        "Tests vs evals",
        "tests are free and fit every pull request",
    ),
    "UA-TIER-004": Requirement(
        "Tests vs evals",
        "evals use a real agent session plus a judge",
    ),
    "UA-TIER-005": Requirement(
        "Tests vs evals",
        "evals fit nightly or pre-release CI, documented",
    ),
    "UA-CONF-001": Requirement(
        "eval-config.json",
        "version is required; other than 1 is refused",
    ),
    "UA-CONF-002": Requirement(
        "eval-config.json",
        "engine is required; claude-code and codex are supported",
    ),
    "UA-CONF-003": Requirement(
        "eval-config.json",
        "copilot and cursor give an unsupported-engine error, unless a vendor's plugin supplies them",
    ),
    "UA-CONF-004": Requirement(
        "eval-config.json",
        "timeout is seconds per case, default 120",
    ),
    "UA-CONF-005": Requirement(
        "eval-config.json",
        "judge names a model by alias (claude-sonnet, claude-opus) resolved to an id in the report",
    ),
    "UA-CONF-006": Requirement(
        "eval-config.json",
        "judge defaults to the engine's model",
    ),
    "UA-CONF-007": Requirement(
        "eval-config.json",
        "sandbox.network defaults to false and is enforced or said not to be",
    ),
    "UA-CONF-008": Requirement(
        "eval-config.json",
        "sandbox.writable-paths limits where the agent writes; default workspace root",
    ),
    "UA-CONF-009": Requirement(
        "eval-config.json",
        "env is injected into the sandbox",
    ),
    "UA-CONF-010": Requirement(
        "eval-config.json",
        "--timeout given in the shell has the same unit for a package as the file: a bare number can never be 1000 times too short",
    ),
    "UA-CASE-001": Requirement(
        "Case format",
        "name is required, [a-z0-9-], at most 64",
    ),
    "UA-CASE-002": Requirement(
        "Case format",
        "description is optional",
    ),
    "UA-CASE-003": Requirement(
        "Case format",
        "target is skill:N, hook:EVENT or agent:N",
    ),
    "UA-CASE-004": Requirement(
        "Case format",
        "input.prompt is required and sent as written",
    ),
    "UA-CASE-005": Requirement(
        "Case format",
        "input.files are copied from below evals/",
    ),
    "UA-CASE-006": Requirement(
        "Case format",
        "input.workspace-files are pre-created",
    ),
    "UA-CASE-007": Requirement(
        "Case format",
        "expected.contains strings must be in the agent's output",
    ),
    "UA-CASE-008": Requirement(
        "Case format",
        "expected.not-contains strings must not be",
    ),
    "UA-CASE-009": Requirement(
        "Case format",
        "expected.files-created must exist afterwards",
    ),
    "UA-CASE-010": Requirement(
        "Case format",
        "expected.agent-blocked true expects a block by a hook",
    ),
    "UA-CASE-011": Requirement(
        "Case format",
        "agent-blocked on an engine that cannot report blocks is an error with reason, never a FAIL",
    ),
    "UA-CASE-012": Requirement(
        "Case format",
        "judge.criteria is required and decides PASS or FAIL",
    ),
    "UA-CASE-013": Requirement(
        "Case format",
        "both example cases of the page load and run",
    ),
    "UA-FLOW-001": Requirement(
        "Execution flow",
        "a fresh workspace per case is made and removed afterwards",
    ),
    "UA-FLOW-002": Requirement(
        "Execution flow",
        "fixture and workspace files are copied before launch",
    ),
    "UA-FLOW-003": Requirement(
        "Execution flow",
        "skills, hooks and rules are installed and a minimal manifest is written",
    ),
    "UA-FLOW-004": Requirement(
        "Execution flow",
        "the agent runs headless in the workspace with the case's timeout",
    ),
    "UA-FLOW-005": Requirement(
        "Execution flow",
        "stdout, stderr, created files and exit status are captured",
    ),
    "UA-FLOW-006": Requirement(
        "Execution flow",
        "deterministic checks run before the judge and fail fast",
    ),
    "UA-FLOW-007": Requirement(
        "Execution flow",
        "the judge gets output plus criteria and answers PASS or FAIL with a reason",
    ),
    "UA-FLOW-008": Requirement(
        "Execution flow",
        "an errored case (launch, judge, timeout) has a stated verdict in the three-valued report and a stated place in pass_rate",
    ),
    "UA-CLI-001": Requirement(
        "Running evals",
        "eval without arguments in a package folder runs all its evals",
    ),
    "UA-CLI-002": Requirement(
        "Running evals",
        "eval NAME runs that one case",
    ),
    "UA-CLI-003": Requirement(
        "Running evals",
        "--engine codex overrides the config",
    ),
    "UA-CLI-004": Requirement(
        "Running evals",
        "--judge claude-opus overrides the judge model and can never be taken for a plugin name",
    ),
    "UA-CLI-005": Requirement(
        "Running evals",
        "--target skill:N runs only matching cases",
    ),
    "UA-CLI-006": Requirement(
        "Running evals",
        "--dry-run lists what would run without model calls",
    ),
    "UA-CLI-007": Requirement(
        "Running evals",
        "--report is accepted",
    ),
    "UA-CLI-008": Requirement(
        "Running evals",
        "--report -o FILE writes the report elsewhere",
    ),
    "UA-CLI-009": Requirement(
        "Running evals",
        "eval diff A B compares two reports; the old words work or point at report diff",
    ),
    "UA-CLI-010": Requirement(
        "Running evals",
        "a path after --engine, --case or --tag is read as a path, not as a second value",
    ),
    "UA-REPORT-001": Requirement(
        "Eval report",
        "a report is written to evals/reports/<timestamp>.json on each run",
    ),
    "UA-REPORT-002": Requirement(
        "Eval report",
        "--output-dir given for a package has a stated effect",
    ),
    "UA-REPORT-003": Requirement(
        "Eval report",
        "id, timestamp, duration_seconds are filled",
    ),
    "UA-REPORT-004": Requirement(
        "Eval report",
        "config.engine, engine_version, judge, timeout reflect overrides",
    ),
    "UA-REPORT-005": Requirement(
        "Eval report",
        "agent.runtime, runtime_version, model, model_provider, session_id are filled or null",
    ),
    "UA-REPORT-006": Requirement(
        "Eval report",
        "judge.model and model_provider are filled",
    ),
    "UA-REPORT-007": Requirement(
        "Eval report",
        "environment holds os, arch, tool version, node and python versions",
    ),
    "UA-REPORT-008": Requirement(
        "Eval report",
        "package name and version are filled",
    ),
    "UA-REPORT-009": Requirement(
        "Eval report",
        "summary holds total, passed, failed, skipped, pass_rate",
    ),
    "UA-REPORT-010": Requirement(
        "Eval report",
        "cases[] hold name, target, verdict PASS|FAIL|SKIP, duration",
    ),
    "UA-REPORT-011": Requirement(
        "Eval report",
        "cases[].deterministic_checks hold only declared checks",
    ),
    "UA-REPORT-012": Requirement(
        "Eval report",
        "cases[].judge_verdict holds result, reason, model",
    ),
    "UA-REPORT-013": Requirement(
        "Eval report",
        "cases[].agent_output_snippet is cut at 500 characters",
    ),
    "UA-REPORT-014": Requirement(
        "Eval report",
        "cases[].error is set on failure",
    ),
    "UA-REPORT-015": Requirement(
        "Eval report",
        "reports are free of secrets and fit to be committed",
    ),
    "UA-DIFF-001": Requirement(
        "Comparing reports",
        "two reports are compared side by side",
    ),
    "UA-DIFF-002": Requirement(
        "Comparing reports",
        "changed engine, model, judge or package version is shown, so that a model upgrade can be judged",
    ),
    "UA-DIFF-003": Requirement(
        "Comparing reports",
        "pass rates can be followed over many reports (history reads evals/reports)",
    ),
    "BF-RUN-001": Requirement(
        "Overview and run",
        "a skill folder with evals/evals.json is evaluated with and without the skill",
    ),
    "BF-RUN-002": Requirement(
        "Overview and run",
        "lift per agent is printed",
    ),
    "BF-RUN-003": Requirement(
        "Overview and run",
        "several agents can be compared in one run",
    ),
    "BF-RUN-004": Requirement(
        "Overview and run",
        "agent names of the original (claude-agent-acp, codex-acp, gemini) resolve to an engine or to a hint",
    ),
    "BF-RUN-005": Requirement(
        "Overview and run",
        "--agent, --jobs-dir, --export-gepa are accepted as old spellings or answered with the new one",
    ),
    "BF-RUN-006": Requirement(
        "Overview and run",
        "--no-baseline runs the with arm only, for CI",
    ),
    "BF-RUN-007": Requirement(
        "Overview and run",
        "one model is broadcast to all agents, else one per agent",
    ),
    "BF-RUN-008": Requirement(
        "Overview and run",
        "a CI job in the skill's own repository is one install line and one run line",
    ),
    "BF-FILE-001": Requirement(
        "evals.json top level",
        "version is an optional string, default 1",
    ),
    "BF-FILE-002": Requirement(
        "evals.json top level",
        "skill_name is optional and comes from SKILL.md",
    ),
    "BF-FILE-003": Requirement(
        "evals.json top level",
        "defaults.timeout_sec, default 300 seconds",
    ),
    "BF-FILE-004": Requirement(
        "evals.json top level",
        "defaults.judge_model, default gemini-3.1-flash-lite, used exactly or refused, never swapped",
    ),
    "BF-FILE-005": Requirement(
        "evals.json top level",
        "defaults.skill_mount_dir, default /skills, is honoured in a container and its meaning elsewhere is stated",
    ),
    "BF-CASE-001": Requirement(
        "Case fields",
        "id is optional and made up when missing",
    ),
    "BF-CASE-002": Requirement(
        "Case fields",
        "question is required and becomes the prompt unchanged",
    ),
    "BF-CASE-003": Requirement(
        "Case fields",
        "ground_truth is the exact-match answer without a rubric",
    ),
    "BF-CASE-004": Requirement(
        "Case fields",
        "expected_behavior is the judge's rubric",
    ),
    "BF-CASE-005": Requirement(
        "Case fields",
        "expected_skill says which skill should be invoked: reported as a check beside the reward",
    ),
    "BF-CASE-006": Requirement(
        "Case fields",
        "expected_script says which script should be called: reported as a check beside the reward",
    ),
    "BF-CASE-007": Requirement(
        "Case fields",
        "environment overrides variables per case, with ${VAR} templates",
    ),
    "BF-GRADE-001": Requirement(
        "Grading logic",
        "with a rubric the judge scores the trajectory 0 to 1",
    ),
    "BF-GRADE-002": Requirement(
        "Grading logic",
        "with only ground_truth the answer must appear in the output, 0 or 1",
    ),
    "BF-GRADE-003": Requirement(
        "Grading logic",
        "with neither the reward is 0 and the case is pointed out before the run",
    ),
    "BF-CRED-001": Requirement(
        "Credentials",
        "exact-match suites need no judge key",
    ),
    "BF-CRED-002": Requirement(
        "Credentials",
        "Codex takes a login file or a key in CODEX_ACCESS_TOKEN, CODEX_API_KEY or OPENAI_API_KEY",
    ),
    "BF-CRED-003": Requirement(
        "Credentials",
        "Azure: provider-prefixed models use AZURE_API_KEY and AZURE_API_ENDPOINT",
    ),
    "BF-CRED-004": Requirement(
        "Credentials",
        "any of the four judge keys on the host can serve the judge",
    ),
    "BF-CRED-005": Requirement(
        "Credentials",
        "secret values are resolved late and are in no generated file",
    ),
    "BF-CRED-006": Requirement(
        "Credentials",
        "missing credentials are reported before anything is started",
    ),
    "BF-EMBED-001": Requirement(
        "Task-embedded skills",
        "a skill below tasks/T/environment/skills/S with its own evals/evals.json is found and evaluated",
    ),
    "BF-EMBED-002": Requirement(
        "Task-embedded skills",
        "such skills are never offered to the without arm",
    ),
    "BF-EMBED-003": Requirement(
        "Task-embedded skills",
        "the citation-management example runs",
    ),
    "BF-ENV-001": Requirement(
        "Custom environments",
        "evals/Dockerfile replaces the default base image (docker sandbox exists and is tested)",
    ),
    "BF-ENV-002": Requirement(
        "Custom environments",
        "evals/requirements.txt is installed or refused by name",
    ),
    "BF-ENV-003": Requirement(
        "Custom environments",
        "the skill is exposed at the mount dir and linked into the agent's discovery paths",
    ),
    "BF-GEPA-001": Requirement(
        "GEPA",
        "traces, skill.md and summary are exported in the documented layout",
    ),
    "BF-GEPA-002": Requirement(
        "GEPA",
        "the export is loadable by the real gepa package",
    ),
    "BF-GEPA-003": Requirement(
        "GEPA",
        "folder-shaped outputs (gepa, skill-creator) have a stated place under --output-dir",
    ),
    "BF-OUT-001": Requirement(
        "Results",
        "results lie under jobs/skill-eval/<skill>/<agent>/<arm>/, or the other place is documented and --output-dir jobs gives this tree",
    ),
    "BF-OUT-002": Requirement(
        "Results",
        "an existing jobs tree is read and lift recomputed",
    ),
    "BF-OUT-003": Requirement(
        "Results",
        "trajectory and timing per case are stored",
    ),
    "BF-TIPS-001": Requirement(
        "Tips",
        "lint: fewer than 2 cases or a suite that cannot decide",
    ),
    "BF-TIPS-002": Requirement(
        "Tips",
        "lint: rubric size outside 3 to 5 items, items not independently checkable",
    ),
    "BF-TIPS-003": Requirement(
        "Tips",
        "lint: rubric items that only the with arm can meet (read SKILL.md, ran the skill's script) inflate lift",
    ),
    "BF-TIPS-004": Requirement(
        "Tips",
        "lint: long prose ground_truth without a rubric (exact match cannot hold)",
    ),
    "BF-TIPS-005": Requirement(
        "Tips",
        "a baseline that already scores high is called out: the skill adds nothing there",
    ),
}
