"""Frames between the host and a worker: a 4-byte big-endian length, then one JSON object or a short message.

Both processes run this file. It does no I/O and does not interpret events. The messages:

From host to worker
    {"do": "load", "id", "code"}            Load a handler and run nothing.
    {"do": "settings", "value"}             The host's settings, for plugins loaded from now on.
    {"do": "run", "id", "fence", "quiet", "know": [[n, call]], "calls": [n], "view", "hook", "arguments"}
                                            Run these calls in order on one view of the event.
    {"do": "run", …, "together": true, "calls": [call], "views": [view]}
                                            Run these calls at the same time, each on the view with its
                                            number.
    {"do": "debug", "begin", "errors", "lines": {file: [point]}}
                                            Sent once, before anything is loaded: debug handlers
                                            (debugger.py).
    {"do": "word", "word", …}               A command for the handler that has stopped in the debugger.
                                            Resume it: "next", "step", "out", "on", "off". Or query it:
                                            "frame"
                                            with "at"; "line" with "file", "line" and "condition"; "evaluate"
                                            with "text"; "members" with "path" and "of_module"; it stays
                                            stopped.
                                            At any time: "lines" with "file" and "lines", "errors" with "at",
                                            "pause".
    {"do": "rest", "id"}                    Is background work of the last run's handlers still running?
    {"do": "stack", "id"}                   The running call is over its limit: end it, or report its stack.
                                            For calls that run at the same time, "call" is the call's number.
From worker to host
    {"ready": pid, "clock": seconds}        Sent once. "clock" is the worker's perf_counter, which may be the
                                            host's clock too.
    {"id", "loaded": seconds, "error", "dirty", "files", "module"}
                                            Answers "load". "error" is None if the handler is loaded.
    {"id", "started": n, "loaded": seconds} Call n starts; importing its handler took this many seconds.
    {"id", "result": n, "status", "phase", "took", "loaded", "returned", "error", "stale", "view", "notes",
     "dirty", "worn", "left", "shared", "files", "printed", "next"}
                                            Call n ended. "view" only if it differs from the previous one;
                                            of a HookEvent, at least its members that differ.
    {"id", "rest": text}                    Answers "rest"; empty if no background work is running.
    {"id", "stack": [frame]}                Answers "stack", for a handler that keeps running.
    {"stop": {"why", "who", "error", "note", "frames", "at", "lines", "variables", "named", "said", "failed",
              "members"}}                   A handler stopped in the debugger and waits for a command.
    {"bound": {"file", "lines": [[n, at]], "wrong": [[n, text]]}}
                                            The line at which each requested breakpoint stops, 0 for none; and
                                            why the rejected ones are invalid.
    {"logged": {"who", "file", "line", "text"}}
                                            The text of a log breakpoint.
    {"late": {"who", "error"}}              An error of a call that has ended. Comes at any time.
    {"late": {"who", "text", "adds"}}       The same in words. With "adds", {"name", "row"}: the module with
                                            that content name registered another handler.

"stack" and "word" arrive on the third descriptor. In "stop":
    "why" is "begin" (first line), "breakpoint" (`breakpoint()`), "line" (a breakpoint of the user), "step",
    "pause" or "error". "frames" are the frames of the author's code, outermost first; "at" is the selected
    one. "lines" [[number, text]], "variables" [[name, text]] and "named", the lines with breakpoints,
    belong to the selected frame. "said" (with "failed": it is an error) and "members" [[name, text, has
    members, type]] answer the last command. "note" is about a condition. A path is a list of member numbers,
    starting at the variables, or with "of_module" at those of the module.
A point (breakpoint) is a line number, or {"line", "condition", "hits", "log"}: an expression; [comparison,
n] for the number of hits; texts to log instead of stopping, alternating with expressions.
"errors", of "debug" and of the command "errors", are those "leaving" a handler, those "raised" anywhere in
its author's code, or "none".

A result omits empty members ("loaded", "error", "stale", "notes", "files", "left", "returned"), false ones,
"took" if it is 0, and "status" and "phase" if they are "ok" and "run".

A `call` is {"who", "code", "env", "fault"}. The host sends each call of an ordered run once, under a
number, in "know"; a number that is sent again replaces the old call.

A `code` is {"path", "export", "root", "name", "shared", "plain", "shape", "member", "beside"}; in "load" it
has "env" too. `name` identifies one content of the root folder; `shared` identifies one content of the
files outside it, which "files" lists. `shape` and `member` select the function of the module to call, see
model/run.py. `beside` is [{"kind", "name", "path"}], definitions that its handlers may use. A `module` is
None, or {"declares": [{"key", "member", "priority", "limit", "options"}], "log": [{"level", "text"}]}. A
frame is {"file", "line", "function", "source", "column"}. An `error` is {"type", "message", "frames"}, see
safe_values.describe_exception. `stale` is the error of a version that did not load, if an older version ran
instead.

`dirty`: the process could not be restored, so the host replaces it. `worn`: the host replaces it too, but
no handler is at fault. After any other result the worker continues by itself. `next`: the next call starts
immediately, because its handler is loaded. A result with `next` may wait in the pipe for the following
results for a millisecond; a worker with a bell does not ring it for such a result. Before a result with
`printed`, the worker writes the `fence` to both outputs: the call's output ends there. Without `printed`,
the call has printed nothing. The worker can tell this only until `quiet`, a perf_counter time before which
the host reads no output. `left` describes the threads and processes of the call that still run; `shared`:
some of an earlier call were running during this call, and their output may appear as this call's.
`fault` is {"fault", "amount"} to run an injected fault in place of the handler (model/failure.py). `hook`:
the view is a HookEvent's document. `arguments`: it is a document of two arguments (model/payload.py).
Otherwise handlers get the view itself. Messages of calls that run at the same time are interleaved; they
have no `next`, and only the last result has `dirty`, `worn` and `left`.
A short message is SHORT and then the run's id. It means one of:
    BEGUN  {"id", "started": n, "loaded": seconds}
    ENDED  {"id", "result": n, "took": seconds}
    NEXT   {"id", "result": n, "took": seconds, "next": true}
The ID is random, so that bytes that a handler writes by mistake are not taken for an answer.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from struct import Struct
from typing import Any

Message = dict[str, Any]

LENGTH = Struct(">I")
SHORT = Struct(">BId")  # kind, number, seconds
BEGUN, ENDED, NEXT = 1, 2, 3  # the kinds; no JSON text begins with these bytes
MAX_BODY = 8 * 1024 * 1024  # bytes; a longer body is rejected before it is read
LINE_LOST = 81  # exit status of a worker that cannot reach its host any more


class ProtocolError(Exception):
    """The received bytes are not a frame: the other side must be ended, because it cannot be trusted."""


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Bound before any handler runs: a handler that replaces parts of `json` must not reach the protocol.
# ASCII output keeps lone surrogates. `JSONEncoder.encode` would create the C encoder for each message.
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_make: Any = getattr(json.encoder, "c_make_encoder", None)  # None if the interpreter has no C encoder
_ascii = json.encoder.encode_basestring_ascii
_chunks = _make and _make(None, _encoder.default, _ascii, None, ":", ",", False, False, False)
_join, _len = "".join, len
_short_frame = Struct(LENGTH.format + SHORT.format[1:])
_KINDS = tuple(bytes([kind]) for kind in (BEGUN, ENDED, NEXT))
_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode  # skips no white space: nobody sends any


def encode(value: Any) -> str:
    """Return JSON. Raises ValueError for NaN, TypeError for other types, RecursionError for cycles."""
    return _join(_chunks(value, 0)) if _chunks is not None else _encoder.encode(value)


def decode(text: str) -> Any:
    """Return the value of a JSON text without white space around it. Raises ValueError or RecursionError."""
    value, end = _decode(text)
    if end != _len(text):
        raise ValueError("there is more behind the JSON")
    return value


def pack(message: Message) -> bytes:
    """Return one frame. Raises as `encode`, and ValueError for a body over MAX_BODY."""
    return frame_of(encode(message))


def frame_of(text: str) -> bytes:
    """Return the frame of an ASCII JSON text. Raises ValueError if it is over MAX_BODY."""
    body = text.encode("ascii")
    if len(body) > MAX_BODY:
        raise ValueError(f"the frame has {len(body):,} bytes; the limit is {MAX_BODY:,}")
    return LENGTH.pack(len(body)) + body


def short_frame(kind: int, run: str, number: int, seconds: float) -> bytes:
    """Return the frame of a short message."""
    return _short_frame.pack(SHORT.size + _len(run), kind, number, seconds) + run.encode("ascii")


def _parse_object(body: bytes) -> Message:
    try:
        message = decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the frame is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"the frame is a {type(message).__name__}, not an object")
    return message


def _parse_short(body: bytes) -> Message:
    try:
        kind, number, seconds = SHORT.unpack_from(body)
        run = str(body[SHORT.size :], "ascii")
    except (struct.error, ValueError) as error:
        raise ProtocolError(f"the short frame is invalid: {error}") from None
    if kind == BEGUN:
        return {"id": run, "started": number, "loaded": seconds}
    if kind == NEXT:
        return {"id": run, "result": number, "took": seconds, "next": True}
    return {"id": run, "result": number, "took": seconds}


class Unpacker:
    """Turns bytes, received in portions of any size, into messages."""

    def __init__(self) -> None:
        self._partial = bytearray()  # the beginning of an incomplete message

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the complete messages. Raises ProtocolError after the last valid one; do not feed more."""
        if self._partial:
            self._partial += data
            size = len(self._partial)
            if size < LENGTH.size or size < LENGTH.size + self._length(self._partial, 0):
                return
            data, self._partial = bytes(self._partial), bytearray()
        at, size, head = 0, len(data), LENGTH.size
        while size - at >= head:
            begin = at + head
            end = begin + self._length(data, at)
            if size < end:
                break
            body = data[begin:end]
            yield _parse_short(body) if body[:1] in _KINDS else _parse_object(body)
            at = end
        if at < size:
            self._partial += data[at:]

    def _length(self, data: bytes | bytearray, at: int) -> int:
        (length,) = LENGTH.unpack_from(data, at)
        if length > MAX_BODY:
            raise ProtocolError(f"the frame announces {length:,} bytes; the limit is {MAX_BODY:,}")
        return int(length)
