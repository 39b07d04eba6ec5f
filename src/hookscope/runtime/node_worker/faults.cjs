// An error as data: its type, its text, and its frames in the handler's own code.
//
// The counterpart of ../python_worker/safe_values.py. JavaScript can throw any value: a string, null, or an
// object that throws at any access.

"use strict";

const { types } = require("node:util");
const { framesOf, isOurs, placeBefore, Sources } = require("./frames.cjs");
const { adviceOf } = require("./missing.cjs");
const { ClassHandler } = require("./picking.cjs");
const { Unsupported } = require("./sources.cjs");
const { cut, kindOf, safeText } = require("./kinds.cjs");

const LISTED = 8; // errors of an AggregateError
const { isPrototypeOf } = Object.prototype;
const { apply } = Reflect;
const { stringify } = JSON;

/** {type, message, frames, plain?, chain}; outermost frame first, without our own. Never throws. */
function describe(error) {
  try {
    const stack = isError(error) ? memberOf(error, "stack") : "";
    const text = typeof stack === "string" ? stack : "";
    const at = error instanceof Unsupported ? error.place : placeBefore(text);
    const frames = framesOf(text);
    if (at && !isOurs(at.file) && !frames.some((frame) => frame.file === at.file && frame.line === at.line)) {
      frames.push(new Sources().frame(at.file, at.line, at.column, "", at.source));
    }
    const [message, plain] = [`${messageOf(error)}${adviceOf(error)}`, plainOf(error)];
    const own = plain === message ? {} : { plain };
    return { type: typeOf(error), message, frames, ...own, chain: chainOf(error) };
  } catch { // perhaps no memory is left
    return { type: kindOf(error), message: kindOf(error), frames: [] };
  }
}

/** True if the value is an error or inherits from Error. */
function isError(value) {
  if (types.isNativeError(value)) return true;
  try {
    return value !== null && typeof value === "object" && apply(isPrototypeOf, Error.prototype, [value]);
  } catch {
    return false;
  }
}

function memberOf(value, name) {
  try {
    return value[name];
  } catch {
    return undefined;
  }
}

/** The name of its class; for a plain Error the name that it was given. */
function typeOf(error) {
  const kind = kindOf(error);
  if (kind !== "Error") return kind;
  const name = memberOf(error, "name");
  return typeof name === "string" && name.trim() ? name.slice(0, 80) : kind;
}

/** The text of an error, or its type if there is none. Never empty. */
function wordsOf(error) {
  const text = isError(error) ? memberOf(error, "message") : textOfObject(error);
  const words = typeof text === "string" ? cut(text.replace(/\nRequire stack:\n[^]*$/, "")) : safeText(text);
  if (text !== undefined && words.trim()) return words;
  return typeOf(error);
}

/** A string itself; an object's message, if it has one; else the object as the console shows it. */
function textOfObject(value) {
  if (typeof value === "string") return value;
  const isObject = value !== null && typeof value === "object" && !types.isProxy(value);
  const message = isObject ? memberOf(value, "message") : undefined;
  return typeof message === "string" && message.trim() ? message : safeText(value);
}

function messageOf(error) {
  const words = `${wordsOf(error)}${listedIn(error)}`;
  const cause = isError(error) ? memberOf(error, "cause") : undefined;
  if (cause === undefined) return words;
  return `${words} (caused by ${withType(cause)})`;
}

/** The text that a host logs: an error's message, or String(value). */
function plainOf(error) {
  const text = isError(error) ? memberOf(error, "message") : error;
  try {
    return cut(error instanceof ClassHandler ? error.plain : String(text));
  } catch { // String() throws
    return wordsOf(error);
  }
}

/** The messages of an error and of its causes; for another value, its text. */
function chainOf(error) {
  const chain = [];
  let step = error;
  while (isError(step) && chain.length < LISTED) {
    const words = memberOf(step, "message");
    chain.push(typeof words === "string" && words ? cut(words) : typeOf(step));
    step = memberOf(step, "cause");
  }
  if (chain.length === 0 || typeof step === "string") chain.push(printed(step));
  return chain;
}

/** A string itself, an object as JSON, everything else as String(value). */
function printed(value) {
  if (typeof value === "string") return cut(value);
  try {
    return cut((typeof value === "object" && value !== null && stringify(value)) || String(value));
  } catch {
    return safeText(value);
  }
}

function withType(error) {
  const [type, words] = [typeOf(error), wordsOf(error)];
  return words === type ? type : `${type}: ${words}`;
}

/** The errors in an AggregateError, which are all that `Promise.any` reports. */
function listedIn(error) {
  const errors = isError(error) ? memberOf(error, "errors") : undefined;
  if (kindOf(error) !== "AggregateError" || !Array.isArray(errors) || !errors.length) return "";
  const listed = Array.from({ length: Math.min(errors.length, LISTED) }, (_, at) => memberOf(errors, at));
  const more = errors.length > LISTED ? `; and ${errors.length - LISTED} more` : "";
  return ` (${listed.map((one) => cut(withType(one)).slice(0, 400)).join("; ")}${more})`;
}

module.exports = { describe, isError };
