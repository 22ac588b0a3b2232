"""What authors of plugins need, and plugins that are not here: each finding with the tests that show it is possible.

`test_findings_needs` checks that every test is there. docs/writing-a-plugin.md has the same needs with their examples.
"""

from __future__ import annotations

_EXAMPLES = "tests/journeys/test_examples.py::"
_SETTINGS = "tests/e2e/test_settings.py::"
_STRANGERS = "core/tests/cli/test_strangers.py::"

FINDINGS: dict[str, list[str]] = {
    "P-N1": [
        f"{_EXAMPLES}test_a_private_scorer_asks_its_database",
        "tests/e2e/test_scorer_connections.py::test_a_connection_is_opened_and_closed_once",
    ],
    "P-N4": [
        f"{_EXAMPLES}test_a_judge_behind_oauth_grades",
        "examples/oauth-judge/tests/test_judge.py::test_a_lent_token_is_in_no_result",
        "core/tests/plugins/test_events.py::test_what_a_plugin_was_lent_is_told_too",
    ],
    "P-N5": [f"{_EXAMPLES}test_a_webhook_hears_of_the_run"],
    "P-N6": [
        f"{_EXAMPLES}test_an_engine_of_a_vendor_answers_whether_a_skill_helps",
        "core/tests/cli/test_progress.py::test_verbose_tells_every_step",
    ],
    "P-N7": [
        f"{_EXAMPLES}test_a_store_of_one_s_own_keeps_a_run",
        "examples/own-store/tests/test_store.py::test_a_run_of_a_silent_machine",
    ],
    "P-N8": [
        f"{_EXAMPLES}test_a_sandbox_in_a_cloud_runs_a_skill",
        "tests/e2e/test_remote_sandbox.py::test_an_agent_of_this_machine_is_refused_there",
        "tests/e2e/test_remote_sandbox.py::test_an_engine_that_needs_nothing_here_works_there",
    ],
    "P-N9": [
        f"{_EXAMPLES}test_a_format_of_one_s_own_gives_places",
        "core/tests/reading/test_documents.py::test_a_place_that_a_format_knows_is_taken",
    ],
    "P-N10": [
        f"{_EXAMPLES}test_an_executor_replaces_processes",
        "examples/fresh-executor/tests/test_executor.py::test_a_process_that_dies",
    ],
    "P-S10": [
        f"{_SETTINGS}test_names_that_nobody_has_are_refused",
        f"{_SETTINGS}test_settings_without_effect_are_told",
        f"{_STRANGERS}test_only_what_is_published_may_be_elsewhere",
    ],
    # plugins.block
    "ADR-77": [f"{_SETTINGS}test_a_command_that_is_blocked_is_not_run"],
}
