// The handlers' side of the debugger: where they begin, it stops. Its other side is debugging.mjs, in the
// thread that listens, since this one stands meanwhile.

const { apply } = Reflect;

/** Have the listening thread watch over this one. Resolves when it does. */
export function beginDebugging(thread) {
  return new Promise((resolve) => {
    thread.once("message", resolve);
    thread.postMessage("debug");
  });
}

/** The function to call in place of a handler of that hook: the debugger steps from here into its first line. */
export function stopping(target, who) {
  return function begin(...args) {
    void who; // the debugger reads it here
    debugger;
    return apply(target, this, args);
  };
}
