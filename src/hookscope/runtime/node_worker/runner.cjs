// What the messages ask for: loading and running handlers, and answers about them.

"use strict";

const { flushCompileCache } = require("node:module");
const process = require("node:process");
const { answerOf, fillIn, fillInView, noteArguments } = require("./answers.cjs");
const { describe } = require("./faults.cjs");
const { Handlers } = require("./handlers.cjs");
const { isAnything, isDangerous, leaksDescriptors, left, hasOpened, running } = require("./leftovers.cjs");
const { Modules } = require("./loading.cjs");
const { OpenRuns } = require("./open_runs.cjs");
const { putFence } = require("./output.cjs");
const { part } = require("./own.cjs");
const { Baseline } = require("./restore.cjs");
const { viewOf } = require("./views.cjs");

const VERSIONS = 50; // replaced contents of folders: Node frees none of them
const NAMES = 8; // variables that a note lists

const { stringify } = JSON;
const { setImmediate: soon, Promise: OwnPromise } = globalThis;
const { nextTick: atTick } = process;

/** Loads and runs handlers as the messages say. */
class Runner {
  constructor(line, inbox, calls) {
    this.line = line;
    this.inbox = inbox;
    this.calls = calls;
    const modules = new Modules(); // before the baseline, which takes loader hooks that come later for handlers'
    this.baseline = new Baseline();
    this.handlers = new Handlers(modules, calls, this.baseline, (who, text, adds) => this.lateText(who, text, adds));
    this.known = new Map(); // number → call, as the host has told it once
    this.compiled = 0; // how many loads are in the cache
    this.there = new Map(); // what ran at the last look, see running()
    this.before = this.there; // and when the last run began
    this.isShared = false; // something of an earlier handler's runs
    this.watchdog = null; // the thread that listens
    this.open = new OpenRuns(this); // runs beside each other
    this.stopping = null; // what makes handlers stop, where the host debugs them
  }

  /** Answer messages for ever. The end comes from outside, or by the end of the line. */
  async serve() {
    for (;;) {
      const message = await this.inbox.next();
      if (message.do === "debug") await this.beginDebugging(message);
      else if (message.do === "settings") this.handlers.settings = message.value;
      else if (message.do === "rest") this.line.say({ id: message.id, rest: left(this.before, running()) });
      else if (message.do === "load") await this.open.alone(() => this.loadOnly(message));
      else if (message.do === "end") this.open.end(message.id);
      else if (message.do === "run" && message.open) void this.open.run(message);
      else if (message.do === "run") await (message.together ? this.runTogether(message) : this.run(message));
    }
  }

  async beginDebugging(message) {
    const { Stopping } = part("./stopping.cjs");
    const stopping = new Stopping();
    await stopping.begin(this.watchdog, message);
    this.stopping = stopping;
    this.calls.bare = stopping.bare;
  }

  /** An error that nobody caught, of a call that has ended. */
  late(who, error) {
    this.line.say({ late: { who, error: describe(error) } });
  }

  /** What a handler asked for when it could no longer be had, or what its module `adds` to what it declared. */
  lateText(who, text, adds) {
    this.line.say({ late: { who, text, adds } });
  }

  async loadOnly({ id, code }) {
    const { loaded, took, isClean, ...load } = await this.handlers.load(code.who ?? "", code, code.env ?? {});
    const error = load.stale ?? load.error;
    const { files, news } = this.handlers.reached(code, loaded);
    const found = error ? null : loaded.module;
    const module = found && { ...found, log: [...found.log, ...news.map(asLog)] };
    if (module) loaded.isTold = true;
    this.line.say({ id, loaded: took, error, module, dirty: !isClean, ...(files.length ? { files } : {}) });
    this.keepCompiled();
  }

  async run(message) {
    const { id } = message;
    for (const [number, call] of message.know ?? []) this.known.set(number, call);
    const calls = message.calls.map((number) => this.known.get(number));
    const view = viewOf(message, message.view, (who, text) => this.lateText(who, text));
    let known = view.seen();
    let isAnnounced = false; // does the host know that this call begins
    this.before = this.there = running(); // the look behind each call is the one before the next
    for (const [number, call] of calls.entries()) {
      const answer = await this.call(id, number, call, view, isAnnounced);
      known = fillInView(answer, view, known);
      const ends = answer.dirty || answer.worn || answer.apart;
      isAnnounced = !ends && number + 1 < calls.length && this.handlers.has(calls[number + 1].code);
      answer.next = isAnnounced;
      if (number + 1 === calls.length) view.close();
      this.tell(answer, message);
      if (ends) return; // the host goes on in another process: ends this one, or keeps it for this hook alone
    }
  }

  /** Load where needed, announce, run. The answer, whatever the handler does short of dying. */
  async call(id, number, call, view, isAnnounced) {
    const load = await this.handlers.load(call.who ?? "", call.code, call.env);
    const answer = answerOf(id, number, load, this.isShared);
    answer.notes.push(...this.handlers.notes);
    if (!load.handler) return await this.withRest(answer, call.code, load.loaded);
    if (!isAnnounced) this.line.say({ id, started: number, loaded: load.took });
    const outcome = await this.start(call, load, view);
    // First, for what follows stands on what it puts back.
    answer.dirty = !this.baseline.restore() || !load.isClean;
    answer.notes.push(...this.baseline.sentences("it"));
    await new OwnPromise(atTick); // what it left for the next tick is its own still: warnings are printed there
    fillIn(answer, outcome);
    noteArguments(answer, load.handler, view);
    return await this.withRest(answer, call.code, load.loaded);
  }

