"""A map as one self-contained page: no script, no address of anything, both colour schemes, fit for paper.

Every text from outside is escaped. Should markup ever slip through, the page's own policy forbids scripts and every
style but the one whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from skillgauge.api import LINE, plain
from skillgauge.api.report import counted, moment, percent

from .documents import MapDocument
from .model import PROVEN, Action, PairRow, Rate, Relation, SkillRow
from .picture import graph, matrix
from .wording import cost_text, left_out_text, pair_sentence, queries_text, sentences, shown_pairs

_UNCHANGED = (Action.KEEP, Action.UNDECIDED)
_OPEN = 12
"""Skills without anything to do that are not folded away."""
_QUERIES, _PROMPT = 12, 200
"""Queries of a pair that are shown, and characters of each."""
_LISTED = 200
"""Pairs that have a row; the JSON document has all."""


def render(document: MapDocument) -> str:
    """Return the whole page."""
    return "".join(f"{line}\n" for line in _lines(document))


def text(content: str, limit: int = LINE) -> str:
    """Return text from outside as HTML that keeps its reading direction to itself, cut if it is long."""
    return f"<bdi>{escape(plain(content, limit))}</bdi>"


def style() -> str:
    """Return the style of the page."""
    return files(__package__).joinpath("map.css").read_text("utf-8")


def _lines(document: MapDocument) -> Iterator[str]:
    content = style()
    style_hash = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Map of {len(document.skills)} skills – skillgauge</title>"
    yield f"<style>{content}</style></head><body><main>"
    yield from body(document)
    yield "</main></body></html>"


def body(document: MapDocument) -> Iterator[str]:
    """Yield the content of the page as HTML, line by line."""
    yield f"<h1>Map of {len(document.skills)} skills</h1>"
    first, *more = sentences(document)
    yield f'<p class="verdict{" shadowed" if _proven(document) else ""}">{text(first, 2000)}</p>'
    agent = f"{document.engine} {document.model}" if document.model else document.engine
    yield f'<p class="muted">{text(agent)}, {moment(document.started_at)}</p>'
    yield from _items(text(one, 2000) for one in (*more, *document.notices))
    yield from _skills(document)
    yield from _pictures(document)
    yield from _pairs(document)


def _proven(document: MapDocument) -> bool:
    return any(pair.relation in PROVEN for pair in document.pairs)


def _items(items: Iterable[str]) -> Iterator[str]:
    yield f'<ul class="muted">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def _skills(document: MapDocument) -> Iterator[str]:
    yield "<h2>What to do about each skill</h2>"
    heads = ("Skill", "Do", "Fires for its own queries", "Only others fired", "For others' queries", "Tokens")
    changed = [row for row in document.skills if row.action not in _UNCHANGED]
    others = document.skills[len(changed) :]
    if changed or not others:
        yield from _table("Skills to change", heads, map(_skill, changed))
    if others:
        is_open = " open" if len(others) <= _OPEN else ""
        yield f"<details{is_open}><summary>{counted(len(others), 'skill')} to keep, or of which too little is known"
        yield "</summary>"
        yield from _table("Other skills", heads, map(_skill, others))
        yield "</details>"


def _skill(row: SkillRow) -> str:
    partners = f" <span>with {', '.join(map(text, row.partners))}</span>" if row.partners else ""
    evidence = "".join(f"<li>{text(one, 2000)}</li>" for one in row.evidence)
    folded = f"<details><summary>Evidence</summary><ul>{evidence}</ul></details>"
    kind = row.action.name.lower()
    never = ' <span class="muted">never chosen</span>' if row.never_chosen else ""
    cells = (
        f'<th scope="row">{text(row.name)}{never}</th>',
        f'<td class="do"><strong class="{kind}">{row.action}</strong>{partners}{folded}</td>',
        f'<td class="number">{_rate(row.own)}</td>',
        f'<td class="number">{row.others_fired}</td>',
        f'<td class="number">{row.for_others}</td>',
        f'<td class="number">{cost_text(row)}</td>',
    )
    return "".join(cells)


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return "unknown"
    span = f"{percent(rate.lower)} to {percent(rate.upper)}"
    return f'{rate.fired} of {rate.sessions}{_bar(rate)}<span class="muted">{span}</span>'


def _bar(rate: Rate) -> str:
    lower, upper, at = (round(100 * value, 1) for value in (rate.lower, rate.upper, rate.rate))
    span = f'<rect class="span" x="{lower}" y="3" width="{max(1.0, upper - lower)}" height="6"/>'
    line = f'<rect class="at" x="{max(0.0, at - 1)}" y="0" width="2" height="12"/>'
    scale = '<rect class="scale" x="0" y="5" width="100" height="2"/>'
    return f'<svg class="bar" width="100" height="12" viewBox="0 0 100 12" aria-hidden="true">{scale}{span}{line}</svg>'


def _pictures(document: MapDocument) -> Iterator[str]:
    if document.matrix:
        yield "<h2>Who fires for whose queries</h2>"
        yield '<p class="legend"><span class="own">its own queries</span> '
        yield '<span class="other">queries of another</span> '
        yield '<span class="none">no skill fired</span>; the darker, the more of its sessions</p>'
        yield '<div class="scroll" tabindex="0" role="region" aria-label="Matrix">'
        yield from matrix(document)
        yield "</div>"
    drawn = list(graph(document))
    if drawn:
        yield "<h2>Pairs</h2>"
        yield '<p class="legend">An arrow leads from the skill that fires to the one whose queries it fires for: '
        yield '<span class="proven">proven to shadow it</span> <span class="open">undecided</span> '
        yield '<span class="seen">fires too</span></p>'
        yield '<div class="scroll" tabindex="0" role="region" aria-label="Graph">'
        yield from drawn
        yield "</div>"


def _pairs(document: MapDocument) -> Iterator[str]:
    pairs = shown_pairs(document.pairs)
    if not pairs:
        return
    yield "<h2>Evidence of each pair</h2>"
    heads = ("Skill", "Relation", "Queries of", "Fired instead", "Both fired", "Left out", "Likeness")
    prompts = {(query.query_of, query.id): query.prompt for query in document.queries}
    yield from _table("Pairs", heads, (_pair(pair, prompts) for pair in pairs[:_LISTED]))
    if len(pairs) > _LISTED:
        yield f'<p class="muted">… and {len(pairs) - _LISTED:,} more; the JSON document has all of them.</p>'
    proven = [pair for pair in pairs if pair.relation in PROVEN]
    if proven:
        yield from _items(text(pair_sentence(pair), 2000) for pair in proven)


def _pair(pair: PairRow, prompts: Mapping[tuple[str, str], str]) -> str:
    """Return the cells of a pair, with the queries for which it fired instead."""
    queries = [prompts.get((pair.query_of, query), query) for query in pair.queries[:_QUERIES]]
    items = "".join(f"<li>{text(prompt, _PROMPT)}</li>" for prompt in queries)
    folded = (
        f"<details><summary>{queries_text(len(pair.queries))}</summary><ul>{items}</ul></details>" if queries else ""
    )
    kind = "bad" if pair.relation in PROVEN else "open" if pair.relation is Relation.UNDECIDED else "muted"
    cells = (
        f'<th scope="row">{text(pair.skill)}</th>',
        f'<td class="relation {kind}">{pair.relation}</td><td class="name">{text(pair.query_of)}</td>',
        f'<td class="instead">{pair.instead} of {pair.sessions}{folded}</td><td class="number">{pair.together}</td>',
        f'<td class="result">{escape(left_out_text(pair))}</td>',
        f'<td class="number">{percent(pair.likeness)}</td>',
    )
    return "".join(cells)


def _table(label: str, heads: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    """Yield a table that scrolls inside its box; rows are HTML."""
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'
    cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    yield f"<thead><tr>{cells}</tr></thead><tbody>"
    yield from (f"<tr>{row}</tr>" for row in rows)
    yield "</tbody></table></div>"
