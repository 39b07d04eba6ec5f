// Executes the host's messages: loads and runs handlers, and sends answers.

"use strict";

const { flushCompileCache } = require("node:module");
const process = require("node:process");
const { answerOf, fillIn, fillInView, noteArguments, textOf } = require("./answers.cjs");
const { describe } = require("./faults.cjs");
const { Handlers } = require("./handlers.cjs");
const { isAnything, isDangerous, leaksDescriptors, left, hasOpened, running } = require("./leftovers.cjs");
const { endOfAll } = require("./line.cjs");
const { Modules } = require("./loading.cjs");
const { OpenRuns } = require("./open_runs.cjs");
const { putFence } = require("./output.cjs");
const { part } = require("./own.cjs");
const { Baseline } = require("./restore.cjs");
const { viewOf } = require("./views.cjs");

const VERSIONS = 50; // replaced contents of folders before the worker is replaced: Node never frees modules
const NAMES = 8; // variables that a note lists

const { stringify } = JSON;
const { setImmediate: soon, Promise: OwnPromise } = globalThis;
const { nextTick: atTick } = process;

/** Loads and runs handlers as the host's messages request. */
class Runner {
  constructor(line, inbox, calls) {
    this.line = line;
    this.inbox = inbox;
    this.calls = calls;
    const modules = new Modules(); // first, because the baseline takes later loader hooks for those of handlers
    this.baseline = new Baseline();
    this.handlers = new Handlers(modules, calls, this.baseline, (who, text, adds) => this.lateText(who, text, adds));
    this.known = new Map(); // number → call, sent once by the host
    this.compiled = 0; // number of loads when the compile cache was flushed
    this.there = new Map(); // what ran at the last check, see running()
    this.before = this.there; // what ran when the last run began
    this.isShared = false; // something that an earlier handler started still runs
    this.watchdog = null; // the thread that listens
    this.open = new OpenRuns(this); // runs at the same time
    this.stopping = null; // makes handlers stop, if the host debugs them
  }

