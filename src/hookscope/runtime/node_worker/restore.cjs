// What a handler may disturb in its process, put back behind it.

"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { EventEmitter } = require("node:events");
const fs = require("node:fs");
const Module = require("node:module");
const net = require("node:net");
const path = require("node:path");
const { Duplex, Readable, Writable } = require("node:stream");
const util = require("node:util");

const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty, isExtensible, apply } = Reflect;
const { chdir, cwd } = process;
const { fstatSync } = fs;
const environment = process.env;
const events = ["uncaughtException", "unhandledRejection"];
const { removeAllListeners, on, rawListeners } = EventEmitter.prototype;

// Names that, once added to a prototype of everything, change what objects mean.
const HARMFUL = ["toJSON", "then", "get", "set", "value", "writable", "enumerable", "configurable"];

/** What the worker and most handlers stand on. A handler that replaces JSON.stringify does it for itself. */
function shared() {
  const iterators = [[].values(), new Map().entries(), new Set().values(), "".matchAll(/x/g)];
  const classes = [
    Object, Function, Array, String, Number, Boolean, Symbol, BigInt, Date, RegExp, Error, Promise, Map, Set,
    WeakMap, WeakSet, ArrayBuffer, getPrototypeOf(Uint8Array), Uint8Array, Int32Array, Buffer, EventEmitter,
    Readable, Writable, Duplex, net.Socket, AsyncLocalStorage, URL, URLSearchParams,
  ];
  const frequent = [
    ...["Object", "Function", "Array", "String", "Number", "Boolean", "Symbol", "BigInt", "Date", "RegExp"],
    ...["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError", "Promise", "Map", "Set"],
    ...["ArrayBuffer", "Uint8Array", "Int32Array", "SharedArrayBuffer", "Atomics", "JSON", "Math", "Reflect"],
    ...["Proxy", "Buffer", "URL", "URLSearchParams", "process", "console", "parseInt", "parseFloat", "isNaN"],
    ...["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"],
    ...["queueMicrotask", "structuredClone", "encodeURIComponent", "decodeURIComponent", "globalThis"],
  ];
  return [
    [globalThis, frequent],
    ...classes.flatMap((made) => [made, made.prototype]).map(whole),
    ...[...iterators.map(getPrototypeOf), getPrototypeOf(getPrototypeOf(iterators[0]))].map(whole),
    ...[JSON, Math, Reflect, Atomics, console, fs, path, util, util.types].map(whole),
    [Module, ["_load", "_resolveFilename", "_extensions", "_cache", "prototype", "wrap"]],
    whole(Module.prototype),
    whole(getPrototypeOf(process)),
    [process, ownKeys(process).filter((name) => !isChanging(name))],
    [process.stdout, ["write", "end", "fd", "_write", "destroy"]],
    [process.stderr, ["write", "end", "fd", "_write", "destroy"]],
  ];
}

const whole = (object) => [object, ownKeys(object)];
// Of process: what changes by itself, and what would be made by a look at it.
const isChanging = (name) => typeof name === "symbol" || /^(?:_|domain$|exitCode$|stdin$)/.test(name);

/** One thing that must stay: a value, or the accessor that stands for it; absent where there was none. */
class Fixed {
  constructor(object, name) {
    this.object = object;
    this.name = name;
    this.descriptor = getOwnPropertyDescriptor(object, name);
    // Accessors of the global object, `Buffer` and `process`, keep what is put there: their value counts.
    this.isValue = this.descriptor === undefined || "value" in this.descriptor || object === globalThis;
    this.value = this.isValue ? object[name] : undefined;
  }
}

/** The process as it is before any handler. `restore` puts it back so, or says that it cannot. */
class Baseline {
  constructor() {
    this.fixed = shared().flatMap(([object, names]) => names.map((name) => new Fixed(object, name)));
    this.extensible = [Object, Array, Function, String, Promise, Error, Map]
      .map((made) => made.prototype).concat(globalThis, JSON, process);
    this.added = [
      ...[Object, Array, String, Number, Boolean].map((made) => [made.prototype, HARMFUL]),
      [Error, ["prepareStackTrace"]],
    ]
      .flatMap(([object, names]) => names.map((name) => ({ object, name })))
      .filter(({ object, name }) => !(name in object));
    this.prototype = { __proto__: null };
    for (const name of ownKeys(Object.prototype)) this.prototype[name] = true;
    this.umask = process.umask(0o077);
    process.umask(this.umask);
    this.loaders = [];
    this.watchLoaders();
    this.streams = [process.stdout, process.stderr];
    this.outputs = [1, 2].map(identity);
    this.cwd = apply(cwd, process, []);
    this.env = { __proto__: null, ...environment };
    this.argv = process.argv;
    this.listeners = events.map((name) => [name, apply(rawListeners, process, [name])]);
  }

