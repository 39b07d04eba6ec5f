// The event as handlers receive it, and its document. The counterpart of ../../model/hook_event.py.

"use strict";

const { toISOString, getTime } = Date.prototype;
const { apply } = Reflect;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

// Replacements for members that a handler has deleted.
const EMPTY = {
  type: () => "",
  action: () => "",
  sessionKey: () => "",
  timestamp: () => new Date(0),
  messages: () => [],
  context: () => ({}),
};
const NAMES = Object.freeze(Object.keys(EMPTY));
const LISTED = 5; // members that a note lists
const { entries, hasOwn, isExtensible, prototype: ObjectPrototype } = Object;
const { get: getFrom, set: setIn } = WeakMap.prototype;

const misplacedReads = new WeakMap(); // event → names of members that were read from it although they are in its context
// The prototype of events: a proxy notices such reads, because it is used only for members that the event does not have.
const WATCHING = new Proxy(ObjectPrototype, {
  get(target, name, event) {
    const misplaced = apply(getFrom, misplacedReads, [event]);
    const isMisplaced = misplaced && typeof name === "string" && !(name in target) && !NAMES.includes(name);
    if (isMisplaced && isObject(event.context) && hasOwn(event.context, name)) misplaced.add(name);
    return target[name];
  },
});

/** Return the event object of the hosts' guides. An invalid timestamp is kept as it is. */
function eventOf(document) {
  const { type, action, sessionKey, timestamp, messages, context } = document;
  const isText = typeof timestamp === "string" && ISO.test(timestamp);
  const isMoment = isText && !Number.isNaN(Date.parse(timestamp));
  const moment = isMoment ? new Date(timestamp) : timestamp;
  const event = { __proto__: WATCHING, type, action, sessionKey, timestamp: moment, messages, context };
  apply(setIn, misplacedReads, [event, new Set()]);
  return event;
}

/** Return one sentence on the members that were wrongly read from the event; none if there are none. */
function misplacedReadNotes(event) {
  const misplaced = apply(getFrom, misplacedReads, [event]);
  if (!misplaced.size) return [];
  const names = [...misplaced].slice(0, LISTED);
  misplaced.clear();
  const list = names.map((name) => `event.${name}`).join(", ");
  return [`it read ${list}, which no event has: ${names.length > 1 ? "they are" : "it is"} in event.context`];
}

const isObject = (value) => value !== null && typeof value === "object";

/** Restore deleted members with empty values. Return a sentence for each. */
function putBack(event) {
  const deleted = NAMES.filter((name) => event[name] === undefined);
  for (const name of deleted) event[name] = EMPTY[name]();
  return deleted.map((name) => `the handler deleted event.${name}`);
}

/** Return one sentence on the shared parts of the event that a handler has frozen; none for `known` ones. */
function frozenNotes(event, known) {
  const parts = { event, "event.messages": event.messages, "event.context": event.context };
  const frozen = entries(parts).filter(([, part]) => isObject(part) && !isExtensible(part) && !known.has(part));
  for (const [, part] of frozen) known.add(part);
  const names = frozen.map(([name]) => name).join(", ");
  return names ? [`it froze ${names}: later handlers cannot add to ${frozen.length > 1 ? "them" : "it"}`] : [];
}

/** Return the document of the event; the values of its keys may be anything. */
function documentOf(event) {
  const document = {};
  for (const name of NAMES) document[name] = name === "timestamp" ? momentOf(event[name]) : event[name];
  return document;
}

/** Return a timestamp as text, whatever a handler has assigned. Never throws. */
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

module.exports = { NAMES, eventOf, misplacedReadNotes, frozenNotes, putBack, documentOf };
