"""A filter of system calls: what namespaces do not confine.

The kernel's keyrings are shared by all processes of a user, and sockets of kinds other than those of a network
namespace reach the machine that this one runs on (`AF_VSOCK`), or the kernel. Both are refused.
"""

from __future__ import annotations

import errno
import platform
import struct
from functools import cache

from skillgauge_documents.immutables import immutable

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERROR = 0x00050000

_STEP = "=HBBI"  # struct sock_filter
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; both machines are little-endian
_FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}


@immutable
class _Machine:
    audit: int
    keyrings: tuple[int, ...]
    """Numbers of add_key, request_key, keyctl."""
    socket: int
    first_foreign: int | None = None
    """From this number on, calls are those of another calling convention."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, (248, 249, 250), 41, 0x40000000),
    "aarch64": _Machine(0xC00000B7, (217, 218, 219), 198),
}


def filter_program() -> bytes | None:
    """The filter as the kernel takes it, `None` on machines whose numbers are not known here."""
    machine = _MACHINES.get(platform.machine())
    return _program(machine) if machine else None


@cache
def _program(machine: _Machine) -> bytes:
    code = [_step(_LOAD, _MACHINE), _step(_EQUAL, machine.audit, 1, 0), _step(_RETURN, _KILL), _step(_LOAD, _NUMBER)]
    if machine.first_foreign is not None:
        code += [_step(_AT_LEAST, machine.first_foreign, 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    for number in machine.keyrings:
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    code += [_step(_EQUAL, machine.socket, 1, 0), _step(_RETURN, _ALLOW), _step(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES.values():
        code += [_step(_EQUAL, family, 0, 1), _step(_RETURN, _ALLOW)]
    return b"".join([*code, _step(_RETURN, _ERROR | errno.EAFNOSUPPORT)])


@cache
def numbers_of(program: bytes) -> tuple[str, ...]:
    """The numbers of a filter as text, four for each of its steps, as launchers take them."""
    return tuple(str(number) for step in struct.iter_unpack(_STEP, program) for number in step)


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack(_STEP, code, if_true, if_false, operand)
