"""`create`: a skill that runs, and what to do with it next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, Problem, UsageError
from skillgauge.api.run import GlobalsCommand, Invocation, invocation

from .package import (
    AGENT_SKILL,
    PACKAGE,
    agent_skill_name,
    agent_skill_skeleton,
    package_name,
    package_skeleton,
)
from .placing import obstacle, place
from .ports import choose_port
from .skeleton import BENCHMARK, Template, name_problem, skeleton, skill_id, template_problem

_FOR_AGENTS = {AGENT_SKILL: agent_skill_name, PACKAGE: package_name}
"""Templates of what agents use, with what makes the name that their files hold out of any; the others make skills that
are called directly."""


class Step(Frozen):
    """Something to do next."""

    text: str
    command: str | None = None
    """A command line of a shell, to be run where `create` was; `None` for what no command does."""


class CreateDocument(Frozen):
    """The output of `create --json`."""

    schema_version: str = "1.0"
    id: str
    name: str
    template: str
    folder: str
    """As the user wrote it: relative to the current folder unless `--output-dir` was absolute."""
    files: tuple[str, ...]
    """Paths inside the folder."""
    next: tuple[Step, ...]


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"create": CreateDocument.model_json_schema()}


@click.command(
    cls=GlobalsCommand,
    examples=(
        "skillgauge create invoices --from-template agent_skill",
        "skillgauge create adder --from-template python_script --description 'Adds numbers.'",
    ),
    help="Make a skill that runs, with a starter benchmark that it passes.",
)
@click.argument("words", metavar="NAME", nargs=-1)
@click.option("--name", help="Name of the skill and of its folder, in the place of NAME.", metavar="NAME")
@click.option(
    "--from-template",
    "template",
    default=Template.HTTP_REQUEST.value,
    show_default=True,
    help=f"One of {', '.join((*Template, AGENT_SKILL, PACKAGE))}.",
    metavar="TEMPLATE",
)
@click.option("--output-dir", default="./skills", show_default=True, help="Where its folder is made.", metavar="DIR")
@click.option("--description", help="What it does, in a sentence.", metavar="TEXT")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    words: tuple[str, ...],
    name: str | None,
    template: str,
    output_dir: str,
    description: str | None,
) -> int:
    """Make a skill."""
    call = invocation(ctx.obj)
    name = _one_name([*words, *([] if name is None else [name])])
    own_name = _FOR_AGENTS.get(template, skill_id)(name)
    folder = Path(output_dir, own_name if template == AGENT_SKILL else name)
    unknown = None if template in _FOR_AGENTS else template_problem(template)
    problems = [name_problem(name), unknown, _text_problem(description or "")]
    if not problems[0]:
        problems.append(obstacle(folder))
    if any(problems):
        raise UsageError(problem for problem in problems if problem)
    if template == AGENT_SKILL:
        files, steps = agent_skill_skeleton(name=name, description=description), agent_skill_steps(folder)
    elif template == PACKAGE:
        files, steps = package_skeleton(name=name, description=description), package_steps(folder)
    else:
        chosen = Template(template)
        files = skeleton(chosen, name=name, description=description, port=choose_port(folder.parent))
        steps = next_steps(chosen, folder)
    place(files, folder)
    created = CreateDocument(
        id=own_name,
        name=name,
        template=template,
        folder=folder.as_posix(),
        files=tuple(sorted(files)),
        next=steps,
    )
    _print(created, call)
    return ExitCode.OK


def _one_name(names: Sequence[str]) -> str:
    """Return the name that is given.

    Raises:
        UsageError: none is, or several are.
    """
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(Problem("usage.skill-name", "no name is given", hint="Name it: skillgauge create NAME."))
    hint = f"A name with spaces is one word in quotation marks: {shlex.quote(' '.join(names))}."
    raise UsageError(Problem("usage.skill-name", f"{len(names)} names are given: {', '.join(names)}", hint=hint))


def next_steps(template: Template, folder: Path) -> tuple[Step, ...]:
    """Return the steps by which a new skill is evaluated and made one's own.

    Args:
        template: what it was made from.
        folder: its folder, as commands are to name it.
    """
    program = shlex.quote(str(folder / template.program))
    benchmark = shlex.quote(str(folder / BENCHMARK))
    evaluate = f"skillgauge eval --skills {shlex.quote(str(folder))} --benchmark {benchmark}"
    steps = [Step(text="Evaluate it", command=evaluate), Step(text=f"Replace the function invoke in {program}")]
    match template:
        case Template.HTTP_REQUEST:
            start = Step(text="Start the service, in a terminal of its own", command=f"python3 {program}")
            steps.insert(0, start)
        case Template.MCP_TOOL:
            install = "python3 -m pip install 'mcp>=2.3,<3'"
            steps.insert(0, Step(text="Give python3 the package mcp, unless it has it", command=install))
        case Template.PYTHON_SCRIPT:
            pass
    return tuple(steps)


def agent_skill_steps(folder: Path) -> tuple[Step, ...]:
    """Return the steps by which a new skill for agents is evaluated and made one's own."""
    place, script = shlex.quote(str(folder)), shlex.quote(str(folder / "evals/files/mock.yaml"))
    mock = f"skillgauge eval {place} --engine mock --set engines.mock.script={script}"
    return (
        Step(text="Evaluate it with an agent that plays a script", command=mock),
        Step(text="Evaluate it with a real one", command=f"skillgauge eval {place} --engine claude-code"),
        Step(text="Replace SKILL.md, and the cases and queries in evals"),
        Step(text="See whether they prove anything", command=f"skillgauge validate {place}"),
    )


def package_steps(folder: Path) -> tuple[Step, ...]:
    """Return the steps by which a new package is tested and evaluated."""
    place = shlex.quote(str(folder))
    return (
        Step(text="Test it, without any model", command=f"skillgauge test {place}"),
        Step(text="See what its evals would do", command=f"skillgauge eval {place} --dry-run"),
        Step(text="Replace the skill, the hook, and the cases of both"),
    )


def _text_problem(description: str) -> Problem | None:
    try:
        description.encode()
    except UnicodeEncodeError:
        return Problem("create.description", "the description is not text", hint="Write it in UTF-8.")
    return None


def _print(created: CreateDocument, call: Invocation) -> None:
    call.output.document(created.model_dump(mode="json"))
    for path in created.files:
        call.output.line(f"created  {created.folder}/{path}")
    call.output.line("Next:")
    for number, step in enumerate(created.next, 1):
        call.output.line(f"  {number}. {step.text}{':' if step.command else ''}")
        if step.command:
            call.output.line(f"       {step.command}")
    subject = "package" if created.template == PACKAGE else "skill"
    call.output.verdict(f"{subject} {created.id!r} created in {created.folder} from {created.template}")