  /**
   * Load all, then start all at once, in their order; each answers when it ends. What they disturbed is
   * put back when the last has ended, and what they leave running is said by that one's answer.
   */
  async runTogether(message) {
    const { id, calls, views } = message;
    const who = calls.length > 1 ? "one of those that ran together" : "it";
    const beside = { who, open: calls.length, isClean: true, message };
    this.before = this.there = running();
    const [ready, failed] = [[], []];
    for (const [number, call] of calls.entries()) {
      const load = await this.handlers.load(call.who ?? "", call.code, call.env);
      const answer = answerOf(id, number, load, this.isShared);
      answer.notes.push(...this.handlers.notes);
      beside.isClean &&= load.isClean;
      if (load.handler) {
        const view = viewOf(message, views[number], (who, text) => this.lateText(who, text));
        ready.push({ call, load, answer, view, known: view.seen() });
      } else failed.push({ call, load, answer });
    }
    for (const one of failed) await this.end(one, beside);
    const ends = [];
    for (const one of ready) {
      const end = this.runBeside(one, beside);
      this.baseline.restoreShared(); // the next one is started by what this one may have replaced
      ends.push(end);
    }
    for (const end of ends) await end;
  }

  /** One of those that run together. */
  async runBeside(one, beside) {
    const { call, load, answer, view, known } = one;
    this.line.say({ id: answer.id, started: answer.result, loaded: load.took });
    const outcome = await this.start(call, load, view);
    beside.isClean &&= this.baseline.restoreShared();
    answer.shared ||= beside.message.calls.length > 1; // those beside it may have printed what is read with it
    fillIn(answer, outcome);
    view.close();
    fillInView(answer, view, known);
    await this.end(one, beside);
  }

  /** Tell the answer. Only the last is charged with what became of the process: nobody knows whose doing it is. */
  async end({ call, load, answer }, beside) {
    beside.open -= 1;
    answer.dirty = false;
    this.noteModule(answer, call.code, load.loaded);
    if (!beside.open) {
      answer.dirty = !this.baseline.restore() || !beside.isClean;
      answer.notes.push(...this.baseline.sentences(beside.who));
      await this.noteProcess(answer, beside.who);
    }
    this.tell(answer, beside.message);
  }

  tell(answer, { fence }) {
    putFence(fence);
    this.line.say({ ...answer, printed: true });
    this.keepCompiled();
  }

  /** Run a loaded handler in its environment, to its end. */
  async start({ code, env, who, fault }, { loaded, handler }, view, held = null) {
    const whole = fault ? broken(handler, fault, view) : handler;
    const target = this.stopping?.around(whole, who ?? "") ?? whole;
    const call = () => {
      this.handlers.layOver({ ...loaded.env, ...env });
      process.argv[1] = code.path;
      return view.call(target, who ?? "");
    };
    const called = this.stopping ? () => this.stopping.bare.call(call) : call;
    const outcome = await this.calls.run(who ?? "", called, held);
    this.stopping?.ended();
    if (outcome.outside) await new OwnPromise(soon); // its timer is over only when what it threw is dealt with
    return outcome;
  }

  /** The answer, and in it what the call left running, and what it had to do without. */
  async withRest(answer, code, loaded) {
    await this.noteProcess(answer);
    this.noteModule(answer, code, loaded);
    return answer;
  }

  async noteProcess(answer, who = "it") {
    const before = this.there;
    this.there = running();
    if (hasOpened(before, this.there)) { // what is just closed is told until its own callback has returned
      for (let turn = 0; turn < 2; turn += 1) await new OwnPromise(soon);
      this.there = running();
    }
    answer.left = left(before, this.there);
    answer.apart = isDangerous(before, this.there);
    this.isShared = isAnything(this.there);
    if (leaksDescriptors()) {
      answer.notes.push(`${who} left more than 64 descriptors open`);
      answer.dirty = true;
    }
    const { leftOut, modules } = this.handlers;
    const { reloads, kept } = modules.worlds;
    answer.worn = reloads > VERSIONS || kept !== "";
    if (kept) {
      answer.notes.push(`Node keeps ${kept}, which is required: its new version runs from the next call on`);
    }
    if (answer.left) {
      const later = answer.apart
        ? "messages that it pushes later are lost; handlers of other hooks run in another worker"
        : "messages that it pushes later are lost, what it prints later is charged to the handlers after it";
      answer.notes.push(`${who} left ${answer.left} running: ${later}`);
    }
    if (leftOut.length) {
      const names = leftOut.slice(0, NAMES).map((name) => stringify(name).slice(0, 80)).join(", ");
      answer.notes.push(`left out of its environment, which cannot hold them: ${names}`);
    }
  }

  noteModule(answer, code, loaded) {
    const { files, stubs, news } = this.handlers.reached(code, loaded);
    answer.notes.push(...stubs, ...news);
    if (loaded) loaded.isTold = true;
    if (files.length) answer.files = files;
  }

  /** Write what was compiled to the cache, once for each load: this process ends by being killed. */
  keepCompiled() {
    if (this.compiled === this.handlers.loads) return;
    this.compiled = this.handlers.loads;
    try {
      flushCompileCache();
    } catch {
      // A full disk, or a folder that is gone: the next worker compiles again.
    }
  }
}

function broken(handler, fault, view) {
  const { inPlaceOf } = part("./on_purpose.cjs"); // most runs do without it
  return inPlaceOf(handler, fault, view.document?.sync === true);
}

const asLog = (text) => ({ level: "info", text });

module.exports = { Runner };
