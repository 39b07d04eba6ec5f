// Restores what a handler has changed in its process.

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { EventEmitter } = require("node:events");
const fs = require("node:fs");
const Module = require("node:module");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { Duplex, Readable, Writable } = require("node:stream");
const timers = require("node:timers");
const util = require("node:util");
const { ProcessState } = require("./process_state.cjs");

const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty, isExtensible, apply } = Reflect;
const { setPrototypeOf, deleteProperty } = Reflect;
const { chdir, cwd } = process;
const { fstatSync } = fs;
const environment = process.env;
const NAMED = 6; // names that a note lists
// Names that, if added to `process` itself, hide inherited members.
const INHERITED = ["emit", "on", "once", "off", "addListener", "removeListener", "removeAllListeners", "listeners"];
const OF_MODULE = [
  ...["registerHooks", "register", "_load", "_resolveFilename", "_findPath", "_nodeModulePaths", "_extensions"],
  ...["_cache", "prototype", "wrap"],
];
const DEPRECATIONS = ["noDeprecation", "throwDeprecation", "traceDeprecation"];

// Names that, if added to a basic prototype, change the behavior of all objects.
const HARMFUL = ["toJSON", "then", "get", "set", "value", "writable", "enumerable", "configurable"];

/** Objects that the worker and most handlers use: a handler may replace their members only for itself. */
function shared() {
  const iterators = [[].values(), new Map().entries(), new Set().values(), "".matchAll(/x/g)];
  const generators = [function* () {}, async function* () {}].map((made) => getPrototypeOf(made.prototype));
  const classes = [
    Object, Function, Array, String, Number, Boolean, Symbol, BigInt, Date, RegExp, Error, Promise, Map, Set,
    WeakMap, WeakSet, ArrayBuffer, getPrototypeOf(Uint8Array), Uint8Array, Int32Array, Buffer, EventEmitter,
    Readable, Writable, Duplex, net.Socket, AsyncLocalStorage, URL, URLSearchParams, TextDecoder, TextEncoder,
    AbortController, AbortSignal, EventTarget, Event, WeakRef, TypeError, RangeError, SyntaxError, DataView,
    FinalizationRegistry,
    ...ownKeys(Intl).map((name) => Intl[name]).filter((made) => typeof made === "function" && made.prototype),
  ];
  const frequent = [
    ...["Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Date", "RegExp"],
    ...["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError", "Promise", "Map", "Set"],
    ...["ArrayBuffer", "Uint8Array", "Int32Array", "SharedArrayBuffer", "Atomics", "JSON", "Math", "Reflect"],
    ...["Proxy", "Buffer", "URL", "URLSearchParams", "process", "console", "parseInt", "parseFloat", "isNaN"],
    ...["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"],
    ...["queueMicrotask", "structuredClone", "encodeURIComponent", "decodeURIComponent", "globalThis"],
    ...["Intl", "TextDecoder", "TextEncoder", "AbortController", "AbortSignal", "EventTarget", "Event", "WeakRef"],
    ...["fetch", "performance", "WeakMap", "WeakSet", "DataView", "eval", "isFinite", "encodeURI", "decodeURI", "atob", "btoa", "escape"],
  ].filter((name) => name in globalThis);
  const streams = ["write", "end", "fd", "_write", "destroy"];
  return [
    [globalThis, frequent, "globalThis"],
    ...classes.flatMap((made) => [whole(made, labelOf(made)), whole(made.prototype, `${labelOf(made)}.prototype`)]),
    ...[...iterators.map(getPrototypeOf), getPrototypeOf(getPrototypeOf(iterators[0]))]
      .map((object) => whole(object, "an iterator")),
    ...generators.map((object) => whole(object, "a generator")),
    ...Object.entries({ JSON, Math, Reflect, Atomics, console, Intl, fs, path, util, os, timers })
      .map(([name, object]) => whole(object, name)),
    whole(fs.promises, "fs.promises"),
    whole(util.types, "util.types"),
    whole(util.inspect, "util.inspect", ["defaultOptions"]),
    whole(process.hrtime, "process.hrtime"),
    whole(getPrototypeOf(performance), "performance"),
    [Module, OF_MODULE, "Module"],
    whole(Module._extensions, "Module._extensions"),
    whole(Module.prototype, "Module.prototype"),
    whole(getPrototypeOf(process), "process"),
    [process, ownKeys(process).filter((name) => !isChanging(name)), "process"],
    [process.stdout, streams, "process.stdout"],
    [process.stderr, streams, "process.stderr"],
  ];
}

