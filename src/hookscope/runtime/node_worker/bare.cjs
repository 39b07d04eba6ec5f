// Calls of handlers with nothing of ours around them that catches: a debugger can tell then which errors leave
// them, as they are thrown. They are caught where the process hears of them.

"use strict";

const { setImmediate: soon } = require("node:timers");

const { Promise: OwnPromise } = globalThis;
const { apply } = Reflect;
const { then } = OwnPromise.prototype;
const { get, set } = WeakMap.prototype;

/** Any number of calls at once. */
class Bare {
  constructor() {
    this.failed = null; // what the call that is being made ends with, should it throw
    this.ends = new WeakMap(); // promise → what ends the call that waits for it
  }

  /** What the function returns, or that comes to; called a moment later. Errors are told by `takes`. */
  call(called) {
    return new OwnPromise((resolve, reject) => {
      soon(() => {
        this.failed = reject;
        const returned = called();
        this.failed = null;
        if (returned instanceof OwnPromise) {
          apply(set, this.ends, [apply(then, returned, [resolve]), reject]);
        } else resolve(returned);
      });
    });
  }

  /** Does an error that nobody caught, of this promise or (without one) thrown, end one of these calls. */
  takes(error, promise) {
    const reject = promise ? apply(get, this.ends, [promise]) : this.failed;
    this.failed = promise ? this.failed : null;
    reject?.(error);
    return Boolean(reject);
  }
}

module.exports = { Bare };
