"""Frames between host and worker: a 4-byte big-endian length, then one JSON object, or a short message.

Both processes run this file. It does no I/O and knows no event. What the messages say:

host to worker
    {"do": "load", "id", "code"}            load a handler, run nothing
    {"do": "settings", "value"}             its host's settings, for plugins that are loaded from here on
    {"do": "run", "id", "fence", "quiet", "know": [[n, call]], "calls": [n], "view", "hook", "arguments"}
                                            run these in order on one view of the event
    {"do": "run", …, "together": true, "calls": [call], "views": [view]}
                                            run these at once, each on the view of its number
    {"do": "debug", "begin", "errors", "lines": {file: [point]}}
                                            once, before anything is loaded: handlers stop, see debugging.py
    {"do": "word", "word", …}               of the debugger's user, to the handler that has stopped: "next",
                                            "step", "out", "on", "off"; or "frame" with "at", "line" with
                                            "file", "line" and "condition", "evaluate" with "text",
                                            "members" with "path": then it is asked again. At any time:
                                            "lines" with "file" and "lines", "errors" with "at", "pause"
    {"do": "rest", "id"}                    does anything still run that the handlers of the last run left
    {"do": "stack", "id"}                   the running call is over its limit: end it, or say where it is;
                                            of those that run together it is "call", a number
worker to host
    {"ready": pid, "clock": seconds}        once; "clock" where its perf_counter may go like the host's
    {"id", "loaded": seconds, "error", "dirty", "files", "module"}
                                            the answer to load; "error" is None where it is loaded
    {"id", "started": n, "loaded": seconds} call n begins; this many seconds went into importing it
    {"id", "result": n, "status", "phase", "took", "loaded", "returned", "error", "stale", "view", "notes",
     "dirty", "worn", "left", "shared", "files", "printed", "next"}
                                            call n ended; "view" only where it differs from the one before
    {"id", "rest": text}                    the answer to rest, in words; empty where nothing does
    {"id", "stack": [frame]}                the answer to stack, of a handler that goes on
    {"stop": {"why", "who", "error", "note", "frames", "at", "lines", "variables", "named", "said", "failed",
              "members"}}                   a handler has stopped, and waits for a word
    {"bound": {"file", "lines": [[n, at]], "wrong": [[n, text]]}}
                                            of lines that were named: where it stops, or 0 where nowhere;
                                            of those that cannot be had as they are wanted: why not
    {"logged": {"who", "file", "line", "text"}}
                                            what a line was to say came by
    {"late": {"who", "error"}}              an error of a call that has ended; comes at any time
    {"late": {"who", "text", "adds"}}       else in words; with "adds", {"name", "row"}, where
                                            the module of that content declares one more

"stack" and "word" come over the third descriptor. Of a stop "why" is "begin" (its first line), "breakpoint",
"line" (one that was named), "step", "pause" or "error"; "frames" are those of its author's code, outermost
first, and "at" the chosen one; "lines" [[number, text]], "variables" [[name, text]] and "named", numbers of
lines, are that one's; "said" ("failed": it is an error) or "members", [[name, text, has it members]], answers
the last word; "note" is what there is to say of a condition. A point is the number of a line, or {"line",
"condition", "hits", "log"}: an expression; [comparison, n] with how often that has held; and texts to say in
place of a stop, with an expression between each two of them. A path is numbers of members, from the variables
on. Errors, of "debug" and of "errors" with "at", are those "leaving" a handler, those "raised" anywhere in
its author's code, or "none".

Of a result, what is empty may be left out: "loaded", "error", "stale", "notes", "files", "left", "returned",
and each that is false; "took" where it is 0; "status" and "phase" where they are "ok" and "run".

A `call` is {"who", "code", "env", "fault"}. Of those that run in order the worker is told each once, under a
number, in "know"; a number that comes again there stands for the new one.

A `code` is {"path", "export", "root", "name", "shared", "plain", "shape", "member", "beside"}, for load with
"env"; a `name` stands for one content of the root folder, and `shared` for one of the files outside of it,
which are those that "files" names. `shape` and `member` say what of the module is called, see model/run.py;
`beside` is [{"kind", "name", "path"}], definitions that its handlers may ask about. A `module` is None, or
{"declares": [{"key", "member", "priority", "limit", "options"}], "log": [{"level", "text"}]}. A frame is
{"file", "line", "function", "source", "column"}. `stale` is the error of a version that did not load, where
an older one ran in its place. An `error` is {"type", "message", "frames"}, as faults.describe gives it.
`dirty` says that the process could not be put back as it was: the host replaces it; so does `worn`, which is
nobody's fault. Behind a result that is neither, the worker goes on by itself; `next` says that the next call
begins at once, since it is loaded. A result with `next` may wait in the line for those after it, for a
millisecond of theirs: a worker that has a bell does not ring it then. Before a result that says `printed` the
worker prints the `fence` to both outputs: what lies before it is the call's. Without it the call has printed
nothing; that can be told up to the moment `quiet` (of perf_counter), before which the host reads no output.
`left` says in words what of its threads and processes still runs, and `shared` whether something of that kind
ran beside the call, and may have printed what seems to be the call's.
`fault` is {"fault", "amount"} where a fault shall stand in the handler's place (model/failure.py), else it is
not there.
`hook` says that the view is a HookEvent's document, `arguments` that it is one of two arguments (see
model/payload.py); otherwise handlers get the view itself. Of calls that run together, messages come between
each other, `next` is not said, and the last result alone tells of the process: `dirty`, `worn`, `left`.
A short message says one of these, in the bytes of SHORT and then the id:
    BEGUN  {"id", "started": n, "loaded": seconds}
    ENDED  {"id", "result": n, "took": seconds}
    NEXT   {"id", "result": n, "took": seconds, "next": true}
The id is random, so that bytes which a handler wrote by mistake are not taken for an answer.
"""

