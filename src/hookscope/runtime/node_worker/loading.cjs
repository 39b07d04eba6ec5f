// Loads modules: imports the file in its world, and reads it according to its shape.

"use strict";

const { realpathSync } = require("node:fs");
const nodeModule = require("node:module");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { nameDefinition } = require("./definitions.cjs");
const { describe } = require("./faults.cjs");
const { cut } = require("./kinds.cjs");
const { install } = require("./hooks.cjs");
const { part } = require("./own.cjs");
const { exportedOfBundle, isHolder, pick } = require("./picking.cjs");
const { whileLoading } = require("./stubs.cjs");
const { refuseHashbang } = require("./sources.cjs");
const { explained } = require("./syntax.cjs");
const { addressOf, Worlds } = require("./worlds.cjs");

const SHARED = "shared"; // the mark of shared files until the host sends one
// Shapes of modules for Eve.
const OF_EVE = new Set(["stream", "tool", "input", "model"]);
// Readers of modules by shape: loaded on demand, because most handlers do not need one.
const agents = () => part("./agents.cjs");
const READERS = new Map([
  ["stream", () => part("./streams.cjs").streamOf],
  ["plugin", () => part("./plugins.cjs").pluginOf],
  ["tool", () => agents().toolOf],
  ["input", () => agents().inputOf],
  ["model", () => agents().agentOf],
]);

const ABSENT = "NotInstalled"; // the error of a stub that is called
const BESIDE = "beside\n"; // a finding for which some host rejects a module: a file beside it does not load

const ROOM = 4 * 1024 * 1024; // bytes of JSON for a module's declarations

const { stringify } = JSON;
const { byteLength } = Buffer;
const keyOf = (code) => stringify([code.path, code.name]);

/** A link on the way to the file was changed after the file was checked. */
class LeadsElsewhere extends Error {
  name = "LeadsElsewhere";
}

/** Throws LeadsElsewhere unless the file really lies at or below `within`, a real path. */
function checkPlace(file, within) {
  let real = file;
  try {
    real = realpathSync(file);
  } catch {
    return; // a missing file fails to load anyway
  }
  if (real === within || real.startsWith(path.join(within, path.sep))) return;
  throw new LeadsElsewhere(
    `not loaded: ${file} now leads to ${real}, outside ${within}, where trust was checked; fire again`,
  );
}

/** The modules of handlers in this process. */
class Modules {
  constructor() {
    this.worlds = new Worlds();
    this.failed = new Map(); // path, name → how often its import failed
    this.addresses = new Map(); // path, name → where its import was tried last
    install(this.worlds);
  }

  /**
   * Return {handlers, module}: functions by member, and the module's declarations. For a single handler, its
   * member is "" and `module` is null. Throws what the file throws, NoHandler or Malformed.
   */
  importHandler(code, late) {
    return whileLoading(() => this.importNow(code, late));
  }

  async importNow(code, late) {
    if (code.within) checkPlace(code.path, code.within);
    const mark = this.markOf(code);
    this.addresses.set(keyOf(code), addressOf(code.path, mark));
    const isOfEve = OF_EVE.has(code.shape);
    const [isPlain, isOfPlugin] = [code.plain === true, code.shape === "plugin"];
    const kind = { isPlain: isPlain && !isOfPlugin, isOfEve, isOfPlugin, isStrict: isPlain && isOfPlugin };
    if (isOfEve) refuseHashbang(code.path);
    if (kind.isStrict) part("./awaiting.cjs").refuseAwaiting(code.path);
    const read = READERS.get(code.shape)?.(); // before any code of the handler runs
    this.forget(this.worlds.enter(code.root, mark, code.shared || SHARED, kind));
    const namespace = await this.imported(code.path, mark, code);
    if (!read) {
      const target = pick(namespace, code.export, path.basename(code.path), isPlain);
      return { handlers: new Map([["", target]]), module: null };
    }
    const { handlers, module: found } = await read(namespace, code, late);
    const { log, stops } = await this.nameAll(code, mark);
    const asked = [...(found?.asked ?? []), ...stops];
    return { handlers, module: found && fitted({ ...found, log: [...found.log, ...log], asked }) };
  }

  async imported(file, mark, code) {
    this.worlds.recent.length = 0;
    try {
      return await this.importAt(addressOf(file, mark));
    } catch (error) {
      this.failed.set(keyOf(code), (this.failed.get(keyOf(code)) ?? 0) + 1);
      throw explained(error, this.worlds);
    }
  }

  async importAt(url) {
    return this.worlds.namespaceOf(url, await import(url));
  }

  /**
   * Import the definitions beside the module, as the module itself would find them, and note their names. Return
   * {log, stops}: lines about those that do not load, so that `toolResultFrom` never matches them, and findings for
   * which some host rejects the module, except those caused by packages that are not installed here.
   */
  async nameAll(code, mark) {
    const [log, stops, world] = [[], [], this.worlds.marks.get(mark)];
    for (const { kind, name, path: file } of code.beside ?? []) {
      this.worlds.recent.length = 0;
      try {
        const definition = exportedOfBundle(await this.importAt(this.worlds.place(world, file)), "default");
        if (isHolder(definition)) nameDefinition(definition, kind, name);
      } catch (error) {
        const { type, message } = describe(explained(error, this.worlds));
        const text = `the ${kind} ${name} did not load, so no result matches it: ${type}: ${message}`;
        log.push({ level: "warn", text });
        if (type !== ABSENT) stops.push(`${BESIDE}${file}\n${type}: ${cut(message)}`);
      }
    }
    return { log, stops };
  }

  /** The name for this import. Node caches failed imports, so that another try needs another name. */
  markOf(code) {
    const failures = this.failed.get(keyOf(code));
    return failures ? `${code.name}~${failures}` : code.name;
  }

  /** Remove changed files from the CommonJS cache, which has only their paths. */
  forget(isStale) {
    const cache = nodeModule._cache;
    for (const file of Object.keys(cache)) {
      if (!isStale(file)) continue;
      delete cache[file];
      this.worlds.forget(pathToFileURL(file).href);
    }
  }

  /** {files, stubs, standIns} that the handler's import reached. */
  reached(code) {
    return this.worlds.reached(this.addresses.get(keyOf(code)) ?? addressOf(code.path, code.name), code.root);
  }
}

/** Return the module with as many handlers as fit into a message; log the number of the others. */
function fitted({ declares, log, asked }) {
  let [room, count] = [ROOM, 0];
  while (count < declares.length && room > 0) {
    room -= byteLength(stringify(declares[count]));
    if (room > 0) count += 1;
  }
  const rest = declares.length - count;
  if (!rest) return { declares, log, asked };
  const line = { level: "error", text: `it has too many handlers: the last ${rest} are ignored` };
  return { declares: declares.slice(0, count), log: [...log, line], asked };
}

module.exports = { Modules };
