// Frames between host and worker, as ../python_worker/protocol.py says: 4 bytes of length, then JSON.

"use strict";

const fs = require("node:fs");
const net = require("node:net");

const LIMIT = 8 * 1024 * 1024; // bytes of one body; more is refused before it is read
const SPOILT = 81; // exit status of a worker whose line is gone: it cannot say anything any more
const PORTION = 65536;
const ALONE = 2000; // milliseconds after which a lock is taken from a thread that is gone

// Bound before any handler runs: what a handler puts in their place must not reach the protocol.
const { parse, stringify } = JSON;
const { writeSync, openSync, closeSync, constants } = fs;
const { wait, notify, compareExchange, store } = Atomics;
const { from, allocUnsafe, concat } = Buffer;
const { kill, reallyExit, pid } = process;
const { apply } = Reflect;
const { subarray } = Uint8Array.prototype;
const { writeUInt32BE } = Buffer.prototype;
const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Wait without giving way to any other code. */
function sleep(milliseconds) {
  wait(asleep, 0, 0, milliseconds);
}

/** Write all of it, also where the descriptor does not block. Throws where nobody reads any more. */
function writeAll(descriptor, bytes) {
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(descriptor, bytes, done, bytes.length - done);
    } catch (error) {
      if (error.code !== "EAGAIN" && error.code !== "EINTR") throw error;
      sleep(1);
    }
  }
}

/** End this process and its group, which is all that its handlers started. */
function endOfAll() {
  try {
    apply(kill, process, [-pid, "SIGKILL"]); // started as the leader of its own session
  } catch {
    // Not the leader, so there is no such group.
  }
  apply(reallyExit, process, [SPOILT]);
}

/**
 * The descriptor, closed for the programs that handlers start. Node sees to that for low numbers only;
 * what Node itself opens is closed for them always.
 */
function privately(descriptor, writes) {
  if (process.platform !== "linux") return descriptor;
  const flags = (writes ? constants.O_WRONLY : constants.O_RDONLY) | constants.O_NONBLOCK;
  try {
    const anew = openSync(`/proc/self/fd/${descriptor}`, flags);
    closeSync(descriptor);
    return anew;
  } catch {
    return descriptor; // no /proc
  }
}

/** Writes whole frames; `lock` (an Int32Array that threads share) keeps those of two threads apart. */
class Writer {
  constructor(descriptor, lock) {
    this.descriptor = descriptor;
    this.lock = lock;
  }

  /** Send a message, or end: without the protocol there is nothing left to do here. */
  say(message) {
    try {
      const body = apply(from, Buffer, [stringify(message), "utf8"]);
      if (body.length > LIMIT) throw new RangeError("a frame over the limit");
      const length = apply(allocUnsafe, Buffer, [4]);
      apply(writeUInt32BE, length, [body.length, 0]);
      const frame = apply(concat, Buffer, [[length, body]]);
      this.take();
      try {
        writeAll(this.descriptor, frame);
      } finally {
        this.leave();
      }
    } catch {
      apply(reallyExit, process, [SPOILT]);
    }
  }

  take() {
    while (compareExchange(this.lock, 0, 0, 1) !== 0) {
      if (wait(this.lock, 0, 1, ALONE) === "timed-out") return;
    }
  }

  leave() {
    store(this.lock, 0, 0);
    notify(this.lock, 0, 1);
  }
}

/** Bytes in any portions in, whole messages out. Throws for what is not a frame; that is the end. */
class Unpacker {
  constructor() {
    this.parts = [];
    this.size = 0;
  }

  feed(bytes) {
    const messages = [];
    this.parts.push(bytes);
    this.size += bytes.length;
    while (this.size >= 4) {
      const length = this.head().readUInt32BE(0);
      if (length > LIMIT) throw new RangeError("a frame over the limit");
      if (this.size < 4 + length) break;
      const all = this.parts.length === 1 ? this.parts[0] : concat(this.parts);
      messages.push(parse(all.toString("utf8", 4, 4 + length)));
      const rest = apply(subarray, all, [4 + length]);
      this.parts = rest.length ? [rest] : [];
      this.size = rest.length;
    }
    return messages;
  }

  head() {
    if (this.parts[0].length < 4) this.parts = [concat(this.parts)];
    return this.parts[0];
  }
}

/**
 * Call `hear` with each message that arrives, for ever; the end of the line is the end of all.
 * The socket is the only thing that keeps the event loop alive, so a promise that never settles waits.
 */
function listen(descriptor, hear) {
  const unpacker = new Unpacker();
  const socket = new net.Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.alloc(PORTION),
      callback(count, buffer) {
        try {
          for (const message of unpacker.feed(Buffer.from(buffer.subarray(0, count)))) hear(message);
        } catch {
          endOfAll();
        }
        return true;
      },
    },
  });
  socket.on("end", endOfAll);
  socket.on("error", endOfAll);
  socket.on("close", endOfAll);
  socket.resume();
  return socket;
}

module.exports = { writeAll, endOfAll, privately, Writer, listen };
