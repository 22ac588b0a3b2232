"""`validate`: check suites without running anything, and tell what makes them prove less than they seem to."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from skillgauge_documents.frozen import digest
from skillgauge_documents.phrases import counted

from ..config.documents import located_all
from ..contract.stores import RunQuery, Store
from ..errors import ExitCode, PluginError, Problem, Severity, SkillgaugeError, UsageError
from ..evaluation.invocation import Invocation, invocation
from ..evaluation.linting import (
    Lint,
    Linted,
    LintSubject,
    changed,
    diff_lines,
    installed_lints,
    levelled,
    lint_suites,
    read_levels,
    sarif,
    write,
)
from ..evaluation.options import eval_options
from ..evaluation.plan_document import PlanDocument, plan_document
from ..evaluation.preparation import prepare_trusted
from ..evaluation.selection import around, require_cases
from ..evaluation.stored import opened_store
from ..plan.preparing import Prepared
from ..plugins.installed import read_index
from ..plugins.kinds import FORMATS
from ..run.stored_run import why_summary_foreign
from ..terminal.output import problem_document
from ..types.result import RunState
from ..types.trial import PlanHead
from .evaluation_options import SECTIONS, EvaluationCommand
from .options import AROUND, names_apart

TEXT, SARIF = "text", "sarif"
_RUNS = 3
"""Stored runs of a suite that lints may look at."""
_OF_A_RUN = ("engine.", "judge.", "sandbox.")
"""How codes begin that tell what a run would miss on this machine: no suite is the worse for it."""
Levels = Mapping[str, Severity | None]


def _validate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj)
    own = {name: values.pop(name) for name in ("lint", "strict", "fix", "diff", "output_format", "around")}
    as_sarif = own["output_format"] == SARIF
    if as_sarif and call.output.as_json:
        raise UsageError(Problem("usage.exclusive", "--json and --format sarif are two documents", hint="Choose one."))
    broken: list[Problem] = []
    index = read_index()
    lints = installed_lints(index, broken, lambda entry: not call.registry.is_blocked(entry))
    levels = {
        **read_levels(call.config.get("lints") or (), lints, "configuration key lints"),
        **read_levels(own["lint"], lints, "--lint"),
    }
    if own["around"]:
        values["paths"] = _around(call, values["paths"], values["suite_format"])
        if not values["paths"]:
            return _nothing(call, lints, as_sarif=as_sarif)
    try:
        asked = eval_options(call, {**values, "dry_run": True})
        require_cases(asked.words, asked.options, call.registry)
        prepared = asyncio.run(prepare_trusted(call, asked.options))
    except SkillgaugeError as error:
        if as_sarif:
            call.output.whole(sarif(error.problems, lints, call.cwd))
        raise
    found = _linted(call, prepared, lints)
    if own["fix"] or own["diff"]:
        found, diff = _fixed(found, levels, writes=own["fix"])
        for line in () if as_sarif else diff:
            call.output.line(line)
    apart = [one for one in prepared.warnings if one.code.startswith(_OF_A_RUN) and one.code not in levels]
    told = [*(one for one in prepared.warnings if one not in apart), *broken, *(one.problem for one in found)]
    problems = levelled(located_all(told), levels, strict=own["strict"])
    if as_sarif:
        call.output.whole(sarif((*problems, *prepared.suites.passed_over), lints, call.cwd))
    else:
        call.output.problems((*problems, *prepared.suites.passed_over))
        listed = [problem_document(one) for one in (*problems, *located_all(prepared.suites.passed_over))]
        call.output.document({**plan_document(prepared), "problems": listed})
    if apart:
        codes = ", ".join(dict.fromkeys(one.code for one in apart))
        call.output.notice(f"a run here would have more to say ({codes}): see `skillgauge eval --dry-run`")
    return _concluded(call, prepared, problems)


def _around(call: Invocation, files: Sequence[str], suite_format: str | None) -> list[str]:
    """Return the suites around changed files.

    Raises:
        UsageError: some names are those of options, and no such file exists.
    """
    hint = f"Write options before {AROUND}; a file of that name that was removed is ./NAME."
    misplaced = [name for name in files if name.startswith("-") and not os.path.lexists(call.cwd / name)]
    if misplaced:
        what = f"follows {AROUND}, so it is the name of a file, and no such file exists"
        raise UsageError(Problem("usage.around", f"{name!r} {what}", hint=hint) for name in misplaced)
    registry = call.registry
    formats = {suite_format: registry.make(FORMATS, suite_format)} if suite_format else dict(registry.each(FORMATS))
    return [str(path) for path in around([call.cwd / file for file in files], formats, call.cwd)]


def _nothing(call: Invocation, lints: Sequence[Lint], *, as_sarif: bool) -> int:
    """No file belongs to a suite: all is well with the suites of these files."""
    if as_sarif:
        call.output.whole(sarif((), lints, call.cwd))
    head = PlanHead(plan_id=digest(), suites=(), trial_count=0, runs=1, seed=0)
    call.output.document(PlanDocument(sandbox="none", plan=head).model_dump(mode="json"))
    call.output.verdict("valid: no suite is around these files", ExitCode.OK)
    return ExitCode.OK


def _linted(call: Invocation, prepared: Prepared, lints: Sequence[Lint]) -> list[Linted]:
    suites = prepared.suites.suites
    with _store(call) as store:
        subjects = (
            LintSubject(
                suite,
                tuple(
                    view
                    for view in (store.scan(RunQuery(suite_id=suite.id, limit=_RUNS)) if store else ())
                    if view.run.state is RunState.FINISHED and not why_summary_foreign(view)
                ),
            )
            for suite in suites
        )
        return list(lint_suites(lints, subjects))


@contextmanager
def _store(call: Invocation) -> Iterator[Store | None]:
    """The store, if it can be read: what was run earlier is of help, and nothing that a suite needs to be valid."""
    try:
        store = opened_store(call)
        opened = store.__enter__()
    except PluginError:
        yield None
        return
    try:
        yield opened
    finally:
        store.__exit__(None, None, None)


def _fixed(found: Sequence[Linted], levels: Levels, *, writes: bool) -> tuple[list[Linted], list[str]]:
    """What is left to do after the mechanical changes of what counts, which are made if `writes`, and their diff."""
    places = located_all([one.problem for one in found])
    located = [replace(one, problem=place) for one, place in zip(found, places, strict=True)]
    off = {code for code, level in levels.items() if level is None}
    fixable = [one for one in located if one.fix and one.problem.span and one.problem.code not in off]
    files = changed((one.problem.span, one.fix) for one in fixable if one.problem.span and one.fix)
    if writes:
        write(files)
        located = [one for one in located if one not in fixable]
    return located, list(diff_lines(files))


def _concluded(call: Invocation, prepared: Prepared, problems: Sequence[Problem]) -> int:
    head = prepared.plan.head
    cases = sum(suite.case_count for suite in head.suites)
    errors = sum(one.severity is Severity.ERROR for one in problems)
    verdict = f"{counted(len(head.suites), 'suite')}, {counted(cases, 'case')}"
    warned = f", {counted(len(problems) - errors, 'warning')}" if len(problems) > errors else ""
    if errors:
        verdict = f"{counted(errors, 'problem')} in {verdict}"
    elif prepared.suites.passed_over:
        verdict = f"some files could not be read; the others are valid: {verdict}"
    else:
        verdict = f"valid: {verdict}"
    code = ExitCode.USAGE if errors or prepared.suites.passed_over else ExitCode.OK
    call.output.verdict(f"{verdict}{warned}", code)
    return code


class ValidateCommand(EvaluationCommand):
    """The command, with titles of its own in help."""

    sections: Mapping[str, tuple[str, ...]] = {
        **SECTIONS,
        "What is told": ("lint", "strict", "fix", "diff", "output_format"),
    }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take every word after `--around` as the name of a file: a changed file may be called `--plugin=x.py`."""
        return super().parse_args(ctx, names_apart(args))


command = ValidateCommand(
    "validate",
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
        click.Option(
            [AROUND],
            is_flag=True,
            help="Check the suites around files that changed; every word after this option is the name of a file.",
        ),
        click.Option(
            ["--lint"],
            multiple=True,
            metavar="ID=LEVEL",
            help="How severe a lint, or a warning of that code, is: off, warning or error.",
        ),
        click.Option(["--strict"], is_flag=True, help="Warnings are problems: exit code 2."),
        click.Option(["--diff"], is_flag=True, help="Show what --fix would change."),
        click.Option(["--fix"], is_flag=True, help="Fix what can be fixed automatically, and show it."),
        click.Option(
            ["--format", "output_format"],
            type=click.Choice([TEXT, SARIF]),
            default=TEXT,
            help="How problems are printed; sarif: a SARIF 2.1.0 document on stdout.",
        ),
    ],
    callback=_validate,
    examples=(
        "skillgauge validate my-skill",
        "skillgauge validate my-skill --strict --format sarif",
        "skillgauge validate my-skill --fix",
        "skillgauge validate --strict --around -- my-skill/SKILL.md",
    ),
    help="Check suites, their checks and the plugins they need, without running anything, and look for weak spots.",
)
