// The debugger, in the listening thread: it stops the handlers' thread, reports the position to the host, and
// executes the host's commands. The counterpart of ../python_worker/debugger.py.

"use strict";

const { Session } = require("node:inspector");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { fileOf, isOurs, Sources } = require("./frames.cjs");
const { Lines, literally } = require("./lines.cjs");
const { MET } = require("./points.cjs");
const { errorIn, StoppedStack } = require("./stopped_stack.cjs");
const { SAYS } = require("./stopping.cjs");

const AROUND = 15; // lines shown above and below the current one
const DEPTH = 40; // innermost frames that are shown
const INSIDE = 150; // steps through Node's own code, which may call the author's: emit() takes a dozen
const BEGINNING = path.join(__dirname, "stopping.cjs");
const OURS = `${pathToFileURL(__dirname).href}/`;
const GOES = { next: "stepOver", step: "stepInto", out: "stepOut", on: "resume", off: "resume" };
const ERRORS = { leaving: "uncaught", raised: "all", none: "none" }; // we do not catch errors that leave a handler

/**
 * Start debugging the handlers' thread, with the host's message `asked`. `running` has the number of running
 * handlers; `say(message)` sends a message to the host. Returns a function that receives the host's commands.
 */
async function debugging(running, asked, say) {
  const watch = new Watch(running, asked, say);
  await watch.begin();
  return (word) => void watch.receive(word);
}

class Watch {
  constructor(running, asked, say) {
    this.running = running;
    this.wish = asked;
    this.say = say;
    this.session = new Session();
    this.lines = new Lines(
      (method, params) => this.post(method, params),
      (bound) => say({ bound }),
    );
    this.stopped = null; // the current stop: its stack, and why it stopped
    this.begins = false; // the next line is a handler's first
    this.steps = false;
    this.inside = 0; // steps into Node's own code that are left
    this.pauses = false; // a pause was requested
    this.who = "";
  }

  async begin() {
    const { session } = this;
    session.connectToMainThread();
    session.on("Debugger.scriptParsed", ({ params }) => this.lines.parsed(params));
    session.on("Debugger.paused", ({ params }) => {
      this.paused(params).catch(() => session.post("Debugger.resume")); // else the thread would stay stopped forever
    });
    session.on("Runtime.bindingCalled", ({ params }) => this.logged(JSON.parse(params.payload)));
    await this.post("Runtime.addBinding", { name: SAYS });
    await this.post("Debugger.enable");
    await this.post("Debugger.setAsyncCallStackDepth", { maxDepth: 8 });
    const foreign = ["/node_modules/", `^${literally(OURS)}(?!stopping\\.cjs)`];
    await this.post("Debugger.setBlackboxPatterns", { patterns: foreign }); // they do not apply to Node's internal code
    await this.stopAtErrors(this.wish.errors);
    for (const [file, lines] of Object.entries(this.wish.lines)) await this.lines.put(file, lines);
  }

  stopAtErrors(which) {
    return this.post("Debugger.setPauseOnExceptions", { state: ERRORS[which] });
  }

