"""Reading documents strictly, and finding places in them."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_documents import (
    Change,
    DocumentError,
    changed_texts,
    differences,
    freeze,
    json_text,
    parse,
    places,
    read,
    reading,
    reading_once,
)
from skillgauge_documents.faults import Lines, place_at
from skillgauge_documents.yaml_parts import events as yaml_events
from skillgauge_documents.yaml_parts import places as yaml_places
from skillgauge_documents.yaml_parts.values import MAX_ALIASED

DEEP = 100_000


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Make a file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, **options: Any) -> list[tuple[str, str]]:
    """Code and line:column of every fault of a file."""
    with pytest.raises(DocumentError) as caught:
        read(path, **options)
    return [
        (fault.code, ":".join(str(number) for number in (fault.line, fault.column) if number is not None))
        for fault in caught.value.faults
    ]


# --- reading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.YML"])
def test_both_syntaxes_give_the_same_value(tmp_path: Path, name: str) -> None:
    """What was read is immutable and the same, whatever the syntax."""
    path = write(tmp_path, name, '{"a": [1, 2.5, null, true, {"b": "c"}]}')
    assert read(path) == {"a": (1, 2.5, None, True, {"b": "c"})}


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_byte_order_mark_and_carriage_returns_are_accepted(tmp_path: Path, name: str) -> None:
    """Files saved on Windows read like others."""
    path = write(tmp_path, name, b'\xef\xbb\xbf{"a":\r\n  "\xc3\xa4"}\r\n')
    assert read(path) == {"a": "ä"}


def test_kind_rules_over_suffix(tmp_path: Path) -> None:
    """A caller who knows the syntax need not care about the file's name."""
    assert read(write(tmp_path, "a.eval", "a: 1"), kind="yaml") == {"a": 1}
    assert read(write(tmp_path, "b.eval", '{"a": 1}')) == {"a": 1}


