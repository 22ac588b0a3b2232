"""Which shapes the suites of skills have that people publish, and what becomes of them here.

Run: python benchmarks/dialect_census.py [FOLDER]

Every file below FOLDER that is named like a suite is shown to the installed formats, one by one, and loaded by the one
that claims it. What is kept, in benchmarks/dialect_census.json, are shapes and counts: no text, no name, no path of
anybody. From that file and from the tables of the format `agent-skills` the tables of docs/dialects.md are written;
without FOLDER they are written from the counts that are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from skillgauge.api import LoadRequest, NoOptions, Problem, SuiteError, SuiteFormat, located_all, parse_document
from skillgauge_format_agent_skills.checks.phrases import EXAMPLES, JSON_PHRASE
from skillgauge_format_agent_skills.checks.rules import RULES, kinds_of_rules
from skillgauge_format_agent_skills.checks.typed import JUDGED
from skillgauge_format_agent_skills.keys import ASSERTION_KEYS, FILE_KEYS, KEYS, NAMES
from skillgauge_format_agent_skills.recognition.shapes import CHECK_KEYS, LIST_KEYS, PROMPT_KEYS

ROOT = Path(__file__).resolve().parents[1]
COUNTS, PAGE = ROOT / "benchmarks/dialect_census.json", ROOT / "docs/dialects.md"
NAMED = re.compile(
    r"(evals?|[^/]*\.eval)\.(json|jsonl|ya?ml)|[^/]*trigger[^/]*\.(json|ya?ml)|[^/]*eval[-_]?quer(y|ies)[^/]*\.json|(train|validation)_queries\.json",
    re.IGNORECASE,
)
_EFFECT = re.compile(r"without effect: (.*?)(?:;|$)")
_COUNTED = re.compile(r"'([^']+)' \((\d+)\)")
_QUERY = ("should_trigger", "expected_trigger", "should_fire", "should_activate")
Row = dict[str, Any]


def formats() -> dict[str, SuiteFormat]:
    """Every installed format, as its own distribution configures it."""
    found: dict[str, SuiteFormat] = {}
    for entry in entry_points(group="skillgauge.formats"):
        for provider in entry.load().skillgauge_formats():
            factory = provider.factory
            if isinstance(factory, str):
                module, _, name = factory.partition(":")
                factory = getattr(import_module(module), name)
            found[provider.name] = factory() if provider.options is NoOptions else factory(provider.options())
    return found


def census(folder: Path) -> list[Row]:
    """A row for each shape, the most frequent first."""
    here = formats()
    rows: dict[str, Row] = {}
    for path in sorted(folder.rglob("*")):
        if not NAMED.fullmatch(path.name) or not path.is_file() or ".github" in path.parts:
            continue
        shape = shape_of(path)
        row = rows.setdefault(
            shape, {"shape": shape, "files": 0, "loaded": 0, "by": Counter(), "refused": Counter(), "unused": Counter()}
        )
        row["files"] += 1
        _load(path, here, row)
    return sorted(rows.values(), key=lambda row: (-row["files"], row["shape"]))


def _load(path: Path, here: Mapping[str, SuiteFormat], row: Row) -> None:
    claims = [name for name, one in here.items() if one.claim(path) is not None]
    name = claims[0] if claims else "agent-skills"
    problems: Sequence[Problem] = ()
    try:
        loaded = here[name].load(LoadRequest(paths=(str(path),), cwd=str(path.parent)))
        problems = loaded.problems
    except SuiteError as error:
        problems = error.problems
    else:
        for warning in (one for suite in loaded.suites for one in suite.warnings):
            for part in _EFFECT.findall(warning.message):
                row["unused"].update({key: int(times) for key, times in _COUNTED.findall(part)})
    if len(claims) > 1:
        row["refused"]["claimed by several formats"] += 1
    elif problems:
        first = located_all(problems)[0]
        place = "" if first.span and first.span.line else " (no line)"
        row["refused"][f"{first.code}{place}"] += 1
    else:
        row["loaded"] += 1
        row["by"][name] += 1


def shape_of(path: Path) -> str:
    """What a file looks like, in words that say nothing of what stands in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return "JSON lines"
        value = parse_document(text, file=str(path), kind="json" if path.suffix == ".json" else "yaml").value
    except (SuiteError, UnicodeDecodeError):
        return "cannot be read"
    if isinstance(value, Mapping):
        return _of_object(value)
    return f"a list of {_of_items(value)}" if isinstance(value, tuple) else "no object and no list"


