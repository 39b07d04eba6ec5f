// An error as data: its type, its text, and the lines it came through in the handler's own code.
//
// The twin of ../python_worker/safe_values.py. JavaScript throws anything: what is described here may be a
// string, null, or an object whose every touch throws.

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

/** {type, message, frames, plain?, chain}: outermost first, without frames of ours. Never throws. */
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
  } catch { // no room left to describe it with
    return { type: kindOf(error), message: kindOf(error), frames: [] };
  }
}

/** Is it an error, or made like one? */
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

/** Never empty. */
function wordsOf(error) {
  const text = isError(error) ? memberOf(error, "message") : textOfObject(error);
  const words = typeof text === "string" ? cut(text.replace(/\nRequire stack:\n[^]*$/, "")) : safeText(text);
  if (text !== undefined && words.trim()) return words;
  return typeOf(error);
}

/** A text; of an object that has a message, that; else the object as the console shows it. */
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

/** What a host logs: an error's message, anything else as String() has it. */
function plainOf(error) {
  const text = isError(error) ? memberOf(error, "message") : error;
  try {
    return cut(error instanceof ClassHandler ? error.plain : String(text));
  } catch { // it has no text, or one that throws
    return wordsOf(error);
  }
}

/** The bare messages of an error and of its causes; of another value, the one text that it prints as. */
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

/** A text as it is, an object as JSON, everything else as `String` has it. */
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

/** What an AggregateError holds: `Promise.any` says nothing else of why. */
function listedIn(error) {
  const errors = isError(error) ? memberOf(error, "errors") : undefined;
  if (kindOf(error) !== "AggregateError" || !Array.isArray(errors) || !errors.length) return "";
  const listed = Array.from({ length: Math.min(errors.length, LISTED) }, (_, at) => memberOf(errors, at));
  const more = errors.length > LISTED ? `; and ${errors.length - LISTED} more` : "";
  return ` (${listed.map((one) => cut(withType(one)).slice(0, 400)).join("; ")}${more})`;
}

module.exports = { describe, isError };
