// Copies any value as JSON types: a value that does not fit is replaced by the name of its kind, with a note.
//
// The counterpart of ../python_worker/safe_values.py, with the same limits and sentences. Copied objects have no
// prototype, so that a handler's `toJSON` or `__proto__` does not affect the frame.

"use strict";

const { types } = require("node:util");
const { kindOf, one } = require("./kinds.cjs");

const DEPTH = 64;
const ITEMS = 200_000;
const BYTES = 4 * 1024 * 1024; // of JSON: an event and an answer together stay below the protocol's limit
const ANSWER = 1024 * 1024; // of a returned value
// Each member of an event has its own limit, so that none takes the others' space. Together below 6 MiB.
const CONTEXT = 3 * 1024 * 1024;
const MESSAGES = 2 * 1024 * 1024;
const MESSAGE = 256 * 1024;
const MEMBER = 64 * 1024; // type, action, session key and timestamp
const COUNT = 20_000; // messages
const LAST = 1_000; // kept if there are more, with their share of MESSAGES
const LAST_BYTES = 512 * 1024;
const NOTES = 12; // more are only counted
const DIGITS = 4096; // bits of a number

const { stringify } = JSON;
const { asyncIterator } = Symbol;
const grouped = (count) => count.toLocaleString("en-US");

/** Return [a copy of JSON types only, a sentence for each necessary change]. Never throws. */
function plain(value, name = "", size = BYTES) {
  const cleaner = new Cleaner(size);
  return [cleaner.clean(value, name, 0), cleaner.sentences()];
}

/** Do the same as `plain` for an event's document. All its keys are kept. */
function plainEvent(document) {
  const copy = Object.create(null);
  const notes = [];
  for (const [name, value] of Object.entries(document)) {
    const cleaner = new Cleaner(name === "messages" ? MESSAGES : name === "context" ? CONTEXT : MEMBER);
    const isMessages = name === "messages" && isList(value);
    copy[name] = isMessages ? cleaner.messages(value) : cleaner.clean(value, name, 0);
    notes.push(...cleaner.sentences());
  }
  return [copy, notes];
}

function isList(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false; // a proxy that was revoked
  }
}

class Cleaner {
  constructor(size) {
    this.size = size;
    this.left = size;
    this.items = ITEMS;
    this.notes = [];
    this.uncounted = 0;
    this.open = new Set(); // the containers around the current value, to detect cycles
  }

  sentences() {
    return this.uncounted ? [...this.notes, `and ${grouped(this.uncounted)} more such changes`] : this.notes;
  }

  /**
   * Return the first and the last messages that fit, so that those pushed by later handlers are kept.
   * A long message is truncated, to leave space for the others.
   */
  messages(value) {
    this.open.add(value);
    const [kept, last] = [[], []];
    let count = 0;
    try {
      count = value.length;
      const most = count <= COUNT ? count : COUNT - LAST;
      this.left -= LAST_BYTES;
      while (kept.length < most && this.left > 0) kept.push(this.message(value, kept.length));
      this.left = Math.max(this.left, 0) + LAST_BYTES;
      const least = Math.max(kept.length, count - LAST);
      // None of these may be truncated: it would look like a new one.
      for (let at = count - 1; at >= least && this.left >= MESSAGE; at -= 1) {
        last.unshift(this.message(value, at));
      }
    } catch (error) {
      this.say("messages", `could not be read (${kindOf(error)})`);
    }
    if (kept.length + last.length < count) {
      const also = last.length ? ` and the last ${grouped(last.length)}` : "";
      this.say("messages", `is cut short: of ${grouped(count)} the first ${grouped(kept.length)}${also} are kept`);
    }
    return [...kept, ...last];
  }

  message(value, at) {
    const room = this.left;
    this.left = Math.min(room, MESSAGE);
    const rest = room - this.left;
    const cleaned = this.member(value, at, `messages[${at}]`, 1) ?? null;
    this.left += rest;
    return cleaned;
  }

  clean(value, path, depth) {
    try {
      return this.anything(value, path, depth);
    } catch (error) { // a hostile object may throw anything at any access
      return this.named(`unreadable ${kindOf(value)}`, path, `could not be read (${kindOf(error)})`);
    }
  }

  anything(value, path, depth) {
    this.items -= 1;
    switch (typeof value) {
      case "undefined":
        return null;
      case "boolean":
        this.left -= 5;
        return value;
      case "string":
        return this.text(value, path);
      case "number":
        return this.number(value, path);
      case "bigint":
        return this.bigint(value, path);
      case "object":
        return value === null ? this.nothing() : this.object(value, path, depth);
      default:
        return this.named(kindOf(value), path, `is ${one(kindOf(value))}, which JSON cannot hold`);
    }
  }

  nothing() {
    this.left -= 5;
    return null;
  }

  text(text, path) {
    const room = Math.max(this.left, 0);
    if (text.length > room) {
      this.say(path, `was cut: ${grouped(text.length - room)} characters omitted`);
      text = text.slice(0, room);
    }
    if (!text.isWellFormed()) {
      this.say(path, "holds half a character (a lone surrogate), shown as ?");
      text = text.toWellFormed().replaceAll("\ufffd", (found, at) => (text[at] === found ? found : "?"));
    }
    let cost = costOf(text);
    if (cost > this.left + 3) { // escapes take up to twelve bytes for one character
      this.say(path, "was cut: it is too long");
      text = text.slice(0, Math.floor(Math.max(this.left, 0) / 12)).toWellFormed();
      cost = costOf(text);
    }
    this.left -= cost;
    return text;
  }

