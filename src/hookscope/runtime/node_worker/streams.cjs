// Reads modules for an event stream: hooks, channels and dynamic resolvers, with handlers by event.

"use strict";

const path = require("node:path");
const { cut, kindOf } = require("./kinds.cjs");
const { exportedOfBundle, Malformed } = require("./picking.cjs");

const { isArray } = Array;
const { stringify } = JSON;
const isObject = (value) => value !== null && typeof value === "object" && !isArray(value);

/** Return an export; if it is a function, its awaited result. Throws Malformed if it fails, naming it `named`. */
async function made(found, named) {
  try {
    return await (typeof found === "function" ? found() : found);
  } catch (error) {
    const failed = new Malformed(`Failed to execute the hook export ${named}: ${wordsOf(error)}`);
    failed.stack = stackOf(error) ?? failed.stack;
    throw failed;
  }
}

/** The text of a thrown value as Eve prints it: an error's message, a string itself, else JSON. */
function wordsOf(error) {
  try {
    if (!isObject(error) || error instanceof Error) return cut(String(error?.message ?? error));
    return cut(typeof error.message === "string" && error.message ? error.message : stringify(error));
  } catch { // any access throws
    return kindOf(error);
  }
}

function stackOf(error) {
  try {
    return isObject(error) && typeof error.stack === "string" ? error.stack : null;
  } catch {
    return null;
  }
}

/** See Modules.importHandler. Throws Malformed with Eve's own texts (tests/conformance/cases/eve, 08 and 09). */
async function streamOf(namespace, code) {
  const from = path.relative(code.root, code.path).split(path.sep).join("/");
  const expected = (what) => new Malformed(`Expected the hook export "${code.export}" from "${from}" ${what}`);
  const definition = await made(exportedOfBundle(namespace, code.export), `"${code.export}" from "${from}"`);
  if (!isObject(definition)) throw expected("to return an object.");
  const { events } = definition;
  if (events !== undefined && !isObject(events)) throw expected("to expose events as an object.");
  const handlers = new Map();
  for (const key of Object.keys(events ?? {})) {
    const handler = events[key];
    if (handler === undefined) continue;
    if (typeof handler !== "function") throw expected(`to provide a function for events.${key}.`);
    handlers.set(key, handler);
  }
  const declared = (key) => ({ key, member: key, priority: 0, limit: null, options: {} });
  return { handlers, module: { declares: [...handlers.keys()].map(declared), log: [] } };
}

module.exports = { streamOf };
