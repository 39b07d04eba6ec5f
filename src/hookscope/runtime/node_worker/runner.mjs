// What the messages ask for: loading and running handlers, and answers about them.

import { flushCompileCache } from "node:module";
import process from "node:process";
import { OUTSIDE } from "./calls.mjs";
import { documentOf, eventOf, putBack } from "./event.mjs";
import { describe } from "./faults.mjs";
import { isAnything, leaksDescriptors, left, running } from "./leftovers.mjs";
import { Modules } from "./loading.mjs";
import { putFence } from "./output.mjs";
import { ANSWER, plain, plainEvent } from "./plain.mjs";
import { Baseline, changesOfEnvironment, environmentNow, layOver } from "./restore.mjs";

const VERSIONS = 50; // replaced contents of folders: Node frees none of them
const NAMES = 8; // variables that a note lists

const { stringify } = JSON;
const { setImmediate: soon } = globalThis;

const keyOf = (code) => stringify([code.path, code.export, code.name]);

/** Loads and runs handlers as the messages say. */
export class Runner {
  constructor(line, inbox, calls) {
    this.line = line;
    this.inbox = inbox;
    this.calls = calls;
    this.modules = new Modules();
    this.loaded = new Map(); // path, export, name → {target, env} that is loaded
    this.good = new Map(); // path, export → the last version that did load
    this.loads = 0;
    this.compiled = 0; // how many of them are in the cache
    this.leftOut = []; // names of variables that no environment can hold
    this.isShared = false; // something of an earlier handler's runs
    this.baseline = new Baseline();
    this.base = running();
  }

  /** Answer messages for ever. The end comes from outside, or by the end of the line. */
  async serve() {
    for (;;) {
      const message = await this.inbox.next();
      if (message.do === "load") await this.loadOnly(message);
      else if (message.do === "run") await this.run(message);
    }
  }

  /** An error that nobody caught, of a call that has ended. */
  late(who, error) {
    this.line.say({ late: { who, error: describe(error) } });
  }

  async loadOnly({ id, code }) {
    const { error, took, isClean } = await this.load(code.who ?? "", code, code.env ?? {});
    const { files } = this.modules.reached(code);
    this.line.say({ id, loaded: took, error, dirty: !isClean, ...(files.length ? { files } : {}) });
    this.keepCompiled();
  }

  async run({ id, fence, view: document, hook, calls }) {
    const view = hook ? eventOf(document) : document;
    let [known, said] = this.seen(view, hook); // as text: handlers change the view itself
    let isAnnounced = false; // does the host know that this call begins
    for (const [number, call] of calls.entries()) {
      const answer = await this.call(id, number, call, view, isAnnounced);
      let [after, notes] = [known, said];
      try {
        if (hook) answer.notes.push(...putBack(view));
        [after, notes] = this.seen(view, hook);
      } catch (error) { // it froze the event, or made its members throw; a fresh worker has a fresh one
        notes = [...said, `the event could not be read after it (${describe(error).type})`];
        answer.dirty = true;
      }
      if (after !== known) answer.view = JSON.parse(after);
      answer.notes.push(...notes.filter((note) => !said.includes(note)));
      [known, said] = [after, notes];
      const isSpoilt = answer.dirty || answer.worn;
      isAnnounced = !isSpoilt && number + 1 < calls.length && this.isLoaded(calls[number + 1].code);
      answer.next = isAnnounced;
      putFence(fence);
      this.line.say(answer);
      this.keepCompiled();
      if (isSpoilt) return; // the host ends this process, and goes on in another
    }
  }

  seen(view, isEvent) {
    const [copy, notes] = isEvent ? plainEvent(documentOf(view)) : plain(view);
    return [stringify(copy), notes];
  }