def _of_object(value: Mapping[str, Any]) -> str:
    if "stimuli" in value:
        return "an object with `stimuli`"
    if any(isinstance(value.get(key), tuple) and "trigger" in key for key in value):
        return "an object with lists of queries by their side"
    for key in ("queries", *LIST_KEYS, "tasks"):
        if isinstance(value.get(key), tuple):
            return f"an object with `{key}`: {_of_items(value[key])}"
    if any(key in value for key in PROMPT_KEYS) and any(key in value for key in CHECK_KEYS):
        return "a single eval in no list"
    return "another object"


def _of_items(items: tuple[Any, ...]) -> str:
    first = next((item for item in items if isinstance(item, Mapping)), None)
    if first is None:
        return "nothing" if not items else "what is no object"
    asks = next((key for key in (*PROMPT_KEYS, "instruction", "vars") if key in first), "no prompt")
    if any(key in first for key in _QUERY) and not any(
        key in first for key in ("assertions", "expectations", "expected_behavior")
    ):
        return f"queries with `{asks}`"
    order = (
        "assertions",
        "expectations",
        "expected_behavior",
        "expected_output",
        "ground_truth",
        "graders",
        "assert",
        "validators",
    )
    checks = next((key for key in order if first.get(key)), None) or next(
        (key for key in CHECK_KEYS if key in first), "nothing to check"
    )
    listed = first.get(checks)
    kinds = {type(one).__name__ for one in listed} if isinstance(listed, tuple) else set()
    objects = " (objects)" if kinds and kinds != {"str"} else ""
    return f"`{asks}` and `{checks}`{objects}"


def census_table(rows: Sequence[Row]) -> str:
    """What was found, as Markdown."""
    lines = [
        "| shape | files | loaded | by | refused, with a place | keys without effect (times) |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        by, refused, unused = (_told(row[key]) for key in ("by", "refused", "unused"))
        lines.append(f"| {row['shape']} | {row['files']} | {row['loaded']} | {by} | {refused} | {unused} |")
    files, loaded = (sum(row[key] for row in rows) for key in ("files", "loaded"))
    lines.append(f"| together | {files} | {loaded} | | {files - loaded} | |")
    return "\n".join(lines)


def _told(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"`{name}` {times}" for name, times in ordered)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def types_table() -> str:
    """Types of assertions that a program decides, from the code."""
    lines = ["| `type` | the value stands in | scorer | the contrary, with `negate` |", "|---|---|---|---|"]
    for names, keys, scorer, opposite in kinds_of_rules():
        told = ", ".join(f"`{name}`" for name in names)
        where = ", ".join(f"`{key}`" for key in keys)
        lines.append(f"| {told} | {where} | `{scorer}` | {f'`{opposite}`' if opposite else ''} |")
    lines += [
        "",
        f"{len(RULES)} names of types. A judge decides, by the name of the type: {_quoted(sorted(JUDGED))}.",
    ]
    phrases = ", ".join(f"`{one}`" for one in (*EXAMPLES, "matches regex /x/", JSON_PHRASE))
    return "\n".join(
        [*lines, "", f"Assertions that are nothing but such a phrase are decided by a program, too: {phrases}."]
    )


def keys_table() -> str:
    """What keys mean that neither skill-creator nor agentskills.io has, from the code."""
    lines = ["| in | key | what becomes of it |", "|---|---|---|"]
    for preferred, others in NAMES.items():
        lines.append(f"| eval | {', '.join(f'`{one}`' for one in others)} | read as `{preferred}` |")
    for where, table in (("eval", KEYS), ("assertion", ASSERTION_KEYS), ("file", FILE_KEYS)):
        for use in dict.fromkeys(table.values()):
            keys = ", ".join(f"`{key}`" for key, one in table.items() if one is use)
            lines.append(f"| {where} | {keys} | {use} |")
    return "\n".join(lines)


def page(text: str, rows: Sequence[Row]) -> str:
    """The page with its tables written anew."""
    for name, table in (("types", types_table()), ("keys", keys_table()), ("census", census_table(rows))):
        begin, end = f"<!-- {name}: written by benchmarks/dialect_census.py -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE.name} has no place for the table {name!r}")
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def main(arguments: Sequence[str]) -> None:
    """Count, and write the tables."""
    if arguments:
        rows = census(Path(arguments[0]))
        COUNTS.write_text(f"{json.dumps(rows, indent=1)}\n", encoding="utf-8")
    PAGE.write_text(
        page(PAGE.read_text(encoding="utf-8"), json.loads(COUNTS.read_text(encoding="utf-8"))), encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
