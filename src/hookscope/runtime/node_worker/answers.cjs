// Builds the answer to a call step by step.

"use strict";

const { OUTSIDE } = require("./calls.cjs");
const { describe } = require("./faults.cjs");
const { ANSWER, plain } = require("./plain.cjs");

const { stringify } = JSON;

const DEFAULTS = { // values that the text of an answer omits
  __proto__: null, status: "ok", phase: "run", took: 0, loaded: 0, returned: null, error: null, stale: null,
  dirty: false, worn: false, left: "", apart: false, shared: false, next: false, view: "",
};

/** Return the answer to a call whose handler has not run, or could not be loaded. */
function answerOf(id, number, load, isShared) {
  return {
    __proto__: null, // handlers may add members to Object.prototype
    id, result: number, status: "error", phase: "load", took: 0, loaded: load.took, returned: null,
    error: load.error, stale: load.stale, notes: [], dirty: !load.isClean, left: "", shared: isShared, next: false,
    view: "",
  };
}

/** Add what the handler returned or threw. */
function fillIn(answer, outcome) {
  answer.took = outcome.took;
  answer.phase = "run";
  answer.status = outcome.failed ? "error" : "ok";
  answer.error = outcome.failed ? describe(outcome.error) : null;
  const [returned, notes] = plain(outcome.failed ? null : outcome.value, "what it returned", ANSWER);
  answer.returned = returned;
  answer.notes.push(...notes, ...(outcome.outside ? [OUTSIDE] : []));
}

/** Note if a failed handler expects more arguments than it receives: the others are undefined. */
function noteArguments(answer, handler, view) {
  if (answer.status !== "error" || !(handler.length > view.given)) return;
  const called = "it gets only one, the event; use `event.context` for the rest";
  answer.notes.push(`it expects ${handler.length} arguments, but ${called}`);
}

/** Return the answer as JSON without default values. Its `view` is JSON already. */
function textOf(answer) {
  const sent = { __proto__: null };
  for (const name in answer) {
    const isDefault = name === "notes" ? !answer.notes.length : answer[name] === DEFAULTS[name];
    if (!isDefault && name !== "view") sent[name] = answer[name];
  }
  const text = stringify(sent);
  return answer.view ? `${text.slice(0, -1)},"view":${answer.view}}` : text;
}

/** Add the changes of the view since `before`. Return the new state, from which the next handler starts. */
function fillInView(answer, view, before) {
  let after;
  try {
    answer.notes.push(...view.putBack());
    after = view.seen();
  } catch (error) { // the handler froze the event, or made members throw; the host starts a new worker
    const unread = `the event could not be read afterwards (${describe(error).type})`;
    after = { parts: before.parts, notes: [...before.notes, unread] };
    answer.dirty = true;
  }
  answer.view = view.changed(before.parts, after.parts);
  answer.notes.push(...after.notes.filter((note) => !before.notes.includes(note)));
  return after;
}

module.exports = { answerOf, fillIn, noteArguments, fillInView, textOf };
