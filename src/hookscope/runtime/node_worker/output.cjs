// Standard output and error of the handlers: what they print is in the pipe when the call returns.
//
// Node's own streams keep what a pipe does not take at once, and lose it at process.exit; they also
// make the pipe non-blocking for everybody who shares it.

"use strict";

const fs = require("node:fs");
const { Writable } = require("node:stream");
const { writeAll } = require("./line.cjs");

const { from } = Buffer;
const { apply, defineProperty } = Reflect;

const { fstatSync } = fs;
const DESCRIPTORS = [1, 2];
const OUTPUTS = DESCRIPTORS.map(identity); // before any handler

function identity(descriptor) {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev}:${ino}`;
}

let keepPrinted = () => false; // takes what a call prints beside others

/** Let `keep(descriptor, bytes)` take what handlers print; it returns false for what it leaves. */
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
      // Closed by a handler, or nobody reads: what is printed then is lost, as on any system.
    }
    done();
  }

  _destroy(error, done) {
    done(error); // the descriptor stays: it belongs to the next handler too
  }
}

/** Tell apart what this call printed from what the next one prints. */
function putFence(fence) {
  const bytes = apply(from, Buffer, [fence, "latin1"]);
  try {
    for (const [at, descriptor] of DESCRIPTORS.entries()) {
      if (identity(descriptor) !== OUTPUTS[at]) return; // it leads elsewhere: a fence is not text for there
    }
    for (const descriptor of DESCRIPTORS) writeAll(descriptor, bytes);
  } catch {
    // Closed by a handler: then the host takes what is there.
  }
}

/** Put our streams in the place of Node's, before anything has asked for those. */
function replaceOutput() {
  for (const [name, descriptor] of [["stdout", 1], ["stderr", 2]]) {
    const value = new Output(descriptor);
    defineProperty(process, name, { value, writable: true, enumerable: true, configurable: true });
  }
  void console.log; // bound to them when it is first used
}

module.exports = { keepOutput, putFence, replaceOutput };
