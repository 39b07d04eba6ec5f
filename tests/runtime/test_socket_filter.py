"""The filter of system calls: which sockets it lets a handler open, on each processor that it knows."""

import struct

import pytest

from hookscope.runtime.sandbox import MACHINES, socket_filter

ALLOWED, DENIED, ABSENT, KILLED = 0x7FFF0000, 0x50000 | 13, 0x50000 | 38, 0x80000000
UNIX, IPV4, IPV6, NETLINK, VSOCK, BLUETOOTH = 1, 2, 10, 16, 40, 31
STREAM, DATAGRAM, SEQUENCE, CLOSE_ON_EXEC = 1, 2, 5, 0o2000000


def judged(program: bytes, number: int, architecture: int, *arguments: int) -> int:
    """What the kernel would do with a call, as linux/seccomp.h describes its filters."""
    words = [word for value in (*arguments, *[0] * 6)[:6] for word in (value & 0xFFFFFFFF, value >> 32)]
    data = struct.pack("<IIQ12I", number, architecture, 0, *words)
    steps = list(struct.iter_unpack("<HBBI", program))
    value = at = 0
    while True:
        code, yes, no, constant = map(int, steps[at])
        at += 1
        match code:
            case 0x20:
                value = int(struct.unpack_from("<I", data, constant)[0])
            case 0x54:
                value &= constant
            case 0x15:
                at += yes if value == constant else no
            case 0x35:
                at += yes if value >= constant else no
            case 0x06:
                return constant
            case _:
                raise AssertionError(f"no such step: {code:#x}")


@pytest.mark.parametrize("machine", MACHINES)
def test_only_internet_sockets_and_streams_between_relatives_are_opened(machine: str) -> None:
    program, calls = socket_filter(machine), MACHINES[machine]
    for family in (IPV4, IPV6, NETLINK):
        assert judged(program, calls.socket, calls.architecture, family, STREAM) == ALLOWED
    for family in (UNIX, VSOCK, BLUETOOTH, 0, 2**32 + UNIX):
        assert judged(program, calls.socket, calls.architecture, family, STREAM) == DENIED
    for kind in (STREAM, SEQUENCE, STREAM | CLOSE_ON_EXEC):
        assert judged(program, calls.socketpair, calls.architecture, UNIX, kind) == ALLOWED
    for kind in (DATAGRAM, DATAGRAM | CLOSE_ON_EXEC, 3):
        assert judged(program, calls.socketpair, calls.architecture, UNIX, kind) == DENIED
    for number in calls.absent:
        assert judged(program, number, calls.architecture) == ABSENT
    for number in (0, 1, 3, 60, 400):
        assert judged(program, number, calls.architecture, UNIX) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_with_the_numbers_of_another_processor_do_not_pass(machine: str) -> None:
    program, calls = socket_filter(machine), MACHINES[machine]
    for other in {one.architecture for one in MACHINES.values()} - {calls.architecture} | {0x40000003}:
        assert judged(program, calls.socket, other, IPV4) == KILLED
    assert judged(program, 0x40000000 | calls.socket, calls.architecture, IPV4) == ABSENT


@pytest.mark.parametrize("machine", ["sparc64", "i686", "ppc64le"])
def test_there_is_no_filter_for_a_processor_that_is_not_known(machine: str) -> None:
    assert socket_filter(machine) == b""
