// Stubs for the values of packages that are not installed.
//
// Handlers import types and helpers from their host, which is not there when Hookscope runs them. Most
// never call what they import; if one does, it gets an error with the reason.

"use strict";

const { pathToFileURL } = require("node:url");

const SCHEME = "hookscope:";

const QUIET = new Set(["then", "toJSON", "constructor", "name", "length", "__esModule", "default"]);

const loading = { depth: 0, asked: new Set() }; // names of the host's functions that were called while loading

class NotInstalled extends Error {}

const made = new WeakSet();

/** True if the value is a stub. */
function isStandIn(value) {
  return typeof value === "function" && made.has(value);
}

function standIn(handler) {
  const value = new Proxy(function stub() {}, handler);
  made.add(value);
  return value;
}

/** Run a task during which calls of the host's functions return stubs instead of throwing. */
async function whileLoading(task) {
  loading.depth += 1;
  try {
    return await task();
  } catch (error) {
    throw withAsked(error, askedWhileLoading());
  } finally {
    loading.depth -= 1;
  }
}

/** Add the host's functions that were called before an error to its text: they may be the cause. */
function withAsked(error, names) {
  if (names.length && error instanceof Error && !(error instanceof NotInstalled)) {
    error.message += ` (before that, stubs replaced ${names.join(", ")})`;
  }
  return error;
}

/** Return the names of the host's functions that were called since the last call of this function. */
function askedWhileLoading() {
  const names = [...loading.asked];
  loading.asked.clear();
  return names;
}

/**
 * A stub for something that only the running host has. Its members can be read to any depth. While code loads, a
 * call returns another stub, because loading mostly just prepares; in a handler a call throws.
 */
function ofHost(name, why = "") {
  const refusal = why ? `is a stub: ${why}` : "belongs to the running host and is not available here";
  const answer = () => {
    if (!loading.depth) throw new NotInstalled(`${name} ${refusal}`);
    loading.asked.add(name);
    return ofHost(`${name}()`, why);
  };
  const kept = new Map(); // members that code has set
  return standIn({
    apply: answer,
    construct: answer,
    set: (target, member, value) => Boolean(kept.set(member, value)),
    get(target, member) {
      if (kept.has(member)) return kept.get(member);
      if (member === "prototype") return target.prototype;
      if (member === Symbol.toPrimitive) return () => `[${name}]`;
      return typeof member === "symbol" || QUIET.has(member) ? undefined : ofHost(`${name}.${member}`, why);
    },
  });
}

/** A stub that can be passed around, but not called or read. `why`: the reason in its errors. */
function stub(name, specifier, why) {
  const what = name === "default" ? `the default export of ${specifier}` : `\`${name}\` of ${specifier}`;
  const refuse = () => {
    throw new NotInstalled(`${what} is a stub: ${why}`);
  };
  return standIn({
    apply: refuse,
    construct: refuse,
    set: refuse,
    get(target, member) {
      if (member === "prototype") return target.prototype; // for `class X extends`
      return typeof member === "symbol" || QUIET.has(member) ? undefined : refuse();
    },
  });
}

/** The address of a module that exports just these names, as stubs. */
function stubAddress(specifier, names, why) {
  return `${SCHEME}stub?${encodeURIComponent(JSON.stringify([specifier, names, why]))}`;
}

/** The source of the module at that address. */
function stubSource(query) {
  const [specifier, names, why] = JSON.parse(decodeURIComponent(query));
  const lines = names.map((name, at) => {
    const value = `stub(${[name, specifier, why].map((text) => JSON.stringify(text)).join(", ")})`;
    return `const stub${at} = ${value};\nexport { stub${at} as ${JSON.stringify(name)} };`;
  });
  return [`import { stub } from ${JSON.stringify(pathToFileURL(__filename).href)};`, ...lines].join("\n");
}

/** The address of a module that exports the CommonJS variables for the file at `url`. */
function aroundAddress(url) {
  return `${SCHEME}around?${encodeURIComponent(url.replace(/\?.*/, ""))}`;
}

function aroundSource(query) {
  const url = JSON.stringify(decodeURIComponent(query));
  return [
    'import { createRequire } from "node:module";',
    'import { dirname } from "node:path";',
    'import { fileURLToPath } from "node:url";',
    `export const __filename = fileURLToPath(${url});`,
    "export const __dirname = dirname(__filename);",
    `export const require = createRequire(${url});`,
  ].join("\n");
}

/** The address of a module that exports the `module` and `exports` for the file at `url`. */
function commonAddress(url) {
  return `${SCHEME}common?${encodeURIComponent(url)}`;
}

const COMMON = "export const module = { exports: {} };\nexport const { exports } = module;";

/** The source of the module at an address of that kind. */
function ownSource(kind, query) {
  if (kind === "common") return COMMON;
  return kind === "stub" ? stubSource(query) : aroundSource(query);
}

module.exports = {
  SCHEME, NotInstalled, isStandIn, whileLoading, askedWhileLoading, ofHost, stub, stubAddress, aroundAddress,
  commonAddress, ownSource,
};
