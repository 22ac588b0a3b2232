"""Ways to spoil grading, to take too much and to outlive a run, and the tests that keep each of them out."""

_SPOILED = "tests/e2e/test_spoiled_grading.py::test_no_agent_spoils_its_grading"
_QUICKEST = "tests/e2e/test_spoiled_grading.py::test_the_quickest_ways"

FINDINGS: dict[str, list[str]] = {
    "T-S2": [
        _SPOILED,
        _QUICKEST,
        "plugins/scorers/command/tests/test_command_scorer.py::test_environment_is_clean",
        "plugins/sandboxes/docker/tests/test_docker.py::test_graders_share_nothing_but_the_files",
        "libraries/processes/tests/test_tree.py::test_folders_of_graders_are_emptied",
        "libraries/processes/tests/test_tree.py::test_links_to_graders_files_are_set_aside",
    ],
    "T-S3": [
        _SPOILED,
        _QUICKEST,
        "plugins/scorers/command/tests/test_command_scorer.py::test_place_of_the_answer_is_taken",
        "plugins/scorers/command/tests/test_command_scorer.py::test_what_keeps_a_command_from_its_end",
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_an_agent_that_ends_itself_has_failed",
        "libraries/processes/tests/test_tree.py::test_what_cannot_be_moved_is_the_agents_failure",
    ],
    "T-S4": [
        "tests/e2e/test_bombs.py::test_a_bomb_stays_small",
        "tests/e2e/test_bombs.py::test_the_smallest_is_small",
        "libraries/http-bodies/tests/test_http_bodies.py::test_a_bomb_takes_what_is_asked_for",
        "libraries/http-bodies/tests/test_http_bodies.py::test_what_is_not_known_is_refused",
    ],
    "T-S5": [
        "plugins/sandboxes/bubblewrap/tests/test_holding.py::test_files_without_a_name_count",
        "plugins/sandboxes/bubblewrap/tests/test_attacks.py::test_all_are_stopped_for_an_ordinary_user",
    ],
    "T-S6": [
        "plugins/sandboxes/bubblewrap/tests/test_holding.py::test_shared_memory_counts_without_control_groups",
        "plugins/sandboxes/bubblewrap/tests/test_attacks.py::test_all_are_stopped_for_an_ordinary_user",
    ],
    "T-S7": [
        _SPOILED,
        "libraries/processes/tests/test_tree.py::test_sparse_and_huge_files_are_not_read",
        "libraries/processes/tests/test_tree.py::test_too_many_files_are_not_listed",
    ],
    "T-S8": [
        "libraries/patterns/tests/test_patterns.py::test_bombs_are_refused",
        "tests/e2e/test_bounds.py::test_a_pattern_that_takes_gigabytes_is_refused_by_validate",
        "tests/e2e/test_bounds.py::test_patterns_that_are_bombs_take_no_second_of_validate",
    ],
    "T-M1": [
        _SPOILED,
        "libraries/processes/tests/test_belongings.py::test_a_deep_tree_is_removed",
        "libraries/processes/tests/test_tree.py::test_deep_folders_are_listed",
    ],
    "T-M2": [
        _QUICKEST,
        "libraries/processes/tests/test_tree.py::test_names_that_are_not_text_can_be_read",
    ],
    "T-M5": [
        "tests/e2e/test_bounds.py::test_a_closed_terminal_ends_a_run_as_ctrl_c_does",
        "libraries/processes/tests/test_belongings.py::test_the_next_one_sweeps",
        "libraries/processes/tests/test_belongings.py::test_a_live_one_is_left_alone",
        "libraries/processes/tests/test_belongings.py::test_what_is_another_users_is_left_alone",
    ],
    "T-M10": [
        "tests/e2e/test_bounds.py::test_too_few_descriptors_are_told_before_anything_runs",
        "tests/e2e/test_bounds.py::test_what_is_allowed_is_used",
    ],
    "E-C1": [
        "tests/e2e/test_leftovers.py::test_nothing_stays_of_killed_runs",
        "libraries/processes/tests/test_belongings.py::test_nothing_outlives_a_killed_owner",
        "libraries/processes/tests/test_belongings.py::test_what_a_killed_one_wanted_to_keep_goes",
    ],
    "E-C2": [
        "tests/e2e/test_leftovers.py::test_nothing_stays_of_killed_runs",
        "libraries/processes/tests/test_belongings.py::test_nothing_outlives_a_killed_owner",
    ],
    "E-C4": ["libraries/processes/tests/test_workspace.py::test_folders_are_fresh_and_private"],
    "E-C5": ["libraries/recordings/tests/test_cassettes.py::test_what_is_a_place"],
    "E-C6": ["libraries/processes/tests/test_workspace.py::test_python_is_found_last"],
    "T-S15": [
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_what_a_command_writes_into_the_stream",
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_what_is_written_into_the_stream_after_the_end",
        "plugins/engines/claude-code/tests/test_claude_code_streams.py::test_a_failure_that_the_record_does_not_know",
        "plugins/engines/claude-code/tests/test_claude_code_streams.py::test_the_record_counts_and_not_the_stream",
        "plugins/engines/codex/tests/test_codex_streams.py::test_the_record_counts_and_not_the_stream",
    ],
}
