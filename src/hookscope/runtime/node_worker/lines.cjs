// Breakpoints at lines of files. The counterpart of ../python_worker/breakpoints.py.

"use strict";

const { realpathSync } = require("node:fs");
const { SourceMap } = require("node:module");
const { basename } = require("node:path");
const { pathToFileURL } = require("node:url");
const { fileOf } = require("./frames.cjs");
const { Point } = require("./points.cjs");

/** The breakpoints of all files. `post` calls the inspector; `report({file, lines, wrong})` reports where they stop. */
class Lines {
  constructor(post, report) {
    this.post = post;
    this.report = report;
    this.scripts = new Map(); // by the inspector's ID
    this.asked = new Map(); // real path → {file: the path as given, points}
    this.turn = Promise.resolve(); // changes come one after another
  }

  /** Handle a new script: set the breakpoints of its file. */
  parsed(script) {
    this.scripts.set(script.scriptId, script);
    const known = this.asked.get(fileOf(script.url));
    if (known) void this.put(known.file, known.points.map(({ asked }) => asked));
  }

  /** Replace the breakpoints of a file. */
  put(file, wanted) {
    this.turn = this.turn.then(() => this.replaced(file, wanted)).catch(() => {});
    return this.turn;
  }

  async replaced(file, wanted) {
    const path = real(file);
    const before = this.asked.get(path)?.points ?? [];
    for (const { id } of before) if (id) await this.post("Debugger.removeBreakpoint", { breakpointId: id });
    const points = wanted.map((asked) => before.find((point) => point.isAs(asked)) ?? new Point(asked)); // a known one keeps its count
    this.asked.set(path, { file, points });
    const script = [...this.scripts.values()].findLast(({ url }) => fileOf(url) === path);
    for (const point of points) await this.set(path, script, point);
    const known = script ? points : points.filter(({ wrong }) => wrong);
    const wrong = known.filter((point) => point.wrong).map((point) => [point.line, point.wrong]);
    if (script || wrong.length) this.report({ file, lines: known.map(({ line, at }) => [line, at]), wrong });
  }

  async set(path, script, point) {
    point.id = null;
    point.at = 0;
    if (point.wrong) return;
    const lineNumber = generatedLine(script, point.line);
    const urlRegex = `^${literally(pathToFileURL(path).href)}(\\?.*)?$`;
    const asked = { lineNumber, urlRegex, condition: point.condition };
    const { breakpointId, locations } = await this.post("Debugger.setBreakpointByUrl", asked);
    point.id = breakpointId;
    point.at = script ? 0 : point.line;
    const at = script && locations.at(-1);
    if (at) point.at = writtenAt(script, at.lineNumber, at.columnNumber).line;
  }

  /** Add or remove the breakpoint of a line; with a condition, add or replace it. Return a message. */
  async toggle(file, line, condition = "") {
    const path = real(file);
    const where = basename(file);
    const before = this.asked.get(path)?.points ?? [];
    const others = before.filter((point) => point.line !== line && point.at !== line);
    const rest = others.map(({ asked }) => asked);
    if (rest.length < before.length && !condition) {
      await this.put(file, rest);
      return `no longer stops at ${where}:${line}`;
    }
    const asked = condition ? { line, condition } : line;
    const { wrong } = new Point(asked);
    if (wrong) return `cannot stop at ${where}:${line}: ${wrong}`;
    await this.put(file, [...rest, asked]);
    const { at } = this.asked.get(path).points.at(-1);
    if (at) return `stops at ${where}:${at} ${condition ? `where ${condition}` : "too"}`;
    await this.put(file, rest);
    return `cannot stop at ${where}:${line}: there is no such line`;
  }

  /** The lines at which handlers stop in that file. */
  in(file) {
    return (this.asked.get(file)?.points ?? []).map(({ at }) => at).filter(Boolean);
  }

  /** The breakpoint with this number, and its file; null if there is none. */
  numbered(number) {
    for (const { file, points } of this.asked.values()) {
      const point = points.find((one) => one.number === number);
      if (point) return { file, point };
    }
    return null;
  }

  /** The numbers of the breakpoints with these inspector IDs that have a condition, a count or a log. */
  numbersOf(ids) {
    const points = [...this.asked.values()].flatMap((known) => known.points);
    return points.filter(({ id, isPlain }) => !isPlain && ids.includes(id)).map(({ number }) => number);
  }

  /** {file, line, column} in the author's source, from 1, of a position that the inspector reports. */
  placeOf({ scriptId, lineNumber, columnNumber = 0 }, url) {
    const script = this.scripts.get(scriptId);
    return { file: fileOf(url || script?.url || ""), ...writtenAt(script, lineNumber, columnNumber) };
  }
}

function writtenAt(script, line, column) {
  const entry = mapOf(script)?.findEntry(line, column);
  return { line: (entry?.originalLine ?? line) + 1, column: (entry?.originalColumn ?? column) + 1 };
}

function mapOf(script) {
  try {
    const [, data] = /^data:application\/json[^,]*;base64,(.+)$/.exec(script.sourceMapURL);
    return new SourceMap(JSON.parse(Buffer.from(data, "base64").toString("utf8")));
  } catch {
    return null; // there is none, or it is in a file of the author
  }
}

/** The line in the generated code where a line of the author's file begins; from 0. */
function generatedLine(script, line) {
  const map = script && mapOf(script);
  if (!map) return line - 1;
  for (let at = 0; at <= script.endLine; at += 1) {
    if (map.findEntry(at, 1e6)?.originalLine === line - 1) return at;
  }
  return line - 1;
}

function real(file) {
  try {
    return realpathSync(file);
  } catch {
    return file; // it does not exist, or not yet
  }
}

const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

module.exports = { Lines, literally };
