// Plugins: modules that register handlers, and other things, with the api that they are given.

"use strict";

const path = require("node:path");
const { exported, isHolder, NoHandler } = require("./picking.cjs");
const { cut } = require("./kinds.cjs");
const { loggerOf } = require("./openclaw.cjs");
const { MEMBERS } = require("./openclaw_names.cjs");
const { plain } = require("./plain.cjs");
const { Besides } = require("./registering.cjs");
const { runtimeOf } = require("./host_runtime.cjs");
const { askedWhileLoading, ofHost } = require("./stubs.cjs");

const OPTIONS = 16 * 1024; // bytes of one registration's options
const LINES = 100; // of the log
const LATE = 100; // handlers that are taken after `register`
const PROMISE = "promise"; // its `register` is not done when it returns
const UNNAMED = "unnamed"; // it registers a hook of folder events without a name
const MISNAMED = "misnamed\n"; // its code has another id than its manifest: both follow

const { apply } = Reflect;
const { isArray } = Array;
const { hasOwn } = Object;
const isText = (value) => typeof value === "string";

/**
 * See Modules.importHandler. `late(text, row)` hears of registrations that come after `register`, with the row of
 * one that counts from now on. Throws NoHandler.
 */
async function pluginOf(namespace, code, late) {
  const { holder, register } = entryOf(namespace, code);
  const about = isHolder(holder) ? holder : {};
  const id = code.id || (isText(about.id) ? about.id : path.basename(code.root));
  const registrations = new Registrations(late, code.plain === true, id, code.config ?? {}, code.tools ?? []);
  if (isText(about.id) && about.id !== id) registrations.asked.push(`${MISNAMED}${id}\n${about.id}`);
  const waiting = apply(register, holder, [apiOf(registrations, about, id, code)]);
  if (typeof waiting?.then === "function") {
    registrations.asked.push(PROMISE);
    if (!registrations.isPlain) {
      registrations.say("info", "its register gives a promise, which Hookscope waits for");
      await waiting;
    } else waiting.then(undefined, () => {}); // its host does not wait, and fails the plugin
  }
  return registrations.close();
}

/** The function that registers, and what it is a member of: the default export, what that holds, or `register`. */
function entryOf(namespace, code) {
  const standard = exported(namespace, "default");
  const inner = isHolder(standard) ? standard.default : undefined; // what some build tools leave behind
  for (const found of [exported(namespace, code.export || "default"), standard, inner, namespace]) {
    if (typeof found === "function") return { holder: undefined, register: found };
    const register = found?.register ?? (code.plain === true ? undefined : found?.activate);
    if (typeof register === "function") return { holder: found, register };
  }
  const file = path.basename(code.path);
  const isOld = typeof (exported(namespace, "default") ?? namespace)?.activate === "function";
  if (isOld) throw new NoHandler(`${file} exports activate, which its host no longer calls: name it register`);
  throw new NoHandler(`${file} registers nothing: export default a function register(api), or an object with one`);
}

/** Collects what a plugin registers, until `close`. */
class Registrations {
  constructor(late, isPlain, id, config, tools) {
    this.late = late;
    this.id = id;
    this.config = config; // what the settings say to the plugin
    this.isPlain = isPlain; // does it do what its host does, and no more
    this.isOpen = true;
    this.asked = []; // what some host fails it for: PROMISE, UNNAMED
    this.names = new Set(); // of hooks that have one
    this.handlers = new Map();
    this.declares = [];
    this.taken = 0; // of them, after `register`
    this.log = [];
    this.others = new Map(); // a kind of thing → how many of it were registered
    this.refused = new Set(); // sentences on those that its host does not take
    this.besides = isPlain ? new Besides(tools) : null; // what its host says to them
  }

  say(level, text) {
    if (this.log.length < LINES) this.log.push({ level, text: cut(text) });
  }

  /** One handler for one event, or for each of a list. */
  add(keys, handler, settings) {
    for (const key of isArray(keys) ? keys : [keys]) {
      const name = isText(key) ? key : "";
      if (!this.isOpen && (this.isPlain || this.taken >= LATE)) this.tooLate(name);
      else if (!name.trim()) this.say("warn", "registers a handler of no event: left out");
      else if (typeof handler !== "function") this.say("warn", `registers no function for ${name}: left out`);
      else this.declare(name, handler, isHolder(settings) ? settings : {});
    }
  }

  tooLate(name) {
    const why = this.isPlain
      ? "and its host does not call it either: an api is closed when register returns"
      : `since no more than ${LATE} are taken then`;
    this.late(`registers a handler of ${name} after its register: it is not called, ${why}`);
  }

  /** A hook of folder events, which its host knows by its name: the first of a name is the one. */
  addNamed(keys, handler, settings) {
    const options = { ...(isHolder(settings) ? settings : {}), internal: true };
    const name = isText(options.name) ? options.name.trim() : "";
    if (this.isOpen && !name) this.asked.push(UNNAMED);
    if (this.isOpen && name && this.names.has(name)) {
      return this.say("error", `hook already registered: ${name} (${this.id})`);
    }
    this.names.add(name);
    return this.add(keys, handler, options);
  }

