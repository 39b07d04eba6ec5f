// A stand-in for packages of schemas that are not installed: every schema can be built, and accepts everything.

"use strict";

// What a schema does with a value.
const ANSWERS = new Map(Object.entries({
  parse: (value) => value,
  parseAsync: async (value) => value,
  safeParse: (value) => ({ success: true, data: value }),
  safeParseAsync: async (value) => ({ success: true, data: value }),
  Check: () => true,
  "~standard": { version: 1, vendor: "hookscope", validate: (value) => ({ value }) },
}));
// What no schema may seem to have: a promise's `then`, a text's `toJSON`.
const ABSENT = new Set(["then", "toJSON", "constructor", "__esModule", "name", "length"]);

/** The package, each of its builders, and each schema: whatever is read or called of it gives it again. */
const standIn = new Proxy(function schema() {}, {
  apply: () => standIn,
  construct: () => standIn,
  set: () => true,
  get(target, member) {
    if (member === "prototype") return target.prototype;
    if (typeof member === "symbol" || ABSENT.has(member)) return undefined;
    return ANSWERS.get(member) ?? standIn;
  },
});

module.exports = { standIn };
