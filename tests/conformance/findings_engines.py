"""Which test shows each finding about engines, judges, dialects and the first hour: finding -> node ids.

A finding that is argued and not mended stands in `ARGUED` with the place of the argument.
"""

from __future__ import annotations

FINDINGS: dict[str, list[str]] = {
    "E-A1": [
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_expectations_met_is_what_the_document_says",
        "tests/e2e/test_true_numbers.py::test_partial_credit_is_no_expectation_that_holds",
    ],
    "E-A2": [
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_expectations_met_is_what_the_document_says",
        "tests/e2e/test_true_numbers.py::test_partial_credit_is_no_expectation_that_holds",
    ],
    "E-A3": [
        "core/tests/run/test_trials.py::test_a_stage_that_ignores_its_limit_is_cut_off",
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_a_service_that_does_not_answer",
        "plugins/engines/acp/tests/test_acp_agents.py::test_limit_of_time",
        "plugins/engines/acp/tests/test_acp_protocol.py::test_deaf_agent_is_killed",
        "plugins/engines/api/tests/test_session.py::test_the_time_of_a_session_is_limited",
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_a_service_that_does_not_answer",
        "plugins/engines/codex/tests/test_codex_program.py::test_whose_time_ran_out",
        "plugins/engines/command/tests/test_engine.py::test_endings",
        "tests/e2e/test_agent_engines.py::test_a_server_that_does_not_answer",
    ],
    "E-A4": [
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_a_program_that_hangs_after_its_end",
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_a_program_that_hangs_after_its_end",
        "plugins/engines/codex/tests/test_codex_program.py::test_a_program_that_hangs_after_its_end",
    ],
    "E-A5": [
        "tests/e2e/test_agent_engines.py::test_a_replay_is_graded_as_the_session_was",
    ],
    "E-A6": [
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_a_skill_is_read_if_its_text_came_back",
        "plugins/engines/acp/tests/test_acp_agents.py::test_a_command_reads_a_skill_if_its_text_came_back",
        "plugins/engines/api/tests/test_session.py::test_reading_a_skill_counts_as_read_and_asking_for_none_as_nothing",
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_a_skill_is_read_if_its_text_came_back",
        "plugins/engines/codex/tests/test_codex_program.py::test_how_a_skill_fires",
    ],
    "E-A7": [
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_an_answer_without_a_word",
        "plugins/engines/acp/tests/test_acp_agents.py::test_no_answer",
        "plugins/engines/claude-code/tests/test_claude_code_program.py::test_no_answer",
        "plugins/engines/codex/tests/test_codex_program.py::test_a_filter_is_paid_once",
        "plugins/engines/codex/tests/test_codex_program.py::test_no_answer",
        "plugins/engines/codex/tests/test_codex_streams.py::test_a_filter_is_not_asked_again",
        "plugins/engines/codex/tests/test_codex_streams.py::test_no_last_message_is_no_answer",
        "tests/e2e/test_agent_engines.py::test_a_refusal_after_work_is_none_of_the_skill",
    ],
    "E-A8": [
        "plugins/engines/acp/tests/test_acp_agents.py::test_no_credit",
        "plugins/engines/codex/tests/test_codex_program.py::test_no_credit",
        "tests/e2e/test_agent_engines.py::test_an_account_without_credit",
    ],
    "E-A9": [
        "core/tests/run/test_budget.py::test_what_earlier_commands_of_the_run_have_spent_counts",
        "tests/e2e/test_agents.py::test_an_exhausted_budget_ends_with_4_and_the_rest_runs_later",
    ],
    "E-A10": [
        "plugins/engines/acp/tests/test_acp_agents.py::test_no_session_beside_it",
        "plugins/engines/acp/tests/test_acp_protocol.py::test_tokens_of_a_session_without_a_title_are_unknown",
    ],
    "E-A11": [
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_what_was_not_graded_is_no_failed_expectation",
    ],
    "E-A12": [
        "plugins/engines/codex/tests/test_codex_program.py::test_a_block_that_nobody_can_tell",
        "plugins/engines/codex/tests/test_codex_streams.py::test_words_that_a_command_printed_are_no_block",
    ],
    "E-B1": [
        "plugins/scorers/rubric/tests/test_rubric_injection.py::test_a_careless_judge_passes_nothing",
    ],
    "E-B2": [
        "core/tests/plan/test_judging.py::test_an_unnamed_judge_asks_whom_the_agents_ask",
        "core/tests/plan/test_judging.py::test_an_unnamed_judge_at_an_address_of_its_own",
        "tests/e2e/test_judges.py::test_any_key_serves_where_no_judge_is_named",
    ],
    "E-B3": [
        "plugins/scorers/rubric/tests/test_scorer_rubric.py::test_the_longest_pause_is_the_documented_one",
    ],
    "E-C1": [
        "libraries/processes/tests/test_belongings.py::test_nothing_outlives_a_killed_owner",
    ],
    "E-C2": [
        "libraries/processes/tests/test_belongings.py::test_nothing_outlives_a_killed_owner",
    ],
    "E-C3": [
        "tests/e2e/test_agents.py::test_keys_that_the_run_does_not_use_are_in_nothing_that_it_writes",
    ],
    "E-C4": [
        "libraries/processes/tests/test_workspace.py::test_folders_are_fresh_and_private",
        "tests/e2e/test_agent_engines.py::test_a_replay_is_graded_as_the_session_was",
    ],
    "E-C5": [
        "libraries/recordings/tests/test_cassettes.py::test_what_is_a_place",
    ],
    "E-D1": [
        "core/tests/run/test_trials.py::test_sessions_are_made_again_as_often_as_the_user_says",
    ],
    "E-D2": [
        "libraries/recordings/tests/test_cassettes.py::test_what_changed_is_named",
    ],
    "E-D4": [
        "plugins/engines/command/tests/test_engine.py::test_a_program_by_its_path_is_shown_to_a_sandbox",
        "tests/e2e/test_confined.py::test_an_agent_that_is_named_by_its_path_is_found",
    ],
    "E-D5": [
        "plugins/engines/claude-code/tests/test_claude_code_streams.py::test_no_server_behind_a_relay",
    ],
    "D-1": [
        "core/tests/evaluation/test_added_checks.py::test_a_further_check_may_stand_beside_the_verdict",
        "core/tests/report/test_summary.py::test_checks_beside_the_verdict_are_figures_of_their_own",
        "core/tests/run/test_grading.py::test_a_check_beside_the_verdict_changes_none",
        "core/tests/run/test_grading.py::test_checks_beside_the_verdict_alone_assert_nothing",
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_a_check_beside_the_verdict_is_no_expectation",
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_a_trigger_check_beside_assertions",
        "plugins/scorers/trigger/tests/test_trigger_scorer.py::test_a_baseline_gets_no_verdict",
        "tests/e2e/test_judges.py::test_both_arms_are_graded_alike",
    ],
    "D-2": [
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_assertions_are_for_a_judge",
        "plugins/scorers/rubric/tests/test_rubric_together.py::test_seven_checks_are_one_request",
        "plugins/scorers/rubric/tests/test_rubric_together.py::test_the_burden_of_proof_is_on_the_claim",
        "plugins/scorers/rubric/tests/test_scorer_rubric.py::test_a_scale_is_used_only_where_it_is_asked_for",
        "tests/e2e/test_judges.py::test_both_arms_are_graded_alike",
    ],
    "D-3": [
        "core/tests/run/test_grading.py::test_the_share_of_checks_that_passed",
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_expectations_met_is_what_the_document_says",
        "tests/e2e/test_judges.py::test_both_arms_are_graded_alike",
        "tests/e2e/test_true_numbers.py::test_partial_credit_is_no_expectation_that_holds",
    ],
    "D-4": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_keys_of_assertions_that_decide_nothing_are_told",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_keys_of_evals_are_honoured_or_told",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_no_value_of_an_assertion_is_lost",
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_how_an_assertion_counts",
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_types_and_keys_of_real_files",
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_types_without_a_rule_go_to_a_judge_with_all_they_say",
    ],
    "D-5": [
        "core/tests/plan/test_judging.py::test_nobody_is_named_and_nobody_found",
        "tests/e2e/test_judges.py::test_a_missing_judge_is_said_before_anything_runs",
    ],
    "D-6": [
        "tests/e2e/test_judges.py::test_a_good_suite_is_valid_whatever_is_installed",
    ],
    "D-7": [
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_a_bare_list_of_questions",
        "tests/e2e/test_agent_skills.py::test_a_flat_suite_is_decided_by_programs_alone",
    ],
    "D-8": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_questions_alone_are_no_suite",
    ],
    "D-9": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_files_like_suites_are_told",
        "tests/conformance/test_dialect_mutants.py::test_no_mutant_is_passed_over",
    ],
    "D-13": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_bad_elements_are_told_and_the_others_counted",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_what_is_refused_has_a_place_and_a_reason",
        "tests/architecture/test_dialects.py::test_the_census_is_large_enough_and_says_why",
    ],
    "D-14": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_what_is_refused_has_a_place_and_a_reason",
        "tests/e2e/test_agent_skills.py::test_what_no_number_of_repeats_shows_is_refused",
    ],
    "D-15": [
        "tests/e2e/test_agent_skills.py::test_a_set_of_queries_has_no_document_and_says_so",
    ],
    "F-2": [
        "libraries/run-views/tests/test_run_views_looking.py::test_a_session_can_be_read_from_prompt_to_judge",
        "plugins/reporters/html/tests/test_reporter_html.py::test_a_case_opens_its_transcripts_side_by_side",
        "plugins/reporters/html/tests/test_reporter_html.py::test_what_an_agent_changed_in_files",
    ],
    "F-3": [
        "core/tests/report/test_wording.py::test_labels_tell_groups_apart",
        "libraries/run-views/tests/test_run_views_showing.py::test_whatever_tells_trials_apart_has_a_column",
        "plugins/reporters/html/tests/test_reporter_html.py::test_what_has_no_name_is_told_by_more_than_a_number",
        "core/tests/decide/test_failing.py::test_names_hold_what_tells_groups_apart_and_no_more",
        "tests/e2e/test_author_mistakes.py::test_the_case_that_ended_a_run_is_named",
        "core/tests/terminal/test_progress.py::test_verbose_calls_a_case_the_same_to_its_end",
    ],
    "F-4": [
        "tests/conformance/test_findings_engines.py::test_agents_bring_judges",
        "core/tests/decide/test_failing.py::test_the_worst_come_first_with_reason_arm_and_command",
        "tests/e2e/test_judges.py::test_a_missing_judge_is_said_before_anything_runs",
    ],
    "F-5": [
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_what_is_refused_has_a_place_and_a_reason",
        "plugins/scorers/command/tests/test_command_scorer.py::test_where_a_command_says_yes_or_no_any_other_code_is_a_no",
        "tests/e2e/test_agent_skills.py::test_a_flat_suite_is_decided_by_programs_alone",
    ],
}

ARGUED: dict[str, str] = {
    "E-C6": "docs/adr/0029-what-a-session-proves.md",
    "E-D3": "docs/adr/0029-what-a-session-proves.md",
}
