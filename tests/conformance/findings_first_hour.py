"""The findings on the first hour and on plugins that concern the terminal and its options, each with its tests.

`test_findings_first_hour` checks that every test is there. What was argued names its decision record.
"""

from __future__ import annotations

_TERMINAL = "tests/e2e/test_terminal.py::"
_PROGRESS = "core/tests/terminal/test_progress.py::"
_DOCTOR = "core/tests/cli/test_doctor.py::"
_TABLES = "core/tests/terminal/test_tables.py::"

FINDINGS: dict[str, list[str]] = {
    # Tracebacks: closed pipes, and folders that cannot be entered.
    "F-8": [
        f"{_TERMINAL}test_a_reader_that_goes_away_is_no_error",
        f"{_TERMINAL}test_a_reader_that_goes_away_changes_no_verdict",
        "core/tests/plan/test_discovery.py::test_a_folder_that_cannot_be_entered_holds_nothing",
        "tests/e2e/test_bad_input.py::test_a_name_that_no_file_can_have",
    ],
    # Surprising defaults: words that are no path, the benchmark, the time limit of agents.
    "F-11": [
        f"{_TERMINAL}test_a_word_that_is_neither_path_nor_case",
        f"{_TERMINAL}test_a_word_is_told_before_what_others_do_wrong",
        f"{_TERMINAL}test_no_benchmark_is_taken_in_silence",
        f"{_TERMINAL}test_the_time_limit_of_agents_can_be_set",
        "plugins/formats/eval-skills/tests/test_eval_skills_loading.py::test_the_default_benchmark_is_never_taken_in_silence",
    ],
    # Progress on long work.
    "F-12": [
        f"{_PROGRESS}test_a_line_says_all_that_one_waits_for",
        f"{_PROGRESS}test_plain_lines_come_although_nothing_happens",
        f"{_PROGRESS}test_the_live_display_fits",
        f"{_DOCTOR}test_working_and_lacking",
        "tests/e2e/test_doctor_ends.py::test_each_has_a_process_of_its_own_and_what_is_common_is_imported_once",
    ],
    # A command that is misspelt.
    "F-K7": [f"{_TERMINAL}test_a_command_that_is_misspelt"],
    # Tables that are wider than the terminal.
    "F-K17": [
        f"{_TERMINAL}test_tables_fit_the_terminal",
        f"{_TERMINAL}test_problems_fit_the_terminal",
        f"{_TABLES}test_no_line_is_wider_than_the_terminal",
    ],
    # No colour at all.
    "F-K18": [f"{_TERMINAL}test_colours_have_a_meaning_and_can_be_left_out"],
    # `--quiet` printed everything.
    "F-K21": [f"{_TERMINAL}test_quiet_is_the_verdict_alone", f"{_TERMINAL}test_quiet_hides_no_data"],
    # `plugins list --kind engine` was an empty table.
    "F-D3": [f"{_TERMINAL}test_kinds_in_either_number"],
    # `[all]` installed no rich.
    "F-D7": ["tests/architecture/test_light_start.py::test_the_default_set_has_the_live_display"],
    # Showing the page.
    "F-O1": [f"{_TERMINAL}test_a_page_is_opened"],
    # Options of pytest.
    "F-O2": [
        f"{_TERMINAL}test_words_choose_cases",
        f"{_TERMINAL}test_the_first_failure_ends_a_run",
        f"{_TERMINAL}test_the_last_failed_cases",
        f"{_TERMINAL}test_changed_cases",
        f"{_TERMINAL}test_short_forms",
        "plugins/commands/watch/tests/test_watch.py::test_what_is_affected_runs_again",
    ],
    # A list of cases.
    "F-O3": [f"{_TERMINAL}test_cases_are_listed_without_anybody_to_run_them"],
    # Completion with names of plugins.
    "F-O8": [f"{_TERMINAL}test_a_shell_completes_names_of_plugins"],
    # Options in one flat list.
    "F-O9": [f"{_TERMINAL}test_help_is_in_groups_with_examples"],
    # Tables by hand, without width or wide characters; not by rich (ADR 64).
    "F-L1": [f"{_TABLES}test_what_cannot_be_broken_between_words"],
    # `--format json html` without the html reporter.
    "P-S3": [
        f"{_TERMINAL}test_a_reporter_that_is_absent_is_no_case",
        f"{_TERMINAL}test_a_reporter_that_is_misspelt_is_guessed",
    ],
    # What engines emit reached nobody.
    "P-M1": [
        f"{_PROGRESS}test_verbose_tells_every_step",
        f"{_TERMINAL}test_verbose_is_for_people_and_log_json_for_programs",
        "core/tests/test_log.py::test_people_and_programs",
    ],
    # Progress lines stopped short.
    "P-M6": [f"{_PROGRESS}test_plain_lines_come_although_nothing_happens"],
    # `plugins doctor` was red on a healthy installation.
    "P-M7": [f"{_DOCTOR}test_what_is_unhealthy"],
}