def test_a_document_is_parsed_once_while_formats_look_for_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3-V6: several formats look into a file before one loads it; outside of that every reading sees the file anew."""
    path = write(tmp_path, "a.json", "[1]")
    texts: list[str] = []
    monkeypatch.setattr(reading, "json_value", lambda text: texts.append(text) or json.loads(text))
    with reading_once():
        assert read(path) is read(path)
        assert texts == ["[1]"]
        with pytest.raises(DocumentError):
            read(path, max_bytes=2)
    write(tmp_path, "a.json", "[2]")
    assert read(path) == [2]


def test_text_can_be_given(tmp_path: Path) -> None:
    """Text cut out of a file reads like a file."""
    assert parse("a: 1", "yaml") == {"a": 1}
    with pytest.raises(DocumentError) as caught:
        parse("\n{", "json")
    assert str(caught.value) == "2:2: expecting property name enclosed in double quotes"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('{"a": 1,}', "Remove the comma"),
        ("[1,\n]", "Remove the comma"),
        ('{"a" 1}', "Write a colon"),
        ('{"a": 1 "b": 2}', "Write a comma"),
        ("{a: 1}", "Write a key in double quotes"),
        ("{'a': 1}", "straight double quotes"),
        ('{"a": \u201cx\u201d}', "straight double quotes"),
        ('{"a": tru}', "Write a value: a text"),
        ('{"a": "x', "Close the text with a double quote"),
        ('{"a": "x\ny"}', "a line break inside of a text as \\n"),
        ('{"a": "\\q"}', "Write a backslash as two"),
        ("[1]]", "the bracket too many"),
        ('{"a": 1}\n{"a": 2}', "Remove what follows"),
        ("", "nothing is there"),
        ('{"a":\n', "the text ends here"),
        ("[1, // one\n2]", "Remove the comment"),
    ],
)
def test_a_slip_in_json_has_a_next_step(text: str, step: str) -> None:
    """Whoever wrote it is told what to write, not what the parser wanted."""
    with pytest.raises(DocumentError) as caught:
        parse(text, "json")
    (fault,) = caught.value.faults
    assert fault.hint is not None
    assert step in fault.hint


@pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])
@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("a: b: c", "with a colon and a space in quotes"),
        ("a:\n\t- b", "never tabs"),
        ("a: @x", "in quotes"),
        ("a: *x", "begins with *"),
        ("a: 'x", "Close the text"),
        ("a: [1, 2", "close the bracket"),
        ("a: {b: 1, c: [2}", "close the bracket"),
        ("a:\n  b: 1\n c: 2", "the same number of spaces"),
        ('a: "\\q"', "single quotes"),
    ],
)
def test_a_slip_in_yaml_has_a_next_step(monkeypatch: pytest.MonkeyPatch, text: str, step: str, pure: bool) -> None:
    """The same, whichever of the two parsers is there."""
    if pure:
        monkeypatch.delattr(yaml, "CSafeLoader")
        yaml_events.loader_class.cache_clear()
    try:
        with pytest.raises(DocumentError) as caught:
            parse(text, "yaml")
    finally:
        yaml_events.loader_class.cache_clear()
    (fault,) = caught.value.faults
    assert fault.hint is not None
    assert step in fault.hint


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            '{"a": 1,\n "a": 2, "b": {"c": 1, "c": 2}}', [("duplicate-key", "2:2"), ("duplicate-key", "2:24")]
        ),
        pytest.param('[{"a": 1}, {"a": 1}, {"b": {"a": 1}, "a": 1,\n"a": 2}]', [("duplicate-key", "2:1")]),
        pytest.param('{"\\u0061": 1, "a": 2}', [("duplicate-key", "1:15")], id="escaped key"),
        pytest.param("[1e999,\n NaN, -Infinity]", [("number", "1:2"), ("number", "2:2"), ("number", "2:7")]),
        pytest.param(
            '["a", "\\ud83d\\ude00",\n "\\ud800", {"\\udfff": 1}]', [("encoding", "2:2"), ("encoding", "2:13")]
        ),
        pytest.param("[0.5, " + "9" * 5000 + "]", [("number", "1:7")], id="too many digits"),
        pytest.param("[1,\n NaN60]", [("number", "2:2")], id="constant with more behind it"),
        pytest.param("[NaN, 1x]", [("number", "1:2")], id="constant before a syntax error"),
        pytest.param('{"a": 1,}', [("syntax", "1:9")]),
        pytest.param('{"a":\r\n 1,\r\n x}', [("syntax", "3:2")]),
        pytest.param("", [("syntax", "1:1")]),
        pytest.param('{"a": 1}}', [("syntax", "1:9")]),
        pytest.param('{"a": 1}\n{"a": 2}\n', [("multiple", "2:1")], id="JSON lines"),
        pytest.param("[" * DEEP, [("too-deep", "1:102")], id="100,000 brackets"),
        pytest.param('{"a":' * DEEP, [("too-deep", "1:502")], id="100,000 braces"),
        pytest.param('["]", ' + "[" * 101 + "]" * 101 + "]", [("too-deep", "1:107")], id="one level too many"),
        pytest.param(b'{"a":\n "\xe4"}', [("encoding", "2:3")], id="Latin-1"),
        pytest.param(b"\xff\xfe{\x00}\x00", [("encoding", "1:1")], id="UTF-16"),
        pytest.param('["a\0"]', [("encoding", "1:4")], id="NUL"),
    ],
)
def test_json_faults_have_places(tmp_path: Path, content: str | bytes, expected: list[tuple[str, str]]) -> None:
    """Every fault of a JSON file is reported with line and column."""
    assert refused(write(tmp_path, "a.json", content)) == expected


def test_deepest_nesting_is_accepted(tmp_path: Path) -> None:
    """The limit of the values is the limit of both readers."""
    for name in ("a.json", "a.yaml"):
        text = "[" * 101 + "]" * 101
        assert json.dumps(read(write(tmp_path, name, text))) == text


def test_used_up_stack_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a shallow text meets an exhausted stack, the error still carries a fault."""

    def exhausted(*_args: object, **_options: object) -> None:
        raise RecursionError

    monkeypatch.setattr(json, "loads", exhausted)
    with pytest.raises(DocumentError) as caught:
        json_text.json_value("[]")
    assert [fault.code for fault in caught.value.faults] == ["too-deep"]


