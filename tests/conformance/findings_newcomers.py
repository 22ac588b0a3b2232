"""The other findings on the first hour, each with the tests that fail where its cause is back.

Those on the terminal are in `findings_first_hour`. A finding that was argued instead names its decision record.
`test_findings_ledger` checks that every test is there, and that no finding is left out.
"""

from __future__ import annotations

_ADR = "docs/adr/0078-findings-without-a-test.md"
_AGENTS = "tests/e2e/test_agents.py::"
_AGENT_SKILLS = "tests/e2e/test_agent_skills.py::"
_BLOCKS = "tests/architecture/test_command_blocks.py::"
_CHROMIUM = "plugins/reporters/html/tests/test_reporter_html_chromium.py::"
_COMMAND = "plugins/engines/command/tests/test_engine.py::"
_DEMO = "tests/e2e/test_demo.py::test_the_demo_answers_first_then_shows_a_failing_case_and_the_page"
_DIALECTS = "plugins/formats/agent-skills/tests/test_agent_skills_dialects.py::"
_DOCS = "tests/architecture/test_docs.py::"
_HINTS = "tests/architecture/test_install_hints.py::"
_HTML = "plugins/reporters/html/tests/test_reporter_html.py::"
_JOURNEYS = "tests/journeys/test_journeys.py::"
_JUDGES = "tests/e2e/test_judges.py::"
_MISTAKES = "tests/e2e/test_author_mistakes.py::"
_PAGES = "tests/e2e/test_pages_in_browser.py::"
_RELEASE = "tests/architecture/test_release.py::"
_SETTINGS = "tests/e2e/test_settings.py::"
_SITE = "tests/architecture/test_site.py::"
_TERMINAL = "tests/e2e/test_terminal.py::"
_VENDOR = "tests/journeys/test_vendor_engine.py::test_vendor_engine"

_INSTALL = (
    f"{_RELEASE}test_pip_takes_the_index_and_the_folder",
    f"{_HINTS}test_a_page_that_installs_says_from_where",
)
_VALIDATE = (f"{_JUDGES}test_a_good_suite_is_valid_whatever_is_installed",)
_MISSING_JUDGE = (f"{_JUDGES}test_a_missing_judge_is_said_before_anything_runs",)
_STRANGERS = (
    f"{_SETTINGS}test_names_that_nobody_has_are_refused",
    f"{_SETTINGS}test_settings_without_effect_are_told",
    f"{_SETTINGS}test_a_kind_that_is_misspelt_is_guessed",
)

