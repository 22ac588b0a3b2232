"""The findings on plugins, installations and promises, each with the tests that fail where its cause is back.

Those on the terminal are in `findings_first_hour`, those on secrets and settings in `findings_trust_a`. A finding that
was argued instead names its decision record. `test_findings_ledger` checks that every test is there.
"""

from __future__ import annotations

_ADR = "docs/adr/0078-findings-without-a-test.md"
_BROKEN = "tests/e2e/test_broken_plugins.py::"
_DISTRIBUTIONS = "tests/architecture/test_distributions.py::"
_ENDS = "tests/e2e/test_eval_skills_ends.py::"
_EVENTS = "core/tests/plugins/test_events.py::"
_EXAMPLES = "tests/journeys/test_examples.py::"
_EXTENSIONS = "tests/e2e/test_failed_extensions.py::"
_GUARD = "core/tests/plugins/test_guard.py::"
_JUDGES = "tests/e2e/test_judges.py::"
_KINDS = "tests/journeys/test_every_kind.py::"
_MAIN_JOB = "tests/e2e/test_main_job.py::"
_PROMISES = "tests/conformance/test_requirements.py::"
_PYTHON = "tests/e2e/test_python.py::"
_RELEASE = "tests/architecture/test_release.py::"
_SCORERS = "core/tests/run/test_scorers.py::"
_SETTINGS = "tests/e2e/test_settings.py::"

_MISSING_JUDGE = (f"{_JUDGES}test_a_missing_judge_is_said_before_anything_runs",)
_MODEL_ALONE = (
    f"{_JUDGES}test_a_model_id_alone_picks_agent_and_judge",
    "core/tests/plan/test_cells.py::test_the_model_picks_the_engine",
    _ADR,
)
_SETS = f"{_DISTRIBUTIONS}test_one_name_installs_all_but_what_is_large_or_needs_a_service"
_VAULT = ("tests/e2e/test_vault.py::test_the_key_of_a_judge",)
_VERSIONS = (f"{_SETTINGS}test_every_command_tells_the_version",)
_SECRETS = ("tests/e2e/test_secrets.py::test_secrets_of_private_plugins_are_not_written",)

