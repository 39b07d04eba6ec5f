// Finds the position of a syntax error and the next step, which Node often does not report.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const { framesOf, placeBefore } = require("./frames.cjs");
const { asScript, withoutComments } = require("./imports.cjs");
const { isTypeScript, stripped, Unsupported } = require("./sources.cjs");

const WRAP = "(async () => {";

// TypeScript syntax that Node does not support, and the next step.
const ADVICE = [
  [/^[^\S\n]*@[\w$.]+/m, "decorators do not run in Node: call the function in plain code, or compile the file."],
  [/\baccessor\s+[\w$#]+/, "`accessor` does not run in Node: write a getter and a setter, or compile the file."],
];
const REFUSED = [
  [/equals declaration/, "`import x = require()` does not run in Node: write `import x from` instead."],
  [/export assignment/, "`export =` does not run in Node: write `export default` instead."],
  [/./, `Node only removes types, but this adds code: write it in JavaScript, or compile the file${otherNode()}.`],
];

/** Node 26 and newer cannot run enums, namespaces and parameter properties; older ones can. */
function otherNode() {
  const isTooNew = Number(process.versions.node.split(".")[0]) >= 26;
  return isTooNew ? "; or set `node:` in .hookscope/config.yaml to Node 25 or older" : "";
}

/** Return the error, or one with the position and the next step. `worlds` has the files that were loaded. */
function explained(error, worlds) {
  try {
    if (error?.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return refused(error);
    const place = error instanceof Error ? placeBefore(error.stack) : null;
    if (place) return error instanceof SyntaxError ? advised(error, place) : error;
    if (!(error instanceof Error) || framesOf(error.stack).length) return error;
    if (worlds.missing.has(error)) return withPlace(error, placeOfImport(worlds.missing.get(error)));
    if (error instanceof SyntaxError) return placed(error, worlds.recent) ?? error;
  } catch {
    // The file is gone, or the error is not Node's: keep the error.
  }
  return error;
}

function refused(error) {
  const at = placeBefore(error.stack);
  const [, advice] = REFUSED.find(([pattern]) => pattern.test(error.message));
  return at ? unsupported(advice, { ...at, column: at.column || 1 }) : error;
}

function unsupported(advice, place) {
  return new Unsupported(`line ${place.line} of ${path.basename(place.file)}: ${advice}`, place);
}

/** Put the position before the stack, as Node does if it knows it. */
function withPlace(error, place) {
  if (!place) return error;
  const caret = `${" ".repeat(place.column - 1)}^`;
  error.stack = `${place.file}:${place.line}\n${place.source}\n${caret}\n\n${error.stack}`;
  return error;
}

function placeOfImport({ file, specifier }) {
  const source = fs.readFileSync(file, "utf8");
  const text = withoutComments(source);
  const places = [`"${specifier}"`, `'${specifier}'`].flatMap((quoted) => [...occurrences(text, quoted)]);
  const index = places.find((at) => !OF_TYPES.test(text.slice(0, at))) ?? places[0];
  return index === undefined ? null : placeAt(source, index, file);
}

const OF_TYPES = /(?:^|[;}\n])\s*(?:import|export)\s+type\b[^;'"]*$/; // imports of types, which are removed

function* occurrences(text, part) {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) yield at;
}

/** Parse the files again in a way that shows the position. */
function placed(error, files) {
  for (const file of files.toReversed()) {
    const source = fs.readFileSync(file, "utf8");
    const script = isTypeScript(file) ? stripped(source, file) : source;
    const place = placeOf(script, file, error.message);
    if (place) return advised(withPlace(error, { ...place, file }), { ...place, file });
  }
  return null;
}

/** Return an error with the next step if the line has syntax of TypeScript; else the same error. */
function advised(error, place) {
  for (const [pattern, advice] of ADVICE) {
    const found = pattern.exec(withoutComments(place.source ?? ""));
    if (found) return unsupported(advice, { ...place, column: found.index + found[0].search(/\S/) + 1 });
  }
  return error;
}

/** The position of the parser's error, if it is the same error. */
function placeOf(script, file, message) {
  try {
    void new vm.Script(`${WRAP}${asScript(script)}\n})`, { filename: file });
  } catch (error) {
    const at = placeBefore(error.stack);
    if (!at || (error.message !== message && !/token|identifier/i.test(error.message))) return null;
    const column = Math.max(1, at.line === 1 ? at.column - WRAP.length : at.column);
    return { line: at.line, column, source: script.split("\n")[at.line - 1] ?? "" };
  }
  return null;
}

function placeAt(text, index, file) {
  const before = text.slice(0, index).split("\n");
  const source = text.split("\n")[before.length - 1];
  return { file, line: before.length, column: before.at(-1).length + 1, source };
}

module.exports = { explained };