def test_valid_file_is_not_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places cost nothing while nobody asks for one."""
    monkeypatch.setattr(json_text, "json_nodes", None)
    assert read(write(tmp_path, "a.json", "[1]")) == (1,)


YAML_FAULTS = [
    pytest.param("a: 1\nb: 2\na: 3\n", [("duplicate-key", "3:1")]),
    pytest.param("a: &x {k: 1, k: 2}\nb: *x\n", [("duplicate-key", "1:14")], id="fault behind an alias told once"),
    pytest.param("a: .nan\nb: [.inf]\n", [("number", "1:4"), ("number", "2:5")]),
    pytest.param("a: !!int x\nb: !!bool x\n", [("number", "1:4"), ("number", "2:4")]),
    pytest.param("a: " + "9" * 5000, [("number", "1:4")], id="too many digits"),
    pytest.param("a: [1, 0x" + "f" * 5000 + "]", [("number", "1:8")], id="too many hexadecimal digits"),
    pytest.param("a: 0b" + "1" * 20_000, [("number", "1:4")], id="too many binary digits"),
    pytest.param("a: [1,\nb: {2\n", [("syntax", "3:1")]),
    pytest.param("a:\n\t- b\n", [("syntax", "2:1")], id="tab"),
    pytest.param("a: \x07\n", [("syntax", "1:4")], id="control character"),
    pytest.param("a: *b\n", [("syntax", "1:4")], id="unknown alias"),
    pytest.param("a: 1\n---\nb: 2\n", [("multiple", "2:1")]),
    pytest.param("a: !!python/name:os.system x\nb: !!set {c}\n", [("syntax", "1:4"), ("syntax", "2:4")]),
    pytest.param("? [x]\n: 2\n<<: 3\n<<: [4]\n", [("syntax", "1:3"), ("syntax", "3:5"), ("syntax", "4:6")]),
    pytest.param("[" * DEEP, [("too-deep", "1:102")], id="100,000 brackets"),
    pytest.param("- " * DEEP + "x", [("too-deep", "1:203")], id="100,000 dashes"),
    pytest.param("\n".join(" " * n + "a:" for n in range(200)), [("too-deep", "102:102")], id="200 indents"),
    pytest.param("a: &a [1, *a]\n", [("alias", "1:4")], id="recursive"),
    pytest.param("a: &a {b: {c: *a}}\n", [("alias", "1:4")], id="recursive through mappings"),
    pytest.param(
        "a: &a ["
        + "1," * 10
        + "]\n"
        + "".join(f"b{n}: &{'b' * n} [" + f"*{'b' * (n - 1) or 'a'}," * 10 + "]\n" for n in range(1, 9)),
        [("alias", "1:1")],
        id="billion laughs",
    ),
    pytest.param(
        "a: &a " + "[" * 90 + "]" * 90 + "\nb: " + "[" * 50 + "*a" + "]" * 50, [("too-deep", "1:1")], id="deep by alias"
    ),
]


@pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "pure"])
@pytest.mark.parametrize(("content", "expected"), YAML_FAULTS)
def test_yaml_faults_have_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pure: bool, content: str, expected: list[tuple[str, str]]
) -> None:
    """Every fault of a YAML file is reported with line and column, with and without the C library."""
    yaml_events.loader_class.cache_clear()
    if pure:
        if len(content) >= DEEP:
            content = content[:5000]  # PyYAML's own scanner is quadratic in open brackets
        monkeypatch.delattr(yaml, "CSafeLoader")
    found = refused(write(tmp_path, "a.yaml", content))
    yaml_events.loader_class.cache_clear()
    if pure and expected[0][0] == "syntax":  # the two parsers notice some slips at different characters
        assert [code for code, _ in found] == [code for code, _ in expected]
    else:
        assert found == expected


def test_yaml_means_json_values(tmp_path: Path) -> None:
    """Dates stay text, keys stay as written, aliases and merges are resolved, an empty file is null."""
    text = """
    date: 2024-01-01
    on: yes
    1: 0x1F
    same: &same [a, {b: c}]
    again: *same
    base: &base {x: 1, y: 2}
    merged: {y: 3, <<: [*base, {x: 9, z: 4}]}
    plain: [~, null, 1.5, =, '<<', !!str 5]
    """
    assert read(write(tmp_path, "a.yaml", text)) == {
        "date": "2024-01-01",
        "on": True,
        "1": 31,
        "same": ("a", {"b": "c"}),
        "again": ("a", {"b": "c"}),
        "base": {"x": 1, "y": 2},
        "merged": {"x": 1, "y": 3, "z": 4},
        "plain": (None, None, 1.5, "=", "<<", "5"),
    }
    assert read(write(tmp_path, "b.yaml", "# nothing\n")) is None


def test_many_values_without_aliases_are_accepted(tmp_path: Path) -> None:
    """The limit on aliases does not limit what a file writes out itself."""
    text = "a: &a [1]\nb: *a\nc: [" + "1," * (MAX_ALIASED + 1) + "]\n"
    value = read(write(tmp_path, "a.yaml", text))
    assert isinstance(value, dict)
    assert len(value["c"]) == MAX_ALIASED + 1


def test_a_large_yaml_text_is_read_within_a_few_times_its_size() -> None:
    """R3-V8: no graph of all nodes is held, which took sixty times the size of the text."""
    text = "".join(f"- {{name: case {n}, prompt: write label {n}, tags: [a, b]}}\n" for n in range(2000))
    parse("a", "yaml")  # what is imported does not count
    tracemalloc.start()
    try:
        parse(text, "yaml")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 15 * len(text)


def test_unreadable_files(tmp_path: Path) -> None:
    """Whatever keeps a file from being read is a problem that names it, never another exception."""
    os.mkfifo(tmp_path / "pipe.json")
    assert refused(tmp_path / "absent.json") == [("missing", "")]
    assert refused(tmp_path) == [("missing", "")]
    with pytest.raises(DocumentError, match="is a folder"):
        read(tmp_path)
    assert refused(tmp_path / "pipe.json") == [("missing", "")]
    assert refused(tmp_path / ("x" * 300)) == [("missing", "")]


def test_size_is_bounded(tmp_path: Path) -> None:
    """A file one byte over the limit is refused, one at the limit is read."""
    path = write(tmp_path, "a.json", "[1, 2]")
    assert read(path, max_bytes=6) == (1, 2)
    assert refused(path, max_bytes=5) == [("too-large", "")]
    with pytest.raises(DocumentError) as raised:
        read(path, max_bytes=5)
    assert [fault.hint for fault in raised.value.faults] == ["Split it into several files."]


@pytest.mark.parametrize("name", ["large.json", "large.yaml"])
def test_one_limit_for_both_syntaxes(tmp_path: Path, name: str) -> None:
    """R3-V2: what is too large for YAML is too large for JSON."""
    path = tmp_path / name
    path.write_text(f'["{"x" * 5_000_000}"]')
    assert read(path) == ("x" * 5_000_000,)
    with path.open("r+b") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    assert refused(path) == [("too-large", "")]


@given(st.text(alphabet="a\n\r\u2028é", max_size=40), st.data())
def test_places_by_an_index_are_those_by_counting(text: str, data: st.DataObject) -> None:
    """R3-V1: the place of an offset does not depend on how it is found."""
    lines = Lines(text)
    for offset in data.draw(st.lists(st.integers(0, len(text)))):
        assert lines.place(offset) == place_at(text, offset)


# --- places -----------------------------------------------------------------------------------------------


def place(file: Path, *pointer: str | int) -> str:
    """The line:column found for a pointer."""
    found = places(file, [pointer])[pointer]
    return f"{found[0]}:{found[1]}" if found else ""


def test_places_in_json(tmp_path: Path) -> None:
    """Members are found at their keys, items at their beginning, absent things at the deepest container."""
    path = write(tmp_path, "x.json", '{"tasks":[{"id":"a"},\n {"id": "b",\n   "x" : [1,\n{"y":3}]}]}')
    assert place(path) == "1:1"
    assert place(path, "tasks") == "1:2"
    assert place(path, "tasks", 1) == "2:2"
    assert place(path, "tasks", 1, "x") == "3:4"
    assert place(path, "tasks", 1, "x", 1, "y") == "4:2"
    assert place(path, "tasks", 1, "absent", "z") == "2:2"
    assert place(path, "tasks", 7) == "1:2"


def test_places_in_yaml(tmp_path: Path) -> None:
    """As in JSON; what stands behind an alias is found at the alias or its anchor."""
    path = write(tmp_path, "x.yaml", "# top\nname: x\nlist:\n  - a\n  - b: 1\nbase: &b {k: 1}\nuse: *b\n")
    assert place(path) == "2:1"
    assert place(path, "name") == "2:1"
    assert place(path, "list", 1) == "5:5"
    assert place(path, "list", 1, "b") == "5:5"
    assert place(path, "base", "k") == "6:11"
    assert place(path, "use", "k") == "7:1"
    assert place(path, "absent") == "2:1"


def test_places_in_front_matter(tmp_path: Path) -> None:
    """A Markdown file's front matter is its first YAML document, whatever follows."""
    path = write(tmp_path, "SKILL.md", "---\nname: x\n---\n# Body: {x]\n")
    assert place(path, "name") == "2:1"


