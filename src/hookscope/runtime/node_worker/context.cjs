// The second argument of stream and plugin handlers.

"use strict";

// Of these a host lists members that it does not have: they are there, and undefined (eve 17).
const WITH_OPTIONAL = ["agent", "channel", "session"];
const { structuredClone: copied } = globalThis;
const { keys } = Object;

/** A handler asked for what only its host can give. */
class NotHere extends Error {}

/** A context of one handler's own. `methods`: names of its functions; `given`: those that we have. */
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

/** A sandbox, and the skills that lie in it, are asked for and awaited. */
function missing(name) {
  return async () => {
    const what = /^get(?:Sandbox|Skill)$/.test(name) ? "no sandbox" : `no ctx.${name}()`;
    throw new NotHere(`Hookscope has ${what}: ctx.${name}() works where its host runs the handler`);
  };
}

module.exports = { contextOf };
