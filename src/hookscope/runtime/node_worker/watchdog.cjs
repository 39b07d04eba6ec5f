// The thread that listens while the handlers' thread is busy: it reports that thread's stack, and ends the process
// when the host is gone, even during an endless loop. It also runs the debugger.

"use strict";

const { readFileSync } = require("node:fs");
const { Session } = require("node:inspector");
const { SourceMap } = require("node:module");
const { parentPort, workerData } = require("node:worker_threads");
const { fileOf, FRAMES, isOurs, Sources } = require("./frames.cjs");
const { listen, Writer } = require("./line.cjs");

const PATIENCE = 60; // milliseconds in which running code pauses; else none is running
const SILENCE = 400; // milliseconds after which we stop waiting for a thread that does not answer

const { control, write, lock } = workerData;
const writer = new Writer(write, new Int32Array(lock));

let onCommand = () => {}; // of the debugger, once the host has started it

listen(control, (message) => {
  if (message.do === "stack") void answer(message.id);
  else if (message.do === "word") onCommand(message);
});

parentPort.on("message", async ({ running, asked }) => {
  const { debugging } = require("./debugging.cjs");
  onCommand = await debugging(running, asked, (message) => writer.say(message));
  parentPort.postMessage("ready");
});

async function answer(id) {
  let stack = [];
  try {
    stack = await stackOfMain();
  } catch {
    // The thread cannot be inspected at this moment.
  }
  writer.say({ id, stack });
}

/** The stack of the handlers' thread, outermost first; empty if it waits. */
async function stackOfMain() {
  const session = new Session();
  const scripts = new Map();
  try {
    session.connectToMainThread();
    session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params));
    const frames = await new Promise((resolve) => {
      let paused = false;
      const unlessItRuns = (after) =>
        setTimeout(() => {
          if (!paused && isRunning()) unlessItRuns(PATIENCE);
          else resolve([]);
        }, after);
      session.on("Debugger.paused", ({ params }) => {
        session.post("Debugger.resume");
        paused = true;
        resolve(params.callFrames);
      });
      unlessItRuns(SILENCE);
      session.post("Debugger.enable");
      session.post("Debugger.pause", () => unlessItRuns(PATIENCE));
    });
    return described(frames, scripts);
  } finally {
    session.post("Debugger.disable", () => session.disconnect());
  }
}

/** True if the handlers' thread has work but is waiting for the processor, as on a busy machine. */
function isRunning() {
  try {
    return /\) R /.test(readFileSync("/proc/self/stat", "latin1"));
  } catch {
    return false; // not supported here
  }
}

function described(frames, scripts) {
  const sources = new Sources();
  const places = frames.map((frame) => placeOf(frame, scripts)).filter(({ file }) => !isOurs(file));
  const handlers = places.findLastIndex(({ file }) => !file.startsWith("node:"));
  return places
    .slice(0, handlers + 1)
    .reverse()
    .slice(-FRAMES)
    .map(({ file, line, column, name }) => sources.frame(file, line, column, name));
}

function placeOf({ functionName: name, location, url }, scripts) {
  const script = scripts.get(location.scriptId);
  const [line, column] = [location.lineNumber, location.columnNumber ?? 0];
  const mapped = script?.sourceMapURL ? mappedOf(script.sourceMapURL, line, column) : { line, column };
  return { file: fileOf(script?.url || url || ""), name, line: mapped.line + 1, column: mapped.column + 1 };
}

/** The position in the TypeScript source of the code. */
function mappedOf(address, line, column) {
  try {
    const [, data] = /^data:application\/json[^,]*;base64,(.+)$/.exec(address);
    const map = new SourceMap(JSON.parse(Buffer.from(data, "base64").toString("utf8")));
    const entry = map.findEntry(line, column);
    return { line: entry.originalLine ?? line, column: entry.originalColumn ?? column };
  } catch {
    return { line, column }; // its map is in a file of the author
  }
}
