// A stand-in for schema packages that are not installed: every schema can be built, and accepts every value.

"use strict";

// The methods of every schema.
const ANSWERS = new Map(Object.entries({
  parse: (value) => value,
  parseAsync: async (value) => value,
  safeParse: (value) => ({ success: true, data: value }),
  safeParseAsync: async (value) => ({ success: true, data: value }),
  Check: () => true,
  "~standard": { version: 1, vendor: "hookscope", validate: (value) => ({ value }) },
}));
// Members that a schema must not appear to have, such as a promise's `then` or a string's `toJSON`.
const ABSENT = new Set(["then", "toJSON", "constructor", "__esModule", "name", "length"]);

/** Stands for the package, each builder and each schema: reading a member or calling it returns the same object. */
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
