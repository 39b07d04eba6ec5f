// A breakpoint: a line at which handlers stop, or log something, depending on a condition and a hit count. The
// inspector evaluates the condition in place, so that stepping still works. See ../python_worker/breakpoints.py.

"use strict";

const { Script } = require("node:vm");

const MET = "hookscope.met"; // symbol of the function in stopping.cjs that evaluates conditions
let numbers = 0;

/** A breakpoint as the host requests it: a line number, or an object of the protocol. */
class Point {
  constructor(asked) {
    this.asked = asked;
    const { line, condition, hits, log = [] } = typeof asked === "number" ? { line: asked } : asked;
    this.line = line;
    this.number = numbers += 1;
    this.id = null; // its ID in the inspector
    this.at = 0; // the line at which it stops; 0: nowhere
    this.isPlain = !condition && !hits && !log.length;
    this.wrong = [condition, ...log.filter((_, place) => place % 2)].map(faultOf).find(Boolean) ?? "";
    const parts = log.map((text, place) => (place % 2 ? later(text) : JSON.stringify(text)));
    const given = [this.number, JSON.stringify(condition ?? ""), condition ? later(condition) : "null"];
    const met = `globalThis[Symbol.for("${MET}")]`;
    this.condition = this.isPlain ? "" : `${met}(${given.join(", ")}, ${JSON.stringify(hits ?? null)}, [${parts.join(", ")}])`;
  }

  isAs(asked) {
    return JSON.stringify(this.asked) === JSON.stringify(asked);
  }
}

/** A function of an expression, which can use the surrounding variables. */
const later = (text) => `() => (${text}\n)`;

/** Why the text is not an expression; empty if it is one. */
function faultOf(text) {
  if (!text) return "";
  try {
    new Script(`(${text}\n)`);
    return "";
  } catch (error) {
    return `\`${text}\` is not an expression of JavaScript: ${error.message}`;
  }
}

module.exports = { MET, Point };
