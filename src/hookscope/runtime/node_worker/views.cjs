// What handlers receive, and its document: a folder hook's event, any value, or an event and its context.
//
// A view calls a handler with it. `seen` returns its content: {parts, notes}; `parts` are texts.

"use strict";

const { contextOf } = require("./context.cjs");
const { NAMES, documentOf, eventOf, putBack, misplacedReadNotes, frozenNotes } = require("./event.cjs");
const { plain, plainEvent } = require("./plain.cjs");
const { inSession } = require("./state.cjs");

const CANCEL = "cancel";
const PROMISE = "promise";
const NULL = "null"; // for events that distinguish null from no answer
const TOO_LATE = "ctx.cancel() ignored: the event's hooks already returned";
const { stringify } = JSON;
const { entries, freeze, values } = Object;
const isObject = (value) => value !== null && typeof value === "object";

/** Return the view for a run message. `late(who, text)` receives requests made after the run. */
function viewOf({ hook, arguments: isTwo }, document, late) {
  if (isTwo) return new Arguments(document, late);
  return hook ? new SeedEvent(document) : new Value(document);
}

class Value {
  constructor(value) {
    this.value = value;
  }

  call(target) {
    return target(this.value);
  }

  /** The number of arguments that handlers receive, if it matters. */
  get given() {
    return Infinity;
  }

  /** Restore deleted members. Return sentences on these, and on members read in the wrong place. */
  putBack() {
    return [];
  }

  /** The current document as JSON, and notes on it. */
  seen() {
    const [copy, notes] = plain(this.value);
    return { parts: [stringify(copy)], notes };
  }

  /** What the host gets of the parts that differ: the new document. */
  changed([before], [after]) {
    return before === after ? "" : after;
  }

  close() {}
}

class SeedEvent extends Value {
  constructor(document) {
    super(eventOf(document));
    this.frozen = new WeakSet(); // parts that a note has reported
  }

  get given() {
    return 1;
  }

  putBack() {
    return [...misplacedReadNotes(this.value), ...putBack(this.value), ...frozenNotes(this.value, this.frozen)];
  }

  seen() {
    const [copy, notes] = plainEvent(documentOf(this.value));
    return { parts: NAMES.map((name) => stringify(copy[name])), notes };
  }

  /** Only the members that differ. */
  changed(before, after) {
    const members = [];
    for (const [at, name] of NAMES.entries()) {
      if (before[at] !== after[at]) members.push(`"${name}":${after[at]}`);
    }
    return members.length ? `{${members.join(",")}}` : "";
  }
}

/** All handlers of the run share the event; each gets its own context. */
class Arguments extends Value {
  constructor(document, late) {
    super(document.frozen ? frozen(document.event) : document.event);
    this.document = document;
    this.originals = document.sync ? new Map(entries(this.value ?? {})) : new Map();
    this.asked = [...document.asked];
    this.late = late;
    this.isOpen = true;
  }

  call(target, who) {
    const { ctx, methods, sync, nulls } = this.document;
    const made = contextOf(ctx, methods, { cancel: () => this.cancel(who) });
    const returned = inSession(ctx.session?.id, () => target(this.value, made));
    if (nulls) return this.noted(returned);
    if (!sync || !isPromise(returned)) return returned;
    this.asked.push(PROMISE);
    return null; // the host reports it by `asked`; its value is not an answer
  }

  async noted(returned) {
    const answer = await returned;
    if (answer === null) this.asked.push(NULL);
    return answer;
  }

  cancel(who) {
    if (this.isOpen) this.asked.push(CANCEL);
    else this.late(who, TOO_LATE);
  }

  seen() {
    const [event, notes] = plain(this.value, "event");
    const replaced = this.replaced();
    const marked = replaced.length ? { replaced } : {};
    return { parts: [stringify({ ...this.document, event, asked: this.asked, ...marked })], notes };
  }

  /** Names of members whose object was replaced: a host that holds the old object does not see the new one. */
  replaced() {
    return [...this.originals].filter(([name, value]) => isObject(value) && this.value[name] !== value).map(([name]) => name);
  }

  close() {
    this.isOpen = false;
  }
}

/** Freeze a JSON value with everything in it, and return it. */
function frozen(value) {
  if (value === null || typeof value !== "object") return value;
  for (const member of values(value)) frozen(member);
  return freeze(value);
}

function isPromise(value) {
  try {
    return typeof value?.then === "function";
  } catch {
    return false; // a proxy that refuses
  }
}

module.exports = { viewOf };
