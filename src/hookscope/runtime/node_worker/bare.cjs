// Calls handlers without a `catch` of ours around them, so that a debugger notices which errors leave them as they
// are thrown. The errors are caught by the handlers of uncaught errors.

"use strict";

const { setImmediate: soon } = require("node:timers");

const { Promise: OwnPromise } = globalThis;
const { apply } = Reflect;
const { then } = OwnPromise.prototype;
const { get, set } = WeakMap.prototype;

/** Any number of calls at once. */
class Bare {
  constructor() {
    this.failed = null; // ends the current synchronous call if it throws
    this.ends = new WeakMap(); // promise → function that ends the waiting call
  }

  /** Call the function a moment later. Resolves to its awaited result. Errors arrive through `takes`. */
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

  /** If an uncaught error, thrown or of this promise, belongs to one of these calls, end that and return true. */
  takes(error, promise) {
    const reject = promise ? apply(get, this.ends, [promise]) : this.failed;
    this.failed = promise ? this.failed : null;
    reject?.(error);
    return Boolean(reject);
  }
}

module.exports = { Bare };
