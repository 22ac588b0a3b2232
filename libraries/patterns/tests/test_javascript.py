"""Patterns of JavaScript find here what Node finds, and are refused where Node refuses them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from skillgauge_patterns import PatternError, compiled, from_javascript

TEXTS = (
    "",
    "crease",
    "Crease twice\n",
    "one\ntwo",
    "one\r\ntwo\u2028three",
    "fold 12 boats",
    "٣ boats",
    "café au lait",
    "a-b_c",
    "aXbX",
    "abab",
    "a{2}",
    "A[[:alpha:]]p{L}",
    "tab\there\x0b\x08\x00",
    "\ufeff\u00a0x",
    "🙂 ok",
    "xx]y}z",
    "x\\c",
    "aaa",
    "S ſ",
)
PATTERNS = (
    *[(one, "") for one in ("^crease$", "twice$", r"twice\n$", "^one$", "one.two", r"\d+", r"\D", r"\w+ ", r"^\s+x")],
    *[(one, "m") for one in ("^two$", "^one$", "^three", "e$")],
    *[(one, "s") for one in ("one.two", "^.+$")],
    *[(one, "i") for one in ("CREASE", "[A-C]REASE", r"\x63rease", "(?:CREASE) (TWICE)")],
    *[(one, "") for one in (r"\Acrease", r"[[:alpha:]]", r"\p{L}", "a{2}", "a{,2}", "a{2", "{", "}", "]", "x]y}")],
    *[(one, "u") for one in (r"\p{L}+", r"\p{Lu}", r"\P{L}", r"\u{1F642} ok", r"\ud83d\ude42", r"caf\u00e9")],
    *[(one, "") for one in (r"(a)(b)\1\2", r"(?<first>a)(?<rest>b)\k<first>", r"(?:(a)|b)\1", r"\1(a)", r"\k<x>")],
    *[(one, "") for one in ("(?=c)crease", "cr(?!x)ease", "(?<=cr)ease", "(?<!x)ease", r"\bau\b", r"\Bau", r"é\b")],
    *[(one, "") for one in (r"[\d-x]+", r"[\w-]+", "[^]", "[]", "[^a-z]", r"[\b]", r"[\]]", r"[a\-c]", r"[^\s\S]")],
    *[
        (one, "")
        for one in (r"\cI", r"\t", r"\v", r"\0", r"\x4", r"\u12", r"\8", r"\101", r"\/", r"\-", r"\c", r"[\D]")
    ],
    *[(one, "") for one in ("a+?", "a*", "a{1,2}?", "(?:ab)+$", "a|b|", "(a|)", r"\e", "a.b", r"a\.b", "#", " ok")],
    *[(one, "y") for one in ("crease", "rease", "one|two")],
    *[(one, "g") for one in ("a", "a*", r"\w", "X")],
    *[("S", "i"), ("s", "d"), (r"[\w]", "iu"), (r"\w\W\w", "")],
)
REFUSED = (
    *[(one, "") for one in ("(x", "x)", "[x", "(?i)x", "(?P<n>x)", "*a", "a**", "a++", "a{2}{3}", "a{3,1}", "(?<=a)*")],
    *[(one, "") for one in ("[z-a]", "(?<a>x)(?<a>y)", "(?<1>x)", "{2}", "x\\", "^*", "(?#x)", r"\k<x>(?<y>z)", "a|*")],
    *[
        (one, "u")
        for one in (r"\-", "{", "}", "]", r"\p{Nothing}", r"\p", r"[\d-x]", r"\1", r"\u{110000}", r"\e", "(?=a)*")
    ],
    *[("x", "ii"), ("x", "q"), ("x", "uv"), (r"[\B]", "u"), (r"[x", "u"), ("(?<n>", ""), ("(?", "")],
)


@pytest.fixture(scope="module")
def by_node() -> dict[str, list[int]]:
    """Return what Node finds with each pattern in each text; `null` for a pattern that it refuses."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = """
const {patterns, texts} = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = patterns.map(([source, flags]) => {
  try { new RegExp(source, flags) } catch { return null }
  const all = new RegExp(source, flags.includes("g") ? flags : flags + "g");
  const isSticky = flags.includes("y");
  const once = (text) => new RegExp(source, flags).test(text) ? 1 : 0;
  return texts.map((text) => isSticky ? once(text) : [...text.matchAll(all)].length);
});
console.log(JSON.stringify(found));
"""
    asked = {"patterns": [*PATTERNS, *REFUSED], "texts": TEXTS}
    done = subprocess.run([node, "-e", script], input=json.dumps(asked), capture_output=True, text=True, check=True)
    keys = (f"{flags}/{source}" for source, flags in asked["patterns"])
    return dict(zip(keys, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("source", "flags"), PATTERNS)
def test_a_pattern_finds_as_often_as_in_node(source: str, flags: str, by_node: dict[str, list[int]]) -> None:
    """Every text has as many matches as in Node."""
    pattern = compiled(from_javascript(source, flags))
    for text, expected in zip(TEXTS, by_node[f"{flags}/{source}"], strict=True):
        if "u" in flags or text.isascii():
            assert (text, sum(1 for _ in pattern.finditer(text))) == (text, expected)
        else:  # Node counts halves of characters there
            assert (text, pattern.search(text) is not None) == (text, expected > 0)


@pytest.mark.parametrize(("source", "flags"), REFUSED)
def test_a_pattern_that_node_refuses_is_refused(source: str, flags: str, by_node: dict[str, list[int]]) -> None:
    """Neither accepts it."""
    assert by_node[f"{flags}/{source}"] is None
    with pytest.raises(PatternError):
        compiled(from_javascript(source, flags))


@pytest.mark.parametrize(
    ("source", "text", "is_found"),
    [
        ("(?i:CREASE)", "crease", True),
        ("(?i:C)REASE", "crease", False),
        ("(?s:a.b)", "a\nb", True),
        ("(?m:^two)", "one\ntwo", True),
        ("(?m-s:^.$)", "a\nb", True),
        ("(?-i:A)", "a", False),
    ],
)
def test_modifiers_hold_within_their_group(source: str, text: str, is_found: bool) -> None:
    """Flags of a group end with it."""
    # Node 23 is the first to know them, so they are not compared with the one that is installed.
    assert (compiled(from_javascript(source)).search(text) is not None) is is_found


def test_sets_of_sets_are_told() -> None:
    """The one flag that is not supported is named."""
    with pytest.raises(PatternError, match="flag 'v'"):
        from_javascript("[a--b]", "v")


def test_a_refusal_says_where() -> None:
    """The message has the place in the pattern."""
    with pytest.raises(PatternError, match=r"pattern '\(\?i\)x' is not valid: .*flags stand apart.*\(character 1\)"):
        from_javascript("(?i)x")
