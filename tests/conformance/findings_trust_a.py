"""Ways to decide what only the user may decide, and to get at his keys, and the tests that keep each of them out."""

_WORD = "tests/e2e/test_whose_word.py::"
_SECRETS = "tests/e2e/test_secrets.py::"
_SETTINGS = "tests/e2e/test_settings.py::"
_HINTS = "tests/architecture/test_install_hints.py::"
_RELAY = "libraries/model-relay/tests/test_relay.py::"
_REDACTION = "core/tests/run/test_redaction.py::"

FINDINGS: dict[str, list[str]] = {
    "T-B1": [
        f"{_WORD}test_a_folder_does_not_open_the_sandbox",
        f"{_WORD}test_what_is_not_waits_for_trust",
        f"{_WORD}test_trust_is_in_a_files_content",
        f"{_WORD}test_what_is_harmless_counts_unasked",
        f"{_WORD}test_another_programs_file_is_the_folders_too",
        f"{_WORD}test_links_lead_no_report_out_of_a_folder",
    ],
    "T-B2": [
        f"{_WORD}test_nothing_that_a_folder_names_is_started",
        f"{_WORD}test_a_folder_is_not_on_the_import_path",
    ],
    "T-S1": [
        f"{_WORD}test_keys_do_not_go_where_a_folder_says",
        f"{_WORD}test_a_folders_command_gets_no_key",
        f"{_WORD}test_untrusted_targets_get_no_variables",
    ],
    "P-B2": [
        f"{_SECRETS}test_secrets_of_private_plugins_are_not_written",
        "core/tests/plugins/test_registry.py::test_secrets_of_every_kind_are_told",
    ],
    "T-S9": [
        f"{_SECRETS}test_no_spelling_of_a_key_is_written",
        f"{_SECRETS}test_a_token_in_a_refusal_is_not_cut",
        f"{_REDACTION}test_what_is_left_of_a_cut_secret_is_found",
    ],
    "T-S10": [
        f"{_SECRETS}test_no_spelling_of_a_key_is_written",
        f"{_REDACTION}test_broken_and_encoded_secrets_are_found",
        f"{_REDACTION}test_escapes_in_any_mixture_are_read",
    ],
    "T-S11": [
        f"{_SECRETS}test_a_kept_workspace_has_no_key_behind_closed_doors",
        "libraries/processes/tests/test_concealing.py::test_what_is_closed_is_opened",
        "libraries/processes/tests/test_concealing.py::test_what_cannot_be_reached_is_told",
    ],
    "E-C3": [
        f"{_SECRETS}test_keys_that_the_run_does_not_use_are_kept_out",
        f"{_SECRETS}test_no_spelling_of_a_key_is_written",
    ],
    "T-S14": [
        "tests/e2e/test_relay_spending.py::test_what_the_shell_spends_is_counted",
        f"{_RELAY}test_only_named_requests_pass",
        f"{_RELAY}test_a_route_that_names_nothing_lets_get_and_post_through",
        f"{_RELAY}test_no_request_is_one_of_another_method",
        f"{_RELAY}test_answers_do_not_hold_the_key",
        f"{_RELAY}test_tokens_of_all_answers_are_counted",
        "libraries/agent-programs/tests/test_agent_programs_spending.py::test_more_than_the_program_tells_is_counted",
    ],
    "T-M3": [f"{_HINTS}test_a_suite_gets_no_word_into_a_command"],
    "P-S8": [
        f"{_HINTS}test_only_names_of_the_table_become_a_command",
        f"{_HINTS}test_a_name_that_is_no_plugins_gets_no_command",
        f"{_HINTS}test_the_table_is_what_the_project_has",
    ],
    "P-S5": [f"{_SETTINGS}test_setting_a_value_keeps_what_was_migrated"],
    "P-S6": [f"{_SETTINGS}test_a_value_that_is_overridden_says_by_what"],
    "P-S7": [
        "core/tests/run/test_scorers.py::test_made_once_for_checks_that_mean_the_same",
        "core/tests/run/test_scorers.py::test_made_before_anything_runs_and_beside_the_event_loop",
    ],
    "P-S9": [f"{_SETTINGS}test_every_command_tells_the_version"],
    "P-S10": [
        f"{_SETTINGS}test_names_that_nobody_has_are_refused",
        f"{_SETTINGS}test_settings_without_effect_are_told",
        "core/tests/evaluation/test_strangers.py::test_only_what_is_published_may_be_elsewhere",
    ],
}
