"""Wrong numbers (W) and gaps (G) of the two programs whose suites compare arms, and the tests that keep them out.

Each W but W-4, and how G-12 names things, was tried with its cause brought back: its test fails then.
"""

FINDINGS: dict[str, list[str]] = {
    "W-1": ["tests/e2e/test_skillevaluation.py::test_a_warm_cache_gives_the_same_lift"],
    "W-2": [
        "tests/e2e/test_wrong_numbers.py::test_2_whatever_enters_a_baseline_is_part_of_its_key",
        "tests/e2e/test_skillevaluation.py::test_whatever_enters_a_session_without_the_skill_is_part_of_its_key",
        "tests/e2e/test_skillevaluation.py::test_settings_of_the_engine_are_part_of_the_key",
    ],
    "W-3": ["tests/e2e/test_wrong_numbers.py::test_3_and_4_what_lies_in_the_arms"],
    "W-4": [
        "tests/e2e/test_wrong_numbers.py::test_3_and_4_what_lies_in_the_arms",
        "tests/e2e/test_comparisons_on_agents.py::test_the_lift_that_was_planted",
    ],
    "W-5": ["tests/e2e/test_wrong_numbers.py::test_5_short_answers_are_answers"],
    "W-6": [
        "tests/e2e/test_wrong_numbers.py::test_6_turns_of_a_case_reach_the_agent",
        "tests/e2e/test_wrong_numbers.py::test_6_the_judge_sees_tool_calls",
    ],
    "W-7": ["tests/e2e/test_wrong_numbers.py::test_7_only_true_is_true"],
    "W-8": [
        "tests/e2e/test_wrong_numbers.py::test_8_a_file_that_was_not_made_is_a_failure",
        "tests/e2e/test_skillevaluation.py::test_two_cases_from_end_to_end",
    ],
    # No engine without a container, no look beforehand, no replay.
    "G-1": [
        "tests/e2e/test_benchflow.py::test_lift_without_a_judge",
        "tests/e2e/test_agents.py::test_a_recording_replays_with_the_same_verdicts",
        "tests/e2e/test_agent_skills.py::test_a_dry_run_shows_what_every_arm_would_have",
    ],
    # A table of failures where something was missing from the start.
    "G-2": [
        "tests/e2e/test_wrong_numbers.py::test_gap_2_what_is_missing_is_said_before_anything_runs",
        "tests/e2e/test_agents.py::test_what_an_engine_cannot_do_is_known_before_anything_runs",
    ],
    # One session of a case, and no interval.
    "G-3": ["tests/e2e/test_wrong_numbers.py::test_gap_3_repeats_have_an_interval"],
    # What failed for other reasons is 0 in the means.
    "G-4": [
        "tests/e2e/test_wrong_numbers.py::test_gap_4_a_judge_that_is_down_is_no_zero",
        "plugins/formats/benchflow/tests/test_benchflow_results.py::test_lift",
    ],
    # Matching that misses punctuation, and finds the answer in the question; no other scorer.
    "G-5": [
        "plugins/scorers/ground-truth/tests/test_ground_truth_scorer.py::test_a_text_that_stands_by_itself",
        "plugins/scorers/ground-truth/tests/test_ground_truth_scorer.py::test_every_text_is_found_in_itself",
        "plugins/scorers/ground-truth/tests/test_ground_truth_scorer.py"
        "::test_the_question_and_what_tools_said_are_no_answer",
        "tests/e2e/test_judges.py::test_further_checks_reach_any_suite",
    ],
    # A judge that is replaced in silence, whose NaN is 1, and who does not see what the agent left.
    "G-6": [
        "tests/e2e/test_wrong_numbers.py::test_gap_6_no_other_judge_is_taken",
        "plugins/scorers/rubric/tests/test_scorer_rubric.py::test_unreadable_answers",
        "plugins/scorers/rubric/tests/test_rubric_material.py::test_changed_files",
        "plugins/scorers/rubric/tests/test_rubric_material.py::test_long_trajectories_are_cut_in_the_middle",
    ],
    # What should fire is graded by nobody.
    "G-7": [
        "tests/e2e/test_benchflow.py::test_what_the_terminal_says",
        "tests/e2e/test_trigger_sets.py::test_who_fires_among_three_others",
    ],
    # No input files and no set-up; the format has no keys for them, other formats do.
    "G-8": [
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_input_files",
        "tests/e2e/test_comparisons_on_agents.py::test_the_lift_that_was_planted",
    ],
    # The other evals.json is refused.
    "G-9": ["tests/e2e/test_agent_skills.py::test_every_published_shape_loads_or_names_its_format"],
    # No resuming, no choice of cases, arms one after the other.
    "G-10": [
        "tests/e2e/test_kill.py::test_interrupting_writes_a_partial_report_and_resumes",
        "tests/e2e/test_baselines.py::test_what_stands_in_the_way",
    ],
    # No report for machines, no gate, no cost, no comparison of versions.
    "G-11": [
        "tests/e2e/test_reports.py::test_numbers_with_known_answers",
        "tests/e2e/test_baselines.py::test_what_the_gate_says",
        "tests/e2e/test_ci.py::test_one_line_runs",
    ],
    # One agent with two models is merged; a negative lift has two signs.
    "G-12": [
        "plugins/formats/benchflow/tests/test_benchflow_results.py::test_one_agent_with_two_models",
        "plugins/formats/benchflow/tests/test_benchflow_results.py"
        "::test_the_model_is_in_the_path_of_an_agent_that_has_several",
        "plugins/formats/benchflow/tests/test_benchflow_results.py::test_a_negative_lift_and_one_arm",
        "tests/e2e/test_matrix.py::test_names_of_traces",
    ],
    # The agent has the judge's keys.
    "G-13": [
        "tests/e2e/test_judges.py::test_keys_reach_only_the_judge",
        "tests/e2e/test_canaries.py::test_a_secret_is_only_where_it_is_needed",
    ],
    # Traces that GEPA cannot load.
    "G-14": ["plugins/reporters/gepa/tests/test_gepa_contract.py::test_gepa_optimizes_with_it"],
    # Heavy.
    "G-15": ["tests/architecture/test_light_start.py::test_help_imports_no_plugin_and_nothing_heavy"],
}
