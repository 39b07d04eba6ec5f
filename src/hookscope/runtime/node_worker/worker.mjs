// The worker: a program that runs JavaScript and TypeScript handlers, one at a time, for a Hookscope
// that supervises it. The twin of ../python_worker/worker.py.
//
//     node worker.mjs CACHE_DIR READ WRITE CONTROL
//
// READ, WRITE and CONTROL are the descriptors of the protocol; CACHE_DIR keeps compiled code, or is "".
// Descriptors 0, 1 and 2 belong to the handlers. It has no limits of its own: whoever started it kills
// it when a handler takes too long. When the host goes away, it ends itself and what its handlers started.

import module from "node:module";
import { Worker as Thread } from "node:worker_threads";
import { Calls } from "./calls.mjs";
import { endOfAll, listen, privately, Writer } from "./line.mjs";
import { replaceOutput } from "./output.mjs";
import { Runner } from "./runner.mjs";

/** Messages as they come, one at a time. */
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

/** Start the thread that listens while this one is busy. It keeps nothing alive. */
function startWatchdog(control, write, lock) {
  const thread = new Thread(new URL("./watchdog.mjs", import.meta.url), {
    name: "hookscope",
    workerData: { control, write, lock },
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  });
  thread.unref();
  thread.on("error", () => {}); // without it the host still has its limits
}

async function main([cache, read, write, control]) {
  if (cache) module.enableCompileCache(cache);
  const lock = new SharedArrayBuffer(4);
  const [inbox, line] = [new Inbox(), new Writer(privately(Number(write), true), new Int32Array(lock))];
  replaceOutput();
  process.argv.length = 1;
  Error.stackTraceLimit = 60;
  const calls = new Calls((who, error) => runner.late(who, error));
  const runner = new Runner(line, inbox, calls);
  listen(privately(Number(read), false), (message) => inbox.put(message));
  line.say({ ready: process.pid });
  startWatchdog(privately(Number(control), false), line.descriptor, lock);
  await runner.serve();
}

main(process.argv.slice(2)).catch(endOfAll);
