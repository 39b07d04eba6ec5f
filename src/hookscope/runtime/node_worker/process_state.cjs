// Settings of the process that a handler can change, apart from objects: read before any handler and after each.
//
// The counterpart of ../python_worker/process_state.py. Differences are restored and reported. If one cannot be
// restored, that is reported too, and the host replaces the worker. V8's flags and loader threads cannot be read,
// so the calls that set them are noted.

"use strict";

const asyncHooks = require("node:async_hooks");
const channels = require("node:diagnostics_channel");
const { EventEmitter } = require("node:events");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const util = require("node:util");
const v8 = require("node:v8");

const { apply } = Reflect;
const { assign } = Object;
const { stringify } = JSON;
const { statSync, readFileSync, writeFileSync } = fs;
const { getPriority, setPriority } = os;
const { umask, setuid, seteuid, setgid, setegid, setgroups } = process;
const { getuid, geteuid, getgid, getegid, getgroups } = process;
const { eventNames, rawListeners, removeAllListeners, on } = EventEmitter.prototype;
const OOM_SCORE = "/proc/self/oom_score_adj";
const INSPECTOR = "inspector";
const { getBuiltinModule } = process;

const copy = (object) => stringify(object);

/** {words, read, write} of each setting; without `write`, it cannot be restored. */
function aspects() {
  const { defaultOptions } = util.inspect;
  const known = { ...defaultOptions };
  const score = read(() => readFileSync(OOM_SCORE, "utf8"));
  return [
    { words: "the umask", read: () => apply(umask, process, []), write: (value) => apply(umask, process, [value]) },
    { words: "the user or group IDs", read: ids, write: setIds },
    { words: "the priority", read: () => getPriority(), write: (value) => setPriority(value) },
    { words: "the root directory", read: () => statSync("/").ino },
    { words: "process.title", read: () => process.title, write: (value) => { process.title = value; } },
    { words: "process.exitCode", read: () => process.exitCode ?? null, write: () => { process.exitCode = undefined; } },
    {
      words: "the defaults of util.inspect",
      read: () => copy(util.inspect.defaultOptions),
      write: () => { util.inspect.defaultOptions = known; },
    },
    {
      words: "EventEmitter.defaultMaxListeners",
      read: () => EventEmitter.defaultMaxListeners,
      write: (value) => { EventEmitter.defaultMaxListeners = value; },
    },
    {
      words: "EventEmitter.captureRejections",
      read: () => EventEmitter.captureRejections,
      write: (value) => { EventEmitter.captureRejections = value; },
    },
    ...(score === undefined ? [] : [{
      words: "oom_score_adj",
      read: () => readFileSync(OOM_SCORE, "utf8"),
      write: (value) => writeFileSync(OOM_SCORE, value),
    }]),
    {
      words: "the open inspector",
      read: () => isOpen(),
      write: () => apply(getBuiltinModule, process, [INSPECTOR]).close(),
    },
  ];
}

const LATER = { // settings of modules that are read once the module is loaded
  dns: (dns) => [
    {
      words: "the DNS servers",
      read: () => copy(dns.getServers()),
      write: (known) => dns.setServers(JSON.parse(known)),
    },
    {
      words: "the order of DNS results",
      read: () => dns.getDefaultResultOrder(),
      write: (known) => dns.setDefaultResultOrder(known),
    },
  ],
  net: (net) => [
    {
      words: "net.getDefaultAutoSelectFamily()",
      read: () => net.getDefaultAutoSelectFamily(),
      write: (known) => net.setDefaultAutoSelectFamily(known),
    },
    {
      words: "the timeout of net.setDefaultAutoSelectFamilyAttemptTimeout()",
      read: () => net.getDefaultAutoSelectFamilyAttemptTimeout(),
      write: (known) => net.setDefaultAutoSelectFamilyAttemptTimeout(known),
    },
  ],
  http: (http) => [agent(http, "http")],
  https: (https) => [agent(https, "https")],
  crypto: (crypto) => [
    { words: "crypto.setFips()", read: () => crypto.getFips(), write: (known) => crypto.setFips(known) },
  ],
};

function agent(module, name) {
  const options = ["maxSockets", "maxTotalSockets", "maxFreeSockets", "keepAlive", "keepAliveMsecs", "defaultPort"];
  const original = module.globalAgent;
  const known = {};
  for (const option of options) known[option] = original[option];
  return {
    words: `${name}.globalAgent`,
    read: () => copy(options.map((option) => String(module.globalAgent[option]))),
    write: () => {
      module.globalAgent = original;
      assign(original, known);
    },
  };
}

