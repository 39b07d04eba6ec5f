// Runs handlers, and assigns uncaught errors to their calls.

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");

const { Promise: OwnPromise } = globalThis;
const { now } = performance;
const { apply } = Reflect;
const { run: runIn, getStore } = AsyncLocalStorage.prototype;

const OUTSIDE = "it was thrown outside the handler's `await`: in a timer, a callback or an unawaited promise";

/** Runs any number of concurrent calls. `late(who, error)` receives errors of calls that have ended. */
class Calls {
  constructor(late) {
    this.storage = new AsyncLocalStorage();
    this.late = late;
    this.bare = null; // with a debugger: calls whose errors arrive here
    process.on("uncaughtException", (error) => this.escaped(error));
    process.on("unhandledRejection", (error, promise) => this.escaped(error, promise));
  }

  /**
   * Call the function and await its result. Return {value} or {error}, and {took} in seconds. An uncaught error of
   * this call ends it at once, with {outside: true}. `holder.call` is set to the call, so that it can be ended and
   * its output collected.
   */
  async run(who, called, holder = null) {
    const began = apply(now, performance, []);
    const call = { who, isOpen: true, end: null, printed: holder ? new Map() : null };
    if (holder) holder.call = call;
    const outcome = await new OwnPromise((resolve) => {
      call.end = (ended) => {
        if (!call.isOpen) return;
        call.isOpen = false;
        ended.took = (apply(now, performance, []) - began) / 1000; // other code may run before this continues
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

  /** Collect output of the current call. Return false if the call does not collect its output. */
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
