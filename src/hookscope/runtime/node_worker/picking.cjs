// Finds the function to call in a module.

"use strict";

const LISTED = 8; // functions that a message names
const NOTHING = "exports nothing; write `export default` before the function that is called";
const { toString } = Function.prototype;
const { apply } = Reflect;
const { hasOwn } = Object;

/** The file loads, but has no function of the requested name. */
class NoHandler extends Error {}

/** The file loads, but does not export what its place in the agent requires. */
class Malformed extends Error {}

/** The export is a class, which some hosts accept but cannot call. */
class ClassHandler extends Error {
  constructor(message, found) {
    super(message);
    this.plain = `Class constructor ${found.name} cannot be invoked without 'new'`; // the message of a call
  }
}

/**
 * Return the function of that name. Throws NoHandler or ClassHandler; `file` is the file's name in the message.
 * `isPlain`: as Node imports it, where the default of a CommonJS module is the whole `module.exports`.
 */
function pick(namespace, name, file, isPlain) {
  const found = isPlain ? namespace[name] : exported(namespace, name);
  if (found === undefined) throw new NoHandler(`${file} ${missing(name)}; ${functionsOf(namespace)}`);
  const what = name === "default" ? `the default export of ${file}` : `\`${name}\` in ${file}`;
  if (isNothing(namespace, found)) throw new NoHandler(`${file} ${NOTHING}`);
  if (typeof found !== "function") {
    throw new NoHandler(`${what} is ${kindOf(found)}, not a function; ${functionsOf(namespace)}`);
  }
  if (isClass(found)) {
    throw new ClassHandler(`${what} is a class; a handler is a function; ${functionsOf(namespace)}`, found);
  }
  return found;
}

/** Return a module's export of that name, of ES modules and CommonJS; undefined if there is none. */
function exported(namespace, name) {
  const common = namespace.default; // of a CommonJS module: its `module.exports`
  const isCommon = "module.exports" in namespace;
  const found = namespace[name];
  if (name === "default" && isCommon && common?.__esModule) return common.default ?? common;
  const own = isHolder(common) && (hasOwn(common, name) || !(name in Function.prototype)); // never `toString`
  return found === undefined && isCommon && own ? common[name] : found;
}

/** Return a bundled module's export of that name; the default of CommonJS is the whole `module.exports`. */
function exportedOfBundle(namespace, name) {
  const common = "module.exports" in namespace ? namespace.default : null;
  return name === "default" || !isHolder(common) || name in namespace ? namespace[name] : common[name];
}

const isHolder = (value) => value !== null && (typeof value === "object" || typeof value === "function");
const missing = (name) => (name === "default" ? "has no default export" : `does not export \`${name}\``);

function isClass(value) {
  return /^class\b/.test(apply(toString, value, []));
}

/** True for a file without exports, which Node takes for CommonJS with an empty object as its default. */
function isNothing(namespace, found) {
  return "module.exports" in namespace && found === namespace.default && isHolder(found) && isBare(found);
}

const isBare = (value) => typeof value === "object" && !Array.isArray(value) && !Object.keys(value).length;

function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function functionsOf(namespace) {
  const common = "module.exports" in namespace && isHolder(namespace.default) ? [namespace.default] : [];
  const listedIn = (holder) => Object.keys(holder).filter((name) => isListed(holder, name));
  const names = new Set([namespace, ...common].flatMap(listedIn));
  const listed = [...names].slice(0, LISTED).map((name) => `\`${name}\``);
  return listed.length ? `it exports ${listed.join(", ")}` : "it exports no functions";
}

function isListed(holder, name) {
  return name !== "module.exports" && typeof holder[name] === "function" && !isClass(holder[name]);
}

module.exports = { NoHandler, Malformed, ClassHandler, pick, exported, exportedOfBundle, isHolder };
