"""Nothing of a case gets lost in silence, whatever fields cases have."""

from __future__ import annotations

import pytest

from skillgauge.api import Case, FileSpec, Suite
from skillgauge_command_convert.differences import unnamed_losses

FACTS = sorted(set(Case.model_fields) - {"checks", "extras", "origin"})
"""All but what is compared part by part, and where a case was written."""
BEFORE = Case(id="one", prompt="Count.", input=1)
FILES = (FileSpec(path="a.txt", text="a"),)


@pytest.mark.parametrize("fact", FACTS)
def test_each_fact_that_a_case_loses_is_told(fact: str) -> None:
    """A field that comes to cases later is compared without anybody listing it."""
    lost = FILES if fact.endswith("files") else "something"
    case = BEFORE.model_copy(update={fact: lost})
    suites = (Suite.model_construct(id="s", root="/", cases=(one,)) for one in (case, BEFORE))
    told = [loss.message for loss in unnamed_losses(*suites, named=[])]
    assert len(told) == 1
    assert fact.replace("_", " ") in told[0]