from __future__ import annotations

import json
import struct
from struct import Struct
from typing import Any, Dict, Iterator  # noqa: UP035  (an alias is no annotation: 3.9 needs Dict)

Message = Dict[str, Any]  # noqa: UP006

LENGTH = Struct(">I")
SHORT = Struct(">BId")  # which of these it says, the number, the seconds
BEGUN, ENDED, NEXT = 1, 2, 3  # no JSON begins so
LIMIT = 8 * 1024 * 1024  # bytes of one body; more is refused before it is read
SPOILT = 81  # exit status of a worker whose line is gone, so that it cannot say anything any more


class Garbled(Exception):
    """What arrived is no frame. The other side cannot be trusted any further: end it."""


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Bound before any handler runs: one that replaces json.dumps must not reach the protocol.
# ASCII, so that lone surrogates survive. What `encode` would make for each message is made once.
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_decoder = json.JSONDecoder(parse_constant=_refuse)
_make: Any = getattr(json.encoder, "c_make_encoder", None)  # None where the interpreter has no such
_ascii = json.encoder.encode_basestring_ascii
_chunks = _make and _make(None, _encoder.default, _ascii, None, ":", ",", False, False, False)
_scan: Any = getattr(_decoder, "scan_once")  # noqa: B009  (it is public, and its type does not say so)
_join, _len = "".join, len
_short_frame = Struct(LENGTH.format + SHORT.format[1:])
_SHORTS = tuple(bytes([what]) for what in (BEGUN, ENDED, NEXT))


def encode(value: Any) -> str:
    """As JSON. Raises ValueError for NaN, TypeError for what JSON lacks, RecursionError for cycles."""
    return _join(_chunks(value, 0)) if _chunks is not None else _encoder.encode(value)


def decode(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, or RecursionError."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    return value if end == _len(text) else _decoder.decode(text)  # spaces around it, or what it complains of


def pack(message: Message) -> bytes:
    """One frame. Raises ValueError for NaN and for a body over LIMIT, TypeError for what JSON lacks."""
    return framed(encode(message))


def framed(text: str) -> bytes:
    """The frame of a JSON text of ASCII alone. Raises ValueError for one over LIMIT."""
    body = text.encode("ascii")
    if len(body) > LIMIT:
        raise ValueError(f"a frame of {len(body):,} bytes; the limit is {LIMIT:,}")
    return LENGTH.pack(len(body)) + body


def short(what: int, run: str, number: int, seconds: float) -> bytes:
    """The frame of a short message."""
    return _short_frame.pack(SHORT.size + _len(run), what, number, seconds) + run.encode("ascii")


def _as_object(body: bytes) -> Message:
    try:
        message = decode(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Garbled(f"a frame that is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise Garbled(f"a frame that holds a {type(message).__name__} where an object belongs")
    return message


def _told_short(body: bytes) -> Message:
    try:
        what, number, seconds = SHORT.unpack_from(body)
        run = str(body[SHORT.size :], "ascii")
    except (struct.error, ValueError) as error:
        raise Garbled(f"a short frame that is none: {error}") from None
    if what == BEGUN:
        return {"id": run, "started": number, "loaded": seconds}
    if what == NEXT:
        return {"id": run, "result": number, "took": seconds, "next": True}
    return {"id": run, "result": number, "took": seconds}


class Unpacker:
    """Bytes in any portions in, whole messages out."""

    def __init__(self) -> None:
        self._bytes = bytearray()  # the beginning of a message

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are complete now. Raises Garbled behind the last good one; that is the end."""
        if self._bytes:
            self._bytes += data
            if len(self._bytes) < LENGTH.size or len(self._bytes) < LENGTH.size + self._length(
                self._bytes, 0
            ):
                return
            data, self._bytes = bytes(self._bytes), bytearray()
        at, size, head = 0, len(data), LENGTH.size
        while size - at >= head:
            begin = at + head
            end = begin + self._length(data, at)
            if size < end:
                break
            body = data[begin:end]
            yield _told_short(body) if body[:1] in _SHORTS else _as_object(body)
            at = end
        if at < size:
            self._bytes += data[at:]

    def _length(self, data: Any, at: int) -> int:
        (length,) = LENGTH.unpack_from(data, at)
        if length > LIMIT:
            raise Garbled(f"a frame says {length:,} bytes; the limit is {LIMIT:,}")
        return int(length)
