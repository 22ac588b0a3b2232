"""The third round of findings, each with the tests that fail where its cause is back."""

from __future__ import annotations

FINDINGS: dict[str, tuple[str, ...]] = {
    # Re-running the bad cases of a run and keeping the lucky ones printed rates and lifts that were not there.
    "R3-N1": (
        "core/tests/stats/test_looks.py::test_all_looks_together_spend_the_level_at_most",
        "core/tests/stats/test_looks.py::test_looking_on_until_something_is_found_finds_nothing_that_is_not_there",
        "tests/e2e/test_confirm.py::test_old_and_new_results_count_together",
        "tests/e2e/test_confirm.py::test_chosen_cases_carry_no_evidence",
        "tests/e2e/test_confirm.py::test_a_run_is_continued_once",
    ),
    # The commands of a comparison acquitted skills that had got worse.
    "R3-N2": (
        "core/tests/stats/test_looks.py::test_the_least_change_is_below_the_truth",
        "plugins/commands/report/tests/test_report_simulation.py::test_a_loss_is_not_acquitted",
        "tests/e2e/test_confirm.py::test_the_printed_commands_decide",
        "tests/e2e/test_confirm.py::test_a_doubt_that_was_noise_is_no_acquittal",
    ),
    # Surfaces for CI had a rule of their own for what a case is, and a verdict of their own for the run.
    "R3-N10": (
        "core/tests/report/test_outcomes.py::test_more_than_half_of_the_graded_repeats_decide",
        "core/tests/report/test_outcomes.py::test_a_threshold_of_the_suite_is_met_exactly",
        "core/tests/decide/test_verdicts.py::test_every_exit_code_has_its_word",
        "tests/e2e/test_surfaces_agree.py::test_every_surface_tells_the_same",
    ),
    # Machines got the mixed accuracy of trigger sets, and people figures without an interval.
    "R3-N11": (
        "tests/e2e/test_surfaces_agree.py::test_a_trigger_set_is_told_by_both_sides",
        "plugins/formats/agent-skills/tests/test_agent_skills_figures.py::test_intervals_of_both_sides_hold_the_truth",
        "plugins/scorers/trigger/tests/test_trigger_notices.py::test_a_query_is_met_at_its_threshold",
    ),
    # pass^k rested on whichever cases were run most often.
    "R3-N12": (
        "core/tests/stats/test_reliability.py::test_what_repeats_tell_of_a_suite",
        "tests/e2e/test_surfaces_agree.py::test_pass_hat_k_is_of_all_cases",
    ),
    # A judge that favours one arm was called calibrated, and its lift was believed.
    "R3-N3": (
        "plugins/commands/judge/tests/test_judge_cli.py::test_a_judge_that_favours_an_arm_decides_no_gate",
        "plugins/commands/judge/tests/test_judge_calibrating.py::test_a_judge_that_favours_an_arm_is_not_calibrated",
    ),
    # Gates asked about new cases only, so that small suites could meet none, whatever came out.
    "R3-N4": (
        "tests/e2e/test_baselines.py::test_a_small_suite_can_meet_its_gates",
        "tests/e2e/test_baselines.py::test_a_gate_that_cannot_be_answered_is_told_before_anything_is_paid",
        "tests/e2e/test_baselines.py::test_a_baseline_that_the_same_results_would_not_meet",
    ),
    # Two rules answered whether the skill or the model had changed.
    "R3-N5": (
        "tests/e2e/test_baselines.py::test_the_gate_and_the_comparison_of_reports_agree",
        "core/tests/stats/test_change.py::test_wrong_findings_are_rare_and_losses_are_found",
    ),
    # Nothing was allowed for the number of comparisons in a run.
    "R3-N6": (
        "tests/e2e/test_evidence.py::test_comparisons_of_one_run_share_the_level",
        "core/tests/stats/test_lift_intervals.py::test_together_they_are_seldom_wrong",
    ),
    # No meaningful difference was said where larger ones were not excluded.
    "R3-N7": ("core/tests/stats/test_lift_intervals.py::test_equivalence_is_an_interval_within_the_margin",),
    # Full marks in both arms were called too few data.
    "R3-N8": ("tests/e2e/test_evidence.py::test_a_suite_without_room_is_not_short_of_data",),
    # Partial credit counted for nothing.
    "R3-N9": (
        "core/tests/stats/test_lift_intervals.py::test_partial_credit_is_evidence_of_its_own",
        "core/tests/report/test_answer.py::test_partial_credit_and_skills_that_never_fired",
    ),
    # A gate was missed by a figure that reached its threshold, without a word on errors.
    "R3-N13": ("tests/e2e/test_evidence.py::test_errors_are_told_with_the_lift_and_with_the_gate",),
    # A least lift was met by what chance may explain.
    "R3-N14": ("tests/e2e/test_evidence.py::test_a_least_lift_has_to_be_shown",),
    # Nothing said that the skill had never fired.
    "R3-N15": (
        "core/tests/report/test_answer.py::test_partial_credit_and_skills_that_never_fired",
        "tests/e2e/test_evidence.py::test_sessions_in_which_the_skill_fired_stand_apart",
    ),
    # One error made a suite look much blunter than it was.
    "R3-N16": ("core/tests/stats/test_lift_intervals.py::test_one_error_does_not_blunt_what_a_suite_can_show",),
    # A sibling of the same size had shown less than was called possible.
    "R3-N17": ("core/tests/report/test_answer.py::test_sentences",),
    # An interval for new cases stood beside a chance for these.
    "R3-N18": ("tests/e2e/test_evidence.py::test_intervals_say_which_cases_they_are_for",),
    # Ratios of one case looked as sure as those of twenty.
    "R3-N19": (
        "core/tests/report/test_answer.py::test_ratios_that_may_be_noise_are_left_out",
        "core/tests/stats/test_lift_intervals.py::test_ratios_have_an_interval_and_may_be_noise",
    ),
    # A run of one arm could not be continued.
    "R3-N20": ("tests/e2e/test_confirm.py::test_one_arm_is_continued_when_the_number_is_given",),
    # Gates and comparisons said "not not-worse", and lifts in percent.
    "R3-N25": (
        "tests/e2e/test_baselines.py::test_what_the_gate_says",
        "tests/e2e/test_evidence.py::test_errors_are_told_with_the_lift_and_with_the_gate",
    ),
    # An outage of one model took the lift of every other one.
    "R3-N21": ("core/tests/report/test_pairs.py::test_an_outage_of_one_model_costs_its_own_comparison_alone",),
    # The exact tests are conservative; what would find more does not keep its level (docs/adr/0101).
    "R3-N23": (
        "core/tests/stats/test_lift.py::test_a_mid_p_value_would_be_wrong_too_often",
        "tests/e2e/test_evidence.py::test_the_level_is_kept_where_a_mid_p_value_would_not",
    ),
    # Engines were ranked by intervals that do not overlap, though all of them ran the same cases.
    "R3-N22": (
        "core/tests/decide/test_leaderboard.py::test_the_same_cases_tell_more_than_two_intervals",
        "core/tests/decide/test_leaderboard.py::test_orders_that_are_not_there_are_rarely_seen",
    ),
    # An error that was not executed again had an unknown price.
    "R3-N24": ("tests/e2e/test_rescore.py::test_errors_that_are_not_executed_again_cost_nothing",),
    # Stored runs had no records, tables or plots for programs, and Tab completed nothing.
    "R3-F26": (
        "libraries/run-tables/tests/test_run_tables_records.py::test_every_place_gives_the_same_records",
        "libraries/frames/tests/test_frames.py::test_a_frame_is_typed_and_complete",
        "core/tests/plugins/test_functions.py::test_tab_completes_the_package",
        "tests/e2e/test_data_out.py::test_a_notebook_goes_from_a_store_to_a_paper",
        "tests/e2e/test_data_out.py::test_trials_as_csv",
    ),
    # Lists of engines and models were paired in order, and runs could not be joined.
    "R3-F25": (
        "tests/e2e/test_agents.py::test_every_engine_runs_with_every_model_and_pairs_are_exceptions",
        "tests/e2e/test_joining.py::test_runs_of_two_models_are_one_matrix",
    ),
    # A comparison of engines had one order, by lift.
    "R3-F27": ("core/tests/decide/test_leaderboard.py::test_engines_are_ranked_by_what_passes_as_well",),
    # The installation that people begin with had no engine, and pinned every part of it.
    "R3-F5": (
        "tests/architecture/test_distributions.py::test_one_name_installs_all_but_what_is_large_or_needs_a_service",
    ),
    "R3-F6": (
        "tests/journeys/test_installers.py::test_distributions_of_two_releases_work_together",
        "tests/journeys/test_installers.py::test_everything_can_be_removed",
    ),
    # Five milliseconds of 162 were called worse.
    "R3-M12": (
        "plugins/commands/report/tests/test_report_comparison.py::test_a_percentile_that_hardly_moved_is_no_worse",
    ),
    # Of two skills of one name in two plugins only one was run.
    "R3-W-15": (
        "tests/e2e/test_skill_places.py::test_skills_of_one_name_are_told_apart_by_plugin",
        "plugins/formats/agent-skills/tests/test_agent_skills_elsewhere.py::test_a_source_elsewhere_in_the_repository",
        "plugins/formats/agent-skills/tests/test_agent_skills_elsewhere.py::test_what_stays_out",
    ),
    # "Ran the skill's script", the words of the promise, were not recognised, and what was recognised was told twice.
    "R3-M4": (
        "libraries/lints/tests/test_lints_texts.py::test_claims_about_the_skill_itself",
        "libraries/lints/tests/test_lints_of_formats.py::test_a_claim_is_told_once",
        "libraries/lints/tests/test_lints_of_formats.py::test_a_script_of_the_skill_is_known_by_its_name",
    ),
    # A path was asked literally, and milliseconds were read as seconds, without a word.
    "R3-W-6": ("libraries/lints/tests/test_lints.py::test_each_lint_of_a_case",),
    # Patterns that match anything and suites that nothing fails were not pointed out.
    "R3-W-14": (
        "libraries/lints/tests/test_lints.py::test_each_lint_of_a_case",
        "libraries/lints/tests/test_lints.py::test_a_suite_that_says_only_what_must_not_be_there",
    ),
    # Help that names the contrary, no near type, or no reason.
    "R3-W-13": (
        "core/tests/test_errors.py::test_a_name_that_denies_is_never_answered_with_its_contrary",
        "tests/e2e/test_cut_texts.py::test_a_claim_that_a_comment_cuts_off_is_told",
        "plugins/formats/skillgrade/tests/test_skillgrade.py::test_keys_that_another_tool_shares",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py"
        "::test_what_is_refused_has_a_place_and_a_reason",
    ),
    # A check that named its type was refused with the advice to write what stood there.
    "R3-W-7": (
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_a_check_that_names_a_type",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_a_value_without_a_type_is_told",
    ),
    # Half of a document was one unknown key.
    "R3-W-8": (
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_queries_and_evals_in_one_document",
        "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_camel_case_is_snake_case",
    ),
    # A conversion dropped every check and succeeded.
    "R3-W-10": (
        "plugins/commands/convert/tests/test_convert.py::test_claims_with_a_reference_are_kept",
        "plugins/commands/convert/tests/test_convert.py::test_a_case_that_would_assert_nothing_is_no_success",
    ),
    # What a task expects was refused by a private scorer without a word of what it takes.
    "R3-M7": ("tests/e2e/test_bad_input.py::test_a_scorer_that_does_not_take_what_tasks_expect",),
    # Checks of the package stood among those that a case declares.
    "R3-M8": ("plugins/formats/uaaps/tests/test_evals.py::test_deterministic_checks_go_before_the_judge",),
    # An ordinary word in a variable was hidden wherever it stood.
    "R3-M11": ("tests/e2e/test_benchflow.py::test_a_word_of_the_suite_is_no_secret",),
    # A release was nothing but wheels: no address, no order, no index, no upgrade.
    "R3-F7": ("tests/journeys/test_rehearsal.py::test_a_release_and_the_upgrade_to_the_next",),
    # Nothing wrote a first eval.
    "R3-F10": ("plugins/commands/init/tests/test_init_agent_drafts.py::test_what_tells_the_arms_apart_is_kept",),
    # Tests of one conversation ran as strangers, keys that hold anchors were errors, and hints did not help.
    "R3-W-12": (
        "plugins/formats/promptfoo/tests/test_promptfoo.py::test_conversations",
        "plugins/formats/promptfoo/tests/test_promptfoo.py::test_conversations_that_are_refused",
        "plugins/formats/promptfoo/tests/test_promptfoo.py::test_keys_that_hold_anchors",
        "plugins/formats/promptfoo/tests/test_promptfoo.py::test_a_refused_test_is_not_absent",
        "plugins/formats/promptfoo/tests/test_promptfoo.py::test_the_hint_for_a_skill_that_is_not_there",
    ),
    # Text around the judge's JSON made an error of every trial.
    "R3-W-11": (
        "libraries/judge-answers/tests/test_judge_answers.py::test_text_around_the_marked_object_does_not_matter",
        "plugins/scorers/rubric/tests/test_rubric_statements.py::test_values_given_as_text",
        "plugins/scorers/rubric/tests/test_rubric_injection.py::test_an_answer_counts_among_quotations_of_an_attack",
    ),
    # So did a judge that thinks aloud.
    "R3-E7": (
        "libraries/judge-answers/tests/test_judge_answers.py::test_text_around_the_marked_object_does_not_matter",
        "plugins/scorers/rubric/tests/test_scorer_rubric.py::test_readable_answers",
        "plugins/commands/judge/tests/test_judge_compare.py::test_text_around_the_answer_does_not_matter",
    ),
    # A judge that read orders followed them, and nobody was told.
    "R3-T5": (
        "plugins/scorers/rubric/tests/test_rubric_speeches.py::"
        "test_a_judge_that_obeys_gives_no_verdict_that_was_dictated",
        "plugins/scorers/rubric/tests/test_rubric_speeches.py::test_plain_orders_give_no_number",
        "plugins/scorers/rubric/tests/test_rubric_statements.py::test_what_holds_needs_a_quotation",
        "libraries/judge-answers/tests/test_judge_answers.py::test_a_dictated_answer_is_none",
        "libraries/judge-answers/tests/test_judge_answers_signs.py::test_speeches_have_a_sign",
        "tests/e2e/test_marked_outputs.py::test_every_report_says_which_outputs_speak_to_the_judge",
    ),
    # An address without effect was passed over in silence.
    "R3-M9": ("plugins/adapters/http/tests/test_adapter_http.py::test_a_base_url_without_effect_is_a_warning",),
    # `eval diff` was answered with what is wrong with reports as suites.
    "R3-M10": ("tests/e2e/test_terminal.py::test_two_reports_are_no_suites",),
    # Places were counted from the beginning of the file, for each warning anew.
    "R3-V1": ("libraries/documents/tests/test_documents.py::test_places_by_an_index_are_those_by_counting",),
    # One syntax was refused at a sixteenth of the size of the other, and lines beyond a limit were lost in silence.
    "R3-V2": (
        "libraries/documents/tests/test_documents.py::test_one_limit_for_both_syntaxes",
        "plugins/formats/agent-skills/tests/test_agent_skills_loading.py::test_json_lines_are_read_whole_or_refused",
        "tests/e2e/test_terminal.py::test_alike_problems_are_folded",
    ),
    # Reports and the store lay in the repository, and nobody said what to ignore.
    "R3-F21": ("plugins/commands/init/tests/test_init_cli.py::test_results_that_git_would_take_along",),
    # A reason named the pattern, not the check, and not what came.
    "R3-F11": (
        "core/tests/report/test_wording.py::test_a_reason_names_the_check_that_its_author_named",
        "plugins/scorers/regex/tests/test_scorer_regex.py::test_partial_credit",
    ),
    # One suite that needs a judge stopped all others, and was not named.
    "R3-F16": ("tests/e2e/test_judges.py::test_judged_cases_can_be_left_out",),
    # A dry run called a login missing that was there.
    "R3-F9": ("tests/e2e/test_told_before.py::test_a_login_is_shown_as_found",),
    # A place that cannot be written was noticed after the sessions were paid for, and cost the verdict.
    "R3-F23": (
        "tests/e2e/test_told_before.py::test_a_place_that_cannot_be_written_is_told_first",
        "tests/e2e/test_told_before.py::test_a_report_that_cannot_be_written_costs_no_verdict",
    ),
    # A run that no store keeps was promised to be resumed.
    "R3-F20": ("tests/e2e/test_told_before.py::test_a_resume_is_promised_only_where_it_can_happen",),
    # Skills in the folders of agents were not found.
    "R3-W-2": (
        "core/tests/plan/test_discovery.py::test_a_search_enters_hidden_folders_that_a_format_names",
        "core/tests/plan/test_discovery.py::test_linked_folders_inside_are_followed_once",
        "core/tests/plan/test_discovery.py::test_links_that_lead_out_are_not_followed",
        "tests/e2e/test_skill_places.py::test_a_skill_is_found_where_its_agent_looks",
        "tests/e2e/test_skill_places.py::test_a_skill_that_two_agents_share_is_run_once",
    ),
    # A suite that says where its skill lies was told that there is none.
    "R3-W-9": (
        "plugins/formats/agent-skills/tests/test_agent_skills_repositories.py::test_the_path_of_a_skill_is_honoured",
        "plugins/formats/agent-skills/tests/test_agent_skills_repositories.py::test_a_path_without_a_skill_is_told",
    ),
    # A configured model broke the runs of every other judge, and could not be taken back.
    "R3-M2": (
        "tests/e2e/test_configured_judges.py::test_a_default_reaches_no_judge_that_it_does_not_fit",
        "tests/e2e/test_configured_judges.py::test_a_setting_is_taken_back",
    ),
    # The line that counts most was broken inside words.
    "R3-F12": ("tests/e2e/test_terminal.py::test_the_verdict_is_broken_at_words",),
    # No report named the gate that failed the job.
    "R3-F2": (
        "tests/e2e/test_gates_in_reports.py::test_every_report_begins_with_the_gate",
        "tests/e2e/test_gates_in_reports.py::test_what_changed_and_the_case_stand_in_the_comment",
    ),
    # A change could not be judged on four cases, neither by the proposed gate nor by the action.
    "R3-F4": (
        "tests/e2e/test_action.py::test_what_changed_since_the_base_branch",
        "tests/e2e/test_baselines.py::test_a_baseline_that_the_same_results_would_not_meet",
    ),
    # Forty skills were thirty sentences in the order of the files.
    "R3-F13": ("tests/e2e/test_catalogue.py::test_every_surface_shows_the_same_skills",),
    # The worst cases were those that came first.
    "R3-F14": ("tests/e2e/test_catalogue.py::test_cases_of_many_skills",),
    # The way to a case led to the cases of that name in all skills.
    "R3-F15": ("tests/e2e/test_catalogue.py::test_cases_of_many_skills",),
    # One changed skill stood among the sections of all others.
    "R3-F17": ("tests/e2e/test_catalogue.py::test_what_changed_stands_in_the_table",),
    # A thousand skills printed ten thousand lines.
    "R3-V3": ("tests/e2e/test_catalogue.py::test_very_many_skills",),
    # `validate` imported what carries a run out; and each task kept what it was read from.
    "R3-V6": ("tests/architecture/test_light_start.py::test_validate_imports_nothing_that_carries_out",),
    "R3-V8": ("tests/e2e/test_memory_of_validate.py::test_a_case_takes_little",),
    # Everything that was loaded was formatted for a message of Python that nobody sees.
    "R3-V9": ("core/tests/evaluation/test_calling.py::test_what_is_loaded_is_formatted_nowhere",),
    # A session cost more beside many skills than beside few.
    "R3-V4": (
        "core/tests/report/test_many_skills.py::test_a_summary_takes_so_many_calls_a_skill_however_many_there_are",
        "plugins/reporters/html/tests/test_reporter_html.py::test_the_template_is_made_once",
    ),
    # Nightly runs of agent skills were never joined, so that no case was ever flaky.
    "R3-F3": (
        "tests/e2e/test_noise.py::test_runs_of_one_repeat_are_joined",
        "tests/e2e/test_nightly.py::test_six_nights_of_one_repeat",
        "tests/e2e/test_nightly.py::test_changed_content_starts_anew",
    ),
    # Both streams lost their order in a log, a last line stood there twice, and one warning four times.
    "R3-F18": (
        "core/tests/terminal/test_streams.py::test_both_streams_keep_their_order_in_one_log",
        "core/tests/terminal/test_progress.py::test_the_last_line_is_not_printed_twice",
        "tests/e2e/test_terminal.py::test_a_warning_of_several_files_is_one_line",
    ),
    # What a company asks about had no page.
    "R3-F24": ("tests/architecture/test_what_visitors_ask.py::test_the_page_answers_what_a_company_asks",),
    # A rename was two losses a check; tests in Python were sent away, and waza had no page.
    "R3-F28": (
        "plugins/commands/convert/tests/test_convert.py::test_a_name_is_one_loss_for_all_checks",
        "libraries/documents/tests/test_documents_unread.py::test_a_test_in_python_is_pointed_to_python",
        "tests/architecture/test_what_visitors_ask.py::test_every_format_has_a_page_in_the_table",
    ),
    # Results of many jobs could be brought into no one place.
    "R3-F22": (
        "tests/e2e/test_nightly.py::test_records_of_many_jobs_become_one_history",
        "plugins/commands/history/tests/test_history_import.py::test_artifacts_of_many_jobs",
        "plugins/commands/history/tests/test_history_import.py::test_each_file_that_holds_no_run_is_named_with_its_reason",
    ),
    # A skill that asks for tools or hooks was denied to the agent in silence.
    "R3-E0": (
        "tests/e2e/test_loadable_skills.py::test_a_skill_with_allowed_tools_fires",
        "tests/e2e/test_loadable_skills.py::test_a_denied_load_is_an_error_that_the_terminal_names",
    ),
    # What an interrupted session had used was in no figure and no limit.
    "R3-E1": (
        "tests/e2e/test_cut_off_spending.py::test_three_interrupts_and_the_rest",
        "tests/e2e/test_cut_off_spending.py::test_what_a_killed_run_has_used_counts",
        "tests/e2e/test_cut_off_spending.py::test_limits_hold_for_what_was_cut_off",
    ),
    # A program that ended with 1 failed the skill.
    "R3-E2": (
        "plugins/engines/command/tests/test_engine.py::test_endings",
        "tests/e2e/test_agents.py::test_a_program_that_breaks_is_no_failed_skill",
    ),
    # A full disk was a verdict.
    "R3-E3": ("core/tests/run/test_trials.py::test_a_full_disk_is_an_error_of_the_set_up",),
    # A gateway's variable was ignored, and its key went to the vendor.
    "R3-M3": (
        "tests/e2e/test_redirects.py::test_an_agent_asks_where_the_variable_says",
        "tests/e2e/test_redirects.py::test_a_judge_asks_where_the_variable_says",
        "tests/e2e/test_redirects.py::test_dry_runs_and_the_doctor_name_the_host",
    ),
    # The eval format of the most used agent program was unknown, and passed over in silence beside evals.json.
    "R3-W-1": (
        "plugins/formats/plugin-eval/tests/test_plugin_eval.py::test_graders",
        "plugins/formats/agent-skills/tests/test_agent_skills_claim.py::test_case_folders_of_another_tool",
        "tests/e2e/test_plugin_eval_beside.py::test_equal_verdicts",
    ),
    # Most files called evals/eval.yaml are another tool's, and were refused with a hint that leads nowhere.
    "R3-W-5": ("plugins/formats/skill-up/tests/test_skill_up.py::test_each_rule",),
    # A plugin of Claude Code was taken apart without a word.
    "R3-E10": (
        "plugins/formats/agent-skills/tests/test_agent_skills_plugins.py::test_what_is_not_installed_is_told",
        "plugins/formats/agent-skills/tests/test_agent_skills_plugins.py::test_a_plugin_is_installed_whole",
        "plugins/formats/plugin-eval/tests/test_plugin_eval.py::test_everything_of_a_plugin_is_installed",
    ),
    # Assertions that our own readers decide by program came back from a conversion as claims for a judge.
    "R3-W-4": (
        "tests/conformance/test_round_trips.py::test_a_suite_of_promptfoo_as_evals_of_a_skill",
        "tests/conformance/test_round_trips.py::test_what_each_format_holds",
        "tests/conformance/test_pairs_of_formats.py::test_pairs_of_formats",
    ),
    # Assertions of documents with scenarios heeded case.
    "R3-W-3": ("plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::test_case_rules_of_scenarios",),
    # The action imported modules of the checkout.
    "R3-T1": (
        "tests/e2e/test_action.py::test_evaluating_and_commenting_execute_nothing_of_the_checkout",
        "tests/e2e/test_action.py::test_installing_executes_nothing_of_the_checkout",
        "tests/e2e/test_ci_jobs.py::test_by_hand_executes_nothing_of_the_checkout",
    ),
    # Names of files were options.
    "R3-T2": ("tests/e2e/test_pre_commit.py::test_names_of_files_are_never_options",),
    # A folder's store forged the result of a run.
    "R3-T3": (
        "tests/e2e/test_whose_store.py::test_another_users_unfinished_run_is_not_resumed",
        "tests/e2e/test_whose_store.py::test_a_run_of_ones_own_that_was_edited_is_not_resumed",
    ),
    # A stranger's image was built without confinement.
    "R3-T4": ("tests/e2e/test_images.py::test_a_strangers_image_is_built_only_on_the_users_word",),
    # A small store took the memory of the machine.
    "R3-T6": ("plugins/stores/sqlite/tests/test_bounds.py::test_a_small_row_stands_for_no_gigabytes",),
    # The death of the sandbox's supervisor failed the skill.
    "R3-T7": (
        "plugins/sandboxes/bubblewrap/tests/test_supervisor.py::test_a_killed_supervisor_is_a_failure_of_the_sandbox",
        "tests/e2e/test_lost_sandbox.py::test_a_session",
    ),
    # Containers had no limit of disk or file.
    "R3-T14": ("plugins/sandboxes/docker/tests/test_real_daemon.py::test_attack_is_stopped",),
    # `uv tool install` and `pipx install` failed.
    "R3-F1": (
        "tests/architecture/test_distributions.py::test_bundle_and_core_declare_the_same_command",
        "tests/journeys/test_installers.py::test_uv_tool",
        "tests/journeys/test_installers.py::test_uvx",
        "tests/journeys/test_installers.py::test_pipx",
        "tests/journeys/test_installers.py::test_pip",
    ),
    # Paid results were written one at a time, so hundreds of sessions that ended at once waited for each other.
    "R3-S7": (
        "core/tests/run/test_ledger.py::test_paid_results_that_come_during_a_write_are_written_together",
        "plugins/stores/postgres/tests/test_ownership.py::test_what_was_done_before_the_answer_was_lost_counts_once",
    ),
    # Another checkout of the same suite was another plan.
    "R3-S2": (
        "core/tests/plan/test_planning.py::test_what_decides_nothing_keeps_the_plan_id",
        "tests/e2e/test_places.py::test_the_plan_of_another_checkout",
        "tests/e2e/test_places.py::test_a_run_goes_on_in_another_checkout",
        "plugins/formats/eval-skills/tests/test_eval_skills_tasks.py::test_a_custom_scorer_enters_ids_by_its_content",
    ),
    # A pause of an hour was slept through, or asked for again after two seconds.
    "R3-E4": (
        "libraries/model-relay/tests/test_relay.py::test_a_pause_that_the_api_asks_for_is_known",
        "libraries/agent-programs/tests/test_agent_programs_sessions.py::test_a_pause_explains_some_failures",
        "tests/e2e/test_provider_care.py::test_a_pause_that_an_agents_program_keeps_to_itself",
    ),
    # An overloaded service got 51 requests for one trial.
    "R3-E14": (
        "plugins/engines/codex/tests/test_codex_program.py::test_the_service_is_asked_again_as_often_as_the_option_says",
    ),
    # Claude Code at Amazon, Google or Microsoft was refused for want of a key.
    "R3-E6": (
        "plugins/engines/claude-code/tests/test_claude_code_clouds.py::test_a_session_at_each_cloud",
        "plugins/engines/claude-code/tests/test_claude_code_clouds.py::test_everything_that_is_missing_is_one_error",
        "tests/e2e/test_services_page.py::test_claude_at_a_cloud",
    ),
    # Gateways in front of reasoning models refused the name of a parameter, and nothing was asked again.
    "R3-E8": (
        "libraries/model-client/tests/test_model_client_services.py::"
        "test_a_server_that_wants_another_name_for_the_limit",
        "plugins/engines/api/tests/test_services.py::test_a_gateway_to_a_reasoning_model",
    ),
    # Azure's deployments, headers and second keys had no option; errors with HTTP 200 were empty answers.
    "R3-E9": (
        "plugins/judges/models/tests/test_judge_services.py::test_a_deployment_of_azure",
        "plugins/judges/models/tests/test_judge_services.py::test_a_key_and_headers_of_its_own",
        "libraries/model-client/tests/test_model_client_services.py::test_errors_inside_of_answers",
        "libraries/model-client/tests/test_model_client_services.py::test_the_cost_that_a_gateway_names",
        "plugins/engines/api/tests/test_services.py::test_a_model_without_tools",
        "tests/e2e/test_services_page.py::test_engine_and_judge_at_a_service",
    ),
    # An agent of the protocol was one of three, and a program in the place of another told what it did not know.
    "R3-E5": (
        "plugins/engines/acp/tests/test_configured.py::test_a_name_behind_the_colon_is_an_agent_of_the_configuration",
        "plugins/engines/acp/tests/test_configured.py::test_what_is_not_described_is_unknown",
        "plugins/engines/acp/tests/test_configured.py::test_another_program_than_the_one_described_is_noticed",
        "plugins/engines/acp/tests/test_configured.py::test_what_cannot_be_meant_is_refused",
        "plugins/engines/acp/tests/test_configured.py::test_a_preset_needs_no_description",
        "plugins/engines/acp/tests/test_configured.py::test_trouble_that_the_program_tells_is_no_answer",
        "tests/agents/test_presets.py::test_a_session",
        "tests/e2e/test_relay_spending.py::test_every_kind_is_known_of_a_program_that_does_not_tell_thinking",
        "plugins/engines/command/tests/test_records.py::test_answer_skill_and_tokens",
        "plugins/engines/command/tests/test_command_programs.py::test_answer_skill_and_tokens_of_a_program",
        "plugins/engines/acp/tests/test_kept_usage.py::test_rows_of_a_database_count_with_what_is_in_its_log",
        "plugins/engines/command/tests/test_records.py::test_an_agent_without_skills_is_given_their_files",
        "core/tests/decide/test_broken_arms.py::test_arms_that_nothing_shows_to_differ_are_said",
        "plugins/commands/engines/tests/test_engines_probe.py::test_an_agent_of_the_protocol",
    ),
    # Where an answer broke off, somebody else was said to have asked; a failed session was a dispute about an answer.
    "R3-E11": (
        "libraries/agent-programs/tests/test_agent_programs_spending.py::"
        "test_answers_that_broke_off_are_told_from_requests_of_others",
        "plugins/engines/codex/tests/test_codex_streams.py::test_a_session_that_failed_is_no_dispute_about_an_answer",
    ),
    # The last answer of a sub-agent was missing in the number of calls.
    "R3-E15": ("plugins/engines/claude-code/tests/test_claude_code_program.py::test_calls_of_a_sub_agent_count",),
    # Sixty thousand small files of a session were read one by one.
    "R3-E13": ("core/tests/run/test_agents.py::test_of_many_files_only_some_are_read",),
    # After an edit all sessions were recorded again, and stale recordings stayed for ever.
    "R3-E12": (
        "tests/e2e/test_agents.py::test_only_what_is_missing_is_recorded",
        "plugins/commands/recordings/tests/test_recordings_cli.py::test_what_fits_no_session_is_removed_on_request",
    ),
    # An installation without an index took three commands, and pip warned of every package.
    "R3-F8": ("tests/architecture/test_release.py::test_a_wheelhouse_needs_no_index",),
    # Suites of `claude plugin eval` were no evals at all.
    "R3-M1": (
        "plugins/formats/plugin-eval/tests/test_plugin_eval.py::test_what_is_claimed",
        "plugins/formats/plugin-eval/tests/test_plugin_eval.py::test_a_plugin_is_one_suite",
    ),
    # Neither were those of Vally and Tessl.
    "R3-M5": (
        "plugins/formats/vally/tests/test_vally.py::test_what_is_read",
        "plugins/formats/tessl/tests/test_tessl.py::test_what_is_read",
    ),
    # A block at an event that was not the one asked for read like success.
    "R3-M6": ("plugins/scorers/blocked/tests/test_blocked_scorer.py::test_the_event_is_named_where_it_is_asked_for",),
    # There was no viewer.
    "R3-F19": (
        "plugins/commands/view/tests/test_view_cli.py::test_it_serves_the_store_until_it_is_ended",
        "plugins/commands/view/tests/test_view_browser.py::test_by_keyboard_alone",
    ),
    # A recipe was for one machine: its paths, and the values of options, secrets among them.
    "R3-S3": (
        "core/tests/evaluation/test_elsewhere.py::test_it_names_no_absolute_path",
        "core/tests/evaluation/test_recipe_options.py::test_declared_paths_are_those_of_the_worker",
        "core/tests/evaluation/test_recipe_options.py::test_typed_secrets_are_refused",
    ),
    # The contract of executors needed a folder in common with workers.
    "R3-S4": (
        "libraries/testkit/tests/test_executor_kit.py::test_unbroken_executor",
        "plugins/executors/processes/tests/test_contract.py::test_contract",
    ),
    # It asked nothing about the death of the first process, or of a worker.
    "R3-S5": (
        "libraries/testkit/tests/test_executor_workers.py::test_what_is_made_keeps_it",
        "libraries/testkit/tests/test_executor_workers.py::test_a_fault_is_named",
        "plugins/executors/processes/tests/test_contract.py::test_contract",
        "plugins/executors/dask/tests/test_contract.py::test_cluster_in_this_process",
        "plugins/executors/dask/tests/test_contract.py::test_cluster_of_processes",
        "plugins/executors/dask/tests/test_runs.py::test_a_killed_run_goes_on_and_pays_nothing_twice",
        "plugins/executors/dask/tests/test_chaos.py::test_everything_is_killed_and_nothing_is_paid_twice",
    ),
    # One worker of several that could not prepare the run spoiled its trials one by one.
    "R3-S6": (
        "libraries/testkit/tests/test_executor_workers.py::test_a_fault_is_named",
        "plugins/executors/processes/tests/test_contract.py::test_contract",
        "plugins/executors/dask/tests/test_contract.py::test_cluster_of_processes",
        "plugins/executors/dask/tests/test_runs.py::test_a_worker_that_lacks_something_is_named",
        "plugins/executors/dask/tests/test_worker_command.py::test_a_worker_of_another_version_is_refused_by_name",
        "core/tests/evaluation/test_elsewhere.py::test_every_reason_is_told_at_once",
    ),
    # `plugins doctor` checked plugins with their defaults, whatever `--set` said.
    "R3-S9": ("core/tests/cli/test_doctor.py::test_options_of_the_command_line_are_heeded",),
    # What `plugins new executors` made showed nothing of what a cluster needs.
    "R3-S10": (
        "libraries/testkit/tests/test_executor_workers.py::test_what_is_made_keeps_it",
        "tests/journeys/test_examples.py::test_workers_take_attempts_from_a_queue",
    ),
    # What was finished and paid for was executed again when a worker, or the run, died over its grading.
    "R3-S1": (
        "tests/e2e/test_kept_executions.py::test_a_worker_that_dies_over_the_grading",
        "tests/e2e/test_kept_executions.py::test_a_run_that_is_killed_over_the_grading",
        "tests/e2e/test_kept_executions.py::test_random_kills_of_workers_and_of_the_run",
        "core/tests/run/test_kept.py::test_a_kept_execution_counts_once",
        "libraries/testkit/tests/test_executor_workers.py::test_a_fault_is_named",
    ),
    # Whoever counted the results of a run that goes on had to decode all of them.
    "R3-S8": (
        "plugins/stores/sqlite/tests/test_contract.py::test_store",
        "plugins/stores/postgres/tests/test_contract.py::test_store",
        "plugins/commands/view/tests/test_view_pages.py::test_sessions_under_way_are_listed",
    ),
}
