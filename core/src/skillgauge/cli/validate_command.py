"""`validate`: check suites without running anything, and tell what makes them prove less than they seem to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import click

from skillgauge_documents.frozen import digest
from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import counted

from ..config.arguments import configured, flags_asking_gates
from ..config.documents import located_all
from ..contract.formats import SuiteFormat
from ..contract.stores import RunQuery, Store
from ..errors import ExitCode, PluginError, Problem, Severity, SkillgaugeError, UsageError, errors_among
from ..evaluation.invocation import Invocation, invocation, opened_store
from ..evaluation.linting import (
    PROBLEM_REPORTERS,
    Lint,
    Linted,
    LintSubject,
    fixed,
    installed_lints,
    levelled,
    lint_suites,
    problem_reporter,
    read_levels,
    render_problems,
)
from ..evaluation.options import eval_options
from ..evaluation.preparation import prepare_trusted
from ..evaluation.process import run_to_its_end
from ..evaluation.selection import around, require_cases
from ..plan.preparing import Prepared
from ..plugins.index import IndexEntry
from ..plugins.installed import read_index
from ..plugins.kinds import FORMATS
from ..terminal.output import problem_document
from ..types.results.runs import RunState, RunView
from ..types.trial import PlanHead
from .evaluation_options import SECTIONS, EvaluationCommand, foresight_options
from .options import AROUND, completing, names_apart

TEXT = "text"
_RUNS = 3
"""Stored runs of a suite that lints may look at."""
_OF_A_RUN = ("engine.", "judge.", "sandbox.")
"""How codes begin that tell what a run would miss on this machine: no suite is the worse for it."""


@immutable
class _Report:
    """Reports what is wrong with suites: to people, in the document of `--json`, or in that of an installed package."""

    call: Invocation
    lints: Sequence[Lint]
    reporter: IndexEntry | None
    """Makes the one document that is printed in place of text."""

    def require_one_document(self) -> None:
        """Refuse two documents on stdout."""
        if self.reporter and self.call.output.as_json:
            message = f"--json and --format {self.reporter.name} are two documents"
            raise UsageError(Problem("usage.exclusive", message, hint="Choose one."))

    def whole(self, problems: Sequence[Problem]) -> None:
        """Print the document of a package, if one is asked for."""
        if self.reporter:
            self.call.output.whole(render_problems(self.reporter, problems, self.lints, self.call.cwd))

    def diff(self, lines: Sequence[str]) -> None:
        """Print what changes."""
        if not self.reporter:
            for line in lines:
                self.call.output.line(line)

    def problems(self, prepared: Prepared, problems: Sequence[Problem]) -> None:
        """Print what is wrong with suites that could be prepared."""
        passed_over = prepared.suites.passed_over
        self.whole((*problems, *passed_over))
        if not self.reporter:
            self.call.output.problems((*problems, *passed_over))
        if self.call.output.as_json:
            from ..evaluation.planned.document import plan_document  # noqa: PLC0415 - slow, and few ask for a document

            listed = [problem_document(problem) for problem in located_all((*problems, *passed_over))]
            self.call.output.document({**plan_document(prepared), "problems": listed})

    def nothing(self) -> int:
        """Conclude that no file belongs to a suite: all is well with the suites of these files."""
        from ..evaluation.planned.document import PlanDocument  # noqa: PLC0415 - as above

        self.whole(())
        head = PlanHead(plan_id=digest(), suites=(), trial_count=0, runs=1, seed=0)
        self.call.output.document(PlanDocument(sandbox="none", plan=head).model_dump(mode="json"))
        self.call.output.verdict("valid: no suite is around these files", ExitCode.OK)
        return ExitCode.OK


def _validate(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    own = {name: values.pop(name) for name in ("lint", "strict", "fix", "diff", "output_format", "around")}
    broken: list[Problem] = []
    lints = installed_lints(read_index(), broken, lambda entry: not call.registry.is_blocked(entry))
    report = _Report(call, lints, _reporter(call, own["output_format"]))
    report.require_one_document()
    levels = {
        **read_levels(call.config.get("lints") or (), lints, "configuration key lints"),
        **read_levels(own["lint"], lints, "--lint"),
    }
    if own["around"]:
        values["paths"] = _around(call, values["paths"], values["suite_format"])
        if not values["paths"]:
            return report.nothing()
    prepared = _prepared(call, values, report)
    found = _linted(call, prepared, lints)
    if own["fix"] or own["diff"]:
        found, diff = fixed(found, levels, writes=own["fix"])
        report.diff(diff)
    of_suites, of_runs = _apart(prepared.warnings, levels)
    problems = [*of_suites, *broken, *_open_gates(call, values, prepared), *(linted.problem for linted in found)]
    counted_problems = levelled(problems, levels, strict=own["strict"])
    report.problems(prepared, counted_problems)
    if of_runs:
        codes = ", ".join(dict.fromkeys(problem.code for problem in of_runs))
        call.output.notice(f"a run here would have more to say ({codes}): see `skillgauge eval --dry-run`")
    return _concluded(call, prepared, counted_problems)


def _reporter(call: Invocation, name: str) -> IndexEntry | None:
    if name == TEXT:
        return None
    return problem_reporter(read_index(), name, lambda entry: not call.registry.is_blocked(entry))


def _open_gates(call: Invocation, values: Mapping[str, Any], prepared: Prepared) -> Iterator[Problem]:
    """Yield a warning for each gate that no outcome of a suite could answer."""
    if not flags_asking_gates(values):
        return
    from ..decide.answerable import unanswerable  # noqa: PLC0415 - how a run ends; few ask for a gate
    from ..evaluation.conclusion import gate_options  # noqa: PLC0415 - as above

    gates = gate_options(values, call.config)
    hint = "Write more cases, repeat them more often (--runs), or ask for less."
    for sentence in unanswerable(prepared, gates):
        yield Problem("gate.unanswerable", sentence, hint=hint, severity=Severity.WARNING)


def _prepared(call: Invocation, values: Mapping[str, Any], report: _Report) -> Prepared:
    try:
        asked = eval_options(call, {**values, "dry_run": True})
        require_cases(asked.words, asked.options, call.registry)
        # The document names the sandbox; apart from that, it is for a run to find out whether it works here.
        how = replace(asked.options.how, tries_sandbox=call.output.as_json, only_suites=True)
        return run_to_its_end(prepare_trusted(call, replace(asked.options, how=how)))
    except SkillgaugeError as error:
        report.whole(error.problems)
        raise


def _apart(warnings: Sequence[Problem], levels: Mapping[str, Severity | None]) -> tuple[list[Problem], list[Problem]]:
    """Divide warnings into those of suites and those of what a run would miss here."""
    of_runs = [warning for warning in warnings if warning.code.startswith(_OF_A_RUN) and warning.code not in levels]
    return [warning for warning in warnings if warning not in of_runs], of_runs


def _around(call: Invocation, files: Sequence[str], suite_format: str | None) -> list[str]:
    """Return the suites around changed files.

    Raises:
        UsageError: some names are those of options, and no such file exists.
    """
    hint = f"Write options before {AROUND}; a file of that name that was removed is ./NAME."
    misplaced = [name for name in files if name.startswith("-") and not os.path.lexists(call.cwd / name)]
    if misplaced:
        why = f"follows {AROUND}, so it is the name of a file, and no such file exists"
        raise UsageError(Problem("usage.around", f"{name!r} {why}", hint=hint) for name in misplaced)
    formats: dict[str, SuiteFormat]
    if suite_format:
        formats = {suite_format: call.suite_format(suite_format)}
    else:
        formats = dict(call.registry.each(FORMATS))
    return [str(path) for path in around([call.cwd / file for file in files], formats, call.cwd)]


def _linted(call: Invocation, prepared: Prepared, lints: Sequence[Lint]) -> list[Linted]:
    """Return what lints find; what was run earlier is of help, and nothing that a suite needs to be valid."""
    with ExitStack() as stack:
        store: Store | None = None
        with suppress(PluginError):
            store = stack.enter_context(opened_store(call))
        subjects = (LintSubject(suite, tuple(_runs(store, suite.id))) for suite in prepared.suites.suites)
        return list(lint_suites(lints, subjects))


def _runs(store: Store | None, suite_id: str) -> Iterator[RunView]:
    if store is None:
        return
    for view in store.scan(RunQuery(suite_id=suite_id, limit=_RUNS)):
        from ..run.stored_run import why_summary_foreign  # noqa: PLC0415 - many suites were not run yet

        if view.run.state is RunState.FINISHED and not why_summary_foreign(view):
            yield view


def _concluded(call: Invocation, prepared: Prepared, problems: Sequence[Problem]) -> int:
    head = prepared.plan.head
    cases = sum(suite.case_count for suite in head.suites)
    errors = len(errors_among(problems))
    verdict = f"{counted(len(head.suites), 'suite')}, {counted(cases, 'case')}"
    warned = ""
    if len(problems) > errors:
        warned = f", {counted(len(problems) - errors, 'warning')}"
    code = ExitCode.USAGE
    if errors:
        verdict = f"{counted(errors, 'problem')} in {verdict}"
    elif prepared.suites.passed_over:
        verdict = f"some files or cases could not be read; the others are valid: {verdict}"
    else:
        verdict = f"valid: {verdict}"
        code = ExitCode.OK
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
            metavar="NAME",
            default=TEXT,
            shell_complete=completing(PROBLEM_REPORTERS),
            help="How problems are printed: text, or a document of an installed package, such as sarif, on stdout.",
        ),
        *foresight_options(),
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
