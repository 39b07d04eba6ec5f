// Running one function of a handler's at a time, and knowing whose error it is that nobody caught.

import { AsyncLocalStorage } from "node:async_hooks";

const { Promise: OwnPromise } = globalThis;
const { now } = performance;
const { apply } = Reflect;
const { run: runIn, getStore } = AsyncLocalStorage.prototype;

export const OUTSIDE = "it was thrown where nothing awaits it: in a timer, a callback or a forgotten promise";

/** Tells calls apart. `late(who, error)` hears of errors of calls that have ended. */
export class Calls {
  constructor(late) {
    this.storage = new AsyncLocalStorage();
    this.current = null;
    this.late = late;
    process.on("uncaughtException", (error) => this.escaped(error));
    process.on("unhandledRejection", (error) => this.escaped(error));
  }

  /**
   * Call it and await what it returns: {value} or {error}, and {took} in seconds. An error of this
   * very call that escapes ends it at once, with {outside: true}.
   */
  async run(who, called) {
    const began = apply(now, performance, []);
    const outcome = await new OwnPromise((resolve) => {
      const call = { who, resolve };
      this.current = call;
      apply(runIn, this.storage, [call, async () => {
        try {
          resolve({ __proto__: null, value: await called(), failed: false, outside: false });
        } catch (error) {
          resolve({ __proto__: null, error, failed: true, outside: false });
        }
      }]);
    });
    this.current = null;
    return { __proto__: null, ...outcome, took: (apply(now, performance, []) - began) / 1000 };
  }

  escaped(error) {
    const call = apply(getStore, this.storage, []);
    if (call && call === this.current) call.resolve({ __proto__: null, error, failed: true, outside: true });
    else this.late(call ? call.who : "", error);
  }
}
