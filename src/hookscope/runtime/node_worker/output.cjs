// Standard output and error of the handlers: their output is in the pipe when the call returns.
//
// Node's own streams buffer what does not fit into the pipe, and lose it at process.exit. They also
// make the pipe non-blocking for other processes that share it.

"use strict";

const fs = require("node:fs");
const { Writable } = require("node:stream");
const { writeAll } = require("./line.cjs");

const { from } = Buffer;
const { apply, defineProperty } = Reflect;

const { fstatSync } = fs;
const DESCRIPTORS = [1, 2];
const OUTPUTS = DESCRIPTORS.map(identity); // as they were before any handler

function identity(descriptor) {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev}:${ino}`;
}

let keepPrinted = () => false; // takes the output of concurrent calls

/** Pass the output of handlers to `keep(descriptor, bytes)`; if it returns false, the output is written. */
function keepOutput(keep) {
  keepPrinted = keep;
}

class Output extends Writable {
  constructor(descriptor) {
    super({ decodeStrings: false, emitClose: false, autoDestroy: false });
    this.fd = descriptor;
    this._type = "pipe";
    this._isStdio = true;
  }

  _write(chunk, encoding, done) {
    try {
      const bytes = typeof chunk === "string" ? apply(from, Buffer, [chunk, encoding]) : chunk;
      if (!keepPrinted(this.fd, bytes)) writeAll(this.fd, bytes);
    } catch {
      // Closed by a handler, or the reader is gone: the output is lost, as usual.
    }
    done();
  }

  _destroy(error, done) {
    done(error); // the descriptor stays open for the next handler
  }
}

/** Separate the output of this call from that of the next one. */
function putFence(fence) {
  const bytes = apply(from, Buffer, [fence, "latin1"]);
  try {
    for (const [at, descriptor] of DESCRIPTORS.entries()) {
      if (identity(descriptor) !== OUTPUTS[at]) return; // it is another file now, which must not contain fences
    }
    for (const descriptor of DESCRIPTORS) writeAll(descriptor, bytes);
  } catch {
    // Closed by a handler: the host takes what is there.
  }
}

/** Replace Node's streams by ours, before they are used. */
function replaceOutput() {
  for (const [name, descriptor] of [["stdout", 1], ["stderr", 2]]) {
    const value = new Output(descriptor);
    defineProperty(process, name, { value, writable: true, enumerable: true, configurable: true });
  }
  void console.log; // its first use binds it to our streams
}

module.exports = { keepOutput, putFence, replaceOutput };
