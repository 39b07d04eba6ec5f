// What Eve keeps for a session: the slots of defineState, each session's own (its guide: "State").

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");

const SESSIONS = 100; // of which slots are kept; the oldest goes first
const RESERVED = "eve.";

const { apply } = Reflect;
const { run, getStore } = AsyncLocalStorage.prototype;
const storage = new AsyncLocalStorage();
const sessions = new Map(); // id → slots by name

/** Call it as Eve does: what it reads and updates of slots is that session's. Without an id just call it. */
function inSession(id, called) {
  if (typeof id !== "string") return called();
  const slots = sessions.get(id) ?? new Map();
  sessions.delete(id);
  sessions.set(id, slots); // the last that was asked for
  if (sessions.size > SESSIONS) sessions.delete(sessions.keys().next().value);
  return apply(run, storage, [slots, called]);
}

/** A slot: what `initial` gives in each session that asks for it first, until it is updated. */
function defineState(name, initial) {
  if (name.startsWith(RESERVED)) {
    throw new Error(`defineState("${name}"): names that begin with "${RESERVED}" are Eve's own; give it another`);
  }
  const slotsFor = (what) => {
    const slots = apply(getStore, storage, []);
    if (!slots) throw new Error(`${what} of the state "${name}" was called outside of a session: only handlers are in one`);
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
