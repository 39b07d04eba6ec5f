// The event as handlers get it, and its document. The twin of ../../core/event.py.

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

/** The seeds' object. A timestamp that is no moment is handed over as it is. */
export function eventOf(document) {
  const { type, action, sessionKey, timestamp, messages, context } = document;
  const isText = typeof timestamp === "string" && ISO.test(timestamp);
  const isMoment = isText && !Number.isNaN(Date.parse(timestamp));
  const moment = isMoment ? new Date(timestamp) : timestamp;
  return { type, action, sessionKey, timestamp: moment, messages, context };
}

/** Give the event, empty, what was deleted of it. One sentence for each. */
export function putBack(event) {
  const deleted = NAMES.filter((name) => event[name] === undefined);
  for (const name of deleted) event[name] = EMPTY[name]();
  return deleted.map((name) => `the handler deleted event.${name}`);
}

/** The event with the keys that it has on the wire; their values may be anything. */
export function documentOf(event) {
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
