"""Lints of suites and skills, for any format: what makes an evaluation prove less than its author thinks."""

from __future__ import annotations

from skillgauge.api.run import Lint

from . import cases, own_skill, skills, suites, weak

LINTS = (
    Lint(
        "cannot-fail",
        "A check holds whatever the output is.",
        "Let it look at the output: nothing is proved by a check that cannot fail.",
        cases.nothing_can_fail,
    ),
    Lint(
        "matches-anything",
        "A pattern matches nearly any answer.",
        "Ask for something that only a right answer has.",
        weak.matches_anything,
    ),
    Lint(
        "begins-with-digit",
        "A text that begins with a number stands in one with a larger number, too.",
        "Use a pattern with a word boundary: `\\b0 errors`.",
        weak.begins_with_digit,
    ),
    Lint(
        "prompt-is-path",
        "A prompt is the path of a file.",
        "Write the text of the file into the prompt; the path alone is what the agent is asked.",
        weak.prompt_is_path,
    ),
    Lint(
        "long-timeout",
        "A case may take hours.",
        "Write the limit in seconds; if it is meant as it stands, switch this lint off.",
        weak.long_timeout,
    ),
    Lint(
        "exit-code-trap",
        "The exit code of a command hides a failure inside it.",
        "Let every part of the command decide, or test the command with an output that is wrong.",
        cases.exit_code_traps,
    ),
    Lint(
        "answer-in-prompt",
        "A check is met by repeating the prompt.",
        "Ask for something that the prompt does not contain.",
        cases.answer_in_prompt,
    ),
    Lint(
        "missing-file",
        "A prompt or a command names a file that nobody provides.",
        "List it among the files of the case, or correct the name.",
        cases.missing_files,
    ),
    Lint(
        "prose-as-truth",
        "A whole sentence has to be given word for word.",
        "Ask for the words that matter, or make it a claim for a judge.",
        cases.prose_as_truth,
    ),
    Lint(
        "several-claims",
        "One claim for a judge says several things.",
        "Make a claim of each.",
        cases.several_claims,
    ),
    Lint(
        "rubric-size",
        "A case passes by a share of very few or very many claims.",
        "Write three to five claims, each of which can be decided by itself.",
        cases.rubric_size,
    ),
    Lint(
        "only-with-skill",
        "Only the arm with the skill can meet a check of a comparison.",
        "Say what has to be true of the result; whether the skill fires is a figure of its own (`should_trigger`).",
        own_skill.only_with_skill,
    ),
    Lint("repeated", "A check or a case stands twice.", "Remove one of them.", cases.repeated),
    Lint(
        "too-few-cases",
        "A comparison of so few cases cannot be decided.",
        "Write at least four cases, better eight; repeats do not replace them.",
        suites.too_few,
    ),
    Lint(
        "negative-only",
        "All checks say what must not be there.",
        "Say what has to be there as well: an agent that does nothing passes this suite.",
        weak.negative_only,
    ),
    Lint(
        "baseline-passes",
        "The last run passed everything without the skill.",
        "Ask for what an agent without the skill gets wrong, or drop the comparison with --no-baseline.",
        suites.baseline_passes,
    ),
    Lint("untested-target", "No case is about a hook or a skill.", "Write a case for it.", suites.untested),
    Lint(
        "one-way-hook",
        "All cases of a hook expect the same exit code.",
        "Write a case for the other answer, too.",
        suites.one_way_hooks,
    ),
    Lint(
        "exit-code-only",
        "No case of a skill looks at its output.",
        "Say what the output has to contain.",
        suites.exit_code_only,
    ),
    Lint(
        "skill-link",
        "SKILL.md links to a file that is not there.",
        "Add it, or correct the link.",
        skills.missing_links,
    ),
    Lint(
        "skill-names-evals",
        "SKILL.md tells of its own evals.",
        "Move it to a file that is for people: agents are not given the evals.",
        skills.names_evals,
    ),
    Lint(
        "skill-description",
        "The description does not say when to use the skill.",
        "Add 'Use when ...' with the words that users say: it is all that an agent sees before it loads the skill.",
        skills.says_no_when,
    ),
    Lint(
        "skill-length",
        "SKILL.md is longer than its authors recommend.",
        "Move details into files beside it, and link to them.",
        skills.too_long,
    ),
    Lint(
        "skill-folder",
        "The name differs from that of the folder in its spelling alone.",
        "Write it as the folder is called; --fix does it.",
        skills.other_name,
    ),
)
"""What this package announces."""
