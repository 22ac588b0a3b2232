"""Cases that name a cluster: what is said of new cases rests on clusters, and every report says so."""

from __future__ import annotations

import json

import pytest

from .conftest import Scripted

pytestmark = pytest.mark.e2e


def test_an_eval_names_its_cluster(scripted: Scripted) -> None:
    """Ten evals of two templates are two: no interval for new cases, and the number stands beside every rate."""
    scripted.write(cases=10)
    file = scripted.work / "s/evals/evals.json"
    document = json.loads(file.read_text())
    for place, one in enumerate(document["evals"]):
        one["cluster"] = f"template {place % 2}"
    file.write_text(json.dumps(document))
    every = {str(one): "p" for one in range(1, 11)}
    done = scripted.evaluate(every, dict.fromkeys(every, "f"), "--format", "record", "markdown", "html", "csv")
    assert "helps on these cases: +100.0 points against without_skill (n = 10 cases in 2 clusters; " in done.verdict
    note = "the interval is over 2 clusters of its 10 cases, too few to tell much"
    assert note in done.stdout
    for name in ("md", "html", "csv"):
        assert note[1:] in (scripted.work / f"reports/eval-result.{name}").read_text(), name
    (record,) = scripted.work.glob("reports/run-*.record.json")
    written = json.loads(record.read_text())
    assert {group["pass_rate"]["clusters"] for group in written["summary"]["groups"]} == {2}
    evidence = written["summary"]["pairs"][0]["evidence"]
    assert (evidence["clusters"], evidence["interval"], evidence["is_general"]) == (2, None, False)
    assert {case["cluster"] for case in written["cases"]} == {"template 0", "template 1"}


@pytest.mark.slow
def test_naming_a_cluster_buys_no_session(scripted: Scripted) -> None:
    """It decides how results are counted, not what is executed or asked: recordings and comparisons still fit."""
    every = dict.fromkeys("1234", "p")
    scripted.evaluate(every, every)
    file = scripted.work / "s/evals/evals.json"
    document = json.loads(file.read_text())
    for one in document["evals"]:
        one["cluster"] = "all"
    file.write_text(json.dumps(document))
    scripted.evaluate(every, every)
    compared = scripted.program("report", "diff", "latest~1", "latest", "--json").document
    (skill,) = [skill for skill in compared["skills"] if skill["role"] == "candidate"]
    assert (skill["tasks"]["compared"], skill["tasks"]["changed"], skill["loss_seen"]) == (4, [], False)
