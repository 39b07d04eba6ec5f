// The loaded handlers, by content, and the last loadable version of each file.

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
 * Loads each content once. `late(who, text, adds)` receives requests that a module makes after it was loaded; `adds`
 * is the handler that it adds: {name, row}.
 */
class Handlers {
  constructor(modules, calls, baseline, late) {
    this.calls = calls;
    this.baseline = baseline;
    this.late = late;
    this.modules = modules;
    this.known = new Map(); // path, export, shape, name → {contents, module, env, isReported}
    this.good = new Map(); // path, export, shape → the last version that was loadable
    this.loads = 0;
    this.settings = {}; // of the host, for plugins
    this.notes = []; // on changes of the last load to the process
    this.leftOut = []; // names of invalid variables
  }

  has(code) {
    return this.known.has(keyOf(code));
  }

  /** Return what `load` returns if the content is loaded, else null. */
  ready(code) {
    const known = this.known.get(keyOf(code));
    return known ? pick(known, code, { stale: null, took: 0, isClean: true }) : null;
  }

  layOver(env) {
    this.leftOut = layOver(env);
  }

  /**
   * Return {loaded, handler, error, stale, took, isClean}. If nothing can be run, `handler` is null and `error` is the
   * reason. If an older version runs, `stale` is the error of the requested version.
   */
  async load(who, code, env) {
    this.notes = [];
    const ready = this.ready(code);
    if (ready) return ready;
    let before;
    const outcome = await this.calls.run(who, () => {
      this.layOver(env);
      before = environmentNow();
      const late = (text, row) => this.late(who || path.basename(code.root), text, row && { name: code.name, row });
      return this.modules.importHandler({ ...code, settings: this.settings }, late);
    });
    const changes = changesOfEnvironment(before);
    const isClean = this.baseline.restore(true);
    this.notes = this.baseline.sentences("while loading, it");
    const facts = { stale: null, took: outcome.took, isClean };
    if (!outcome.failed) return pick(this.keep(code, outcome.value, changes), code, facts);
    const [older, error] = [this.good.get(stringify(fileOf(code))), describe(outcome.error)];
    if (!older || !isClean) return { ...facts, loaded: null, handler: null, error };
    return pick(older, code, { ...facts, stale: error });
  }

  keep(code, { handlers, module }, env) {
    const loaded = { handlers, module, env, isReported: false };
    this.loads += 1;
    this.known.set(keyOf(code), loaded);
    this.good.set(stringify(fileOf(code)), loaded);
    this.forgetOlder(code);
    return loaded;
  }

  /** Drop the folder's previous content, now that its current content is loaded. */
  forgetOlder(code) {
    for (const key of this.known.keys()) {
      const known = parse(key);
      if (known[0] === code.path && known.at(-1) !== code.name) this.known.delete(key);
    }
  }

  /** Return {files, stubs, news}: files that its import reached, and sentences on stubs. `news` are reported once. */
  reached(code, loaded) {
    const { files, stubs, standIns } = this.modules.reached(code);
    const missing = ([specifier, { names, absent }]) => {
      const all = [...names].join(", ");
      const were = names.size > 1 ? "were" : "was";
      const came = all ? `${all} ${were} stubbed` : "its import has no effect";
      return `${specifier} ${absent.is}: ${came}${absent.then}`;
    };
    const accepting = (specifier) => `${specifier} is not installed here: its schemas accept everything`;
    const news = loaded && !loaded.isReported ? [...standIns].map(accepting) : [];
    return { files, stubs: [...stubs].map(missing), news };
  }
}

/** A plugin's handler is requested by its number, or by its event before the number is known. */
function memberOf({ declares }, asked) {
  const spelled = (text) => text.replaceAll("-", "_");
  const isThere = declares.some(({ member }) => member === asked);
  const found = isThere ? undefined : declares.find(({ key }) => spelled(key) === spelled(asked));
  return found?.member ?? asked;
}

/** Pick the requested member. A module without members has one handler, with the empty name. */
function pick(loaded, code, facts) {
  const { handlers, module } = loaded;
  const handler = handlers.get(module ? memberOf(module, code.member) : "");
  if (handler || (module && !code.member)) return { ...facts, loaded, handler: handler ?? null, error: null };
  const names = [...handlers.keys()].slice(0, LISTED).map((name) => `\`${name}\``).join(", ");
  const error = new NoHandler(`it has no handler \`${code.member}\`; ${names ? `it has ${names}` : "it has none"}`);
  return { ...facts, loaded, handler: null, error: facts.stale ?? describe(error), stale: null };
}

module.exports = { Handlers };
