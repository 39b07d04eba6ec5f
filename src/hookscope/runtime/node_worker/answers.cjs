// The answer to one call, filled in as its parts are known.

"use strict";

const { OUTSIDE } = require("./calls.cjs");
const { describe } = require("./faults.cjs");
const { ANSWER, plain } = require("./plain.cjs");

const { parse } = JSON;

/** The answer to a call whose handler is not loaded yet, or cannot be. */
function answerOf(id, number, load, isShared) {
  return {
    id, result: number, status: "error", phase: "load", took: 0, loaded: load.took, returned: null,
    error: load.error, stale: load.stale, notes: [], dirty: !load.isClean, left: "", shared: isShared, next: false,
  };
}

/** Put into it what the handler returned or threw. */
function fillIn(answer, outcome) {
  answer.took = outcome.took;
  answer.phase = "run";
  answer.status = outcome.failed ? "error" : "ok";
  answer.error = outcome.failed ? describe(outcome.error) : null;
  const [returned, notes] = plain(outcome.failed ? null : outcome.value, "what it returned", ANSWER);
  answer.returned = returned;
  answer.notes.push(...notes, ...(outcome.outside ? [OUTSIDE] : []));
}

/** Say of one that failed whether it counted on more than it is given. JavaScript leaves the rest undefined. */
function noteArguments(answer, handler, view) {
  if (answer.status !== "error" || !(handler.length > view.given)) return;
  const called = "it is called with one, the event, and `event.context` has the rest";
  answer.notes.push(`it asks for ${handler.length} arguments; ${called}`);
}

/** Put into it what became of its view, as `before` tells it. What the next handler of that view starts from. */
function fillInView(answer, view, before) {
  let after;
  try {
    answer.notes.push(...view.putBack());
    after = view.seen();
  } catch (error) { // it froze the event, or made its members throw; a fresh worker has a fresh one
    const unread = `the event could not be read after it (${describe(error).type})`;
    after = { text: before.text, notes: [...before.notes, unread] };
    answer.dirty = true;
  }
  if (after.text !== before.text) answer.view = parse(after.text);
  answer.notes.push(...after.notes.filter((note) => !before.notes.includes(note)));
  return after;
}

module.exports = { answerOf, fillIn, noteArguments, fillInView };