const labelOf = (made) => (Object.hasOwn(Intl, made.name) ? `Intl.${made.name}` : made.name);
const whole = (object, label, but = []) => [object, ownKeys(object).filter((name) => !but.includes(name)), label];
// Members of `process` that change by themselves, or are created when they are read.
const isChanging = (name) => typeof name === "symbol" || /^(?:_|domain$|exitCode$|stdin$|title$)/.test(name);

/** A member that must not change: a value, an accessor, or no member at all. */
class Fixed {
  constructor(object, name, label) {
    this.object = object;
    this.name = name;
    this.label = label;
    this.descriptor = getOwnPropertyDescriptor(object, name);
    // For accessors of the global object, such as `Buffer` and `process`, the value is compared.
    this.isValue = this.descriptor === undefined || "value" in this.descriptor || object === globalThis;
    this.value = this.isValue ? object[name] : undefined;
  }
}

/** The process before any handler. `restore` restores it, or reports that it cannot. */
class Baseline {
  constructor() {
    this.fixed = [];
    this.state = new ProcessState(); // this and `watchLoaders` replace functions of Node by ours
    this.loaders = [];
    this.watchLoaders();
    const objects = shared();
    this.fixed = objects.flatMap(([object, names, label]) => names.map((name) => new Fixed(object, name, label)));
    this.prototypes = objects.map(([object, , label]) => ({ object, label, known: getPrototypeOf(object) }));
    this.noted = new Set(); // modules of Node whose members are compared
    this.changed = []; // what the last `restore` restored, in words
    this.lost = []; // what it could not restore
    this.extensible = [Object, Array, Function, String, Promise, Error, Map]
      .map((made) => made.prototype).concat(globalThis, JSON, process);
    this.added = [
      ...[Object, Array, String, Number, Boolean]
        .map((made) => [made.prototype, HARMFUL, `${made.name}.prototype`]),
      [Error, ["prepareStackTrace"], "Error"],
      [Error.prototype, ["stack", "toJSON"], "Error.prototype"],
      [process, [...INHERITED, ...DEPRECATIONS], "process"],
      [performance, ["now", "timeOrigin", "mark", "measure"], "performance"],
    ]
      .flatMap(([object, names, label]) => names.map((name) => ({ object, name, label })))
      .filter(({ object, name }) => getOwnPropertyDescriptor(object, name) === undefined);
    this.prototype = { __proto__: null };
    for (const name of ownKeys(Object.prototype)) this.prototype[name] = true;
    this.streams = [process.stdout, process.stderr];
    this.outputs = [1, 2].map(identity);
    this.cwd = apply(cwd, process, []);
    this.env = { __proto__: null, ...environment };
    this.names = Object.keys(this.env);
    this.argv = process.argv;
    this.execArgv = [...process.execArgv];
  }

