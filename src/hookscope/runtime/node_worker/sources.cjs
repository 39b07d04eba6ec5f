// Sources as Node can run them: TypeScript that it would refuse, and names that other loaders provide.

"use strict";

const { readFileSync } = require("node:fs");
const nodeModule = require("node:module");
const path = require("node:path");
const { isModuleText, usesUndeclared, withoutComments } = require("./imports.cjs");
const { aroundAddress, commonAddress } = require("./stubs.cjs");

// What TypeScript has and Node's own stripping refuses. A false alarm costs one more parse.
const MORE_THAN_TYPES = new RegExp([
  /\benum\s+[\w$]+\s*\{/, /\b(?:namespace|module)\s+[\w$.]+\s*\{/,
  /[(,]\s*(?:@\w+\s*)?(?:private|public|protected|readonly|override)\s/,
  /\bimport\s+(?:type\s+)?[\w$]+\s*=/, /\bexport\s*=/, /[=(,:?[!&|]\s*<[\w$[{(]/, /\b(?:return|default)\s+<[\w$[{(]/,
].map((part) => part.source).join("|"));
const AROUND = ["__dirname", "__filename", "require"];

const { stripTypeScriptTypes } = nodeModule;

class Unsupported extends Error {
  constructor(message, place) {
    super(message);
    this.place = place;
  }
}

function isTypeScript(file) {
  return /\.[cm]?ts$/.test(file);
}

/** Throws for files that no Node runs. */
function refuseMarkup(file) {
  if (!/\.[tj]sx$/.test(file)) return;
  const name = path.basename(file);
  const rename = name.replace(/x$/, "");
  const advice = `write ${name} without it and call it ${rename}, or compile it first`;
  throw new Unsupported(`Node does not run JSX: ${advice}.`, { file, line: 1, column: 1 });
}

/** Throws where a file begins as a program: a bundler puts code of its own before it. */
function refuseHashbang(file) {
  if (!/\.[cm]?[jt]s$/.test(file) || !readFileSync(file, "utf8").startsWith("#!")) return;
  const advice = "`#!` cannot stand in a module that is bundled: take the line out.";
  throw new Unsupported(`line 1 of ${path.basename(file)}: ${advice}`, { file, line: 1, column: 1 });
}

/** Must we strip it, because Node would not? */
function needsUs(source) {
  return MORE_THAN_TYPES.test(withoutComments(source));
}

/**
 * JavaScript of a TypeScript source. `url` is what its errors shall name. Throws as Node does. `isBundled`:
 * its host bundles it, so that `export =` and `import x = require()` are CommonJS wherever they stand.
 */
function stripped(source, url, { isBundled = false } = {}) {
  try {
    return stripTypeScriptTypes(source, { mode: "strip", sourceUrl: url });
  } catch (error) {
    if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw error;
    return transformed(source, url, error, isBundled);
  }
}

/** With what TypeScript adds at run time; gone from newer Nodes. */
function transformed(source, url, refused, isBundled) {
  if (!isBundled && /equals declaration|export assignment/.test(refused.message)) throw refused;
  try {
    return stripTypeScriptTypes(source, { mode: "transform", sourceMap: true, sourceUrl: url });
  } catch (error) {
    throw error.code === "ERR_INVALID_ARG_VALUE" ? refused : error;
  }
}

/** The source with the names of CommonJS that it uses and does not have, imported behind its end. */
function withAround(source, url) {
  const names = AROUND.filter((name) => usesUndeclared(source, name));
  if (!names.length) return source;
  return `${source}\nimport { ${names.join(", ")} } from ${JSON.stringify(aroundAddress(url))};\n`;
}

/** CommonJS as a module, where Node would take the file for one: what it needs is imported behind its end. */
function asModule(source, url) {
  const from = JSON.stringify(commonAddress(url));
  return `${source}\nimport { module, exports } from ${from};\nexport default module.exports;\n`;
}

/** Node's rules for a stripped file whose name and package do not say which it is. */
function formatOf(file, declared, source) {
  if (/\.m[jt]s$/.test(file)) return "module";
  if (/\.c[jt]s$/.test(file)) return "commonjs";
  const scope = declared ?? packageType(file);
  if (scope === "module" || scope === "commonjs") return scope;
  return isModuleText(source) ? "module" : "commonjs";
}

/**
 * A bundler's rules: what a file is, its statements say, whatever its name and package. A `.cjs` is what its
 * name says. "" where it has no statement of either kind.
 */
function bundledFormat(file, source) {
  if (file.endsWith(".cjs")) return "commonjs";
  if (isModuleText(source)) return "module";
  return ["module", "exports"].some((name) => usesUndeclared(source, name)) ? "commonjs" : "";
}

function packageType(file) {
  try {
    const found = nodeModule.findPackageJSON(file);
    return found ? nodeModule.createRequire(file)(found).type : undefined;
  } catch {
    return undefined;
  }
}

module.exports = {
  Unsupported, isTypeScript, refuseMarkup, refuseHashbang, needsUs, stripped, withAround, asModule, formatOf,
  bundledFormat,
};