  declare(key, handler, { priority, timeoutMs, ...rest }) {
    const [options, notes] = plain(rest, `options of ${key}`, OPTIONS);
    for (const note of notes) this.say("warn", note);
    const member = String(this.declares.length);
    this.handlers.set(member, rest.internal === true ? heard(handler, this.config) : handler);
    const row = {
      key,
      member,
      priority: Number.isFinite(priority) ? priority : 0,
      limit: Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs / 1000 : null,
      options,
    };
    this.declares.push(row);
    if (this.isOpen) return;
    this.taken += 1;
    this.late(`registers a handler of ${key} after its register: it is called from the next event on`, row);
  }

  /** Something that is not a hook. Throws where its host cannot make anything of what is handed over. */
  other(name, kind, given) {
    const why = (this.isOpen && this.besides?.refusal(name, given)) || "";
    if (!why) this.others.set(kind, (this.others.get(kind) ?? 0) + 1);
    else this.refused.add(`registers ${one(kind)} without effect: ${why}; the plugin and its hooks stay`);
  }

  /** It asks its host for something that leaves no answer. */
  vain(name) {
    const text = `calls ${name}, which only its host has: nothing came of it`;
    if (this.isOpen) this.say("info", text);
    else this.late(text);
  }

  /** What there is, and the end of it. */
  close() {
    this.isOpen = false;
    for (const name of askedWhileLoading()) this.say("info", `calls ${name} as it loads, which only its host has`);
    for (const text of this.refused) this.say("error", text);
    const others = [...this.others].map(([kind, count]) => counted(kind, count)).join(", ");
    if (others) this.say("info", `registers ${others}, which Hookscope does not run`);
    return { handlers: this.handlers, module: { declares: this.declares, log: this.log, asked: this.asked } };
  }
}

const one = (kind) => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
const counted = (kind, count) => (count > 1 ? `${one(kind)} (${count} times)` : one(kind));

/** What `register` gets. What it does not know and a plugin may register is noted, and does nothing. */
function apiOf(registrations, about, id, code) {
  const known = {
    id,
    name: isText(about.name) ? about.name : id,
    version: isText(about.version) ? about.version : undefined,
    description: isText(about.description) ? about.description : undefined,
    source: code.path,
    rootDir: code.root,
    registrationMode: "full",
    config: code.settings ?? {},
    pluginConfig: registrations.config,
    logger: loggerOf(console),
    runtime: runtimeOf(code.settings ?? {}, (name) => registrations.vain(name)),
    lifecycle: { signal: new AbortController().signal, onDispose: () => {} },
    resolvePath: (file) => path.resolve(code.root, file),
    on: (key, handler, settings) => registrations.add(key, handler, settings),
    registerHook: (first, handler, settings) => registerHook(registrations, first, handler, settings),
  };
  return new Proxy(known, {
    get: (target, name) => (name in target ? target[name] : quiet(registrations, name)),
  });
}

/**
 * `{event, handler, priority}` (seed 003), or events, handler and options, as the shipped program has it:
 * that means the events of hook folders, and is declared with the option `internal`. That program fails the
 * other form, which gives it no name.
 */
function registerHook(registrations, first, handler, settings) {
  if (!isHolder(first) || isArray(first)) return registrations.addNamed(first, handler, settings);
  const { event, events, handler: own, ...rest } = first;
  if (registrations.isOpen) registrations.asked.push(UNNAMED);
  return registrations.add(event ?? events, own, rest);
}

/**
 * A handler of folder events gets an object of its own with the very context, in which `pluginConfig` stands
 * for as long as it runs. Of an event with two arguments, it is the handler itself.
 */
function heard(handler, config) {
  return async (event, ...more) => {
    if (more.length) return handler(event, ...more);
    const { context } = event;
    const [had, before] = [hasOwn(context, "pluginConfig"), context.pluginConfig];
    context.pluginConfig = config;
    try {
      return await handler({ ...event, context });
    } finally {
      if (had) context.pluginConfig = before;
      else delete context.pluginConfig;
    }
  };
}

/**
 * `registerHttpRoute` registers a http route. What else the host has is its own. Any other name is not there, and where
 * the host is the shipped one, neither is what only older ones had.
 */
function quiet(registrations, name) {
  if (!isText(name) || (registrations.isPlain && !MEMBERS.has(name))) return undefined;
  const kind = /^(?:register|on)([A-Z]\w*)$/.exec(name)?.[1];
  if (kind) {
    const words = kind.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    return (...given) => registrations.other(name, words, given);
  }
  return MEMBERS.has(name) ? ofHost(`api.${name}`) : undefined;
}

module.exports = { pluginOf };
