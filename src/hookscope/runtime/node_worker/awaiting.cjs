// Modules that await outside of functions: a host that requires its plugins cannot load them.

"use strict";

const { readFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const vm = require("node:vm");
const { placeBefore } = require("./frames.cjs");
const { fileMeant } = require("./hooks.cjs");
const { asScript, importedByStatements, isModuleText, withoutComments, withoutUnused } = require("./imports.cjs");
const { isTypeScript, stripped, Unsupported } = require("./sources.cjs");

const BEFORE = "class Top { static {"; // where `await` is a mistake as it is in no other body
const AWAIT = /\bawait\b/g;
const ADVICE =
  "`await` outside of functions: its host loads plugins with `require`, which takes none; move it into a function";

/** Throws where this file, or one beside it that it imports by a statement, awaits as it loads. Runs nothing. */
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

/** A file, and what of it runs: nothing where it cannot be read or parsed, and its load says why. */
function read(file) {
  try {
    const written = readFileSync(file, "utf8");
    return { written, source: isTypeScript(file) ? withoutUnused(stripped(written, file)) : written };
  } catch {
    return { written: "", source: "" };
  }
}

/** Where a module awaits outside of its functions; null where it does not, or where that cannot be told. */
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

/** Of the word in a source, one so many words behind the first: what adds code moves lines, and no words. */
function placeOfThe(number, written) {
  const { index } = [...withoutComments(written).matchAll(AWAIT)][number] ?? { index: 0 };
  const before = written.slice(0, index).split("\n");
  return { line: before.length, column: before.at(-1).length + 1, source: written.split("\n")[before.length - 1] };
}

/** Where the parser stops; null where it does not. */
function mistake(script, file) {
  try {
    void new vm.Script(script, { filename: file });
    return null;
  } catch (error) {
    return placeBefore(error.stack) ?? {};
  }
}

module.exports = { refuseAwaiting };
