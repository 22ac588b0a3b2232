"""The options of `eval`, each declared once, and their values as words.

From the table come the options of the command line, the configuration keys that some of them set, the settings of
Python and how these are checked, the fields of `EvalOptions` that take a value as it is, and rows of the documents.
`Settings` gives type checkers the same for Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

from skillgauge_documents.immutables import immutable

from .option import Group, Kind, Option

OWN_DOCUMENT = "json"
"""The word of `--format` for "the document of the suite's own format"."""
PAGE = "html"
"""The reporter whose page `--open` shows."""
MOST_RUNS = 100_000
"""Repeats of a case beyond which somebody has mistyped."""


@immutable
class Detect:
    """As many repeats as show a difference."""

    difference: float
    """As a fraction, above 0 and at most 1."""
    until_decided: bool = False
    """Whether the run ends as soon as it has shown one, or can hardly show any."""


def words(values: Sequence[str]) -> tuple[str, ...]:
    """Values of a repeated option, commas split."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


_EVAL, _SELECTING = Group.EVAL, Group.SELECTING
_flag = partial(Option, kind=Kind.FLAG)
_number = partial(Option, kind=Kind.NUMBER)
_whole = partial(Option, kind=Kind.WHOLE, metavar="N")
_gate = partial(Option, group=_EVAL, asks_gate=True)
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "What to evaluate": (
        Option("--suite-format", "Read the paths with this format.", metavar="NAME", group=_EVAL),
        Option("--case", "Cases to run, by id or file stem.", metavar="GLOB", several=True, group=_SELECTING),
        Option(
            "-k",
            "Cases by words of id, name, tags: 'csv and not slow'.",
            name="keyword",
            metavar="EXPR",
            several=True,
            group=_SELECTING,
        ),
        Option("--tag", "Run cases with any of these tags.", metavar="TAG", several=True, group=_SELECTING),
        Option("--target", "Targets to run.", metavar="ID", several=True, group=_SELECTING),
        _flag("--last-failed", "Cases that failed in the last stored run, else all.", group=_EVAL, is_setting=False),
        _flag("--changed", "Cases that have changed since the last stored run.", group=_EVAL, is_setting=False),
        _flag("--same", "See how much differs by chance: the arm against itself.", group=_EVAL, field="what.same"),
        Option(
            "--confirm",
            "Add repeats where undecided; old and new results count.",
            metavar="RUN",
            group=_EVAL,
            is_setting=False,
        ),
    ),
    "Engine": (
        Option(
            "--engine --adapter --agent",
            "Agent engines; several run side by side. NAME/MODEL has a model of its own. --adapter and --agent are old "
            "spellings.",
            name="engine",
            metavar="NAME",
            several=True,
            completes="engines",
        ),
        Option("--model", "Models, each with every engine serving it.", metavar="ID", several=True),
        Option(
            "--baseline/--no-baseline",
            "Run the arms without the skill, or do not.",
            kind=Kind.SWITCH,
            field="how.baseline",
        ),
        Option("--record", "Record what agents do.", metavar="DIR"),
        _flag("--only-missing", "With --record: record only what is missing.", field="who.only_missing"),
        Option("--replay", "Replay recordings instead of running agents.", metavar="DIR"),
        _flag("--no-cache", "Ignore cached baseline sessions.", is_setting=False),
        Option(
            "--executor",
            "Where trials run; default: in this process.",
            metavar="NAME",
            completes="executors",
            field="who.executor",
        ),
    ),
    "Repeats, limits and budget": (
        _flag("-x --fail-fast", "Stop at the first failure or error.", group=_EVAL, is_setting=False),
        Option(
            "-n --runs",
            "Repeats of every case; auto: enough to detect a lift of 50 points; until-decided: until that is known.",
            kind=Kind.RUNS,
            metavar="N|auto[:POINTS]|until-decided[:POINTS]",
            least=1,
            most=MOST_RUNS,
            is_foreseen=True,
            key="runs",
            default=1,
            harmless=True,
        ),
        _whole(
            "-j --concurrency",
            "Trials that run at the same time.",
            least=1,
            key="concurrency",
            default=4,
            harmless=True,
            field="how.concurrency",
        ),
        _whole("--retries", "Retries of failures that may pass.", least=0, key="retries", default=0, harmless=True),
        _whole("--max-turns", "Most turns of an agent.", least=1, field="how.max_turns"),
        _number("--max-cost", "Stop before spending more.", metavar="USD", least=0, excludes_least=True),
        _whole("--max-tokens", "Stop before using more tokens.", least=1),
        _whole("--seed", "Seed of everything random.", key="seed", default=0, harmless=True, field="how.seed"),
        Option("--timeout", "Time limit of one trial: 30s, 2m, 500ms; a bare number is in ms.", metavar="TIME"),
        _flag("--fresh", "Do not resume an unfinished run.", field="how.fresh"),
    ),
    "Grading": (
        Option(
            "--check",
            "Add a scorer, with its options, to every case.",
            metavar="NAME[=JSON]",
            several=True,
            completes="scorers",
        ),
        Option(
            "--judge",
            "Judge for rubric checks, or a model id; several form a panel.",
            metavar="NAME",
            several=True,
            completes="judges",
        ),
        Option("--judge-model", "Model of the judge; one for each judge of a panel.", metavar="ID", several=True),
        _flag("--without-judged", "Skip the cases that need a judge.", group=_EVAL, field="what.without_judged"),
    ),
    "Gates": (
        _gate(
            "--exit-on-fail",
            "Exit 1 if a target misses --min-completion.",
            kind=Kind.FLAG,
            field="gates.exit_on_fail",
        ),
        _number(
            "--min-completion",
            "Threshold; default 0.7.",
            metavar="R",
            least=0,
            most=1,
            field="gates.min_completion",
            group=_EVAL,
        ),
        _gate(
            "--min-delta-pts",
            "Exit 1 if a skill helps by fewer points.",
            kind=Kind.NUMBER,
            metavar="X",
            least=-100,
            most=100,
            field="pairs.min_delta_pts",
            is_foreseen=True,
        ),
        _gate(
            "--fail-on-verdict",
            "Exit 1 if the cases of a comparison come to this verdict; repeatable.",
            choices=("fail", "mixed", "error"),
            several=True,
            field="pairs.fail_on_verdict",
        ),
        _gate(
            "--gate",
            "Exit 1 if the run shows the opposite; repeatable.",
            choices=("better", "not-worse", "no-regression"),
            several=True,
            field="pairs.gates",
            is_foreseen=True,
        ),
        Option(
            "--gate-scope",
            "Ask gates of these cases (default) or new.",
            choices=("these", "new"),
            field="pairs.scope",
            is_foreseen=True,
            group=_EVAL,
        ),
        _number(
            "--margin",
            "Points that --gate allows or asks for.",
            metavar="PTS",
            least=0,
            most=100,
            field="pairs.margin_pts",
            is_foreseen=True,
            group=_EVAL,
        ),
        _gate("--against", "Report and gate the change since that run.", metavar="BASELINE"),
    ),
    "Isolation": (
        _flag("--untrusted", "Run only in a strict sandbox, without network.", field="how.untrusted"),
        Option(
            "--sandbox",
            "Sandbox for every process.",
            metavar="NAME",
            completes="sandboxes",
            key="sandbox",
            field="who.sandbox",
        ),
        _flag("--keep-workspaces", "Leave workspaces behind for inspection.", field="how.keep_workspaces"),
    ),
    "Reports": (
        Option(
            "--format",
            "Reporters; `json` is the suite's own document.",
            name="formats",
            kind=Kind.WORDS,
            metavar="NAME...",
            completes="reporters",
            is_setting=False,
        ),
        Option(
            "--output-dir --jobs-dir",
            "Folder for reports.",
            name="output_dir",
            metavar="DIR",
            key="outputDir",
            default="./reports",
            is_setting=False,
        ),
        Option(
            "-o",
            "Write the suite's own document to FILE; - is stdout.",
            name="output_file",
            metavar="FILE",
            is_setting=False,
        ),
        Option(
            "--store",
            "Where runs are kept; `none` keeps nothing.",
            metavar="PLACE",
            key="store",
            default="./skillgauge.db",
        ),
        Option("--name", "Name of the run.", metavar="TEXT", group=_EVAL, is_setting=False, name="run_name"),
        Option("--note", "Note to keep with the run.", metavar="TEXT", group=_EVAL, is_setting=False),
        Option(
            "--label",
            "Label to find the run by; may be repeated.",
            metavar="KEY=VALUE",
            several=True,
            group=_EVAL,
            is_setting=False,
            name="labels",
        ),
        _flag("--open", "Show the HTML report in a browser.", name="open_report", group=_EVAL, is_setting=False),
        _flag("--view", "Show the run in a browser while it goes on.", group=_EVAL, is_setting=False),
        _flag("--report", "Also write the suite's own document.", group=_EVAL, is_setting=False),
    ),
    "Without running": (
        _flag("--list", "List the cases that are selected; run nothing.", name="listed", group=_EVAL, is_setting=False),
        _flag(
            "--dry-run", "Check everything, show what would run, create nothing.", field="how.dry_run", is_setting=False
        ),
    ),
}
"""The options of `eval` under the titles of its help; other commands that evaluate have some of them."""


