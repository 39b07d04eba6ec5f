// The debugger's part in the handlers' thread: it makes handlers stop as they start. Its other part is
// debugging.cjs, in the listening thread, because this thread is stopped meanwhile.

"use strict";

const { inspect } = require("node:util");
const { Bare } = require("./bare.cjs");
const { MET } = require("./points.cjs");

const { apply } = Reflect;
const { add } = Atomics;

const SAYS = "hookscopeSays"; // a function of the debugger's thread with which this thread reports something
const LOGGED = 4096; // characters of one log text
const COUNTS = {
  "==": (met, wanted) => met === wanted,
  ">": (met, least) => met > least,
  ">=": (met, least) => met >= least,
  "<": (met, most) => met < most,
  "<=": (met, most) => met <= most,
  "%": (met, every) => every > 0 && met % every === 0,
};

/** Makes handlers stop. */
class Stopping {
  constructor() {
    this.running = new Int32Array(new SharedArrayBuffer(4)); // handlers that have begun and not ended
    this.bare = new Bare();
  }

  /** Start the debugger in the listening thread, with the host's message. Resolves when it has started. */
  begin(thread, asked) {
    return new Promise((resolve) => {
      thread.once("message", () => resolve(answerConditions()));
      thread.postMessage({ running: this.running, asked });
    });
  }

  /** Return the function to call instead of a handler of that hook. The debugger steps from it into the handler. */
  around(target, who) {
    const { running } = this;
    return function begin(...args) {
      let begun = false; // the debugger reads this, and `who`
      void who;
      add(running, 0, 1);
      debugger;
      begun = true;
      return apply(target, this, args);
    };
  }

  /** Note that a handler has ended. */
  ended() {
    add(this.running, 0, -1);
  }
}

/** Install the function that breakpoints call to evaluate conditions, see points.cjs. It is found by a symbol. */
function answerConditions() {
  const says = globalThis[SAYS];
  delete globalThis[SAYS];
  const times = new Map(); // a point's number → how often its condition has held
  const notes = new Map(); // a point's number → a note about its condition
  /** True if the handler stops there. */
  const met = (number, text, condition, hits, log) => {
    notes.delete(number);
    try {
      if (condition && !condition()) return false;
    } catch (error) {
      notes.set(number, `its condition \`${text}\` raises ${inShort(error)}`);
    }
    times.set(number, (times.get(number) ?? 0) + 1);
    if (hits && !COUNTS[hits[0]](times.get(number), hits[1])) return false;
    if (!log.length) return true;
    const note = notes.has(number) ? ` (${notes.get(number)})` : "";
    says(JSON.stringify({ number, text: log.map(said).join("").slice(0, LOGGED) + note }));
    return false;
  };
  met.note = (numbers) => numbers.map((number) => notes.get(number)).find(Boolean) ?? "";
  Object.defineProperty(globalThis, Symbol.for(MET), { value: met });
}

function said(part) {
  try {
    const value = typeof part === "function" ? part() : part;
    return typeof value === "string" ? value : inspect(value, { depth: 4, breakLength: Infinity });
  } catch (error) {
    return `<${inShort(error)}>`;
  }
}

function inShort(error) {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${inspect(error)}`;
  } catch {
    return "an error";
  }
}

module.exports = { SAYS, Stopping };
