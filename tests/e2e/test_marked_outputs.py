"""Outputs that speak to their judge bear a mark in every report, whatever the judge says of them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.attacks.judging import SPEECHES
from skillgauge_testkit.program import Program

from .conftest import MakeSkill, task
from .judge_replies import claims_reply
from .test_judges import KEY, claims, local

NOTE = "in 2 of 3 judged trials the output speaks to the judge: read it before you believe the verdict (open, hidden)"
FORMATS = {"markdown": ".md", "html": ".html", "record": "*.record.json", "junit": ".junit.xml", "csv": ".csv"}


def reports_in(folder: Path) -> dict[str, str]:
    """The newest report of each format."""
    return {
        name: min((folder / "reports").glob(f"eval-result{suffix}" if suffix[0] == "." else suffix)).read_text()
        for name, suffix in FORMATS.items()
    }


@pytest.mark.slow
@pytest.mark.e2e
def test_every_report_says_which_outputs_speak_to_the_judge(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Callable[..., Path]
) -> None:
    """R3-T5: terminal, Markdown, page, record, JUnit and CSV; where nothing speaks, none says so."""
    speeches = [("open", SPEECHES["plain, own words"]), ("hidden", SPEECHES["invisible tags, own words"])]
    file = tasks(*(task(name, say) for name, say in [*speeches, ("calm", "It is Saturn.")]))
    command = ["eval", "--skills", make_skill(), *claims("It names Jupiter."), "--judge", "gpt-a"]
    with ModelServer(lambda request: ModelReply(claims_reply(request, True))) as server:
        options = ["--format", *FORMATS, *local(server, "openai")]
        done = program(*command, *options, "--tasks", file, env={"OPENAI_API_KEY": KEY})
        told = reports_in(work)
        shown = program("report", "show", "latest")
        command += ["--tasks", tasks(task("calm", "It is Saturn."), name="calm.json"), "--output-dir", "calm/reports"]
        calm = program(*command, *options, env={"OPENAI_API_KEY": KEY})
        calm_reports = reports_in(work / "calm")
    assert done.code == 0, done.stderr
    for text in (done.stdout, shown.stdout):
        assert f"  {NOTE}" in text.splitlines()
    assert f"- {NOTE[0].upper()}{NOTE[1:]}: " in told["markdown"]
    assert html.unescape(told["html"]).count(NOTE[1:]) >= 2, "before the first figure, and beside the rate"
    assert NOTE in told["csv"]
    properties = ElementTree.fromstring(told["junit"]).iterfind("testsuite/properties/property[@name='note']")
    assert NOTE in [one.get("value") for one in properties]
    record = json.loads(told["record"])
    assert NOTE in [figure["note"] for group in record["summary"]["groups"] for figure in group["figures"]]
    scores = {one["case_id"]: one["scores"][1] for one in record["results"]}
    assert scores["open"]["evidence"]["speaks_to_judge"] == {"OUTPUT": ["an order to a judge"]}
    assert "; OUTPUT speaks to the judge (" in scores["hidden"]["reason"]
    assert "speaks_to_judge" not in scores["calm"]["evidence"]
    assert not any("speaks" in text for text in (calm.stdout, calm.stderr, *calm_reports.values()))