  post(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  async paused(params) {
    await this.lines.turn; // so that breakpoints in a new script are set
    const top = params.callFrames[0];
    if (this.placeOf(top).file === BEGINNING && !isError(params) && (await this.isBeginning(top))) {
      this.begins = this.wish.begin || this.pauses;
      this.steps = false; // steps of the previous handler
      await this.resumeBy(this.wayOn);
      return;
    }
    const error = isError(params) ? errorIn(params.data) : null;
    const frames = this.authorsIn(params, error);
    if (!frames.length) {
      const isCalled = params.callFrames.some((frame) => isAuthors(this.placeOf(frame).file));
      this.inside -= 1;
      await this.resumeBy(isCalled && this.inside >= 0 && this.steps ? "stepInto" : this.wayOn);
      return;
    }
    const note = error === null ? await this.noteOf(params) : null;
    const stack = new StoppedStack((...request) => this.post(...request), frames);
    this.stopped = { why: this.whyOf(params, error), error, note, stack };
    this.begins = this.steps = this.pauses = false;
    await this.reportStop({});
  }

  /** The frames of the author's code, outermost first; none if it stopped in other code. */
  authorsIn({ callFrames, asyncStackTrace }, error) {
    const isTheirs = (frame) => isAuthors(this.placeOf(frame).file);
    const frames = callFrames.filter(isTheirs);
    if (frames.length && (error !== null || isTheirs(callFrames[0]))) return frames.slice(0, DEPTH).reverse();
    // An error of Node that a handler awaits: only the position of the `await` is known.
    const waiting = error === null ? [] : (asyncStackTrace?.callFrames ?? []);
    const asFrames = waiting.map(({ functionName, url, scriptId, lineNumber, columnNumber }) => {
      return { functionName, url, location: { scriptId, lineNumber, columnNumber } };
    });
    return asFrames.filter(isTheirs).slice(0, DEPTH).reverse();
  }

  /** How to continue from code that is not the author's: into the handler, out to it, or just on. */
  get wayOn() {
    if (load(this.running, 0) === 0) {
      this.steps = this.begins = false; // no handler is running
      return "resume";
    }
    if (this.begins || this.pauses) return "stepInto";
    return this.steps ? "stepOut" : "resume";
  }

  whyOf({ hitBreakpoints = [] }, error) {
    if (error !== null) return "error";
    if (this.pauses) return "pause";
    if (this.begins) return "begin";
    if (hitBreakpoints.length) return "line";
    return this.steps ? "step" : "breakpoint";
  }

  /** A note on the conditions of the breakpoints at which it stopped. */
  async noteOf({ callFrames, hitBreakpoints = [] }) {
    const numbers = this.lines.numbersOf(hitBreakpoints);
    if (!numbers.length) return null;
    const expression = `globalThis[Symbol.for("${MET}")].note(${JSON.stringify(numbers)})`;
    const { result } = await this.post("Debugger.evaluateOnCallFrame", { callFrameId: callFrames[0].callFrameId, expression });
    return result.value || null;
  }

  /** Report the text of a log breakpoint. */
  logged({ number, text }) {
    const known = this.lines.numbered(number);
    if (known) this.say({ logged: { who: this.who, file: known.file, line: known.point.at, text } });
  }

  /** True if a handler is just being entered, not left. Notes its hook. */
  async isBeginning({ callFrameId }) {
    const { result } = await this.post("Debugger.evaluateOnCallFrame", { callFrameId, expression: "begun ? null : who" });
    if (result.type === "string") this.who = result.value;
    return result.type === "string";
  }

  async receive(message) {
    try {
      if (message.word === "lines") await this.lines.put(message.file, message.lines);
      else if (message.word === "errors") await this.stopAtErrors(message.at);
      else if (message.word === "pause") await this.pause();
      else {
        await this.lines.turn; // so that earlier changes of breakpoints are done
        if (this.stopped) await this.done(message);
      }
    } catch (error) {
      if (this.stopped) await this.reportStop({ said: String(error?.message ?? error) }); // rejected by the inspector
    }
  }

  async resumeBy(how) {
    await this.post(`Debugger.${how}`);
    if (how === "resume" && this.pauses) await this.pause(); // requested while it was stopped
  }

  async pause() {
    if (this.stopped) return;
    this.pauses = true;
    if (load(this.running, 0) > 0) await this.post("Debugger.pause");
  }

  async done(message) {
    const { word } = message;
    const { stack } = this.stopped;
    if (Object.hasOwn(GOES, word)) {
      this.steps = ["next", "step", "out"].includes(word);
      this.inside = word === "step" ? INSIDE : 0;
      this.stopped = null;
      if (word === "off") await this.post("Debugger.setSkipAllPauses", { skip: true });
      await this.resumeBy(GOES[word]);
    } else if (word === "frame") {
      stack.select(message.at);
      await this.reportStop({});
    } else if (word === "members") {
      await this.reportStop({ members: await stack.members(message.path, message.of_module) });
    } else if (word === "line") {
      const file = message.file || this.placeOf(stack.selected).file;
      await this.reportStop({ said: await this.lines.toggle(file, message.line, message.condition) });
    } else {
      await this.reportStop(await stack.answer(message.text));
    }
  }

  /** Report the stop, with the answer to the last command. */
  async reportStop(answer) {
    const { why, error, note, stack } = this.stopped;
    const sources = new Sources();
    const places = stack.frames.map((frame) => ({ ...this.placeOf(frame), name: frame.functionName }));
    const { file, line } = places[stack.at];
    const first = Math.max(line - AROUND, 1);
    const lines = sources.linesOf(file).slice(first - 1, line + AROUND);
    const stop = {
      why,
      who: this.who,
      error,
      note,
      frames: places.map((place) => sources.frame(place.file, place.line, place.column, place.name)),
      at: stack.at,
      lines: lines.map((text, index) => [first + index, text.slice(0, 400)]),
      variables: await stack.variables(),
      named: this.lines.in(file),
      ...answer,
    };
    this.say({ stop });
  }

  placeOf({ location, url }) {
    return this.lines.placeOf(location, url);
  }
}

/** True for a file of the handler's author: not of Node, of a package, or of the worker. */
function isAuthors(file) {
  return !isOurs(fileOf(file)) && !file.startsWith("node:") && !file.includes("/node_modules/");
}

function isError({ reason }) {
  return reason === "exception" || reason === "promiseRejection";
}

const { load } = Atomics;

module.exports = { debugging };
