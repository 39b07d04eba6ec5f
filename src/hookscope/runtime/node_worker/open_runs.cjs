// Concurrent runs, for programs that embed Hookscope: any number of events at once, as in a host.
//
// The calls of one run still follow one another. The process is restored when no run is open. What handlers
// leave running is not reported, because it is unknown which handler left it.

"use strict";

const { answerOf, fillIn, fillInView, noteArguments, textOf } = require("./answers.cjs");
const { layOver } = require("./restore.cjs");
const { viewOf } = require("./views.cjs");

const MOST_PRINTED = 64 * 1024; // bytes of one call's output

const { concat, byteLength } = Buffer;
const { Promise: OwnPromise } = globalThis;
const ENDED = { __proto__: null, value: null, failed: false, outside: false };

class OpenRuns {
  constructor(runner) {
    this.runner = runner;
    this.runs = new Map(); // id → {holder, env, isEnded}
    this.isCrowded = false; // several runs were open since the process was last restored
    this.loading = OwnPromise.resolve();
  }

  /** Run loads one after another, because the process is compared after each. */
  alone(load) {
    const turn = this.loading.then(load);
    this.loading = turn.then(() => {}, () => {});
    return turn;
  }

  /** Run the calls of a message, and answer each as it ends. */
  async run(message) {
    const { runner } = this;
    const { id } = message;
    for (const [number, call] of message.know ?? []) runner.known.set(number, call);
    const calls = message.calls.map((number) => runner.known.get(number));
    const open = { holder: {}, env: {}, isEnded: false };
    this.isCrowded ||= this.runs.size > 0;
    this.runs.set(id, open);
    const view = viewOf(message, message.view, (who, text) => runner.lateText(who, text));
    let known = view.seen();
    let isAnnounced = message.begun === true;
    for (const [number, call] of calls.entries()) {
      const answer = await this.call(id, number, call, view, open, isAnnounced);
      known = fillInView(answer, view, known);
      const isLast = open.isEnded || number + 1 === calls.length;
      isAnnounced = !isLast && runner.handlers.has(calls[number + 1].code);
      answer.next = isAnnounced;
      if (isLast) this.close(id, view, answer);
      runner.line.sayText(textOf(answer));
      runner.keepCompiled();
      if (isLast) return;
    }
  }

  async call(id, number, call, view, open, isAnnounced) {
    const { runner } = this;
    const ready = runner.handlers.ready(call.code);
    const { load, notes } = ready ? { load: ready, notes: [] } : await this.alone(() => this.load(call));
    const answer = answerOf(id, number, load, false);
    answer.notes.push(...notes);
    if (load.handler && !open.isEnded) {
      if (!isAnnounced) runner.line.say({ id, started: number, loaded: load.took });
      open.env = { ...load.loaded.env, ...call.env };
      fillIn(answer, await runner.start(call, load, view, open.holder));
      noteArguments(answer, load.handler, view);
      putOutput(answer, open.holder.call);
    }
    runner.noteModule(answer, call.code, load.loaded);
    return answer;
  }

  async load({ who, code, env }) {
    const { handlers } = this.runner;
    const load = await handlers.load(who ?? "", code, env);
    const { notes } = handlers;
    for (const other of this.runs.values()) layOver(other.env); // the load has restored the environment
    return { load, notes };
  }

  /** End a run. After the last open one, restore the process. */
  close(id, view, answer) {
    view.close();
    this.runs.delete(id);
    const { baseline, handlers, inbox } = this.runner;
    if (this.runs.size || inbox.waiting.length) {
      this.isCrowded = true;
      return;
    }
    answer.dirty = !baseline.restore() || answer.dirty;
    answer.notes.push(...baseline.sentences(this.isCrowded ? "it, or a handler that ran concurrently," : "it"));
    this.isCrowded = false;
    const { reloads, kept } = handlers.modules.worlds;
    answer.worn = reloads > 50 || kept !== "";
  }

  /** Stop waiting for the run's current handler, and start no other. */
  end(id) {
    const open = this.runs.get(id);
    if (!open) return;
    open.isEnded = true;
    open.holder.call?.end({ ...ENDED });
  }
}

/** Add the call's own output to the answer, within bounds. */
function putOutput(answer, call) {
  for (const [descriptor, parts] of call.printed) {
    const bytes = concat(parts);
    const name = descriptor === 1 ? "stdout" : "stderr";
    answer[name] = bytes.toString("utf8", 0, MOST_PRINTED);
    const more = byteLength(bytes) - MOST_PRINTED;
    if (more > 0) answer.notes.push(`${more.toLocaleString("en-US")} bytes of ${name} were omitted`);
  }
}

module.exports = { OpenRuns };
