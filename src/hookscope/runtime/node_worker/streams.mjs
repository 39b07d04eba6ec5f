// Modules of an event stream: hooks, channels and dynamic resolvers, with handlers by event (rules note 3.3).

import path from "node:path";
import { exported, NoHandler } from "./picking.mjs";

const { isArray } = Array;
const isObject = (value) => value !== null && typeof value === "object" && !isArray(value);

/** See Modules.importHandler. Throws NoHandler with the sentence of Eve itself (eve 08, eve 09). */
export async function streamOf(namespace, code) {
  const from = path.relative(code.root, code.path).split(path.sep).join("/");
  const expected = (what) => new NoHandler(`Expected the hook export "${code.export}" from "${from}" ${what}`);
  const found = exported(namespace, code.export);
  const definition = typeof found === "function" ? await found() : found;
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
