// The second argument of stream and plugin handlers.

"use strict";

// Missing members of these exist and are undefined (tests/conformance/cases/eve, 17).
const WITH_OPTIONAL = ["agent", "channel", "session"];
const { structuredClone: copied } = globalThis;
const { keys } = Object;

/** A handler called a function that only its host has. */
class NotHere extends Error {}

/** Return a context for one handler. `methods`: names of its functions; `given`: those that we provide. */
function contextOf(document, methods, given) {
  const ctx = copied(document);
  for (const name of WITH_OPTIONAL) undefineNulls(ctx[name]);
  for (const name of methods) ctx[name] = given[name] ?? missing(name);
  return ctx;
}

function undefineNulls(part) {
  if (part === null || typeof part !== "object") return;
  for (const name of keys(part)) {
    if (part[name] === null) part[name] = undefined;
  }
}

/** Return an async function that throws NotHere. */
function missing(name) {
  return async () => {
    const what = /^get(?:Sandbox|Skill)$/.test(name) ? "no sandbox" : `no ctx.${name}()`;
    throw new NotHere(`Hookscope has ${what}: ctx.${name}() works where its host runs the handler`);
  };
}

module.exports = { contextOf };
