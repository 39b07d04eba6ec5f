// Starts the worker: connects its line to the host, its inbox, its runner and its watchdog.

"use strict";

const { Worker: Thread } = require("node:worker_threads");
const { Calls } = require("./calls.cjs");
const { endOfAll, listen, privately, Writer } = require("./line.cjs");
const { keepOutput, replaceOutput } = require("./output.cjs");
const { keepOwn } = require("./own.cjs");
const { Runner } = require("./runner.cjs");

/** A queue of messages. */
class Inbox {
  constructor() {
    this.waiting = [];
    this.wanted = null;
  }

  put(message) {
    if (!this.wanted) {
      this.waiting.push(message);
      return;
    }
    const wanted = this.wanted;
    this.wanted = null;
    wanted(message);
  }

  next() {
    if (this.waiting.length) return this.waiting.shift();
    return new Promise((resolve) => {
      this.wanted = resolve;
    });
  }
}

/** Start the thread that listens while this one is busy. It does not keep the process alive. */
function startWatchdog(control, write, lock) {
  const thread = new Thread(require.resolve("./watchdog.cjs"), {
    name: "hookscope",
    workerData: { control, write, lock },
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  });
  thread.unref();
  thread.on("error", () => {}); // without it, the host can still end this process
  return thread;
}

/** Serve until the host goes away. */
async function main(read, write, control) {
  const lock = new SharedArrayBuffer(4);
  const [inbox, line] = [new Inbox(), new Writer(privately(Number(write), true), new Int32Array(lock))];
  keepOwn();
  replaceOutput();
  process.argv.length = 1;
  Error.stackTraceLimit = 60;
  const calls = new Calls((who, error) => runner.late(who, error));
  keepOutput((descriptor, bytes) => calls.keepPrinted(descriptor, bytes));
  const runner = new Runner(line, inbox, calls);
  listen(privately(Number(read), false), (message) => inbox.put(message));
  line.say({ ready: process.pid });
  runner.watchdog = startWatchdog(privately(Number(control), false), line.descriptor, lock);
  await runner.serve().catch(endOfAll);
}

module.exports = { main };