  /** Note loader hooks as handlers register them, because they cannot be listed later. */
  watchLoaders() {
    const { registerHooks } = Module;
    const { loaders } = this;
    const note = (name) => this.noteBuiltin(name);
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        if (found.url.startsWith(BUILTIN)) note(found.url.slice(BUILTIN.length));
        return found;
      },
    });
    const { getBuiltinModule } = process;
    process.getBuiltinModule = function noted(name) {
      note(String(name).replace(BUILTIN, ""));
      return apply(getBuiltinModule, process, [name]);
    };
    Module.registerHooks = function noted(...hooks) {
      const registered = apply(registerHooks, Module, hooks);
      loaders.push(registered);
      return registered;
    };
    Module.syncBuiltinESMExports();
  }

  /** Note that a handler loads this module of Node: its members are compared from now on. */
  noteBuiltin(name) {
    if (this.noted.has(name) || !Module.isBuiltin(name) || !isNamed(name)) return;
    this.noted.add(name);
    const module = require(`${BUILTIN}${name}`);
    this.state.load(name, module);
    if (typeof module !== "function" && typeof module !== "object") return;
    if (name.startsWith("dns")) { // `setServers` replaces its other functions
      const looked = name === "dns" ? [[module, name], [module.promises, "dns.promises"]] : [[module, name]];
      for (const [object, label] of looked) this.fixed.push(new Fixed(object, "lookup", label));
      return;
    }
    this.note(module, name);
    for (const key of Object.keys(module)) {
      const made = getOwnPropertyDescriptor(module, key)?.value;
      const isClass = typeof made === "function" && made.prototype && /^[A-Z]/.test(key);
      if (isClass) this.note(made.prototype, `${name}.${key}.prototype`);
    }
  }

  note(object, label) {
    for (const key of ownKeys(object)) {
      const { value } = getOwnPropertyDescriptor(object, key) ?? {};
      if (typeof value === "function" || typeof value === "string") this.fixed.push(new Fixed(object, key, label));
    }
  }

  /** Restore everything. Return false if something stays changed: the process must be replaced. */
  restore(isLoad = false) {
    const changed = []; // restored first without methods: handlers may have replaced those
    const lost = [];
    this.changed = changed;
    this.lost = lost;
    try {
      this.restoreNames(changed, lost);
      this.restoreProcess(changed, lost, isLoad);
      for (let at = 0; at < this.extensible.length; at += 1) {
        if (!isExtensible(this.extensible[at])) lost.push("built-in objects, which it froze");
      }
      const isOpen = this.streams.every((stream) => !stream.writableEnded && !stream.destroyed);
      if (!isOpen || !this.outputs.every((known, at) => known === identity(at + 1))) {
        lost.push("standard output or standard error");
      }
    } catch { // after any error the process counts as changed
      lost.push("the process in a way that cannot be compared");
    }
    return lost.length === 0;
  }

  /** Return sentences on the last `restore`. `who` is their subject. */
  sentences(who) {
    const said = [];
    if (this.changed.length) said.push(`${who} changed: ${listed(this.changed)}. Hookscope restored it`);
    if (this.lost.length) {
      const what = listed([...new Set(this.lost)]);
      said.push(`${who} changed: ${what}. That cannot be restored, so the next handler gets a new worker`);
    }
    return said;
  }

  /** Restore only what the worker itself uses, while handlers still run. Return false if that fails. */
  restoreShared() {
    try {
      return this.restoreNames([], []);
    } catch {
      return false;
    }
  }

  /** Restore replaced and removed members. Uses no methods, which handlers may have replaced. */
  restoreNames(changed, lost) {
    const found = [];
    const say = (label, name, isBack) => { found[found.length] = { label, name, isBack }; };
    const present = ownKeys(Object.prototype);
    for (let at = 0; at < present.length; at += 1) { // remove additions, which all objects inherit
      const name = present[at];
      if (!(name in this.prototype)) say("Object.prototype", name, deleteProperty(Object.prototype, name));
    }
    for (let at = 0; at < this.added.length; at += 1) {
      const { object, name, label } = this.added[at];
      if (getOwnPropertyDescriptor(object, name) !== undefined) say(label, name, deleteProperty(object, name));
    }
    for (let at = 0; at < this.prototypes.length; at += 1) {
      const { object, label, known } = this.prototypes[at];
      if (getPrototypeOf(object) !== known) say(label, "[[Prototype]]", setPrototypeOf(object, known));
    }
    for (let at = 0; at < this.fixed.length; at += 1) {
      const one = this.fixed[at];
      if (!isUnchanged(one)) say(one.label, one.name, putBack(one));
    }
    if (!found.length) return true;
    Module.syncBuiltinESMExports(); // named imports of Node's modules have copies of the values
    for (const { label, name, isBack } of found) (isBack ? changed : lost).push(nameOf(label, name));
    return found.every(({ isBack }) => isBack);
  }

  restoreProcess(changed, lost, isLoad) {
    this.state.restore(changed, lost, isLoad);
    if (process.hasUncaughtExceptionCaptureCallback()) {
      process.setUncaughtExceptionCaptureCallback(null);
      changed.push("process.setUncaughtExceptionCaptureCallback()");
    }
    if (this.loaders.length) changed.push("the module loaders, by module.registerHooks()");
    while (this.loaders.length) this.loaders.pop().deregister();
    process.argv = this.argv;
    process.argv.length = 1;
    if (process.execArgv.length !== this.execArgv.length) process.execArgv.splice(0, Infinity, ...this.execArgv);
    this.restoreEnvironment(changed, isLoad);
    let here = "";
    try {
      here = apply(cwd, process, []);
    } catch {
      // The folder was deleted.
    }
    if (here !== this.cwd) {
      apply(chdir, process, [this.cwd]);
      changed.push("the working directory");
    }
  }

  restoreEnvironment(changed, isLoad) {
    const isReplaced = process.env !== environment;
    if (isReplaced) process.env = environment;
    const present = Object.keys(environment);
    const isSame = (name) => environment[name] === this.env[name];
    if (!isReplaced && present.length === this.names.length && present.every(isSame)) return;
    const known = { __proto__: null, ...this.env, ...laidOver };
    const names = new Set([...present, ...Object.keys(known)]);
    const differing = [...names].filter((name) => environment[name] !== known[name]);
    for (const name of present) {
      if (!(name in this.env)) delete environment[name];
    }
    for (const name of this.names) {
      if (!isSame(name)) environment[name] = this.env[name];
    }
    laidOver = {};
    if (isLoad || (!differing.length && !isReplaced)) return;
    changed.push(`the environment${differing.length ? ` (${listed(differing)})` : ""}`);
  }
}

