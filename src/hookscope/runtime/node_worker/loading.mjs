// Loading handlers: importing the file, picking the function, keeping the last version that loaded.

import module from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "./hooks.mjs";
import { explained } from "./syntax.mjs";
import { addressOf, Worlds } from "./worlds.mjs";

const LISTED = 8; // functions that a message names
const SHARED = "shared"; // the mark of files that hooks share, until the host knows of any
const { toString } = Function.prototype;
const { apply } = Reflect;

/** The file loads, and has no function under the name that is asked for. */
export class NoHandler extends Error {}

/** The same, and what it has under that name is a class, which some hosts take and cannot call. */
export class ClassHandler extends Error {}

/** The modules of handlers in this process. */
export class Modules {
  constructor() {
    this.worlds = new Worlds();
    this.failed = new Map(); // name → how often its import failed
    install(this.worlds);
  }

  /** The function that `export` names in the file. Throws what the file throws, or NoHandler. */
  async importHandler(code) {
    const mark = this.markOf(code);
    this.forget(this.worlds.enter(code.root, mark, code.shared || SHARED, code.plain === true));
    this.worlds.recent.length = 0;
    let namespace;
    try {
      namespace = await import(addressOf(code.path, mark));
    } catch (error) {
      this.failed.set(code.name, (this.failed.get(code.name) ?? 0) + 1);
      throw explained(error, this.worlds);
    }
    return pick(namespace, code.export, path.basename(code.path));
  }

  /** Node keeps what failed: where the same content is tried again, it needs another name. */
  markOf(code) {
    const failures = this.failed.get(code.name);
    return failures ? `${code.name}~${failures}` : code.name;
  }

  /** CommonJS keeps its modules by path alone: what changed must go. */
  forget(isStale) {
    const cache = module._cache;
    for (const file of Object.keys(cache)) {
      if (!isStale(file)) continue;
      delete cache[file];
      this.worlds.forget(pathToFileURL(file).href);
    }
  }

  /** {files, stubs} that the handler's import reached. */
  reached(code) {
    return this.worlds.reached(addressOf(code.path, this.worlds.roots.get(code.root)?.name), code.root);
  }
}

function pick(namespace, name, file) {
  const common = namespace.default; // of a CommonJS module: its `module.exports`
  const isCommon = "module.exports" in namespace;
  let found = namespace[name];
  if (name === "default" && isCommon && common?.__esModule) found = common.default ?? common;
  else if (found === undefined && isCommon && isHolder(common)) found = common[name];
  if (found === undefined) throw new NoHandler(`${file} ${missing(name)}; ${functionsOf(namespace)}`);
  const what = name === "default" ? `the default export of ${file}` : `\`${name}\` in ${file}`;
  if (typeof found !== "function") {
    throw new NoHandler(`${what} is ${kindOf(found)}, not a function; ${functionsOf(namespace)}`);
  }
  if (isClass(found)) {
    throw new ClassHandler(`${what} is a class; a handler is a function. ${functionsOf(namespace)}`);
  }
  return found;
}

const isHolder = (value) => value !== null && (typeof value === "object" || typeof value === "function");
const missing = (name) => (name === "default" ? "has no default export" : `does not export \`${name}\``);

function isClass(value) {
  return /^class\b/.test(apply(toString, value, []));
}

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
