"""What a sheet says, and where."""

from pathlib import Path

import pytest

from skillgauge.api import Case, Check, LoadRequest, Suite, SuiteError, Target, locate
from skillgauge_testkit import FORMATS, Maker

make = Maker(FORMATS, "acme_cases.plugin")
HEADS = "acme cases,python3 answer.py\ncase,question,match,answer,tags\n"


def load(path: Path, text: str) -> Suite:
    """Write a sheet and load it."""
    path.write_text(text)
    (suite,) = make().load(LoadRequest(paths=(str(path),), cwd=str(path.parent))).suites
    return suite


def test_rows_become_cases_at_their_lines(tmp_path: Path) -> None:
    """A case stands where its row begins, its check where the answer does, also behind cells of several lines."""
    sheet = tmp_path / "shop.csv"
    suite = load(sheet, HEADS + 'one,"When,\nreally?",has,nine,\ntwo,Where?,is,Here.,map way\n')
    one, two = suite.cases
    assert one.input == {"question": "When,\nreally?"}
    assert (two.id, two.tags, two.checks[0].options) == ("two", ("map", "way"), {"value": "Here."})
    assert two.origin
    assert two.checks[0].origin
    assert str(locate(two.origin)) == f"{sheet}:5:1"
    assert str(locate(two.checks[0].origin)) == f"{sheet}:5:15"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEADS + "one,When?,is,\n,Where?,as,Here.\n", ["3:14 no answer", "4:1 no case", "4:9 not by 'as'"]),
        (HEADS + "one,a,is,b\none,c,is,d\n", ["4:1 comes twice"]),
        (HEADS.replace("answer,", "anser,") + "one,a,is,b\n", ["2:21 did you mean answer", "2:1 no column answer"]),
        (HEADS + 'one,"a,is,b\n', ["3:5 never ends"]),
        (HEADS + 'one,"a"b,is,c\n', ["3:8 after the closing quote"]),
        (HEADS, ["2:1 no case"]),
        ("acme cases\nx\ny\n", ["1:1 name a program"]),
        ("something,else\n", ["1:1 must be 'acme cases'"]),
    ],
)
def test_all_mistakes_are_told_with_their_places(tmp_path: Path, text: str, told: list[str]) -> None:
    """Each with line and column, all of a sheet at once."""
    sheet = tmp_path / "shop.csv"
    with pytest.raises(SuiteError) as caught:
        load(sheet, text)
    found = [(str(locate(one.origin)), one.message) for one in caught.value.problems if one.origin]
    assert len(found) == len(told), found
    for (place, message), expected in zip(found, told, strict=True):
        at, _, words = expected.partition(" ")
        assert place == f"{sheet}:{at}"
        assert words in message


def test_what_is_lost_is_said() -> None:
    """Of a suite from elsewhere, each thing that a sheet cannot say is named."""
    check = Check(id="shape", scorer="json-schema", options={"schema": {"type": "object"}})
    case = Case(id="one", input={"question": "When?"}, checks=(check,), weight=2.0)
    suite = Suite(id="s", format="other", root="/s", cases=(case,), targets=(Target(id="s", entrypoint="./s"),))
    told = [loss.message for loss in make().dump(suite).losses]
    assert told == [
        "case 'one': a sheet needs a question and an answer, both texts",
        "case 'one': of its checks a sheet can say one, whole answer or part of it, without options",
        "case 'one': weight is not kept as it is",
    ]
