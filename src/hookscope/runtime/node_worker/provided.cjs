// Substitutes for packages of hosts that are not installed: functions that define something return their
// argument, models are scripted, and schemas accept everything. All other imports from them are stubs.

"use strict";

const { pathToFileURL } = require("node:url");
const { EVE, TYPES_OF_EVE } = require("./eve.cjs");
const { HELPERS, isSdk } = require("./openclaw.cjs");
const { COMPUTED } = require("./openclaw_helpers.cjs");
const { standIn } = require("./schemas.cjs");
const { ofHost, SCHEME, stub } = require("./stubs.cjs");

const SCHEMAS = /^(?:zod(?:\/(?:v3|v4|mini|v4-mini))?|@sinclair\/typebox|typebox)$/;

/** True if modules of this world get our values, even if the package is installed. */
function isOurs(specifier, world) {
  return world.isOfEve && EVE.has(specifier);
}

/** True if the package builds schemas: one value stands in for all of them. */
function makesSchemas(specifier) {
  return SCHEMAS.test(specifier);
}

/** True if there is a substitute for this package. */
function isProvided(specifier) {
  return EVE.has(specifier) || isSdk(specifier) || makesSchemas(specifier);
}

const SDK = { ...COMPUTED, ...HELPERS };
const packageOf = (specifier) => (isSdk(specifier) ? SDK : EVE.get(specifier));

/** The address of a module with our values. Other names come from the package at `real`, or are stubs with `why`. */
function providedAddress(specifier, names, why, real) {
  const all = new Set([...Object.keys(packageOf(specifier) ?? { z: 0 }), "default", ...names]);
  return `${SCHEME}provided?${encodeURIComponent(JSON.stringify([specifier, [...all], why, real]))}`;
}

/** Those of the names for which we have no value and that are not just types. */
function unprovided(specifier, names) {
  if (makesSchemas(specifier)) return [];
  const given = packageOf(specifier);
  const types = TYPES_OF_EVE.get(specifier) ?? [];
  return names.filter((name) => name !== "default" && !Object.hasOwn(given, name) && !types.includes(name));
}

/** The value of one name. `installed`: the exports of the installed package, if there is one. */
function provided(specifier, name, why, installed) {
  if (makesSchemas(specifier)) return standIn;
  const given = packageOf(specifier);
  const answersItself = name in installed && !Object.hasOwn(isSdk(specifier) ? HELPERS : given, name);
  if (answersItself && name !== "default") return installed[name];
  if (Object.hasOwn(given, name)) return given[name];
  if (name === "default") return given;
  return isSdk(specifier) ? ofHost(`\`${name}\` of ${specifier}`, why) : stub(name, specifier, why);
}

/** The source of the module at an address of `providedAddress`. */
function providedSource(query) {
  const [specifier, names, why, real] = JSON.parse(decodeURIComponent(query));
  const lines = names.map((name, at) => {
    const given = [specifier, name, why].map((text) => JSON.stringify(text)).join(", ");
    return `const value${at} = provided(${given}, installed);\nexport { value${at} as ${JSON.stringify(name)} };`;
  });
  const installed = real ? `import * as installed from ${JSON.stringify(real)};` : "const installed = {};";
  return [`import { provided } from ${JSON.stringify(pathToFileURL(__filename).href)};`, installed, ...lines].join("\n");
}

module.exports = { isOurs, makesSchemas, isProvided, providedAddress, unprovided, provided, providedSource };
