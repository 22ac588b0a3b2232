"""Patterns are compiled, and bombs are refused before they go off."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_patterns import PatternError, compiled
from skillgauge_patterns.compiling import PLAIN
from skillgauge_patterns.size import size_of

BOMBS = (
    "(((a{300}){300}){300})",
    "((((((a{1000}){1000}){1000}))))",
    "(?:(?:a+){1000}){1000}{1000}",
    "(?x) # )\n (((a{300}){300}){300})",
    "(?x) # [\n (((a{300}){300}){300}) # ]",
    "[[:a:](((a{300}){300}){300})]",
    "(" * 5000,
    "(?:hello){e<=2}(((a{300}){300}){300})",
    "x" * 3000 + "(((a{300}){300}){300})",
    "(((a{,300}){300,}){300})",
    r"\p{L}(((\p{L}{300}){300}){300})",
)
MEASURED = """
import resource, sys, time
from skillgauge_patterns import PatternError, compiled
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    compiled(sys.stdin.read())
except PatternError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.process_time() - began)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")
@pytest.mark.parametrize("pattern", BOMBS)
def test_bombs_are_refused(pattern: str) -> None:
    """Within 64 MiB and a second of work here; what a process of its own takes is bounded by itself (T-S8)."""
    words = [sys.executable, "-c", MEASURED]
    done = subprocess.run(words, input=pattern, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout, done.stderr or "it was compiled"
    grown_kb, cpu_s = done.stdout.split()
    assert int(grown_kb) < 64 * 1024
    assert float(cpu_s) < 1


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}",
        r"(?i)total:\s+\$[0-9,]{1,12}\.\d{2}",
        r"\p{L}+",
        "[]a]{2}",
        '{"ok": true}',
        "(?:ab|cd){3,}x*?",
        "a{,5}",
    ],
)
def test_plain_ones_are_compiled_here(pattern: str) -> None:
    """What suites are full of costs no process."""
    size = size_of(pattern)
    assert size is not None
    assert size <= PLAIN
    assert compiled(pattern).pattern == pattern


@pytest.mark.parametrize("pattern", ["[[:alpha:]]+", "(?x) a # b", "(?:hello){e<=2}", "a{30000}", "ab" * 2000])
def test_odd_ones_are_tried_elsewhere_first(pattern: str) -> None:
    """And are compiled here once they have shown that they are harmless."""
    size = size_of(pattern)
    assert size is None or size > PLAIN
    assert compiled(pattern, regex.IGNORECASE).pattern == pattern


@pytest.mark.parametrize("pattern", ["(", "[", "a{2}{", "*", "(?P<n", ")"])
def test_what_is_not_valid_says_so(pattern: str) -> None:
    """With the pattern and the reason."""
    try:
        regex.compile(pattern)
    except regex.error:
        with pytest.raises(PatternError, match="is not valid"):
            compiled(pattern)


@given(st.text(st.sampled_from("ab(){}[]|*+?\\,1290:^-e<=#x \n"), max_size=40))
def test_every_size_is_a_size(pattern: str) -> None:
    """Whatever a pattern is, it is looked at to its end."""
    size = size_of(pattern)
    assert size is None or size >= 0


def test_nothing_is_limited_here() -> None:
    """The limits of the other process are its own."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    compiled("a{30000}b")
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
