// Eve's state: the slots of defineState, which each session has for itself (Eve's guide, "State").

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");

const SESSIONS = 100; // whose slots are kept; the one not used longest is dropped first
const RESERVED = "eve.";

const { apply } = Reflect;
const { run, getStore } = AsyncLocalStorage.prototype;
const storage = new AsyncLocalStorage();
const sessions = new Map(); // id → slots by name

/** Call the function in a session: slots that it reads and updates are the session's. Without an ID, just call it. */
function inSession(id, called) {
  if (typeof id !== "string") return called();
  const slots = sessions.get(id) ?? new Map();
  sessions.delete(id);
  sessions.set(id, slots); // moved to the end: used last
  if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value);
  return apply(run, storage, [slots, called]);
}

/** Return a slot. In each session, its value is that of `initial` until it is updated. */
function defineState(name, initial) {
  if (name.startsWith(RESERVED)) {
    throw new Error(`defineState("${name}"): names that begin with "${RESERVED}" are reserved by Eve; use another name`);
  }
  const slotsFor = (what) => {
    const slots = apply(getStore, storage, []);
    if (!slots) throw new Error(`${what} of the state "${name}" was called outside a handler, where there is no session`);
    if (!slots.has(name)) slots.set(name, initial());
    return slots;
  };
  return {
    get: () => slotsFor("get()").get(name),
    update(change) {
      const slots = slotsFor("update()");
      slots.set(name, change(slots.get(name)));
    },
  };
}

module.exports = { inSession, defineState };