  /** Execute messages until the process is killed or the line is closed. */
  async serve() {
    for (;;) {
      const message = await this.inbox.next();
      if (message.do === "debug") await this.beginDebugging(message);
      else if (message.do === "settings") this.handlers.settings = message.value;
      else if (message.do === "rest") this.line.say({ id: message.id, rest: left(this.before, running()) });
      else if (message.do === "load") await this.open.alone(() => this.loadOnly(message));
      else if (message.do === "end") this.open.end(message.id);
      else if (message.do === "run" && message.open) void this.open.run(message).catch(endOfAll);
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

  /** Report an uncaught error of a call that has ended. */
  late(who, error) {
    this.line.say({ late: { who, error: describe(error) } });
  }

  /** Report a request that a handler made too late, or a handler that a module `adds` after it was loaded. */
  lateText(who, text, adds) {
    this.line.say({ late: { who, text, adds } });
  }

  async loadOnly({ id, code }) {
    const { loaded, took, isClean, ...load } = await this.handlers.load(code.who ?? "", code, code.env ?? {});
    const error = load.stale ?? load.error;
    const { files, news } = this.handlers.reached(code, loaded);
    const found = error ? null : loaded.module;
    const module = found && { ...found, log: [...found.log, ...news.map(asLog)] };
    if (module) loaded.isReported = true;
    this.line.say({ id, loaded: took, error, module, dirty: !isClean, ...(files.length ? { files } : {}) });
    this.keepCompiled();
  }

  async run(message) {
    const { id } = message;
    for (const [number, call] of message.know ?? []) this.known.set(number, call);
    const calls = message.calls.map((number) => this.known.get(number));
    const view = viewOf(message, message.view, (who, text) => this.lateText(who, text));
    let known = view.seen();
    let isAnnounced = false; // the host knows that the next call starts
    this.before = this.there = running(); // the check after each call also serves the next
    for (const [number, call] of calls.entries()) {
      const answer = await this.call(id, number, call, view, isAnnounced);
      known = fillInView(answer, view, known);
      const ends = answer.dirty || answer.worn || answer.apart;
      isAnnounced = !ends && number + 1 < calls.length && this.handlers.has(calls[number + 1].code);
      answer.next = isAnnounced;
      if (number + 1 === calls.length) view.close();
      this.send(answer, message);
      if (ends) return; // the host ends this process, or keeps it for this hook
    }
  }

  /** Load the handler if necessary, announce the call, and run it. Return the answer, whatever it throws. */
  async call(id, number, call, view, isAnnounced) {
    const load = await this.handlers.load(call.who ?? "", call.code, call.env);
    const answer = answerOf(id, number, load, this.isShared);
    answer.notes.push(...this.handlers.notes);
    if (!load.handler) return await this.withRest(answer, call.code, load.loaded);
    if (!isAnnounced) this.line.say({ id, started: number, loaded: load.took });
    const outcome = await this.start(call, load, view);
    // First, because the following code uses what is restored.
    answer.dirty = !this.baseline.restore() || !load.isClean;
    answer.notes.push(...this.baseline.sentences("it"));
    await new OwnPromise(atTick); // its work for the next tick belongs to it: Node prints warnings there
    fillIn(answer, outcome);
    noteArguments(answer, load.handler, view);
    return await this.withRest(answer, call.code, load.loaded);
  }

  /**
   * Load all handlers, then start them in order; each is answered when it ends. The process is restored
   * when the last one has ended, and that one's answer reports changes and what is left running.
   */
  async runTogether(message) {
    const { id, calls, views } = message;
    const who = calls.length > 1 ? "one of the handlers that ran concurrently" : "it";
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
      this.baseline.restoreShared(); // starting the next one needs what this one may have replaced
      ends.push(end);
    }
    for (const end of ends) await end;
  }

  /** Run one of several concurrent handlers. */
  async runBeside(one, beside) {
    const { call, load, answer, view, known } = one;
    this.line.say({ id: answer.id, started: answer.result, loaded: load.took });
    const outcome = await this.start(call, load, view);
    beside.isClean &&= this.baseline.restoreShared();
    answer.shared ||= beside.message.calls.length > 1; // its output may come from the other handlers
    fillIn(answer, outcome);
    view.close();
    fillInView(answer, view, known);
    await this.end(one, beside);
  }

  /** Send the answer. Only the last one reports changes of the process, because their cause is unknown. */
  async end({ call, load, answer }, beside) {
    beside.open -= 1;
    answer.dirty = false;
    this.noteModule(answer, call.code, load.loaded);
    if (!beside.open) {
      answer.dirty = !this.baseline.restore() || !beside.isClean;
      answer.notes.push(...this.baseline.sentences(beside.who));
      await this.noteProcess(answer, beside.who);
    }
    this.send(answer, beside.message);
  }

  /** Send the answer of a call, and separate its output from that of the next one. */
  send(answer, { fence }) {
    putFence(fence);
    answer.printed = true;
    this.line.sayText(textOf(answer));
    this.keepCompiled();
  }

  /** Run a loaded handler in its environment, to its end. */
  async start({ code, env, who, fault }, { loaded, handler }, view, holder = null) {
    const whole = fault ? broken(handler, fault, view) : handler;
    const target = this.stopping?.around(whole, who ?? "") ?? whole;
    const call = () => {
      this.handlers.layOver({ ...loaded.env, ...env });
      process.argv[1] = code.path;
      return view.call(target, who ?? "");
    };
    const called = this.stopping ? () => this.stopping.bare.call(call) : call;
    const outcome = await this.calls.run(who ?? "", called, holder);
    this.stopping?.ended();
    if (outcome.outside) await new OwnPromise(soon); // its timer ends only after its error is handled
    return outcome;
  }

  /** Return the answer, with what the call left running and what was not available to it. */
  async withRest(answer, code, loaded) {
    await this.noteProcess(answer);
    this.noteModule(answer, code, loaded);
    return answer;
  }

  async noteProcess(answer, who = "it") {
    const before = this.there;
    this.there = running();
    if (hasOpened(before, this.there)) { // closed resources are listed until their callbacks have returned
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
        : "messages that it pushes later are lost, and its later output appears as that of the next handlers";
      answer.notes.push(`${who} left ${answer.left} running: ${later}`);
    }
    if (leftOut.length) {
      const names = leftOut.slice(0, NAMES).map((name) => stringify(name).slice(0, 80)).join(", ");
      answer.notes.push(`omitted from its environment, because they are invalid: ${names}`);
    }
  }

  noteModule(answer, code, loaded) {
    const { files, stubs, news } = this.handlers.reached(code, loaded);
    answer.notes.push(...stubs, ...news);
    if (loaded) loaded.isReported = true;
    if (files.length) answer.files = files;
  }

  /** Flush the compile cache after each load, because this process is killed in the end. */
  keepCompiled() {
    if (this.compiled === this.handlers.loads) return;
    this.compiled = this.handlers.loads;
    try {
      flushCompileCache();
    } catch {
      // The disk is full or the folder is gone: the next worker compiles again.
    }
  }
}

function broken(handler, fault, view) {
  const { inPlaceOf } = part("./on_purpose.cjs"); // most runs do not need it
  return inPlaceOf(handler, fault, view.document?.sync === true);
}

const asLog = (text) => ({ level: "info", text });

module.exports = { Runner };
