// Frames between host and worker, see ../python_worker/protocol.py: 4 bytes of length, then JSON.

"use strict";

const fs = require("node:fs");
const net = require("node:net");

const LIMIT = 8 * 1024 * 1024; // bytes; a longer body is rejected before it is read
const SPOILT = 81; // exit status of a worker that has lost its line to the host
const PORTION = 65536;
const ALONE = 2000; // milliseconds after which the lock is taken from a thread that must have ended

// Bound before any handler runs, so that handlers cannot replace functions that the protocol uses.
const { parse, stringify } = JSON;
const { writeSync, openSync, closeSync, constants } = fs;
const { wait, notify, compareExchange, store } = Atomics;
const { allocUnsafe, byteLength, concat } = Buffer;
const { kill, reallyExit, pid } = process;
const { apply } = Reflect;
const { subarray } = Uint8Array.prototype;
const { write, writeUInt32BE } = Buffer.prototype;
const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Block this thread. */
function sleep(milliseconds) {
  wait(asleep, 0, 0, milliseconds);
}

/** Write all bytes, even to a non-blocking descriptor. Throws if the other end is closed. */
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

/** End this process and its group, with all processes of handlers in it. */
function endOfAll() {
  try {
    apply(kill, process, [-pid, "SIGKILL"]); // started as the leader of its own session
  } catch {
    // Not the leader, so there is no such group.
  }
  apply(reallyExit, process, [SPOILT]);
}

/**
 * Return the descriptor, reopened so that programs that handlers start do not inherit it. Node does that
 * for all descriptors that it opens itself, but otherwise only for low numbers.
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

/** Writes whole frames. `lock`, an Int32Array shared by threads, prevents that two threads mix them. */
class Writer {
  constructor(descriptor, lock) {
    this.descriptor = descriptor;
    this.lock = lock;
  }

  /** Send a message. Ends the process if that fails: a worker without its host is useless. */
  say(message) {
    this.sayText(stringify(message));
  }

  /** Send a message that is JSON already. */
  sayText(text) {
    try {
      const size = byteLength(text);
      if (size > LIMIT) throw new RangeError("a frame over the limit");
      const frame = apply(allocUnsafe, Buffer, [4 + size]);
      apply(writeUInt32BE, frame, [size, 0]);
      apply(write, frame, [text, 4]);
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

/** Turns bytes, received in portions of any size, into messages. Throws for invalid frames. */
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
 * Call `receive` with each message that arrives; end everything when the line is closed.
 * Only this socket keeps the event loop alive, so that a handler's promise may stay pending.
 */
function listen(descriptor, receive) {
  const unpacker = new Unpacker();
  const socket = new net.Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.alloc(PORTION),
      callback(count, buffer) {
        try {
          for (const message of unpacker.feed(Buffer.from(buffer.subarray(0, count)))) receive(message);
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
