"""The findings on numbers, each with the test that fails where its cause is back.

`test_findings` checks that every test is there. A finding that was argued instead of mended names its decision record.
"""

from __future__ import annotations

FINDINGS: dict[str, tuple[str, ...]] = {
    # A baseline arm that got worse was a regression.
    "N-A1": ("plugins/commands/report/tests/test_report_control.py::test_a_worse_baseline_is_no_regression",),
    # One run of each case made an unsteady skill a regression.
    "N-A2": (
        "plugins/commands/report/tests/test_report_regression.py::test_the_rule_for_agents",
        "plugins/commands/report/tests/test_report_regression.py::test_many_skills_must_prove_more",
        "plugins/commands/report/tests/test_report_simulation.py::test_false_alarms",
        "tests/e2e/test_confirm.py::test_the_printed_commands_decide",
    ),
    # Errors left one run to decide.
    "N-A3": ("plugins/commands/report/tests/test_report_regression.py::test_the_rule_for_agents",),
    # Stopped and invalid runs were clean ones through their own document.
    "N-A4": (
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_the_state_of_a_run_survives",
        "plugins/formats/eval-skills/tests/test_eval_skills_document.py::test_the_state_of_a_run_survives",
        "plugins/reporters/csv/tests/test_reporter_csv.py::test_a_row_tells_whether_its_run_proves_anything",
        "tests/e2e/test_true_numbers.py::test_the_document_of_a_run_that_proves_nothing_is_refused",
    ),
    # A skill that never fires passed its gate.
    "N-A5": (
        "plugins/formats/agent-skills/tests/test_agent_skills_figures.py::test_a_skill_that_never_fires_is_right_half_of_the_time_at_most",
        "tests/e2e/test_true_numbers.py::test_a_skill_that_fell_silent_lost_half_of_its_accuracy",
        "tests/e2e/test_true_numbers.py::test_a_skill_that_never_fires_misses_its_gate",
    ),
    # A failing run narrowed the interval.
    "N-A6": ("core/tests/stats/test_rates.py::test_a_failing_run_never_raises_what_is_proven",),
    # No word on lift anywhere.
    "N-A7": (
        "core/tests/report/test_answer.py::test_sentences",
        "tests/e2e/test_agent_skills.py::test_the_last_line_is_the_answer",
        "tests/e2e/test_true_numbers.py::test_the_history_says_what_the_skill_was_worth",
    ),
    # Arms over different cases looked like lift.
    "N-A8": (
        "core/tests/report/test_pairs.py::test_lift_is_the_mean_over_complete_pairs",
        "plugins/commands/report/tests/test_report_control.py::test_figures_leave_out_what_has_no_verdict_on_one_side",
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_a_difference_that_is_not_the_one_of_the_means_says_so",
        "tests/e2e/test_true_numbers.py::test_arms_over_different_cases_are_no_lift",
    ),
    # Times of sessions that died were savings.
    "N-A9": ("plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_sessions_that_died_save_no_time",),
    # Retries of a skill's own failure were not told.
    "N-A10": (
        "core/tests/report/test_pairs.py::test_a_case_counts_its_graded_values_and_passes_after_attempts",
        "core/tests/report/test_wording.py::test_passes_after_further_attempts_are_told",
        "tests/e2e/test_true_numbers.py::test_retries_that_make_a_skill_pass_are_told_everywhere",
    ),
    # Another model, judge or case was a regression.
    "N-A11": (
        "plugins/commands/history/tests/test_history_trends.py::test_another_judge_is_named",
        "plugins/commands/history/tests/test_history_trends.py::test_another_runner_is_named",
        "plugins/commands/report/tests/test_report_control.py::test_another_model_engine_or_judge_is_named_and_no_regression",
        "plugins/commands/report/tests/test_report_control.py::test_a_task_that_asks_something_else_is_listed_and_not_compared",
        "tests/e2e/test_true_numbers.py::test_a_change_of_the_skill_is_no_change_of_its_suite",
    ),
    # An outage was a rate of 0 %.
    "N-A12": (
        "core/tests/decide/test_decision.py::test_a_gate_is_missed_exactly_if_a_target_is_below",
        "core/tests/decide/test_decision.py::test_a_threshold_alone_warns_of_what_errors_leave_open",
        "core/tests/decide/test_decision.py::test_an_outage_is_no_rate_of_zero",
    ),
    # Invalid runs were points of the trend.
    "N-A13": (
        "plugins/commands/history/tests/test_history_cli.py::test_invalid_runs_are_marked_and_no_part_of_a_trend",
        "plugins/commands/history/tests/test_history_trends.py::test_an_invalid_suite_is_no_point",
    ),
    # `exact` with an object passed every object.
    "N-A14": (
        "plugins/scorers/exact/tests/test_exact_scorer.py::test_objects_are_compared_as_structures",
        "plugins/scorers/exact/tests/test_exact_scorer.py::test_other_formats_compare_text_with_text_and_values_with_values",
        "plugins/scorers/json-match/tests/test_json_match_scorer.py::test_whole_and_in_part",
    ),
    # The last line, and the list of runs, pooled the arms.
    "N-B1": (
        "core/tests/decide/test_decision.py::test_the_last_line_counts_the_gated_arms_and_names_them",
        "tests/e2e/test_rescore.py::test_the_list_of_runs_counts_the_candidate_arm",
    ),
    # Figures named more trials than they rest on.
    "N-B2": ("core/tests/evaluation/test_eval_document.py::test_a_rate_never_stands_alone",),
    # Two meanings of error in one line.
    "N-B3": ("plugins/formats/eval-skills/tests/test_eval_skills_figures.py::test_figures_say_what_they_mean",),
    # The interval of a difference covered less than it said.
    "N-B4": ("core/tests/stats/test_lift.py::test_the_interval_holds_the_truth",),
    # Coverage of rates, and clusters.
    "N-B5": (
        "core/tests/stats/test_rates.py::test_interval_covers_the_true_rate",
        "core/tests/stats/test_clusters.py::test_intervals_hold_where_clusters_are_the_truth",
    ),
    # Sums of what is known posed as totals.
    "N-B6": (
        "core/tests/evaluation/test_conclusion.py::test_what_a_run_cost",
        "core/tests/plan/checks/test_budget.py::test_a_limit_of_tokens_that_cost_nothing_is_a_warning",
        "plugins/formats/eval-skills/tests/test_eval_skills_document.py::test_tokens_and_money_are_told_only_if_known",
        "plugins/commands/rescore/tests/test_rescore_cli.py::test_another_judge_at_the_price_of_the_judge_alone",
    ),
    # Percentiles of three samples; those of eval-skills keep their arithmetic (ADR 36).
    "N-B7": (
        "libraries/run-views/tests/test_run_views_latency.py::test_percentiles_need_enough_samples",
        "plugins/commands/history/tests/test_history_cli.py::test_trend",
        "plugins/commands/report/tests/test_report_comparison.py::test_a_percentile_of_few_calls_is_no_better",
    ),
    # Consistency of one run, and no word on flaky cases.
    "N-B8": (
        "plugins/formats/eval-skills/tests/test_eval_skills_figures.py::test_figures_say_what_they_mean",
        "plugins/commands/history/tests/test_history_cli.py::test_flaky_cases",
        "tests/e2e/test_quarantine.py::test_a_case_in_quarantine_gates_nothing_and_is_told_of",
    ),
    # Roundings that contradict what is said.
    "N-B9": (
        "libraries/documents/tests/test_phrases.py::test_numbers",
        "core/tests/decide/test_decision.py::test_a_rate_just_below_the_threshold_is_told_apart_from_it",
    ),
    # Rows of both arms looked alike.
    "N-B10": (
        "libraries/run-views/tests/test_run_views_showing.py::test_whatever_tells_trials_apart_has_a_column",
        "plugins/formats/agent-skills/tests/test_agent_skills_document.py::test_why_a_session_broke_down_survives",
    ),
    # A weighted score without the word.
    "N-B11": ("plugins/formats/eval-skills/tests/test_eval_skills_figures.py::test_figures_say_what_they_mean",),
    # A gate on a point estimate says how little it rests on (ADR 36).
    "N-B12": ("core/tests/decide/test_decision.py::test_a_gate_with_few_repeats_is_pointed_out",),
    # Patterns and schemas are not JavaScript's in everything (ADR 36).
    "N-B13": ("plugins/scorers/regex/tests/test_scorer_regex.py::test_patterns_mean_what_they_mean_in_python",),
}
