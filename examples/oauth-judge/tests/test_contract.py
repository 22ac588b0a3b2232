"""The contract of judges."""

from conftest import SECRET, Gateway

from skillgauge.api import JudgeRequest
from skillgauge_testkit import JUDGES, Maker, check_judge, check_light_import, check_plugin

MODULE = "acme_judge.plugin"


def test_judge(gateway: Gateway) -> None:
    """Questions end in an answer or an error, and the secret is in neither."""
    check_judge(
        lambda: Maker(JUDGES, MODULE)(gateway.options),
        good=JudgeRequest(system="Grade.", user="hello"),
        silent=JudgeRequest(system="Grade.", user="silent"),
        failing=JudgeRequest(system="Grade.", user="overloaded"),
        slow=JudgeRequest(system="Grade.", user="slow"),
        secret=SECRET,
    )


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "judges")
    check_light_import(MODULE, allowed=["skillgauge_model_client"])