FINDINGS: dict[str, tuple[str, ...]] = {
    # A plugin that raises at run time took the tool down.
    "P-B1": (
        f"{_BROKEN}test_what_nobody_named_is_passed_over",
        f"{_BROKEN}test_what_is_named_is_a_problem_before_the_run",
        f"{_BROKEN}test_what_breaks_in_a_run_is_an_error_of_its_trial",
        f"{_BROKEN}test_one_report_less",
        f"{_BROKEN}test_a_reporter_that_writes_no_file",
        f"{_BROKEN}test_what_nothing_foresaw_is_an_internal_error",
        f"{_GUARD}test_a_score_that_never_returns",
        f"{_GUARD}test_a_check_that_never_returns",
    ),
    # Paid sessions before anybody said that there is no judge.
    "P-B3": (*_MISSING_JUDGE, _SETS),
    # A model id alone did not pick.
    "P-S0": _MODEL_ALONE,
    # Hooks and kinds that nothing called.
    "P-S1": (*_VAULT, "tests/architecture/test_promises.py::test_every_event_is_told"),
    "P-S2": (
        "tests/architecture/test_promises.py::test_every_kind_can_be_used",
        "plugins/executors/processes/tests/test_processes.py::test_work_is_divided",
    ),
    # The default set did not serve the published document.
    "P-S4": (_SETS,),
    # Scorers were made once a trial, on the event loop.
    "P-S7": (
        f"{_SCORERS}test_made_once_for_checks_that_mean_the_same",
        f"{_SCORERS}test_made_before_anything_runs_and_beside_the_event_loop",
    ),
    # No way in from Python.
    "P-S11": (
        f"{_PYTHON}test_a_run_comes_back",
        f"{_PYTHON}test_it_works_wherever_it_is_called",
        f"{_PYTHON}test_plugins_are_objects",
    ),
    # Wheels that could not be published.
    "P-S12": (
        f"{_RELEASE}test_every_wheel_says_who_what_and_where",
        f"{_RELEASE}test_links_of_a_readme_lead_into_the_repository_or_are_words",
    ),
    # `dump` had no caller.
    "P-M2": (
        "plugins/commands/convert/tests/test_convert.py::test_what_is_written_is_a_suite",
        "tests/e2e/test_rescore.py::test_sessions_are_graded_again_without_an_engine",
    ),
    # Extensions: options, failures that nobody saw, slow ones.
    "P-M3": ("tests/e2e/test_vault.py::test_options_that_are_wrong", f"{_EXAMPLES}test_a_webhook_hears_of_the_run"),
    "P-M4": (
        f"{_EVENTS}test_failure_goes_no_further",
        f"{_EVENTS}test_slow_extension_does_not_slow_the_run",
        f"{_EXTENSIONS}test_one_that_is_named_by_its_file",
        f"{_EXTENSIONS}test_one_that_is_named_by_an_option",
        f"{_EXTENSIONS}test_one_that_nobody_named",
    ),
    # One word for two things in a row.
    "P-M5": ("plugins/formats/eval-skills/tests/test_eval_skills_figures.py::test_figures_say_what_they_mean",),
    # Which store a command reads.
    "P-M8": ("plugins/commands/find/tests/test_find.py::test_own_runs_are_known_too", _ADR),
    "P-M9": ("core/tests/plan/test_resources.py::test_a_place_that_two_stores_serve",),
    "P-M10": (_ADR,),
    # Promises: which are open, which claims are weak, what nobody installed.
    "P-C1": (f"{_PROMISES}test_every_kept_promise_has_a_test", f"{_PROMISES}test_no_promise_is_left_open"),
    "P-C2": ("tests/conformance/test_findings_ledger.py::test_every_bad_claim_of_the_sample_is_a_finding_of_its_own",),
    "P-C3": (*_MODEL_ALONE, "tests/e2e/test_ci.py::test_one_line_installs"),
    "P-C4": (
        f"{_DISTRIBUTIONS}test_one_name_installs_all_but_what_is_large_or_needs_a_service",
        "tests/e2e/test_minimal.py::test_core_and_one_of_each_do_the_main_job",
    ),
    "P-ES-CONFIG-004": (
        f"{_SETTINGS}test_setting_a_value_keeps_what_was_migrated",
        f"{_SETTINGS}test_a_value_that_is_overridden_says_by_what",
    ),
    "P-ES-FLOW-003": (_SETS, "tests/e2e/test_seed_commands.py::test_the_pipeline_and_the_gate"),
    "P-BF-CRED-003": (_ADR,),
    "P-BF-RUN-008": ("tests/e2e/test_ci.py::test_one_line_installs", _SETS),
    "P-BF-ENV-001": (
        "tests/e2e/test_images.py::test_a_sandbox_without_images_refuses_it",
        "tests/e2e/test_images.py::test_a_sandbox_with_images_builds_it",
    ),
    "P-SE-RUN-003": _MODEL_ALONE,
    "P-UA-TIER-005": ("tests/e2e/test_ci.py::test_evals_run_at_night_and_before_a_release",),
    "P-BF-CRED-005": _SECRETS,
    "P-BF-CRED-006": _MISSING_JUDGE,
    "P-SE-RUN-001": ("tests/e2e/test_ci.py::test_one_line_installs", _SETS),
    "P-SE-RUN-004": _MODEL_ALONE,
    "P-UA-REPORT-015": _SECRETS,
    "P-ES-GLOBAL-001": _VERSIONS,
    # Where the commands of the published document end otherwise.
    "P-D1": _VERSIONS,
    "P-D2": (f"{_MAIN_JOB}test_a_path_or_nothing_at_all_is_enough", _ADR),
    "P-D3": (f"{_SETTINGS}test_setting_a_value_keeps_what_was_migrated", _ADR),
    "P-D4": (f"{_ENDS}test_where_runs_are_kept",),
    "P-D5": (f"{_ENDS}test_the_original_s_database_is_left_alone", f"{_ENDS}test_where_runs_are_kept"),
    "P-D6": (f"{_ENDS}test_copies_with_one_id_are_refused",),
    "P-D7": (f"{_ENDS}test_skills_that_always_fail_rank_by_the_published_formula",),
    "P-D8": (_ADR,),
    "P-D9": (_ADR,),
    "P-D10": (_ADR,),
    "P-D11": (_ADR,),
    # What authors of plugins need.
    "P-N1": (
        "tests/e2e/test_scorer_connections.py::test_a_connection_is_opened_and_closed_once",
        f"{_EXAMPLES}test_a_private_scorer_asks_its_database",
    ),
    "P-N2": (
        f"{_GUARD}test_a_score_that_never_returns",
        f"{_SCORERS}test_made_before_anything_runs_and_beside_the_event_loop",
        _ADR,
    ),
    "P-N3": ("core/tests/run/test_grading.py::test_a_failed_execution_is_judged_by_its_blame_alone", _ADR),
    "P-N4": (
        *_VAULT,
        f"{_EVENTS}test_what_a_plugin_was_lent_is_told_too",
        f"{_EXAMPLES}test_a_judge_behind_oauth_grades",
    ),
    "P-N5": (
        f"{_EXAMPLES}test_a_webhook_hears_of_the_run",
        f"{_EXTENSIONS}test_one_that_is_named_by_an_option",
        f"{_BROKEN}test_a_reporter_that_writes_no_file",
    ),
    "P-N6": ("core/tests/terminal/test_progress.py::test_verbose_tells_every_step",),
    "P-N7": (
        f"{_KINDS}test_they_work_together",
        "core/tests/plugins/test_registry.py::test_secrets_of_every_kind_are_told",
        f"{_EXAMPLES}test_a_store_of_one_s_own_keeps_a_run",
    ),
    "P-N8": (
        f"{_EXAMPLES}test_a_sandbox_in_a_cloud_runs_a_skill",
        "tests/e2e/test_remote_sandbox.py::test_an_agent_of_this_machine_is_refused_there",
        "tests/e2e/test_remote_sandbox.py::test_an_engine_that_needs_nothing_here_works_there",
    ),
    "P-N9": (
        f"{_KINDS}test_its_tests_pass",
        f"{_KINDS}test_they_work_together",
        f"{_EXAMPLES}test_a_format_of_one_s_own_gives_places",
        "core/tests/config/test_documents.py::test_a_place_that_a_format_knows_is_taken",
    ),
    "P-N10": (
        "plugins/executors/processes/tests/test_contract.py::test_contract",
        f"{_KINDS}test_its_tests_pass",
        f"{_EXAMPLES}test_an_executor_replaces_processes",
    ),
    "P-N11": (
        f"{_EXAMPLES}test_a_private_scorer_asks_its_database",
        "tests/e2e/test_scorer_connections.py::test_a_dry_run_tells_the_secret_of_a_scorer",
    ),
    # Extras, and what an import costs.
    "P-E1": (f"{_DISTRIBUTIONS}test_extra_all_is_complete", _SETS),
    "P-E2": (_ADR,),
}
