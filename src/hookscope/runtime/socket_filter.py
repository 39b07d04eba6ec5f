"""A system call filter for bubblewrap: handlers open no sockets but those of their own, empty network.

Neither a network namespace nor a read-only disk keeps a process from a service that listens on a Unix socket
at a path it can see, or from a virtual machine's host (vsock). So `socket` makes internet and netlink sockets
only. Pairs of connected Unix sockets, which programs talk through with their children, stay: such a stream
cannot be connected anew. Kernel keyrings belong to the user and not to a namespace, and io_uring opens
sockets without the calls named here: neither is available.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterator, Sequence

from hookscope.values import dataclass

FAMILIES = (2, 10, 16)  # of Linux: IPv4, IPv6, and netlink, which lists a namespace's own interfaces
STREAMS = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET. A datagram socket of a pair could be sent elsewhere
TYPE = 0xF  # of a type, without its flags
FOREIGN = 0x40000000  # x32 calls of a 64-bit kernel carry this bit

# Of linux/bpf_common.h and linux/seccomp.h
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data, little-endian
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000


@dataclass(frozen=True, slots=True)
class Calls:
    """An architecture's number, and the numbers of its system calls."""

    architecture: int
    socket: int
    socketpair: int
    absent: tuple[int, ...]  # add_key, request_key, keyctl, io_uring_setup


MACHINES = {
    "x86_64": Calls(0xC000003E, 41, 53, (248, 249, 250, 425)),
    "aarch64": Calls(0xC00000B7, 198, 199, (217, 218, 219, 425)),
    "riscv64": Calls(0xC00000F3, 198, 199, (217, 218, 219, 425)),
}


def socket_filter(machine: str = "") -> bytes:
    """Return the filter for a machine, this one by default, as `bwrap --seccomp` reads it.

    It is empty where the numbers of its system calls are not known here.
    """
    calls = MACHINES.get(machine or os.uname().machine)
    if calls is None or sys.byteorder != "little":
        return b""
    return b"".join(_program(calls))


def _program(calls: Calls) -> Iterator[bytes]:
    yield _step(LOAD, ARCHITECTURE)
    yield _step(JUMP_EQUAL, calls.architecture, 1, 0)
    yield _step(RETURN, KILL)  # a program for another architecture has other numbers
    yield _step(LOAD, NUMBER)
    yield _step(JUMP_AT_LEAST, FOREIGN, 0, 1)
    yield _step(RETURN, FAIL | errno.ENOSYS)
    for number in calls.absent:
        yield _step(JUMP_EQUAL, number, 0, 1)
        yield _step(RETURN, FAIL | errno.ENOSYS)
    yield from _only(calls.socket, [_step(LOAD, FIRST)], FAMILIES)
    yield from _only(calls.socketpair, [_step(LOAD, SECOND), _step(AND, TYPE)], STREAMS)
    yield _step(RETURN, ALLOW)


def _only(call: int, load: Sequence[bytes], allowed: Sequence[int]) -> Iterator[bytes]:
    """The call passes with these values, and fails with EACCES otherwise."""
    yield _step(JUMP_EQUAL, call, 0, len(load) + len(allowed) + 2)
    yield from load
    for number, value in enumerate(allowed):
        yield _step(JUMP_EQUAL, value, len(allowed) - number, 0)
    yield _step(RETURN, FAIL | errno.EACCES)
    yield _step(RETURN, ALLOW)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One struct sock_filter."""
    return struct.pack("<HBBI", code, yes, no, value)
