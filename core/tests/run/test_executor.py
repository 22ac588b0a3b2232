"""The executor of this process."""

from skillgauge.run.scheduling.executor import LocalExecutor
from skillgauge_testkit import check_executor


def test_contract() -> None:
    """It keeps the contract that every executor has."""
    check_executor(LocalExecutor)
