// The event as handlers get it, and its document. The twin of ../../core/event.py.

"use strict";

const { toISOString, getTime } = Date.prototype;
const { apply } = Reflect;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

// What stands in for a member that a handler deleted.
const EMPTY = {
  type: () => "",
  action: () => "",
  sessionKey: () => "",
  timestamp: () => new Date(0),
  messages: () => [],
  context: () => ({}),
};
const NAMES = Object.keys(EMPTY);
const LISTED = 5; // strays that a note lists
const { hasOwn, prototype: ObjectPrototype, setPrototypeOf } = Object;
const OwnProxy = Proxy;

/** The seeds' object. A timestamp that is not a moment is handed over as it is. */
function eventOf(document) {
  const { type, action, sessionKey, timestamp, messages, context } = document;
  const isText = typeof timestamp === "string" && ISO.test(timestamp);
  const isMoment = isText && !Number.isNaN(Date.parse(timestamp));
  const moment = isMoment ? new Date(timestamp) : timestamp;
  return { type, action, sessionKey, timestamp: moment, messages, context };
}

/**
 * Hear of members that are read of the event and stand in its context: they are undefined without a word.
 * Only what the event has not reaches its prototype, so that nothing else is slower or otherwise.
 */
function heedStrays(event) {
  const { context } = event;
  const strays = new Set();
  const get = (target, name) => {
    const isStray = typeof name === "string" && !(name in target) && !NAMES.includes(name);
    if (isStray && isObject(context) && hasOwn(context, name)) strays.add(name);
    return target[name];
  };
  setPrototypeOf(event, new OwnProxy(ObjectPrototype, { get }));
  return strays;
}

/** One sentence for all members that were read of the event in vain; none where there are none. */
function strayed(strays) {
  if (!strays.size) return [];
  const names = [...strays].slice(0, LISTED);
  strays.clear();
  const list = names.map((name) => `event.${name}`).join(", ");
  return [`it read ${list}, which no event has: ${names.length > 1 ? "they are" : "it is"} in event.context`];
}

const isObject = (value) => value !== null && typeof value === "object";

/** Give the event, empty, what was deleted of it. One sentence for each. */
function putBack(event) {
  const deleted = NAMES.filter((name) => event[name] === undefined);
  for (const name of deleted) event[name] = EMPTY[name]();
  return deleted.map((name) => `the handler deleted event.${name}`);
}

/** The event with the keys that it has on the wire; their values may be anything. */
function documentOf(event) {
  const document = {};
  for (const name of NAMES) document[name] = name === "timestamp" ? momentOf(event[name]) : event[name];
  return document;
}

/** Whatever a handler put there, as text. Never throws. */
function momentOf(value) {
  try {
    apply(getTime, value, []);
  } catch {
    return textOf(value);
  }
  try {
    return apply(toISOString, value, []);
  } catch {
    return ""; // Invalid Date
  }
}

function textOf(value) {
  try {
    return typeof value === "string" ? value : String(value);
  } catch {
    return "";
  }
}

module.exports = { eventOf, heedStrays, strayed, putBack, documentOf };
