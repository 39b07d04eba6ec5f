// Which function of a module is meant.

"use strict";

const LISTED = 8; // functions that a message names
const NOTHING = "exports nothing; write `export default` before the function that is called";
const { toString } = Function.prototype;
const { apply } = Reflect;
const { hasOwn } = Object;

/** The file loads, and has no function under the name that is asked for. */
class NoHandler extends Error {}

/** The file loads, and is not what its place in the agent asks for. */
class Malformed extends Error {}

/** There is no function, and what it has under that name is a class, which some hosts take and cannot call. */
class ClassHandler extends Error {
  constructor(message, found) {
    super(message);
    this.plain = `Class constructor ${found.name} cannot be invoked without 'new'`; // what a call would say
  }
}

/**
 * The function under that name. Throws NoHandler or ClassHandler; `file` is what they call the file.
 * `isPlain`: as Node imports it, where the default of a CommonJS module is its `module.exports`, whole.
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

/** What a module exports under that name, whichever way; undefined where it is nothing. */
function exported(namespace, name) {
  const common = namespace.default; // of a CommonJS module: its `module.exports`
  const isCommon = "module.exports" in namespace;
  const found = namespace[name];
  if (name === "default" && isCommon && common?.__esModule) return common.default ?? common;
  const own = isHolder(common) && (hasOwn(common, name) || !(name in Function.prototype)); // never `toString`
  return found === undefined && isCommon && own ? common[name] : found;
}

/** What a bundled module exports under that name: of a CommonJS one the default is its `module.exports`, whole. */
function exportedOfBundle(namespace, name) {
  const common = "module.exports" in namespace ? namespace.default : null;
  return name === "default" || !isHolder(common) || name in namespace ? namespace[name] : common[name];
}

const isHolder = (value) => value !== null && (typeof value === "object" || typeof value === "function");
const missing = (name) => (name === "default" ? "has no default export" : `does not export \`${name}\``);

function isClass(value) {
  return /^class\b/.test(apply(toString, value, []));
}

/** A file without a word of export is CommonJS to Node, with an empty object as its default. */
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
