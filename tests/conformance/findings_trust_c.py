"""Attacks and faults that once got through, and the tests that keep each of them out; docs/trust.md names them, too."""

FINDINGS: dict[str, list[str]] = {
    "T-S12": [
        "tests/e2e/test_hostile_texts.py::test_an_adapter_that_is_not_installed",
        "tests/e2e/test_hostile_texts.py::test_the_name_of_a_folder",
        "tests/e2e/test_hostile_texts.py::test_an_evaluator_that_is_not_known",
        "core/tests/terminal/test_streams.py::test_whoever_prints",
    ],
    "T-M6": [
        "libraries/documents/tests/test_characters.py::test_no_runner_obeys",
        "tests/e2e/test_hostile_texts.py::test_ids_and_answers_of_a_run",
        "plugins/reporters/markdown/tests/test_markdown.py::test_nobody_is_told_and_nothing_is_a_link",
    ],
    "T-M7": [
        "plugins/reporters/csv/tests/test_reporter_csv.py::test_text_is_no_formula",
        "plugins/reporters/csv/tests/test_reporter_csv.py::test_no_reader_finds_a_formula",
    ],
    "T-S13": [
        "tests/e2e/test_store_file.py::test_a_finished_run_is_in_the_file",
        "tests/e2e/test_store_file.py::test_it_is_in_the_file_while_others_read",
        "tests/e2e/test_store_file.py::test_an_interrupted_run_is_in_the_file",
    ],
    "F-9": ["tests/e2e/test_store_file.py::test_a_finished_run_is_in_the_file"],
    "T-M4": [
        "plugins/stores/sqlite/tests/test_crashes.py::test_flipped_bytes_are_damage_or_no_matter",
        "tests/e2e/test_store_file.py::test_a_file_that_cannot_be_used",
    ],
    "T-M2": ["tests/e2e/test_recorded_names.py::test_names_that_are_no_text_are_recorded"],
    "T-M8": [
        "plugins/formats/eval-skills/tests/test_eval_skills_tasks.py::test_a_custom_scorer_from_elsewhere_is_refused",
    ],
    "T-M9": ["plugins/sandboxes/bubblewrap/tests/test_launcher.py::test_process_one_cannot_be_looked_into"],
    "F-8": ["tests/e2e/test_hostile_texts.py::test_a_terminal_that_has_few_characters"],
}
