// Faults that stand in a handler's place because somebody asked for them: what becomes of the rest?
//
// A `fault` of the protocol is {fault, amount}, see core/breakage.py.

"use strict";

const TEXT = "broken on purpose";
const WRONG = 7; // where a text belongs

const { setTimeout: later, Promise: OwnPromise } = globalThis;
const { wait } = Atomics;
const { exit } = process;
const { isFrozen, keys } = Object;

class BrokenOnPurpose extends Error {
  name = "BrokenOnPurpose";
}

/** The function to call for a handler that is broken so. `isSync`: its host takes no promise for an answer. */
function inPlaceOf(handler, { fault, amount }, isSync) {
  return (...given) => FAULTS[fault]({ handler, given, amount, isSync });
}

const FAULTS = {
  __proto__: null,

  exception() {
    throw new BrokenOnPurpose(TEXT);
  },

  /** As a promise that nothing ever settles. */
  hang({ isSync }) {
    if (isSync) block();
    return new OwnPromise(() => {});
  },

  /** The handler itself; its answer comes later. */
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

  /** Wrong types everywhere a handler can write, and what JSON cannot hold. */
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

/** Can a handler write into it? */
function isOpen(value) {
  return value !== null && typeof value === "object" && !isFrozen(value);
}

/** Hold this thread, and with it all that runs in it; without an amount for ever. */
function block(seconds) {
  wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds === undefined ? Infinity : seconds * 1000);
}

async function answered(answer, seconds) {
  await new OwnPromise((go) => later(go, seconds * 1000));
  return answer;
}

module.exports = { inPlaceOf };
