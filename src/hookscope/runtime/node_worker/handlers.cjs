// The handlers that are loaded, by their content; of each file also the last version that did load.

"use strict";

const path = require("node:path");
const { describe } = require("./faults.cjs");
const { NoHandler } = require("./picking.cjs");
const { changesOfEnvironment, environmentNow, layOver } = require("./restore.cjs");

const LISTED = 8; // handlers that a message names

const { stringify, parse } = JSON;

const fileOf = (code) => [code.path, code.export, code.shape ?? "hook"];
const keyOf = (code) => stringify([...fileOf(code), code.config ?? null, code.name]);

/**
 * Loads what is not loaded yet. `late(who, text, adds)` hears what a module asks for after it was loaded; `adds` is
 * the handler that it brings: {name, row}.
 */
class Handlers {
  constructor(modules, calls, baseline, late) {
    this.calls = calls;
    this.baseline = baseline;
    this.late = late;
    this.modules = modules;
    this.known = new Map(); // path, export, shape, name → {contents, module, env, isTold}
    this.good = new Map(); // path, export, shape → the last of them that did load
    this.loads = 0;
    this.settings = {}; // of the host, for plugins
    this.notes = []; // on what the last load changed in the process
    this.leftOut = []; // names of variables that no environment can hold
  }

  has(code) {
    return this.known.has(keyOf(code));
  }

  layOver(env) {
    this.leftOut = layOver(env);
  }

  /**
   * {loaded, handler, error, stale, took, isClean}. `handler` is null where nothing can be run, and then
   * `error` says why; `stale` is what stands against the version that is meant, where an older one runs.
   */
  async load(who, code, env) {
    const known = this.known.get(keyOf(code));
    this.notes = [];
    if (known) return pick(known, code, { stale: null, took: 0, isClean: true });
    let before;
    const outcome = await this.calls.run(who, () => {
      this.layOver(env);
      before = environmentNow();
      const late = (text, row) => this.late(who || path.basename(code.root), text, row && { name: code.name, row });
      return this.modules.importHandler({ ...code, settings: this.settings }, late);
    });
    const changes = changesOfEnvironment(before);
    const isClean = this.baseline.restore(true);
    this.notes = this.baseline.sentences("as it loaded, it");
    const facts = { stale: null, took: outcome.took, isClean };
    if (!outcome.failed) return pick(this.keep(code, outcome.value, changes), code, facts);
    const [older, error] = [this.good.get(stringify(fileOf(code))), describe(outcome.error)];
    if (!older || !isClean) return { ...facts, loaded: null, handler: null, error };
    return pick(older, code, { ...facts, stale: error });
  }

  keep(code, { handlers, module }, env) {
    const loaded = { handlers, module, env, isTold: false };
    this.loads += 1;
    this.known.set(keyOf(code), loaded);
    this.good.set(stringify(fileOf(code)), loaded);
    this.forgetOlder(code);
    return loaded;
  }

  /** Drop what the folder held before it changed: not before what it holds now is loaded. */
  forgetOlder(code) {
    for (const key of this.known.keys()) {
      const known = parse(key);
      if (known[0] === code.path && known.at(-1) !== code.name) this.known.delete(key);
    }
  }

  /** {files, stubs, news}: what its import reached; of the sentences, `news` are said once. */
  reached(code, loaded) {
    const { files, stubs, standIns } = this.modules.reached(code);
    const missing = ([specifier, { names, absent }]) => {
      const all = [...names].join(", ");
      const were = names.size > 1 ? "were" : "was";
      const came = all ? `${all} ${were} stubbed` : "its import did nothing";
      return `${specifier} ${absent.is}: ${came}${absent.then}`;
    };
    const accepting = (specifier) => `${specifier} is not installed here: its schemas accept everything`;
    const news = loaded && !loaded.isTold ? [...standIns].map(accepting) : [];
    return { files, stubs: [...stubs].map(missing), news };
  }
}

/** A handler of a plugin is asked for by its number; before anybody knows that, by its event as well. */
function memberOf({ declares }, asked) {
  const spelled = (text) => text.replaceAll("-", "_");
  const isThere = declares.some(({ member }) => member === asked);
  const found = isThere ? undefined : declares.find(({ key }) => spelled(key) === spelled(asked));
  return found?.member ?? asked;
}

/** The member that is asked for. A module without members has one handler, under the empty name. */
function pick(loaded, code, facts) {
  const { handlers, module } = loaded;
  const handler = handlers.get(module ? memberOf(module, code.member) : "");
  if (handler || (module && !code.member)) return { ...facts, loaded, handler: handler ?? null, error: null };
  const names = [...handlers.keys()].slice(0, LISTED).map((name) => `\`${name}\``).join(", ");
  const error = new NoHandler(`it has no handler \`${code.member}\`; ${names ? `it has ${names}` : "it has none"}`);
  return { ...facts, loaded, handler: null, error: facts.stale ?? describe(error), stale: null };
}

module.exports = { Handlers };
