"""Alarms for code that is stuck."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from types import FrameType

import pytest

from skillgauge.plugins.deadlines import Overdue, alarm

NOTHING = (0.0, 0.0)


@pytest.fixture(autouse=True)
def nobody_elses() -> Iterator[None]:
    """No timer before a test, and none that it leaves."""
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    timer = signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    assert signal.setitimer(signal.ITIMER_REAL, *timer) == NOTHING
    signal.signal(signal.SIGALRM, before)


def spin() -> None:
    """Be stuck, for a minute at most."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize("waits", [(0.05, 0.1), (0.1, 0.05), (0.05, 0.05)], ids=["in turn", "crossed", "at once"])
def test_alarms_that_overlap_leave_none(waits: tuple[float, float]) -> None:
    """Whichever ends first, nothing is armed afterwards that would ring in the middle of a run."""

    async def wait(seconds: float) -> None:
        with alarm(40):
            await asyncio.sleep(seconds)
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 30

    async def both() -> None:
        await asyncio.gather(*map(wait, waits))
        assert signal.getitimer(signal.ITIMER_REAL) == NOTHING

    asyncio.run(both())


def test_an_alarm_rings_for_its_own_call_after_another_has_ended() -> None:
    """A call that is stuck after the others have ended is ended, and no other one."""
    ended: list[str] = []

    async def stuck() -> None:
        with alarm(0.3):
            await asyncio.sleep(0.1)
            ended.append("stuck")
            spin()

    async def quick() -> None:
        with alarm(0.2):
            await asyncio.sleep(0.05)
        ended.append("quick")

    async def both() -> None:
        first, second = await asyncio.gather(stuck(), quick(), return_exceptions=True)
        assert (str(first), second) == ("no end after 0.3 s", None)

    asyncio.run(both())
    assert ended == ["quick", "stuck"]


def test_the_first_that_is_due_rings_whoever_was_set_first() -> None:
    """An alarm within another one of more time keeps its own time, and so does one of less time."""
    with alarm(60):
        with pytest.raises(Overdue, match=r"0\.05 s"), alarm(0.05):
            spin()
        with pytest.raises(Overdue, match=r"0\.1 s"), alarm(0.1), alarm(60):
            spin()


def test_who_waits_while_another_blocks_is_not_ended() -> None:
    """It is given a moment more, in which it can be cancelled."""

    async def waiting(blocked: asyncio.Event) -> str:
        with alarm(0.2):
            await blocked.wait()
            return "goes on"

    async def blocking(blocked: asyncio.Event) -> None:
        with pytest.raises(Overdue), alarm(0.2):
            spin()
        blocked.set()

    async def both() -> list[str | None]:
        blocked = asyncio.Event()
        return await asyncio.gather(waiting(blocked), blocking(blocked))

    assert asyncio.run(both()) == ["goes on", None]


def test_what_somebody_else_has_set_comes_back() -> None:
    """A timer and a handler of the program around."""

    def others(_number: int, _frame: FrameType | None) -> None:
        """Never called."""

    signal.signal(signal.SIGALRM, others)
    signal.setitimer(signal.ITIMER_REAL, 50, 2)
    with alarm(30), alarm(20):
        assert signal.getitimer(signal.ITIMER_REAL)[0] < 21
    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, 0)
    assert (left_s > 45, interval_s) == (True, 2)
    assert signal.signal(signal.SIGALRM, signal.SIG_IGN) is others
