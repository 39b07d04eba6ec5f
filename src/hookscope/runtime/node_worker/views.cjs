// What handlers get, and its document: the seeds' event, a value as it is, or an event and its context.
//
// A view is called with a handler, and afterwards says what it holds: {text, notes}.

"use strict";

const { contextOf } = require("./context.cjs");
const { documentOf, eventOf, heedStrays, putBack, strayed } = require("./event.cjs");
const { plain, plainEvent } = require("./plain.cjs");
const { inSession } = require("./state.cjs");

const CANCEL = "cancel";
const PROMISE = "promise";
const NULL = "null"; // in so many words, where the event tells it from no answer
const TOO_LATE = "ctx.cancel() ignored: the event's hooks already returned";
const { stringify } = JSON;
const { entries, freeze, values } = Object;
const isObject = (value) => value !== null && typeof value === "object";

/** The view that a run's message speaks of. `late(who, text)` hears what is asked after the run. */
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

  /** How many arguments its handlers get, where that is one and no more. */
  get given() {
    return Infinity;
  }

  /** What had to be put back, and what it looked for in vain, in sentences. */
  putBack() {
    return [];
  }

  /** The document as text: handlers change the view itself. */
  seen() {
    const [copy, notes] = plain(this.value);
    return { text: stringify(copy), notes };
  }

  close() {}
}

class SeedEvent extends Value {
  constructor(document) {
    super(eventOf(document));
    this.strays = heedStrays(this.value);
  }

  get given() {
    return 1;
  }

  putBack() {
    return [...strayed(this.strays), ...putBack(this.value)];
  }

  seen() {
    const [copy, notes] = plainEvent(documentOf(this.value));
    return { text: stringify(copy), notes };
  }
}

/** The event is one for all handlers of the run; the context is made anew for each. */
class Arguments extends Value {
  constructor(document, late) {
    super(document.frozen ? frozen(document.event) : document.event);
    this.document = document;
    this.held = document.sync ? new Map(entries(this.value ?? {})) : new Map();
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
    return null; // its author learns of it by `asked`; what it comes to is not an answer
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
    return { text: stringify({ ...this.document, event, asked: this.asked, ...marked }), notes };
  }

  /** Objects of the event that another stands in the place of: a host that has the old one does not see it. */
  replaced() {
    return [...this.held].filter(([name, value]) => isObject(value) && this.value[name] !== value).map(([name]) => name);
  }

  close() {
    this.isOpen = false;
  }
}

/** The JSON value itself, which nothing can change any more. */
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
