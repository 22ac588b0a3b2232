"""The executor of this process."""

import pytest

from skillgauge.run.scheduling.executor import LocalExecutor
from skillgauge_testkit import check_executor


@pytest.mark.slow
def test_contract() -> None:
    """It keeps the contract that every executor has."""
    check_executor(LocalExecutor)