  number(number, path) {
    if (!Number.isFinite(number)) {
      return this.named(`number ${number}`, path, `is ${number}, which JSON cannot hold`);
    }
    this.left -= 25;
    return number;
  }

  bigint(number, path) {
    if (BigInt.asIntN(DIGITS, number) !== number) return this.named("BigInt", path, "is too large a number");
    return this.named(`BigInt ${number}`, path, "is a BigInt, which JSON cannot hold");
  }

  object(value, path, depth) {
    const kind = kindOf(value);
    if (this.open.has(value)) return this.named(`cycle: ${kind}`, path, "holds itself");
    if (depth >= DEPTH) {
      return this.named(`${kind}, too deep`, path, `is nested more than ${DEPTH} deep`);
    }
    if (types.isDate(value)) return this.date(value, path);
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
      return this.named(`${kind}, ${grouped(value.byteLength)} bytes`, path, `is ${kind}, not text`);
    }
    if (types.isBoxedPrimitive(value)) return this.anything(value.valueOf(), path, depth + 1);
    if (types.isNativeError(value)) {
      return this.named(`${kind}: ${String(value.message).slice(0, 200)}`, path, `is ${one(kind)}, not text`);
    }
    if (types.isGeneratorObject(value)) {
      const kind = asyncIterator in value ? "async_generator" : "generator";
      return this.named(kind, path, "is a generator, which its host does not run");
    }
    if (isOpaque(value)) return this.named(kind, path, `is ${one(kind)}, which JSON cannot hold`);
    this.open.add(value);
    try {
      this.left -= 2;
      return this.container(value, kind, path, depth);
    } finally {
      this.open.delete(value);
    }
  }

  date(value, path) {
    const time = Date.prototype.getTime.call(value);
    if (Number.isNaN(time)) return this.named("Date, invalid", path, "is an invalid Date");
    this.say(path, "is a Date, shown as text");
    return this.text(Date.prototype.toISOString.call(value), path);
  }

  container(value, kind, path, depth) {
    if (Array.isArray(value)) return this.elements(value, path, depth);
    if (types.isSet(value)) {
      this.say(path, `is ${one(kind)}, shown as a list`);
      return this.elements(Array.from(Set.prototype.values.call(value)), path, depth);
    }
    if (types.isMap(value)) {
      this.say(path, `is ${one(kind)}, shown as an object`);
      return this.pairs(Map.prototype.entries.call(value), path, depth);
    }
    if (typeof value.toJSON === "function") {
      this.say(path, `is ${one(kind)}, shown as its toJSON()`);
      return this.clean(value.toJSON(""), path, depth + 1);
    }
    const prototype = Object.getPrototypeOf(value);
    const isInstance = prototype !== null && Object.getPrototypeOf(prototype) !== null;
    if (isInstance) this.say(path, `is ${one(kind)}, shown as an object`);
    return this.members(value, path, depth);
  }

  members(value, path, depth) {
    const members = Object.create(null);
    for (const key of Object.keys(value)) {
      if (this.full(path)) break;
      const name = this.text(key, path ? `a name in ${path}` : "a name");
      const item = this.member(value, key, path ? `${path}.${name}` : name, depth + 1);
      if (item !== undefined) members[name] = item;
    }
    return members;
  }

  /** Return a cleaned member; undefined if it is undefined. A getter that throws is noted. */
  member(value, key, path, depth) {
    let item;
    try {
      item = value[key];
    } catch (error) {
      return this.named("unreadable", path, `could not be read (${kindOf(error)})`);
    }
    return item === undefined ? undefined : this.clean(item, path, depth);
  }

  pairs(entries, path, depth) {
    const members = Object.create(null);
    for (const [key, item] of entries) {
      if (this.full(path)) break;
      if (typeof key !== "string") this.say(path, `has ${one(kindOf(key))} as a key`);
      const isText = key === null || ["string", "number", "boolean"].includes(typeof key);
      const name = this.text(isText ? String(key) : `<${kindOf(key)}>`, path);
      members[name] = this.clean(item, path ? `${path}.${name}` : name, depth + 1);
    }
    return members;
  }

  elements(value, path, depth) {
    const elements = [];
    for (let at = 0; at < value.length; at += 1) {
      if (this.full(path)) break;
      elements.push(this.member(value, at, `${path}[${at}]`, depth + 1) ?? this.nothing());
    }
    return elements;
  }

  full(path) {
    if (this.left > 0 && this.items > 0) return false;
    this.say(path, `is cut short: more than ${grouped(this.size)} bytes or ${grouped(ITEMS)} items`);
    return true;
  }

  named(kind, path, what) {
    this.say(path, what);
    const text = kind.toWellFormed().slice(0, 1500);
    this.left -= text.length + 4;
    return `<${text}>`;
  }

  say(path, what) {
    if (this.notes.length >= NOTES) this.uncounted += 1;
    else this.notes.push(`${path.slice(0, 200) || "it"} ${what}`);
  }
}

/** The bytes of the text in ASCII JSON, as the host writes it. */
function costOf(text) {
  const written = stringify(text);
  return written.length + (/[^\0-\x7f]/.test(text) ? 5 * text.replace(/[\0-\x7f]/g, "").length : 0) + 1;
}

function isOpaque(value) {
  return (
    types.isPromise(value) || types.isRegExp(value) || types.isWeakMap(value) || types.isWeakSet(value) ||
    types.isModuleNamespaceObject(value)
  );
}

module.exports = { ANSWER, plain, plainEvent };
