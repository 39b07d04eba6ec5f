// Running functions of handlers, and knowing whose error it is that nobody caught.

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");

const { Promise: OwnPromise } = globalThis;
const { now } = performance;
const { apply } = Reflect;
const { run: runIn, getStore } = AsyncLocalStorage.prototype;

const OUTSIDE = "it was thrown where nothing awaits it: in a timer, a callback or a forgotten promise";

/** Tells calls apart, any number of them at once. `late(who, error)` hears of errors of calls that have ended. */
class Calls {
  constructor(late) {
    this.storage = new AsyncLocalStorage();
    this.late = late;
    this.bare = null; // where a debugger watches: calls that have their errors told here
    process.on("uncaughtException", (error) => this.escaped(error));
    process.on("unhandledRejection", (error, promise) => this.escaped(error, promise));
  }

  /**
   * Call it at once and await what it returns: {value} or {error}, and {took} in seconds. An error of
   * this very call that escapes ends it at once, with {outside: true}. `held` gets the call, to end it
   * from outside and to collect what it prints.
   */
  async run(who, called, held = null) {
    const began = apply(now, performance, []);
    const call = { who, isOpen: true, end: null, printed: held ? new Map() : null };
    if (held) held.call = call;
    const outcome = await new OwnPromise((resolve) => {
      call.end = (ended) => {
        if (!call.isOpen) return;
        call.isOpen = false;
        ended.took = (apply(now, performance, []) - began) / 1000; // others may run before this goes on
        resolve(ended);
      };
      apply(runIn, this.storage, [call, async () => {
        try {
          call.end({ __proto__: null, value: await called(), failed: false, outside: false });
        } catch (error) {
          call.end({ __proto__: null, error, failed: true, outside: false });
        }
      }]);
    });
    return outcome;
  }

  /** Keep what the present call prints, where it collects that. False where it does not. */
  keepPrinted(descriptor, chunk) {
    const call = apply(getStore, this.storage, []);
    if (!call?.isOpen || !call.printed) return false;
    const parts = call.printed.get(descriptor) ?? [];
    parts.push(chunk);
    call.printed.set(descriptor, parts);
    return true;
  }

  escaped(error, promise) {
    if (this.bare?.takes(error, promise)) return;
    const call = apply(getStore, this.storage, []);
    if (call?.isOpen) call.end({ __proto__: null, error, failed: true, outside: true });
    else this.late(call ? call.who : "", error);
  }
}

module.exports = { OUTSIDE, Calls };
