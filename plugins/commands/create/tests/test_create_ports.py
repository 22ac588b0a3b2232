"""Which port a new service gets."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skillgauge_command_create.ports import first_port, is_free, named_ports

PORTS = st.sets(st.integers(2990, 3110))


def test_documented_default() -> None:
    """With nothing in the way it is 3000."""
    assert first_port((), lambda _: True) == 3000


@given(named=PORTS, used=PORTS)
def test_first_that_nobody_has(named: set[int], used: set[int]) -> None:
    """It is the lowest port from 3000 on that is neither named nor used, and 3000 if a hundred are taken."""
    port = first_port(named, lambda one: one not in used)
    taken = named | used
    if set(range(3000, 3100)) <= taken:
        assert port == 3000
    else:
        assert port not in taken
        assert set(range(3000, port)) <= taken


def test_ports_of_neighbours(tmp_path: Path) -> None:
    """Entrypoints with a port count; those without, and files that are broken in any way, do not."""
    neighbours: dict[str, object] = {
        "a": {"entrypoint": "http://127.0.0.1:3000/invoke"},
        "b": {"entrypoint": "http://localhost:3007"},
        "c": {"entrypoint": "https://skills.example/invoke"},
        "d": {"entrypoint": "python3 skill.py"},
        "e": {"entrypoint": "http://127.0.0.1:99999/"},
        "f": {"entrypoint": 3000},
        "g": ["entrypoint"],
        "h": {},
    }
    for name, skill in neighbours.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "skill.json").write_text(json.dumps(skill))
    (tmp_path / "i").mkdir()
    (tmp_path / "i" / "skill.json").write_text("{")
    assert named_ports(tmp_path) == {3000, 3007}
    assert named_ports(tmp_path / "absent") == frozenset()


def test_a_port_is_free_until_somebody_listens() -> None:
    """A listening program is noticed, and that it has gone, too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)