FINDINGS: dict[str, tuple[str, ...]] = {
    # No difference between the arms, and a last line that pooled them.
    "F-1": (
        "core/tests/report/test_answer.py::test_sentences",
        f"{_AGENT_SKILLS}test_the_last_line_is_the_answer",
        "core/tests/decide/test_decision.py::test_the_last_line_counts_the_gated_arms_and_names_them",
        "core/tests/decide/test_gates.py::test_a_gate_of_a_group",
    ),
    # Install lines for what is not published, and for misspelt names.
    "F-6": (*_INSTALL, f"{_HINTS}test_a_name_that_is_no_plugins_gets_no_command"),
    # Tests that an ordinary user could not pass; `.ci/run` runs all of them as one.
    "F-7": (
        "libraries/processes/tests/test_concealing.py::test_files_names_and_links",
        "plugins/sandboxes/bubblewrap/tests/test_bubblewrap.py::test_variables_reach_the_command_only",
        "tests/architecture/test_anywhere.py::test_ci_runs_them_as_an_ordinary_user",
        "tests/architecture/test_anywhere.py::test_xdist_is_not_needed",
    ),
    # `validate` and dry runs that needed engine and key.
    "F-10": _VALIDATE,
    # The page: what it answers first, what it shows of a session, what it says of recordings, narrow windows.
    "F-H1": (
        f"{_HTML}test_the_title_names_what_was_evaluated",
        f"{_AGENT_SKILLS}test_the_last_line_is_the_answer",
        f"{_HTML}test_a_long_list_is_split_and_the_passed_part_folded",
    ),
    "F-H2": (
        f"{_HTML}test_a_case_opens_its_transcripts_side_by_side",
        f"{_HTML}test_what_an_agent_changed_in_files",
        f"{_HTML}test_cases_stand_arm_beside_arm_those_that_did_not_pass_first",
    ),
    "F-H3": (_ADR,),
    "F-H4": (f"{_HTML}test_recordings_and_scripts_say_so_first",),
    "F-H5": (_ADR,),
    "F-H6": (f"{_CHROMIUM}test_both_arms_are_in_sight", f"{_PAGES}test_the_report"),
    "F-H7": (f"{_PAGES}test_a_comparison", f"{_MISTAKES}test_a_comparison_names_cases_and_skill"),
    # The demo: an answer, a failing case, the page, nothing left behind.
    "F-R1": (_DEMO,),
    "F-R2": (_DEMO,),
    "F-R3": (_DEMO,),
    "F-R4": (_DEMO,),
    # Obstacles on the way to a first number.
    "F-A1": (
        f"{_AGENTS}test_what_is_wrong_with_an_engine_that_the_user_names_is_in_no_file",
        f"{_MISTAKES}test_a_misspelt_check_is_blamed_on_the_option",
    ),
    "F-A2": (f"{_COMMAND}test_a_command_line_may_be_one_text",),
    "F-A3": (f"{_COMMAND}test_check_finds_what_is_missing",),
    "F-A4": ("tests/e2e/test_confined.py::test_an_agent_that_is_named_by_its_path_is_found",),
    "F-A5": (f"{_SITE}test_the_page_of_a_plugin_has_every_option",),
    # Mistakes of a skill's author.
    "F-K1": (f"{_DIALECTS}test_what_is_refused_has_a_place_and_a_reason",),
    "F-K2": (f"{_DIALECTS}test_what_is_refused_has_a_place_and_a_reason",),
    "F-K3": (f"{_DIALECTS}test_what_is_refused_has_a_place_and_a_reason",),
    "F-K4": (
        f"{_MISTAKES}test_json_that_is_none_has_its_place",
        f"{_MISTAKES}test_json_that_is_none_has_a_next_step",
        "libraries/documents/tests/test_documents.py::test_a_slip_in_json_has_a_next_step",
    ),
    "F-K5": (f"{_HINTS}test_a_name_that_is_no_plugins_gets_no_command",),
    "F-K6": ("tests/e2e/test_bad_input.py::test_bad_arguments_run_nothing",),
    "F-K8": (f"{_MISTAKES}test_a_skill_without_evals_was_seen",),
    "F-K9": (
        f"{_TERMINAL}test_a_word_that_is_neither_path_nor_case",
        f"{_TERMINAL}test_a_name_that_lies_a_folder_below_is_found",
    ),
    "F-K10": ("tests/e2e/test_agent_engines.py::test_missing_key_is_told_before_anything_starts",),
    "F-K11": _MISSING_JUDGE,
    "F-K12": _STRANGERS,
    "F-K13": (f"{_MISTAKES}test_a_budget_for_what_costs_nothing",),
    "F-K14": ("core/tests/plan/test_discovery.py::test_a_path_that_nobody_knows_is_named_with_what_is_installed",),
    "F-K15": ("tests/e2e/test_main_job.py::test_the_documented_command_gives_60_of_60_and_again_a_new_run",),
    "F-K16": ("tests/e2e/test_kill.py::test_interrupting_writes_a_partial_report_and_resumes",),
    "F-K19": ("tests/e2e/test_bad_input.py::test_a_reader_that_stops_reading_is_no_error",),
    "F-K20": ("tests/e2e/test_hostile_texts.py::test_a_terminal_that_has_few_characters",),
    # Commands and sentences of pages that were not so.
    "F-D1": _INSTALL,
    "F-D2": _VALIDATE,
    "F-D4": (f"{_TERMINAL}test_quiet_is_the_verdict_alone",),
    "F-D5": _STRANGERS,
    "F-D6": (*_VALIDATE, *_MISSING_JUDGE),
    "F-D8": ("tests/e2e/test_store_file.py::test_a_finished_run_is_in_the_file",),
    "F-D9": (
        "core/tests/report/test_answer.py::test_sentences",
        "core/tests/decide/test_decision.py::test_errors_count_both_ways",
    ),
    "F-D10": (_VENDOR,),
    "F-D11": (
        f"{_HTML}test_recordings_and_scripts_say_so_first",
        "plugins/reporters/markdown/tests/test_markdown.py::test_a_recording_says_so_beside_its_time",
    ),
    "F-D12": ("tests/e2e/test_provider_care.py::test_endless_refusals_come_to_an_end",),
    # Pages that were hard to read, and missing ones.
    "F-W1": (_ADR,),
    "F-W2": (_ADR,),
    "F-W3": (
        f"{_DOCS}test_every_hook_is_documented_with_its_arguments",
        f"{_DOCS}test_hooks_begin_with_a_table",
        f"{_DOCS}test_tables_hold_no_paragraphs",
        f"{_PAGES}test_the_site",
    ),
    "F-W4": (f"{_JOURNEYS}test_first_agent_eval_and_first_ci_gate",),
    "F-W5": (f"{_SITE}test_no_place_is_empty", f"{_JOURNEYS}test_first_agent_eval_and_first_ci_gate"),
    "F-W6": (_ADR,),
    # Own plugins by the tutorials.
    "F-P1": (
        f"{_JOURNEYS}test_private_scorer",
        f"{_BLOCKS}test_an_example_waits_for_its_services",
        f"{_JUDGES}test_further_checks_reach_any_suite",
        "libraries/testkit/tests/test_plugins_new.py::TestCommand::test_a_summary_of_its_own",
    ),
    "F-P2": (_VENDOR,),
    # What others have.
    "F-O4": ("tests/e2e/test_skillevaluation.py::test_a_warm_cache_gives_the_same_lift",),
    "F-O5": ("plugins/commands/report/tests/test_report_cli.py::test_runs_of_the_store_are_compared_by_their_ids",),
    "F-O6": ("plugins/commands/cache/tests/test_cache_cli.py::test_list_and_gc", _ADR),
    "F-O7": (
        "plugins/commands/create/tests/test_create_agent_skill.py::test_a_new_skill_passes_with_the_script",
        "plugins/commands/init/tests/test_init_cli.py::test_an_engine_that_works_is_found_and_configured",
    ),
    # By hand where a library is kept.
    "F-L2": ("docs/adr/0064-what-a-terminal-is-told.md",),
    "F-L3": (_ADR,),
}
