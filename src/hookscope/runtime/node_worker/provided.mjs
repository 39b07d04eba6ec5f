// Packages of hosts that are not installed here, as far as handlers meet them: definitions are handed on
// as they are, models are scripted, schemas accept everything. What else is imported of them is a stub.

import { EVE, TYPES_OF_EVE } from "./eve.mjs";
import { standIn } from "./schemas.mjs";
import { SCHEME, stub } from "./stubs.mjs";

const ENTRY = { definePluginEntry: (entry) => entry, emptyPluginConfigSchema: () => ({ type: "object" }) };
const OPENCLAW = new Map(["", "/core", "/plugin-entry"].map((end) => [`openclaw/plugin-sdk${end}`, ENTRY]));
const PACKAGES = new Map([...EVE, ...OPENCLAW]);
const SCHEMAS = /^(?:zod(?:\/(?:v3|v4|mini|v4-mini))?|@sinclair\/typebox|typebox)$/;

/** Are its values ours in a module of this kind, installed or not? */
export function isOurs(specifier, world) {
  return world.isOfEve && EVE.has(specifier);
}

/** Does it make schemas, so that one value stands in for all of them? */
export function makesSchemas(specifier) {
  return SCHEMAS.test(specifier);
}

/** Have we anything for it? */
export function isProvided(specifier) {
  return PACKAGES.has(specifier) || makesSchemas(specifier);
}

/** The address of a module with what we have, and with stubs for the other names. */
export function providedAddress(specifier, names) {
  const all = new Set([...Object.keys(PACKAGES.get(specifier) ?? { z: 0 }), "default", ...names]);
  return `${SCHEME}provided?${encodeURIComponent(JSON.stringify([specifier, [...all]]))}`;
}

/** The names among these that we have nothing for, and that are no mere types. */
export function unprovided(specifier, names) {
  if (makesSchemas(specifier)) return [];
  const given = PACKAGES.get(specifier);
  const types = TYPES_OF_EVE.get(specifier) ?? [];
  return names.filter((name) => name !== "default" && !Object.hasOwn(given, name) && !types.includes(name));
}

/** The value of one name. */
export function provided(specifier, name) {
  if (makesSchemas(specifier)) return standIn;
  const given = PACKAGES.get(specifier);
  if (Object.hasOwn(given, name)) return given[name];
  return name === "default" ? given : stub(name, specifier);
}

/** The source of the module at such an address. */
export function providedSource(query) {
  const [specifier, names] = JSON.parse(decodeURIComponent(query));
  const lines = names.map((name, at) => {
    const value = `provided(${JSON.stringify(specifier)}, ${JSON.stringify(name)})`;
    return `const value${at} = ${value};\nexport { value${at} as ${JSON.stringify(name)} };`;
  });
  return [`import { provided } from ${JSON.stringify(import.meta.url)};`, ...lines].join("\n");
}
