// The debugger, in the thread that listens: it stops the handlers' thread, tells the host where that
// stands, and does what the host says. The twin of ../python_worker/debugging.py.

import { Session } from "node:inspector";
import { SourceMap } from "node:module";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fileOf, isOurs, Sources } from "./frames.mjs";

const AROUND = 15; // lines shown above and below the present one
const VARIABLES = 60;
const VARIABLE = 300; // characters of the text of one
const ANSWER = 16 * 1024; // characters of what was asked for
const DEPTH = 40; // frames; the innermost
const BEGINNING = fileURLToPath(new URL("./stopping.mjs", import.meta.url));
const OURS = new URL(".", import.meta.url).href;
const OWN_SCOPES = ["local", "block", "catch", "with"];
const GOES = { next: "stepOver", step: "stepInto", out: "stepOut", on: "resume", off: "resume" };
const AS_TEXT = `function () {
  return process.getBuiltinModule("node:util").inspect(this, { depth: 4, breakLength: 100 });
}`;

/**
 * Watch over the handlers' thread, in which so many handlers run. `say(stop)` tells the host; gives what hears
 * its words.
 */
export async function debugging(running, say) {
  const watch = new Watch(running, say);
  await watch.begin();
  return (word) => void watch.hear(word);
}

class Watch {
  constructor(running, say) {
    this.running = running;
    this.say = say;
    this.session = new Session();
    this.scripts = new Map();
    this.named = new Map(); // lines to stop at: place → the inspector's name for it
    this.asked = null; // where it stands
    this.begins = false; // the next line is a handler's first
    this.steps = false;
    this.who = "";
  }

  async begin() {
    const { session } = this;
    session.connectToMainThread();
    session.on("Debugger.scriptParsed", ({ params }) => this.scripts.set(params.scriptId, params));
    session.on("Debugger.paused", ({ params }) => {
      this.paused(params).catch(() => session.post("Debugger.resume")); // else it would stand for ever
    });
    await this.post("Debugger.enable");
    const foreign = ["/node_modules/", `^${literally(OURS)}(?!stopping\\.mjs)`];
    await this.post("Debugger.setBlackboxPatterns", { patterns: foreign }); // Node's own inside is beyond them
    await this.post("Debugger.setPauseOnExceptions", { state: "all" });
  }

