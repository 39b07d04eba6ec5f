"""The command `hookscope`, and `python -m hookscope`."""

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line, and end the process with its exit code.

    Until the program is loaded, Ctrl-C ends the process silently.
    """
    gc.disable()  # until a command or the console is loaded: nothing that loads is garbage
    at_interrupt = signal.getsignal(signal.SIGINT)
    if at_interrupt is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _reopen_closed_streams()
    from hookscope.cli.startup import end_process, exit_code, use_ascii_fallbacks

    use_ascii_fallbacks(sys.stdout, sys.stderr)

    signal.signal(signal.SIGINT, at_interrupt or signal.SIG_DFL)
    ended = _handle_end_signals()
    code = exit_code(sys.argv[1:])
    end_process(128 + ended[0] if ended else code)


def _reopen_closed_streams() -> None:
    """Open closed standard streams on the null device, so that no other file gets their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)


def _handle_end_signals() -> list[int]:
    """Handle SIGTERM and SIGHUP like Ctrl-C: stop workers, remove copies, restore the terminal.

    Return a list that receives the signal's number when one arrives.
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
