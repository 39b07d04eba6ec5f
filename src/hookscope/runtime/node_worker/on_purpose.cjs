// Injected faults, which run instead of a handler at the user's request.
//
// A `fault` of the protocol is {fault, amount}, see model/failure.py.

"use strict";

const TEXT = "broken on purpose";
const WRONG = 7; // replaces texts

const { setTimeout: later, Promise: OwnPromise } = globalThis;
const { wait } = Atomics;
const { exit } = process;
const { isFrozen, keys } = Object;

class BrokenOnPurpose extends Error {
  name = "BrokenOnPurpose";
}

/** Return the function to call instead of the handler. `isSync`: its host does not await promises. */
function inPlaceOf(handler, { fault, amount }, isSync) {
  return (...given) => FAULTS[fault]({ handler, given, amount, isSync });
}

const FAULTS = {
  __proto__: null,

  exception() {
    throw new BrokenOnPurpose(TEXT);
  },

  /** Return a promise that is never settled, or block the thread. */
  hang({ isSync }) {
    if (isSync) block();
    return new OwnPromise(() => {});
  },

  /** Run the handler, and delay its answer. */
  slow({ handler, given, amount }) {
    let answer;
    try {
      answer = handler(...given);
    } catch (error) {
      block(amount);
      throw error;
    }
    if (typeof answer?.then === "function") return answered(answer, amount);
    block(amount);
    return answer;
  },

  exit({ amount }) {
    exit(amount);
  },

  /** Write wrong types, and values that JSON cannot hold, wherever a handler can write. */
  junk({ given: [event, ctx] }) {
    const circle = { number: NaN, big: 7n, thing: () => {}, symbol: Symbol(TEXT) };
    circle.itself = circle;
    if (ctx === undefined && Array.isArray(event?.messages)) {
      event.messages = [...event.messages, WRONG, null, { text: TEXT }, [TEXT], () => {}];
    }
    const members = [event?.context, event?.data, event].find(isOpen);
    for (const name of keys(members ?? {})) {
      if (typeof members[name] === "string") members[name] = WRONG;
    }
    if (members) members.junk = circle;
    return { block: "perhaps", cancel: "perhaps", params: WRONG, content: [TEXT], junk: circle };
  },
};

/** True if a handler can write to it. */
function isOpen(value) {
  return value !== null && typeof value === "object" && !isFrozen(value);
}

/** Block this thread; forever if no number of seconds is given. */
function block(seconds) {
  wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds === undefined ? Infinity : seconds * 1000);
}

async function answered(answer, seconds) {
  await new OwnPromise((go) => later(go, seconds * 1000));
  return answer;
}

module.exports = { inPlaceOf };