def declared(*groups: Group) -> Iterator[Option]:
    """The options of some groups, of all if none is named."""
    options = chain.from_iterable(OPTIONS.values())
    return (option for option in options if option.group in (groups or Group))


def is_given(value: object) -> bool:
    """Tell whether a parsed option was given. The number 0 was, although it equals a switch that is off."""
    return value is not None and value is not False and value != ()


def flags_asking_gates(values: Mapping[str, Any]) -> list[str]:
    """Return the flags of the parsed options that ask for a gate."""
    asking = [option for option in OPTIONS["Gates"] if option.asks_gate]
    return [option.flags for option in asking if is_given(values.get(option.value_name))]


def configured(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the parsed options that are configuration values, by their keys; unset ones are absent."""
    typed = {option.key: values.get(option.value_name) for option in declared() if option.key}
    return {key: value for key, value in typed.items() if value is not None and not isinstance(value, Detect)}


class Settings(TypedDict, total=False):
    """The settings of an evaluation: the options of `skillgauge eval` by their names, with the same defaults.

    Where the command line takes several words, one text or several are taken here. Nothing is kept unless `store`
    names a place.
    """

    suite_format: str
    case: str | Sequence[str]
    keyword: str | Sequence[str]
    """Expressions of `-k`."""
    tag: str | Sequence[str]
    target: str | Sequence[str]
    engine: str | Sequence[str]
    model: str | Sequence[str]
    judge: str | Sequence[str]
    judge_model: str | Sequence[str]
    baseline: bool
    same: bool
    """Compare each candidate arm with itself, to see how much differs by chance."""
    without_judged: bool
    """Skip the cases that need a judge."""
    check: str | Sequence[str]
    runs: int | str
    """A number, `auto`, `until-decided`, or one of these words with points: `auto:30`."""
    concurrency: int
    retries: int
    seed: int
    timeout: str
    max_turns: int
    max_cost: float
    """US dollars."""
    max_tokens: int
    sandbox: str
    executor: str
    untrusted: bool
    keep_workspaces: bool
    record: str | Path
    only_missing: bool
    """With `record`: play recordings that fit, and record the rest."""
    replay: str | Path
    store: str | Path
    fresh: bool
    config: str | Path
    trust_config: bool
    no_plugin: str | Sequence[str]
    options: Mapping[str, object]
    """Options of plugins, `--set` of the command line: `{"engines.codex.reasoning": "low"}`."""
    exit_on_fail: bool
    min_completion: float
    """Least completion rate of every target, 0 to 1; it is a gate together with `exit_on_fail`."""
    min_lift: float
    """Least lift of every comparison, in points: `--min-delta-pts` of the command line."""
    min_delta_pts: float
    """The same, by the name of the option."""
    fail_on_verdict: str | Sequence[str]
    gate: str | Sequence[str]
    """`better`, `not-worse` or, with `against`, `no-regression`."""
    gate_scope: str
    margin: float
    """Points that `gate` allows or asks for."""
    against: str | Path
    """The earlier run that `gate` compares this one with: a baseline, a report, or a run of the store."""
    suites: Mapping[str, object]
    """Load options of formats, by the name of their flag: `{"benchmark": "coding-easy"}`."""