  /** Load where needed, announce, run. The answer, whatever the handler does short of dying. */
  async call(id, number, { code, env, who }, view, isAnnounced) {
    const there = running();
    const load = await this.load(who ?? "", code, env);
    const answer = {
      id, result: number, status: "error", phase: "load", took: 0, loaded: load.took, returned: null,
      error: load.error, stale: null, notes: [], dirty: !load.isClean, left: "", shared: this.isShared,
    };
    let handler = load.handler;
    if (!handler) {
      handler = this.good.get(stringify([code.path, code.export]));
      if (!handler || !load.isClean) return this.withRest(answer, code, there);
      [answer.stale, answer.error] = [load.error, null];
    }
    if (!isAnnounced) this.line.say({ id, started: number, loaded: load.took });
    const outcome = await this.calls.run(who ?? "", () => {
      this.leftOut = layOver({ ...handler.env, ...env });
      process.argv[1] = code.path;
      const { target } = handler; // a function, not a method: `this` is not ours
      return target(view);
    });
    if (outcome.outside) await new Promise(soon); // its timer is over only when what it threw is dealt with
    // First, for what follows stands on what it puts back.
    answer.dirty = !this.baseline.restore() || !load.isClean;
    answer.took = outcome.took;
    answer.phase = "run";
    answer.status = outcome.failed ? "error" : "ok";
    answer.error = outcome.failed ? describe(outcome.error) : null;
    const [returned, notes] = plain(outcome.failed ? null : outcome.value, "what it returned", ANSWER);
    answer.returned = returned;
    answer.notes = outcome.outside ? [...notes, OUTSIDE] : notes;
    return this.withRest(answer, code, there);
  }

  /** The answer, and in it what the call left running, and what it had to do without. */
  withRest(answer, code, there) {
    const after = running();
    answer.left = left(there, after);
    this.isShared = isAnything(after);
    if (leaksDescriptors()) {
      answer.notes.push("it left more than 64 descriptors open");
      answer.dirty = true;
    }
    const { reloads, kept } = this.modules.worlds;
    answer.worn = reloads > VERSIONS || kept !== "";
    if (kept) {
      answer.notes.push(`Node keeps ${kept}, which is required: its new version runs from the next call on`);
    }
    if (answer.left) {
      const later = "what that prints later is charged to the handlers after it";
      answer.notes.push(`it left ${answer.left} running: ${later}`);
    }
    if (this.leftOut.length) {
      const names = this.leftOut.slice(0, NAMES).map((name) => stringify(name).slice(0, 80)).join(", ");
      answer.notes.push(`left out of its environment, which cannot hold them: ${names}`);
    }
    const { files, stubs } = this.modules.reached(code);
    for (const [specifier, names] of stubs) {
      const all = [...names].join(", ");
      const were = names.size > 1 ? "were" : "was";
      const then = all ? `${all} ${were} stubbed` : "its import did nothing";
      answer.notes.push(`${specifier} is not installed here: ${then}`);
    }
    return files.length ? Object.assign(answer, { files }) : answer;
  }

  /** Write what was compiled to the cache, once for each load: this process ends by being killed. */
  keepCompiled() {
    if (this.compiled === this.loads) return;
    this.compiled = this.loads;
    try {
      flushCompileCache();
    } catch {
      // A full disk, or a folder that is gone: the next worker compiles again.
    }
  }

  isLoaded(code) {
    return this.loaded.has(keyOf(code));
  }

  /** {handler, error, took, isClean}: one of the first two is null. */
  async load(who, code, env) {
    const key = keyOf(code);
    const known = this.loaded.get(key);
    if (known) return { handler: known, error: null, took: 0, isClean: true };
    let before;
    const outcome = await this.calls.run(who, () => {
      this.leftOut = layOver(env);
      before = environmentNow();
      return this.modules.importHandler(code);
    });
    const changes = changesOfEnvironment(before);
    const isClean = this.baseline.restore();
    if (outcome.failed) return { handler: null, error: describe(outcome.error), took: outcome.took, isClean };
    const handler = { target: outcome.value, env: changes };
    this.loads += 1;
    this.loaded.set(key, handler);
    this.good.set(stringify([code.path, code.export]), handler);
    this.forgetOlder(code);
    return { handler, error: null, took: outcome.took, isClean };
  }

  /** Drop what the folder held before it changed: not before what it holds now is loaded. */
  forgetOlder(code) {
    for (const key of this.loaded.keys()) {
      const [path, , name] = JSON.parse(key);
      if (path === code.path && name !== code.name) this.loaded.delete(key);
    }
  }
}
