// A line at which handlers stop, or say something, when its condition holds and it was met often enough. The
// inspector asks the condition where it runs, so that steps go on past it. The twin of ../python_worker/breakpoints.py.

"use strict";

const { Script } = require("node:vm");

const MET = "hookscope.met"; // the symbol under which stopping.cjs answers to conditions
let numbers = 0;

/** As the host asks for it: the number of a line, or that with what it wants. */
class Point {
  constructor(asked) {
    this.asked = asked;
    const { line, condition, hits, log = [] } = typeof asked === "number" ? { line: asked } : asked;
    this.line = line;
    this.number = numbers += 1;
    this.id = null; // the inspector's name for it
    this.at = 0; // where it stops
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

/** A function of an expression: it sees what stands around it. */
const later = (text) => `() => (${text}\n)`;

/** Why it is not an expression; empty where it is one. */
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
