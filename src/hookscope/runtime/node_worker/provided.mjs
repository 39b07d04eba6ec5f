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

/** The address of a module with what we have; other names are of the package at `real`, or stubs that say `why`. */
export function providedAddress(specifier, names, why, real) {
  const all = new Set([...Object.keys(PACKAGES.get(specifier) ?? { z: 0 }), "default", ...names]);
  return `${SCHEME}provided?${encodeURIComponent(JSON.stringify([specifier, [...all], why, real]))}`;
}

/** The names among these that we have nothing for, and that are no mere types. */
export function unprovided(specifier, names) {
  if (makesSchemas(specifier)) return [];
  const given = PACKAGES.get(specifier);
  const types = TYPES_OF_EVE.get(specifier) ?? [];
  return names.filter((name) => name !== "default" && !Object.hasOwn(given, name) && !types.includes(name));
}

/** The value of one name; `installed` is what the package has that is there. */
export function provided(specifier, name, why, installed) {
  if (makesSchemas(specifier)) return standIn;
  const given = PACKAGES.get(specifier);
  if (Object.hasOwn(given, name)) return given[name];
  if (name === "default") return given;
  return name in installed ? installed[name] : stub(name, specifier, why);
}

/** The source of the module at such an address. */
export function providedSource(query) {
  const [specifier, names, why, real] = JSON.parse(decodeURIComponent(query));
  const lines = names.map((name, at) => {
    const given = [specifier, name, why].map((text) => JSON.stringify(text)).join(", ");
    return `const value${at} = provided(${given}, installed);\nexport { value${at} as ${JSON.stringify(name)} };`;
  });
  const installed = real ? `import * as installed from ${JSON.stringify(real)};` : "const installed = {};";
  return [`import { provided } from ${JSON.stringify(import.meta.url)};`, installed, ...lines].join("\n");
}
