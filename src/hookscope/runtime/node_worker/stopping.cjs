// The handlers' side of the debugger: where they begin, it stops. Its other side is debugging.cjs, in the
// thread that listens, since this one stands meanwhile.

"use strict";

const { inspect } = require("node:util");
const { Bare } = require("./bare.cjs");
const { MET } = require("./points.cjs");

const { apply } = Reflect;
const { add } = Atomics;

const SAYS = "hookscopeSays"; // what the debugger's thread lends to this one, to tell it something
const LOGGED = 4096; // characters of what one line says at once
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

  /** Have the listening thread watch over this one, as the host's message has it. Resolves when it does. */
  begin(thread, asked) {
    return new Promise((resolve) => {
      thread.once("message", () => resolve(answerConditions()));
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

/** Have conditions of lines asked here, see points.cjs: by a function that they find under a symbol. */
function answerConditions() {
  const says = globalThis[SAYS];
  delete globalThis[SAYS];
  const times = new Map(); // a point's number → how often its condition has held
  const notes = new Map(); // a point's number → what there is to say of its condition
  /** Does it stop there. */
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