const BUILTIN = "node:";
let laidOver = {}; // variables that were set for the current handler

/** True for a module that code can load by name. */
const isNamed = (name) => !name.startsWith("_") && !name.startsWith("internal");

function nameOf(label, name) {
  const text = typeof name === "symbol" ? `[${String(name)}]` : `.${name}`;
  return label === "globalThis" && !text.startsWith(".[") ? text.slice(1) : `${label}${text}`;
}

function listed(names) {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function isUnchanged(one) {
  const value = one.isValue ? one.object[one.name] : undefined;
  if (one.isValue) return value === one.value || (value !== value && one.value !== one.value);
  const present = getOwnPropertyDescriptor(one.object, one.name);
  return present !== undefined && present.get === one.descriptor.get && present.set === one.descriptor.set;
}

function putBack(one) {
  if (one.descriptor === undefined) return deleteProperty(one.object, one.name);
  if (!defineProperty(one.object, one.name, one.descriptor)) return false;
  if (!("value" in one.descriptor) && one.isValue) one.object[one.name] = one.value;
  return isUnchanged(one);
}

function identity(descriptor) {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev} ${ino}`;
}

/** Return the variables that an import has set: only its own handler may see them. */
function changesOfEnvironment(before) {
  const changes = { __proto__: null };
  for (const name of Object.keys(environment)) {
    if (environment[name] !== before[name]) changes[name] = environment[name];
  }
  return changes;
}

/** Return a copy of the current environment. */
function environmentNow() {
  return { __proto__: null, ...environment };
}

/** Set environment variables. Return the names of invalid ones, which are omitted. */
function layOver(env) {
  const leftOut = [];
  for (const [name, value] of Object.entries(env)) {
    if (name && !/[=\0]/.test(name) && !String(value).includes("\0")) {
      environment[name] = value;
      laidOver[name] = environment[name];
    } else leftOut.push(name);
  }
  return leftOut;
}

module.exports = { Baseline, changesOfEnvironment, environmentNow, layOver };
