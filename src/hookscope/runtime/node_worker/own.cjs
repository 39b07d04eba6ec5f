// Protects the worker's own modules in the CommonJS cache, which any handler can list, change and clear.

"use strict";

const Module = require("node:module");
const path = require("node:path");

const SCRIPT = ".js"; // Node loads unknown extensions as this one
const HERE = __dirname + path.sep;

const load = Module._extensions[SCRIPT]; // bound before any handler runs

/** Hide, freeze and lock our modules in the cache, so that a later `require` returns the same ones. */
function keepOwn() {
  for (const file of Object.keys(Module._cache)) {
    if (!file.startsWith(HERE)) continue;
    const value = Module._cache[file];
    for (const made of [value.exports, ...Object.values(value.exports)]) {
      if (typeof made === "function") Object.freeze(made.prototype);
      if (typeof made === "function" || made === value.exports) Object.freeze(made);
    }
    Object.defineProperty(Module._cache, file, { value, enumerable: false, writable: false, configurable: false });
  }
}

/** Load one of our modules on demand, with Node's own loader even if a handler has replaced it. */
function part(name) {
  const present = Module._extensions[SCRIPT];
  Module._extensions[SCRIPT] = load;
  try {
    return require(name);
  } finally {
    Module._extensions[SCRIPT] = present;
    keepOwn();
  }
}

module.exports = { keepOwn, part };
