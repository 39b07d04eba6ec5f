// The worker's parts among the modules that CommonJS keeps, which any handler can list, change and empty.

"use strict";

const Module = require("node:module");
const path = require("node:path");

const SCRIPT = ".js"; // what Node takes every ending for that it does not know
const HERE = __dirname + path.sep;

const load = Module._extensions[SCRIPT]; // bound before any handler runs

/** Let nobody list them, change them, or take them away: whoever needs a part later gets the same one. */
function keepOwn() {
  for (const file of Object.keys(Module._cache)) {
    if (!file.startsWith(HERE)) continue;
    const value = Module._cache[file];
    Object.freeze(value.exports);
    Object.defineProperty(Module._cache, file, { value, enumerable: false, writable: false, configurable: false });
  }
}

/** What a part exports that most runs do without. By Node's own loader, whatever a handler has put in its place. */
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
