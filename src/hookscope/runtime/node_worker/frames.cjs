// The frames of a stack as data: {file, line, column, function, source}, outermost first.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

const FRAMES = 40; // innermost ones: endless recursion has a thousand
const NAME = 400; // characters of a source line, and of a name
const FILE = 4096; // characters of a path
const SOURCE = 1024 * 1024; // bytes of a file whose lines are shown
const STACK = 64 * 1024; // characters of a stack that are read: its frames are at its end
const OURS = __dirname + path.sep;

const { statSync, readFileSync } = fs;

/** Return a path or URL as a path, without our additions to it. */
function fileOf(address) {
  const bare = address.replace(/\?t=[\w.%~-]*&hookscope$/, "");
  if (!bare.startsWith("file:")) return bare;
  try {
    return fileURLToPath(bare);
  } catch {
    return bare;
  }
}

/** True for files of the worker and internal ones of Node, which are not shown to authors. */
function isOurs(file) {
  return !file || file.startsWith(OURS) || /^(?:node:(?:internal|diagnostics_channel)|hookscope:)/.test(file);
}

/** Reads source lines, each file once. */
class Sources {
  constructor() {
    this.files = new Map();
  }

  frame(file, line, column, name, text) {
    const source = text ?? this.linesOf(file)[line - 1] ?? "";
    return {
      file: file.slice(0, FILE),
      line,
      column,
      function: name.slice(0, NAME),
      source: source.trim().slice(0, NAME),
    };
  }

  /** The lines of a file; none unless it is a regular file of limited size: code may name /dev/zero. Never throws. */
  linesOf(file) {
    if (!this.files.has(file)) this.files.set(file, read(file));
    return this.files.get(file);
  }
}

function read(file) {
  try {
    const status = statSync(file);
    if (!status.isFile() || !(status.size > 0 && status.size <= SOURCE)) return [];
    return readFileSync(file, "utf8").split(/\r?\n/);
  } catch {
    return []; // gone, or not a file
  }
}

/** The frames in the text of a stack. Node's own frames are skipped before the handler's first. */
function framesOf(stack) {
  const found = [];
  for (const text of stack.slice(-STACK).split("\n").reverse()) {
    const place = placeIn(text);
    if (!place || isOurs(place.file) || (!found.length && place.file.startsWith("node:"))) continue;
    found.push(place);
  }
  const sources = new Sources();
  return found.slice(-FRAMES).map(({ file, line, column, name }) => sources.frame(file, line, column, name));
}

/** "    at async name (file:///x.js:1:2)", "    at /x.js:1:2" */
function placeIn(text) {
  const call = /^ {4}at (.+)$/.exec(text);
  if (!call) return null;
  const inBrackets = /^(.*?) ?\((.+)\)$/.exec(call[1]);
  const [name, where] = inBrackets ? [inBrackets[1], inBrackets[2]] : ["", call[1].replace(/^async /, "")];
  const place = /^(.+):(\d+):(\d+)$/.exec(where);
  if (!place || where.startsWith("eval at ")) return null;
  const [, address, line, column] = place;
  return { file: fileOf(address), line: Number(line), column: Number(column), name: nameOf(name) };
}

/** Return the name without `async ` and Node's additions; "" for a function without a name. */
function nameOf(name) {
  const bare = name.replace(/^async /, "").replace(/ \[as .*\]$/, "");
  return bare === "<anonymous>" ? "" : bare;
}

/**
 * The position that precedes the stack of a syntax error: file and line, the source line, and a caret below it.
 * Null if there is none.
 */
function placeBefore(stack) {
  const [first, ...more] = stack.slice(0, STACK).split("\n");
  const place = /^(.*):(\d+)$/.exec(first ?? "");
  if (!place) return null;
  const at = more.findIndex((line) => /^\s*\^+\s*$/.test(line));
  const column = at < 1 ? 0 : more[at].indexOf("^") + 1;
  const source = at < 1 ? undefined : more[at - 1];
  return { file: fileOf(place[1]), line: Number(place[2]), column, source };
}

module.exports = { FRAMES, fileOf, isOurs, Sources, framesOf, placeBefore };
