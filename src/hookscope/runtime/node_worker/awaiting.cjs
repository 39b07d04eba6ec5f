// Finds `await` outside functions: a host that loads plugins with `require` rejects such modules.

"use strict";

const { readFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const vm = require("node:vm");
const { placeBefore } = require("./frames.cjs");
const { fileMeant } = require("./hooks.cjs");
const { asScript, importedByStatements, isModuleText, withoutComments, withoutUnused } = require("./imports.cjs");
const { isTypeScript, stripped, Unsupported } = require("./sources.cjs");

const BEFORE = "class Top { static {"; // in which `await` is always a syntax error
const AWAIT = /\bawait\b/g;
const ADVICE =
  "`await` outside functions does not work, because its host loads plugins with `require`; move it into a function";

/** Throws if this file, or a file that it imports by statements, uses `await` while loading. Runs no code. */
function refuseAwaiting(entry) {
  const files = new Set([entry]);
  for (const file of files) {
    if (!/\.[cm]?[jt]s$/.test(file) || file.endsWith(".cjs")) continue;
    const { written, source } = read(file);
    const place = placeOfAwait(written, source, file);
    if (place) throw new Unsupported(`line ${place.line} of ${path.basename(file)}: ${ADVICE}`, { ...place, file });
    for (const specifier of importedByStatements(source)) {
      const found = fileMeant(specifier, pathToFileURL(file).href);
      if (found) files.add(found);
    }
  }
}

/** Return a file and its JavaScript; both empty if it cannot be read or parsed, which its load then reports. */
function read(file) {
  try {
    const written = readFileSync(file, "utf8");
    return { written, source: isTypeScript(file) ? withoutUnused(stripped(written, file)) : written };
  } catch {
    return { written: "", source: "" };
  }
}

/** The position of an `await` outside functions; null if there is none, or it is unknown. */
function placeOfAwait(written, source, file) {
  if (!source.includes("await") || !isModuleText(source)) return null;
  const script = asScript(source).replaceAll("import.meta", "import_meta");
  if (mistake(`(async () => {${script}\n})`, file)) return null;
  const found = mistake(`${BEFORE}${script}\n}}`, file);
  if (!found?.source?.slice(found.column - 1).startsWith("await")) return null;
  const column = found.line === 1 ? found.column - BEFORE.length : found.column;
  const lines = script.split("\n").slice(0, found.line);
  const before = [...lines.slice(0, -1), lines.at(-1).slice(0, column - 1)].join("\n");
  return placeOfThe((before.match(AWAIT) ?? []).length, written);
}

/** The position of the `await` with this number in the original source, which may have other lines. */
function placeOfThe(number, written) {
  const { index } = [...withoutComments(written).matchAll(AWAIT)][number] ?? { index: 0 };
  const before = written.slice(0, index).split("\n");
  return { line: before.length, column: before.at(-1).length + 1, source: written.split("\n")[before.length - 1] };
}

/** The position of a syntax error; null if there is none. */
function mistake(script, file) {
  try {
    void new vm.Script(script, { filename: file });
    return null;
  } catch (error) {
    return placeBefore(error.stack) ?? {};
  }
}

module.exports = { refuseAwaiting };
