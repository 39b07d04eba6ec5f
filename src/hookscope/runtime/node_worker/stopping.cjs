// The handlers' side of the debugger: where they begin, it stops. Its other side is debugging.cjs, in the
// thread that listens, since this one stands meanwhile.

"use strict";

const { Bare } = require("./bare.cjs");

const { apply } = Reflect;
const { add } = Atomics;

/** Makes handlers stop. */
class Stopping {
  constructor() {
    this.running = new Int32Array(new SharedArrayBuffer(4)); // handlers that have begun and not ended
    this.bare = new Bare();
  }

  /** Have the listening thread watch over this one, as the host's message has it. Resolves when it does. */
  begin(thread, asked) {
    return new Promise((resolve) => {
      thread.once("message", resolve);
      thread.postMessage({ running: this.running, asked });
    });
  }

  /** The function to call in place of a handler of that hook: it is stepped from here into its first line. */
  around(target, who) {
    const { running } = this;
    return function begin(...args) {
      let begun = false; // the debugger reads it here, and `who`
      void who;
      add(running, 0, 1);
      debugger;
      begun = true;
      return apply(target, this, args);
    };
  }

  /** A handler has ended. */
  ended() {
    add(this.running, 0, -1);
  }
}

module.exports = { Stopping };