let inspector = null;

function isOpen() {
  return inspector !== null && inspector.url() !== undefined;
}

function ids() {
  return getuid ? copy([getuid(), geteuid(), getgid(), getegid(), getgroups()]) : "";
}

function setIds(known) {
  const [user, effective, group, effectiveGroup, groups] = JSON.parse(known);
  apply(seteuid, process, [effective]);
  apply(setgroups, process, [groups]);
  apply(setgid, process, [group]);
  apply(setegid, process, [effectiveGroup]);
  apply(setuid, process, [user]);
}

function read(get) {
  try {
    return get();
  } catch {
    return undefined;
  }
}

/** The settings before any handler; `restore` restores them. */
class ProcessState {
  constructor() {
    this.aspects = [];
    this.known = [];
    this.loaded = new Set();
    this.noted = []; // settings made by calls, which cannot be read or restored
    this.hooks = []; // async hooks that handlers have enabled
    this.subscribed = []; // [channel, function] of diagnostics channels
    this.add(aspects());
    this.listeners = new Map();
    for (const name of apply(eventNames, process, [])) {
      this.listeners.set(name, apply(rawListeners, process, [name]));
    }
    this.watchCalls();
  }

  add(more) {
    for (const aspect of more) {
      this.aspects.push(aspect);
      this.known.push(read(aspect.read));
    }
  }

  /** Note that a module of Node is loaded: its settings are read from now on. */
  load(name, module) {
    if (this.loaded.has(name)) return;
    this.loaded.add(name);
    if (name === INSPECTOR) inspector = module;
    if (Object.hasOwn(LATER, name)) this.add(LATER[name](module));
  }

  /** Wrap the functions that set what cannot be read. */
  watchCalls() {
    const { noted, hooks, subscribed } = this;
    const { setFlagsFromString } = v8;
    v8.setFlagsFromString = function watched(...flags) {
      noted.push(`V8's flags (${String(flags[0]).slice(0, 80)})`);
      return apply(setFlagsFromString, v8, flags);
    };
    const { register } = Module;
    if (register) {
      Module.register = function watched(...loader) {
        noted.push("the module loaders, by module.register()");
        return apply(register, Module, loader);
      };
    }
    const { enable } = Object.getPrototypeOf(asyncHooks.createHook({}));
    Object.getPrototypeOf(asyncHooks.createHook({})).enable = function watched() {
      hooks.push(this);
      return apply(enable, this, []);
    };
    const { subscribe } = channels.Channel.prototype;
    channels.Channel.prototype.subscribe = function watched(listener) {
      subscribed.push([this, listener]);
      return apply(subscribe, this, [listener]);
    };
    const { subscribe: subscribeTo, channel } = channels;
    channels.subscribe = function watched(name, listener) {
      subscribed.push([channel(name), listener]);
      return apply(subscribeTo, channels, [name, listener]);
    };
    Module.syncBuiltinESMExports();
  }

  /** Restore what differs, and report it. Listeners and subscriptions that a hook adds while loading are kept. */
  restore(changed, lost, isLoad) {
    for (let at = 0; at < this.aspects.length; at += 1) {
      const { words, read: get, write } = this.aspects[at];
      if (read(get) === this.known[at]) continue;
      read(() => write?.(this.known[at]));
      (read(get) === this.known[at] ? changed : lost).push(words);
    }
    lost.push(...this.noted.splice(0));
    const enabled = this.hooks.splice(0);
    if (enabled.length) changed.push("async hooks");
    for (const hook of enabled) hook.disable();
    const subscriptions = this.subscribed.splice(0);
    if (subscriptions.length && !isLoad) {
      changed.push("diagnostics channels");
      for (const [channel, listener] of subscriptions) channel.unsubscribe(listener);
    }
    this.restoreListeners(changed, isLoad);
  }

  restoreListeners(changed, isLoad) {
    const names = new Set([...this.listeners.keys(), ...apply(eventNames, process, [])]);
    for (const name of names) {
      const [known, now] = [this.listeners.get(name) ?? [], apply(rawListeners, process, [name])];
      if (now.length === known.length && now.every((one, at) => one === known[at])) continue;
      const isCaught = name === "uncaughtException" || name === "unhandledRejection";
      if (isLoad && !isCaught && known.every((one) => now.includes(one))) {
        this.listeners.set(name, now);
        continue;
      }
      apply(removeAllListeners, process, [name]);
      for (const one of known) apply(on, process, [name, one]);
      changed.push(`listeners of process "${String(name)}"`);
    }
  }
}

module.exports = { ProcessState };