  post(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  async paused(params) {
    const top = params.callFrames[0];
    if (this.fileAt(top) === BEGINNING && !isError(params) && (await this.isBeginning(top))) {
      this.begins = true;
      await this.post("Debugger.stepInto");
      return;
    }
    const frames = params.callFrames.filter((frame) => isAuthors(this.fileAt(frame))).slice(0, DEPTH).reverse();
    if (!frames.length || this.fileAt(top) !== this.fileAt(frames.at(-1))) {
      await this.post(`Debugger.${this.wayOn}`);
      return;
    }
    const error = isError(params) ? errorIn(params.data) : null;
    this.asked = { why: this.whyOf(params, error), error, frames, at: frames.length - 1 };
    this.begins = this.steps = false;
    await this.tell(null);
  }

  /** On from a place that is no author's: into the handler, out of what that has called, or just on. */
  get wayOn() {
    if (load(this.running, 0) === 0) this.steps = this.begins = false; // it has ended
    if (this.begins) return "stepInto";
    return this.steps ? "stepOut" : "resume";
  }

  whyOf({ hitBreakpoints = [] }, error) {
    if (error !== null) return "error";
    if (this.begins) return "begin";
    if (hitBreakpoints.length) return "line";
    return this.steps ? "step" : "breakpoint";
  }

  /** Is it on the way into a handler, and not out of it. Notes whose that is. */
  async isBeginning({ callFrameId }) {
    const { result } = await this.evaluated(callFrameId, "begun ? null : who");
    if (result.type === "string") this.who = result.value;
    return result.type === "string";
  }

  async hear(message) {
    if (!this.asked) return;
    try {
      await this.done(message);
    } catch (error) {
      await this.tell(String(error?.message ?? error)); // the inspector refuses
    }
  }

  async done(message) {
    const { word } = message;
    if (Object.hasOwn(GOES, word)) {
      this.steps = ["next", "step", "out"].includes(word);
      this.asked = null;
      if (word === "off") await this.post("Debugger.setSkipAllPauses", { skip: true });
      await this.post(`Debugger.${GOES[word]}`);
    } else if (word === "frame") {
      this.asked.at = Math.min(Math.max(message.at, 0), this.asked.frames.length - 1);
      await this.tell(null);
    } else if (word === "line") {
      await this.tell(await this.toggle(message.file || this.placeOf(this.chosen).file, message.line));
    } else {
      await this.tell(await this.answer(message.text));
    }
  }

  get chosen() {
    return this.asked.frames[this.asked.at];
  }

  /** Tell where it stands, and what the answer to the last word is. */
  async tell(said) {
    const { why, error, frames, at } = this.asked;
    const sources = new Sources();
    const places = frames.map((frame) => this.placeOf(frame));
    const { file, line } = places[at];
    const first = Math.max(line - AROUND, 1);
    const lines = sources.linesOf(file).slice(first - 1, line + AROUND);
    this.say({
      why,
      who: this.who,
      error,
      frames: places.map((place) => sources.frame(place.file, place.line, place.column, place.name)),
      at,
      lines: lines.map((text, index) => [first + index, text.slice(0, 400)]),
      variables: await this.variablesOf(frames[at]),
      named: this.namedIn(file),
      said: said === null ? null : said.slice(0, ANSWER),
    });
  }

  /** [[name, text]] of the function's own variables, the innermost of each name. */
  async variablesOf({ scopeChain, callFrameId }) {
    const found = new Map();
    for (const { type, object } of scopeChain) {
      if (!OWN_SCOPES.includes(type) || found.size >= VARIABLES) continue;
      const { result } = await this.post("Runtime.getProperties", {
        objectId: object.objectId,
        ownProperties: true,
        generatePreview: true,
      });
      for (const { name, value } of result) {
        if (value && !found.has(name)) found.set(name, inShort(value).slice(0, VARIABLE));
      }
    }
    for (const name of this.asked.isTouched ? found.keys() : []) {
      const told = await this.evaluated(callFrameId, name, { generatePreview: true });
      if (!told.exceptionDetails) found.set(name, inShort(told.result).slice(0, VARIABLE));
    }
    return [...found].slice(0, VARIABLES);
  }

  evaluated(callFrameId, expression, more = {}) {
    return this.post("Debugger.evaluateOnCallFrame", { callFrameId, expression, ...more });
  }

  /** What an expression is, or what it throws. */
  async answer(text) {
    await this.post("Debugger.setSkipAllPauses", { skip: true });
    try {
      this.asked.isTouched = true; // what the inspector knows of its variables is from when it stopped
      const told = await this.evaluated(this.chosen.callFrameId, text);
      if (told.exceptionDetails) return errorIn(told.exceptionDetails.exception);
      return await this.laidOut(told.result);
    } finally {
      await this.post("Debugger.setSkipAllPauses", { skip: false });
    }
  }

  async laidOut(result) {
    if (!result.objectId) return inShort(result);
    const { result: text } = await this.post("Runtime.callFunctionOn", {
      objectId: result.objectId,
      functionDeclaration: AS_TEXT,
      returnByValue: true,
    });
    return typeof text.value === "string" ? text.value : inShort(result);
  }

  /** Stop at this line from now on, or no longer. */
  async toggle(file, line) {
    const where = `${basename(file)}:${line}`;
    const known = this.named.get(`${file}:${line}`);
    if (known) {
      this.named.delete(`${file}:${line}`);
      await this.post("Debugger.removeBreakpoint", { breakpointId: known });
      return `no longer stops at ${where}`;
    }
    const scripts = [...this.scripts.values()].filter(({ url }) => fileOf(url) === file);
    const lineNumber = generatedLine(scripts.at(-1), line);
    const urlRegex = `^${literally(pathToFileURL(file).href)}(\\?.*)?$`;
    const { breakpointId, locations } = await this.post("Debugger.setBreakpointByUrl", { lineNumber, urlRegex });
    if (scripts.length && !locations.length) {
      await this.post("Debugger.removeBreakpoint", { breakpointId });
      return `cannot stop at ${where}: there is no such line`;
    }
    this.named.set(`${file}:${line}`, breakpointId);
    return `stops at ${where} too`;
  }

  namedIn(file) {
    const places = [...this.named.keys()].filter((place) => place.startsWith(`${file}:`));
    return places.map((place) => Number(place.slice(file.length + 1)));
  }

  fileAt({ url, location }) {
    return fileOf(url || this.scripts.get(location.scriptId)?.url || "");
  }

  placeOf(frame) {
    const script = this.scripts.get(frame.location.scriptId);
    const { lineNumber: line, columnNumber: column = 0 } = frame.location;
    const entry = mapOf(script)?.findEntry(line, column);
    const [atLine, atColumn] = [entry?.originalLine ?? line, entry?.originalColumn ?? column];
    return { file: this.fileAt(frame), name: frame.functionName, line: atLine + 1, column: atColumn + 1 };
  }
}

/** Is it a file of the handler's author: not of Node, of a package, or of the worker. */
function isAuthors(file) {
  return !isOurs(file) && !file.startsWith("node:") && !file.includes("/node_modules/");
}

function isError({ reason }) {
  return reason === "exception" || reason === "promiseRejection";
}

/** "TypeError: x is not a function" of what was thrown. */
function errorIn(thrown) {
  if (!thrown) return "an error";
  return thrown.subtype === "error" ? thrown.description.split(/\n {4}at /)[0] : `thrown: ${inShort(thrown)}`;
}

function mapOf(script) {
  try {
    const [, data] = /^data:application\/json[^,]*;base64,(.+)$/.exec(script.sourceMapURL);
    return new SourceMap(JSON.parse(Buffer.from(data, "base64").toString("utf8")));
  } catch {
    return null; // none, or a map of the author's own, in a file
  }
}

/** Where a line of the author's file begins in what was made of it; from 0. */
function generatedLine(script, line) {
  const map = script && mapOf(script);
  if (!map) return line - 1;
  for (let at = 0; at <= script.endLine; at += 1) {
    if (map.findEntry(at, 1e6)?.originalLine === line - 1) return at;
  }
  return line - 1;
}

/** A value as the inspector tells it, in one line. */
function inShort({ type, subtype, value, unserializableValue, description, preview }) {
  if (type === "string") return JSON.stringify(value);
  if (unserializableValue) return unserializableValue;
  if (type === "undefined") return "undefined";
  if (subtype === "null" || type === "boolean" || type === "number") return String(value);
  if (type === "function") return /^class\b/.test(description) ? "class" : "function";
  if (!preview || subtype === "error") return String(description ?? type).split("\n")[0];
  const isList = subtype === "array";
  const members = preview.properties.map(({ name, value: text, type: kind }) => {
    const shown = kind === "string" ? JSON.stringify(text) : text || kind;
    return isList ? shown : `${name}: ${shown}`;
  });
  if (preview.overflow) members.push("…");
  const name = ["Object", "Array"].includes(preview.description.replace(/\(\d+\)$/, "")) ? "" : `${preview.description} `;
  return isList ? `${name}[${members.join(", ")}]` : `${name}{${members.join(", ")}}`;
}

const { load } = Atomics;
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
