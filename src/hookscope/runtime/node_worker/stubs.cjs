// What stands in for the values of a package that is not installed here.
//
// Handlers import types and helpers of their host, which is not there when Hookscope runs them. Most
// never call what they import; those that do get an error that says why.

"use strict";

const { pathToFileURL } = require("node:url");

const SCHEME = "hookscope:";

const QUIET = new Set(["then", "toJSON", "constructor", "name", "length", "__esModule", "default"]);

const loading = { depth: 0, asked: new Set() }; // what code asked of its host while it loaded

class NotInstalled extends Error {}

const made = new WeakSet();

/** Does it stand in for what is not here? */
function isStandIn(value) {
  return typeof value === "function" && made.has(value);
}

function standIn(handler) {
  const value = new Proxy(function stub() {}, handler);
  made.add(value);
  return value;
}

/** What the task gives. Until it is done, what belongs to the host answers, with more that belongs to it. */
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

/** The error that loading threw; its text names what was called of the host before, which may be its cause. */
function withAsked(error, names) {
  if (names.length && error instanceof Error && !(error instanceof NotInstalled)) {
    error.message += ` (before it, a stub answered for ${names.join(", ")})`;
  }
  return error;
}

/** The names of what was called of the host since this was asked last. */
function askedWhileLoading() {
  const names = [...loading.asked];
  loading.asked.clear();
  return names;
}

/**
 * What only the running host has. It can be read to any depth. A call gives another such value while code loads, since
 * there most of it is arrangement; in a handler it throws, since nothing true can be answered.
 */
function ofHost(name, why = "") {
  const refusal = why ? `is a stub: ${why}` : "belongs to the running host, and nothing stands in for it here";
  const answer = () => {
    if (!loading.depth) throw new NotInstalled(`${name} ${refusal}`);
    loading.asked.add(name);
    return ofHost(`${name}()`, why);
  };
  const kept = new Map(); // what code has set
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

/** A value that can be handed around, but neither called nor read. `why` it stands there. */
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

/** The address of a module that exports these names, and no others. */
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

/** The address of a module that exports what CommonJS gives to the file at that address. */
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

/** The address of a module that exports the `module` and `exports` of the file at that address, and its mark. */
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