def test_syntax_is_guessed_for_other_names(tmp_path: Path) -> None:
    """A file of unknown ending is scanned as what it looks like."""
    assert place(write(tmp_path, "a.eval", '\n {"a":\n1}'), "a") == "2:3"
    assert place(write(tmp_path, "b.eval", "\na: 1"), "a") == "2:1"


def test_place_of_a_lost_file(tmp_path: Path) -> None:
    """A file that vanished, emptied or broke since it was read gives no place, or that of the nearest container."""
    assert place(tmp_path / "gone.json", "a") == ""
    assert place(write(tmp_path, "empty.json", " "), "a") == ""
    assert place(write(tmp_path, "empty.yaml", ""), "a") == ""
    assert place(write(tmp_path, "broken.yaml", "a: [\n"), "a") == ""
    assert place(write(tmp_path, "broken.json", '{"a": [1, "b\\'), "a", 0) == "1:8"
    assert place(write(tmp_path, "bad.json", '}],:{"\\x": 1, 5: 2, "k": 3}'), "\\x") == "1:6"


def test_changes_of_one_file_do_not_move_each_other(tmp_path: Path) -> None:
    """Each is made at its place; one whose text is not there changes nothing."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"x one\r\nx two\nx three\n")
    wanted = [(1, "one", "1"), (2, "two", "2222"), (3, "absent", "!")]
    texts = changed_texts(Change(str(file), line, 1, before, after) for line, before, after in wanted)
    assert texts == {file: ("x one\r\nx two\nx three\n", "x 1\r\nx 2222\nx three\n")}
    assert "+x 2222" in list(differences(texts))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(
    value=JSON_VALUES,
    gaps=st.lists(st.sampled_from(["", " ", "\n", "\r\n", "\t", "  \n "]), min_size=1),
    raw=st.booleans(),
)
def test_scan_agrees_with_a_writer_that_knows_its_places(value: object, gaps: list[str], raw: bool) -> None:
    """On random JSON with random blanks, the scan finds every value where a slow writer put it."""
    text = ""
    expected: dict[tuple[str | int, ...], int] = {}
    counter = 0

    def put(piece: str) -> int:
        nonlocal text, counter
        text += gaps[counter % len(gaps)]
        counter += 1
        start = len(text)
        text += piece
        return start

    def write_value(pointer: tuple[str | int, ...], item: object) -> None:
        if isinstance(item, dict):
            expected.setdefault(pointer, put("{"))
            for n, (key, inner) in enumerate(item.items()):
                if n:
                    put(",")
                expected[(*pointer, key)] = put(json.dumps(key, ensure_ascii=not raw))
                put(":")
                write_value((*pointer, key), inner)
            put("}")
        elif isinstance(item, list):
            expected.setdefault(pointer, put("["))
            for n, inner in enumerate(item):
                if n:
                    put(",")
                write_value((*pointer, n), inner)
            put("]")
        else:
            expected.setdefault(pointer, put(json.dumps(item, ensure_ascii=not raw)))

    write_value((), value)
    put("")
    found: dict[tuple[object, ...], int] = {}
    path: list[object] = []
    for depth, step, offset, _token in json_text.json_nodes(text):
        path[max(depth - 1, 0) :] = [step] if depth else []
        found[tuple(path)] = offset
    assert found == expected
    assert json_text.json_value(text) == freeze(value)


def test_half_a_pair_is_refused_without_libyaml_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own scanner lets such an escape pass, the values do not; libyaml calls it a syntax error."""
    path = write(tmp_path, "a.yaml", 'a: "\\ud800"\n"\\ud800": 1\n')
    assert [code for code, _ in refused(path)] == ["syntax"]
    yaml_events.loader_class.cache_clear()
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert refused(path) == [("encoding", "1:4"), ("encoding", "2:1")]
    yaml_events.loader_class.cache_clear()


@given(st.text(alphabet='{}[]:,"\\ \n1a-e.', max_size=60))
def test_readers_survive_any_text(text: str) -> None:
    """No text whatsoever makes a reader or a scan raise anything but faults."""
    list(json_text.json_nodes(text))
    list(yaml_places.yaml_nodes(text))
    kinds: tuple[Literal["json"], Literal["yaml"]] = ("json", "yaml")
    for kind in kinds:
        try:
            parse(text, kind)
        except DocumentError as error:
            if not error.faults:
                raise
