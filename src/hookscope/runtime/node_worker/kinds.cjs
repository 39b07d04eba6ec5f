// Names the kind of any value, even of hostile ones. Never throws.

"use strict";

const { inspect, types } = require("node:util");

const LONG = 80;
const TEXT = 16 * 1024; // characters of a message

const SHORT = {
  customInspect: false,
  getters: false,
  depth: 1,
  maxArrayLength: 8,
  maxStringLength: TEXT,
  breakLength: Infinity,
};
const { getPrototypeOf, getOwnPropertyDescriptor } = Reflect;

/** The kind of a value: "string", "function", or the name of its class. */
function kindOf(value) {
  if (value === null) return "null";
  if (typeof value === "bigint") return "BigInt";
  if (typeof value !== "object") return typeof value;
  if (types.isProxy(value)) return "Proxy";
  for (let step = getPrototypeOf(value), far = 0; step && far < 100; step = getPrototypeOf(step), far += 1) {
    if (types.isProxy(step)) return "Proxy";
    const made = getOwnPropertyDescriptor(step, "constructor")?.value;
    if (typeof made !== "function" || types.isProxy(made)) continue;
    const name = getOwnPropertyDescriptor(made, "name")?.value;
    if (typeof name === "string" && name) return name.slice(0, LONG);
  }
  return "object";
}

/** Return a kind with its article: an Error, a Map. */
function one(kind) {
  return `${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind}`;
}

/** Truncate a long text, and append the number of omitted characters. */
function cut(text) {
  const rest = text.length - TEXT;
  return rest > 0 ? `${text.slice(0, TEXT)}… (${rest.toLocaleString("en-US")} characters omitted)` : text;
}

/** Return a value as text: a string itself, everything else as the console shows it. */
function safeText(value) {
  if (typeof value === "string") return cut(value);
  try {
    return cut(inspect(value, SHORT));
  } catch {
    return `<${kindOf(value)} whose text cannot be read>`;
  }
}

module.exports = { TEXT, kindOf, one, cut, safeText };
