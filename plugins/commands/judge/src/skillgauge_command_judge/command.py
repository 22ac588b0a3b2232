"""`judge`: label what a judge has decided, and say how far the judge agrees with people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, UsageError, did_you_mean, plain
from skillgauge.api.report import RunView
from skillgauge.api.run import (
    EvaluationCommand,
    GlobalsGroup,
    Invocation,
    configured,
    eval_options,
    evaluation_options,
    invocation,
    write_whole,
)

if TYPE_CHECKING:
    from skillgauge_judge_labels import Judged, JudgedRun, Line

command = GlobalsGroup("judge", help="Compare the judge of a run with people and with itself.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import (  # noqa: PLC0415 - `--help` needs none of it
        Calibration,
        CompareDocuments,
        LabelDocument,
        NoiseDocument,
    )

    models: dict[str, type[Frozen]] = {
        "judge-label": LabelDocument,
        "judge-calibrate": Calibration,
        "judge-noise": NoiseDocument,
        "judge-compare": CompareDocuments,
    }
    return {name: model.model_json_schema() for name, model in models.items()}


_RUN = click.argument("source", metavar="RUN|FILE")
_STORE = click.option("--store", metavar="PLACE", help="Where runs are kept; default: as configured.")


@command.command(
    "label",
    examples=("skillgauge judge label latest --limit 20",),
    help="Ask a person whether checks that a judge has decided hold; what the judge said is not shown.",
    short_help="Label what a judge has decided.",
)
@_RUN
@click.option(
    "--labels",
    "file",
    default="labels.jsonl",
    show_default=True,
    metavar="FILE",
    help="File that answers are added to.",
)
@click.option("--check", metavar="ID", help="Ask about this check only.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask at most so many questions.")
@_STORE
@click.pass_context
def label(
    ctx: click.Context, *, source: str, file: str, check: str | None, limit: int | None, store: str | None
) -> int:
    """Label what a judge has decided."""
    from skillgauge_judge_labels import by_key, labels_so_far  # noqa: PLC0415 - `--help` needs none of it

    call = _invocation(ctx, store)
    place = call.cwd / file
    lines, problems = labels_so_far(Path(file))
    with _compared(call, source, lines, problems, check) as (view, run):
        judged = [one for one in run.judged if check in (None, one.check_id)]
        done = by_key(lines)
        added, skipped, remaining = _ask(call, view, judged, done, place, limit)
    return _tell(call, view, file, added, skipped, len(done) + added, remaining)


def _ask(
    call: Invocation,
    view: RunView,
    judged: list[Judged],
    done: Mapping[tuple[str, str, str], bool],
    place: Path,
    limit: int | None,
) -> tuple[int, int, int]:
    """Ask, and keep each answer at once: how many were given, how many were skipped, how many checks stay open."""
    from skillgauge_judge_labels import append, label_of, questions, without_label  # noqa: PLC0415 - as above

    from .asking import Word, replies, show  # noqa: PLC0415 - as above

    open_ = without_label(judged, done, view.head.seed)
    batch = open_[:limit]
    questions_by_key = questions(view, batch)
    answer = replies(len(batch))
    added = skipped = 0
    for number, question in enumerate(batch, 1):
        show(questions_by_key[question.key], f"{number} of {len(batch)}")
        word = answer()
        if word is Word.QUIT:
            break
        if word is Word.SKIP:
            skipped += 1
            continue
        append(place, label_of(view.run.run_id, question, passes=word is Word.YES))
        added += 1
    return added, skipped, len(open_) - added


def _tell(call: Invocation, view: RunView, file: str, added: int, skipped: int, labelled: int, remaining: int) -> int:
    from .documents import LabelDocument  # noqa: PLC0415 - as above

    document = LabelDocument(
        run_id=view.run.run_id, labels=file, added=added, skipped=skipped, labelled=labelled, open=remaining
    )
    call.output.document(document.model_dump(mode="json"))
    call.output.line(f"labels: {plain(file)}")
    call.output.verdict(f"{added} added, {skipped} skipped; {labelled} labels in all, {remaining} checks without one")
    return ExitCode.OK


@command.command(
    "calibrate",
    examples=("skillgauge judge calibrate latest --labels labels.jsonl",),
    help="Compare what a judge has decided with labels, and correct its rates.",
    short_help="Compare a judge with labels.",
)
@_RUN
@click.option("--labels", "file", default="labels.jsonl", show_default=True, metavar="FILE", help="What people say.")
@click.option(
    "--output",
    default="judge-calibration.json",
    show_default=True,
    metavar="FILE",
    help="Where to write the calibration; `eval` looks for it under the default name, in the current folder.",
)
@_STORE
@click.pass_context
def calibrate(ctx: click.Context, *, source: str, file: str, output: str, store: str | None) -> int:
    """Compare a judge with labels."""
    from skillgauge_judge_labels import by_key, read_labels  # noqa: PLC0415 - as above

    from .calibrating import calibrate as calibrated  # noqa: PLC0415 - `--help` needs none of it
    from .calibrating import print_calibration, verdict  # noqa: PLC0415 - as above

    call = _invocation(ctx, store)
    lines, problems = read_labels(Path(file))
    with _compared(call, source, lines, problems) as (view, run):
        pairs = view.summary.pairs
        calibration = calibrated(run, by_key(lines), run_id=view.run.run_id, seed=view.head.seed, pairs=pairs)
    write_whole(call.cwd / output, [f"{calibration.model_dump_json(indent=1)}\n".encode()])
    call.output.document(calibration.model_dump(mode="json"))
    print_calibration(calibration, call.output)
    call.output.line(f"calibration: {plain(output)}")
    call.output.verdict(verdict(calibration))
    return ExitCode.OK


_SAMPLE = 20


def _noise(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    with _compared(call, values["source"], [], []) as (view, run):
        return asyncio.run(_ask_again(call, values, view, run))


async def _ask_again(call: Invocation, values: Mapping[str, Any], view: RunView, run: JudgedRun) -> int:
    from skillgauge.api.report import counted  # noqa: PLC0415 - as above

    from .noise import compared, prepare, print_noise, sampled, tokens_of, verdict  # noqa: PLC0415 - as above

    sample = sampled(run, values["sample"], view.head.seed)
    evaluation = await prepare(call, eval_options(call, values), view, sample, here=not values["paths"])
    answers = f"{counted(len(sample.answers), 'answer')} of {sample.of}"
    question = f"{answers} with {counted(len(sample.checks), 'check')}, by the judge of the run"
    if tokens := tokens_of(view, sample):
        question += f", which used {tokens:,} tokens for them"
    if values["dry_run"]:
        call.output.verdict(f"would be graded again: {question}")
        return ExitCode.OK
    call.output.notice(f"grading again: {question}")
    outcome = await evaluation.carry_out()
    noise = compared(view, run, sample, outcome.view)
    call.output.document(noise.model_dump(mode="json"))
    print_noise(noise, call.output)
    call.output.verdict(verdict(noise))
    return ExitCode.OK if noise.answers else ExitCode.INVALID_RUN


def _compare(**values: Any) -> int:
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it

    if not values["rubric"].strip():
        raise UsageError(Problem("judge.rubric", "the rubric is empty", hint="Say what makes an answer good."))
    call = invocation(click.get_current_context().obj, configured(values))
    with run_reports(call, [values["source"]]) as (view,):
        return asyncio.run(_duels(call, values, view))


async def _duels(call: Invocation, values: Mapping[str, Any], view: RunView) -> int:
    from skillgauge.api.report import counted  # noqa: PLC0415 - as above

    from .comparing import compare, matches, prepare, print_comparisons, verdict  # noqa: PLC0415 - as above
    from .documents import CompareDocuments  # noqa: PLC0415 - as above

    drawn = matches(view, values["sample"], values["repeats"])
    panel = await prepare(call, eval_options(call, values), view, here=not values["paths"])
    cases = sum(len(match.duels) for match in drawn)
    pairs = sum(len(duels) for match in drawn for duels in match.duels)
    questions = counted(2 * pairs * len(panel.judges), "question")
    answers = "" if pairs == cases else f" with {pairs} pairs of answers"
    question = f"{questions} about {counted(cases, 'case')}{answers} to {panel}"
    if values["dry_run"]:
        call.output.verdict(f"would ask {question}, each in both orders")
        return ExitCode.OK
    call.output.notice(f"asking {question}, each in both orders")
    compared = [await compare(view, match, panel, values["rubric"]) for match in drawn]
    call.output.document(CompareDocuments(comparisons=tuple(compared)).model_dump(mode="json"))
    print_comparisons(compared, call.output)
    if len(compared) == 1:
        call.output.verdict(verdict(compared[0]))
    else:
        call.output.verdict(f"{counted(len(compared), 'comparison')}, see above")
    return ExitCode.INVALID_RUN if any(one.net is None for one in compared) else ExitCode.OK


def _asking_again(sample: str, *names: str) -> list[click.Parameter]:
    """The parameters of a command that asks a judge about stored answers.

    Args:
        sample: what `--sample` is about.
        names: the options of `eval` that mean something there.
    """
    return [
        click.Argument(["source"], metavar="RUN|FILE"),
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        click.Option(["--suite-format"], metavar="NAME", help="Read the paths with this format."),
        click.Option(
            ["--sample"], type=click.IntRange(1), default=_SAMPLE, show_default=True, metavar="N", help=sample
        ),
        *(option for option in evaluation_options() if option.name in names),
    ]


command.add_command(
    EvaluationCommand(
        "noise",
        params=_asking_again(
            "Grade at most so many answers again.", "concurrency", "max_cost", "max_tokens", "store", "dry_run"
        ),
        callback=_noise,
        examples=("skillgauge judge noise latest --sample 50",),
        help="Grade stored answers again with the judge of the run, and say how often it contradicts itself.",
        short_help="Say how steady a judge is.",
    )
)
command.add_command(
    EvaluationCommand(
        "compare",
        params=[
            *_asking_again("Compare at most so many cases.", "judge", "judge_model", "store", "dry_run"),
            click.Option(
                ["--repeats"],
                type=click.IntRange(1),
                default=1,
                show_default=True,
                metavar="N",
                help="Compare at most so many repeats of each case.",
            ),
            click.Option(["--rubric"], required=True, metavar="TEXT", help="What makes an answer good."),
        ],
        callback=_compare,
        examples=("skillgauge judge compare latest --rubric 'Which text is clearer to a newcomer?'",),
        help="Let judges compare the answers of two arms, each pair in both orders; the same winner twice counts.",
        short_help="Compare the answers of two arms.",
    )
)


@contextmanager
def _compared(
    call: Invocation, source: str, lines: Sequence[Line], problems: Sequence[Problem], check: str | None = None
) -> Iterator[tuple[RunView, JudgedRun]]:
    """A run with what was judged in it, all of which fits the labels.

    Raises:
        UsageError: with everything that is wrong with the run, the labels and their fit.
    """
    from skillgauge.api.run import run_reports  # noqa: PLC0415 - `--help` needs none of it
    from skillgauge_judge_labels import judged_of, mismatches  # noqa: PLC0415 - as above

    found = list(problems)
    with ExitStack() as stack:
        try:
            (view,) = stack.enter_context(run_reports(call, [source]))
        except UsageError as error:
            raise UsageError([*found, *error.problems]) from None
        run = judged_of(view)
        if run.judged and not run.untold:
            found += mismatches(lines, run.judged)
            found += _unknown(check, run)
        else:
            found.append(_unfit(run, source))
        if found:
            raise UsageError(found)
        yield view, run


def _unfit(run: JudgedRun, source: str) -> Problem:
    """Return the reason why a run says too little of its judge."""
    if run.untold:
        message = (
            f"{plain(source)!r} does not tell by which prompt and rubric {len(run.untold)} of its checks were judged"
        )
        return Problem("judge.untold", message, hint="Evaluate again with the scorer that is installed now.")
    return Problem("judge.nothing-judged", f"no judge has decided anything in {plain(source)!r}")


def _unknown(check: str | None, run: JudgedRun) -> list[Problem]:
    check_ids = sorted({one.check_id for one in run.judged})
    if check is None or check in check_ids:
        return []
    message = f"no judge has decided a check {plain(check)!r}{plain(did_you_mean(check, check_ids))}"
    return [Problem("judge.no-check", message, hint=f"Judged: {plain(', '.join(check_ids), 500)}.")]


def _invocation(ctx: click.Context, store: str | None) -> Invocation:
    return invocation(ctx.obj, {} if store is None else {"store": store})