  /** Hooks of the loader cannot be listed afterwards, so those of handlers are noted as they come. */
  watchLoaders() {
    const { registerHooks } = Module;
    const { loaders } = this;
    Module.registerHooks = function noted(...hooks) {
      const registered = apply(registerHooks, Module, hooks);
      loaders.push(registered);
      return registered;
    };
    Module.syncBuiltinESMExports();
    this.fixed.push(new Fixed(Module, "registerHooks"));
  }

  /** Put everything back. False where something stays changed: this process is spoilt. */
  restore() {
    try {
      const isWhole = this.restoreNames();
      this.restoreProcess();
      for (let at = 0; at < this.extensible.length; at += 1) {
        if (!isExtensible(this.extensible[at])) return false;
      }
      const isOpen = this.streams.every((stream) => !stream.writableEnded && !stream.destroyed);
      return isWhole && isOpen && this.outputs.every((known, at) => known === identity(at + 1));
    } catch { // whatever it is, the process is no longer what it was
      return false;
    }
  }

  /** Put back only what the worker itself stands on, while handlers still run. False where that fails. */
  restoreShared() {
    try {
      return this.restoreNames();
    } catch {
      return false;
    }
  }

  /** Only what was replaced or removed: a name that was added harms nobody. By no means of theirs. */
  restoreNames() {
    let isWhole = true;
    const present = ownKeys(Object.prototype);
    for (let at = 0; at < present.length; at += 1) { // what every object has, every object loses again
      if (!(present[at] in this.prototype)) isWhole = delete Object.prototype[present[at]] && isWhole;
    }
    for (let at = 0; at < this.added.length; at += 1) {
      const { object, name } = this.added[at];
      if (name in object) isWhole = delete object[name] && isWhole;
    }
    for (let at = 0; at < this.fixed.length; at += 1) {
      const one = this.fixed[at];
      if (isUnchanged(one)) continue;
      isWhole = putBack(one) && isWhole;
    }
    return isWhole;
  }

  restoreProcess() {
    process.exitCode = undefined;
    process.umask(this.umask);
    if (process.hasUncaughtExceptionCaptureCallback()) process.setUncaughtExceptionCaptureCallback(null);
    while (this.loaders.length) this.loaders.pop().deregister();
    process.argv = this.argv;
    process.argv.length = 1;
    if (process.env !== environment) process.env = environment;
    for (const name of Object.keys(environment)) {
      if (!(name in this.env)) delete environment[name];
    }
    for (const name in this.env) {
      if (environment[name] !== this.env[name]) environment[name] = this.env[name];
    }
    if (apply(cwd, process, []) !== this.cwd) apply(chdir, process, [this.cwd]);
    for (const [name, ours] of this.listeners) {
      const present = apply(rawListeners, process, [name]);
      if (present.length === ours.length && present.every((one, at) => one === ours[at])) continue;
      apply(removeAllListeners, process, [name]);
      for (const one of ours) apply(on, process, [name, one]);
    }
  }
}

function isUnchanged(one) {
  const value = one.isValue ? one.object[one.name] : undefined;
  if (one.isValue) return value === one.value || (value !== value && one.value !== one.value);
  const present = getOwnPropertyDescriptor(one.object, one.name);
  return present !== undefined && present.get === one.descriptor.get && present.set === one.descriptor.set;
}

function putBack(one) {
  if (one.descriptor === undefined) return delete one.object[one.name];
  if (!defineProperty(one.object, one.name, one.descriptor)) return false;
  if (!("value" in one.descriptor) && one.isValue) one.object[one.name] = one.value;
  return isUnchanged(one);
}

function identity(descriptor) {
  const { dev, ino } = fstatSync(descriptor);
  return `${dev} ${ino}`;
}

/** What an import set: its handler relies on it, the other hooks must not see it. */
function changesOfEnvironment(before) {
  const changes = { __proto__: null };
  for (const name of Object.keys(environment)) {
    if (environment[name] !== before[name]) changes[name] = environment[name];
  }
  return changes;
}

/** A copy of the environment as it is now. */
function environmentNow() {
  return { __proto__: null, ...environment };
}

/** Set environment variables. The names of those that no environment can hold: they are left out. */
function layOver(env) {
  const leftOut = [];
  for (const [name, value] of Object.entries(env)) {
    if (name && !/[=\0]/.test(name) && !String(value).includes("\0")) environment[name] = value;
    else leftOut.push(name);
  }
  return leftOut;
}

module.exports = { Baseline, changesOfEnvironment, environmentNow, layOver };
