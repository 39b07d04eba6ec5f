"""The command `hookscope`, and `python -m hookscope`."""

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Load the program and run it, ready for whatever started it and for whoever stops it."""
    at_interrupt = signal.getsignal(signal.SIGINT)
    if at_interrupt is signal.default_int_handler:  # while it loads, Ctrl-C ends it without a word
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _open_what_is_closed()
    from hookscope.cli.startup import end_process, exit_code, use_ascii_fallbacks

    use_ascii_fallbacks(sys.stdout, sys.stderr)

    signal.signal(signal.SIGINT, at_interrupt or signal.SIG_DFL)
    ended = _stop_as_by_hand()
    code = exit_code(sys.argv[1:])
    end_process(128 + ended[0] if ended else code)


def _open_what_is_closed() -> None:
    """Standard input, output and error, where they are closed, hold nothing; no file takes their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)


def _stop_as_by_hand() -> list[int]:
    """Asked to end, or left by the terminal, we stop as at Ctrl-C: workers, copies and terminal are seen to.

    The list gets the signal's number once that happens.
    """
    ended: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        ended.append(number)
        signal.raise_signal(signal.SIGINT)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)
    return ended


if __name__ == "__main__":
    main()
