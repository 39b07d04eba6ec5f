// The lines of files at which handlers stop. The twin of ../python_worker/lines.py.

"use strict";

const { realpathSync } = require("node:fs");
const { SourceMap } = require("node:module");
const { basename } = require("node:path");
const { pathToFileURL } = require("node:url");
const { fileOf } = require("./frames.cjs");

/** Of all files. `post` asks the inspector, `tell(file, [[asked, at]])` says where those of a file are. */
class Lines {
  constructor(post, tell) {
    this.post = post;
    this.tell = tell;
    this.scripts = new Map(); // by the inspector's id
    this.asked = new Map(); // the real path → {file, as it was named, lines: asked → [its id, where it stops]}
    this.turn = Promise.resolve(); // changes come one after another
  }

  /** A script is there, or a file has another than before. */
  parsed(script) {
    this.scripts.set(script.scriptId, script);
    const known = this.asked.get(fileOf(script.url));
    if (known) void this.put(known.file, [...known.lines.keys()]);
  }

  /** Stop at these lines of a file and at no others of it. */
  put(file, wanted) {
    this.turn = this.turn.then(() => this.replaced(file, wanted)).catch(() => {});
    return this.turn;
  }

  async replaced(file, wanted) {
    const path = real(file);
    for (const [id] of this.asked.get(path)?.lines.values() ?? []) {
      if (id) await this.post("Debugger.removeBreakpoint", { breakpointId: id });
    }
    const lines = new Map();
    this.asked.set(path, { file, lines });
    const script = [...this.scripts.values()].findLast(({ url }) => fileOf(url) === path);
    for (const line of wanted) lines.set(line, await this.set(path, script, line));
    if (script) this.tell(file, [...lines].map(([line, [, at]]) => [line, at]));
  }

  /** [the inspector's name for it, where it stops or 0]. */
  async set(path, script, line) {
    const lineNumber = generatedLine(script, line);
    const urlRegex = `^${literally(pathToFileURL(path).href)}(\\?.*)?$`;
    const { breakpointId: id, locations } = await this.post("Debugger.setBreakpointByUrl", { lineNumber, urlRegex });
    if (!script) return [id, line];
    const { lineNumber: at, columnNumber: column } = locations.at(-1) ?? {};
    return [id, at === undefined ? 0 : writtenAt(script, at, column).line];
  }

  /** Stop at this line too, or no longer; a sentence of what it does. */
  async toggle(file, line) {
    const path = real(file);
    const before = [...(this.asked.get(path)?.lines ?? [])];
    const rest = before.filter(([asked, [, at]]) => asked !== line && at !== line).map(([asked]) => asked);
    if (rest.length < before.length) {
      await this.put(file, rest);
      return `no longer stops at ${basename(file)}:${line}`;
    }
    await this.put(file, [...rest, line]);
    const [, at] = this.asked.get(path).lines.get(line);
    if (at) return `stops at ${basename(file)}:${at} too`;
    await this.put(file, rest);
    return `cannot stop at ${basename(file)}:${line}: there is no such line`;
  }

  /** Where it stops in that file. */
  in(file) {
    return [...(this.asked.get(file)?.lines.values() ?? [])].map(([, at]) => at).filter(Boolean);
  }

  /** {file, line, column} in what its author wrote, from 1, of a place that the inspector tells. */
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

function real(file) {
  try {
    return realpathSync(file);
  } catch {
    return file; // it is not there, or not yet
  }
}

const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

module.exports = { Lines, literally };
