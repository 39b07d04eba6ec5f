// Makes sources that Node can run: from TypeScript that it rejects, and with names that other loaders provide.

"use strict";

const { readFileSync } = require("node:fs");
const nodeModule = require("node:module");
const path = require("node:path");
const { isModuleText, usesUndeclared, withoutComments } = require("./imports.cjs");
const { aroundAddress, commonAddress } = require("./stubs.cjs");

// TypeScript that Node's own type stripping rejects. A false match costs only another parse.
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
  const advice = `write ${name} without JSX and rename it to ${rename}, or compile it first`;
  throw new Unsupported(`Node does not run JSX: ${advice}.`, { file, line: 1, column: 1 });
}

/** Throws if a file starts with `#!`: a bundler puts its own code before that line. */
function refuseHashbang(file) {
  if (!/\.[cm]?[jt]s$/.test(file) || !readFileSync(file, "utf8").startsWith("#!")) return;
  const advice = "`#!` is not allowed in a module that is bundled: remove the line.";
  throw new Unsupported(`line 1 of ${path.basename(file)}: ${advice}`, { file, line: 1, column: 1 });
}

/** True if we must strip the source, because Node would reject it. */
function needsUs(source) {
  return MORE_THAN_TYPES.test(withoutComments(source));
}

/**
 * Return the JavaScript of a TypeScript source. `url`: its name in errors. Throws as Node does. `isBundled`:
 * its host bundles it, so that `export =` and `import x = require()` are CommonJS in every file.
 */
function stripped(source, url, { isBundled = false } = {}) {
  try {
    return stripTypeScriptTypes(source, { mode: "strip", sourceUrl: url });
  } catch (error) {
    if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw error;
    return transformed(source, url, error, isBundled);
  }
}

/** Strip types and transform enums and the like, which newer Nodes cannot do. */
function transformed(source, url, refused, isBundled) {
  if (!isBundled && /equals declaration|export assignment/.test(refused.message)) throw refused;
  try {
    return stripTypeScriptTypes(source, { mode: "transform", sourceMap: true, sourceUrl: url });
  } catch (error) {
    throw error.code === "ERR_INVALID_ARG_VALUE" ? refused : error;
  }
}

/** Append an import of the CommonJS names that a module uses but does not declare. */
function withAround(source, url) {
  const names = AROUND.filter((name) => usesUndeclared(source, name));
  if (!names.length) return source;
  return `${source}\nimport { ${names.join(", ")} } from ${JSON.stringify(aroundAddress(url))};\n`;
}

/** Turn CommonJS into a module, for a file that Node takes for one, by appending imports of what it needs. */
function asModule(source, url) {
  const from = JSON.stringify(commonAddress(url));
  return `${source}\nimport { module, exports } from ${from};\nexport default module.exports;\n`;
}

/** The format of a stripped file by Node's rules. */
function formatOf(file, declared, source) {
  if (/\.m[jt]s$/.test(file)) return "module";
  if (/\.c[jt]s$/.test(file)) return "commonjs";
  const scope = declared ?? packageType(file);
  if (scope === "module" || scope === "commonjs") return scope;
  return isModuleText(source) ? "module" : "commonjs";
}

/**
 * The format of a file by a bundler's rules: its statements decide, not its name and package, except for `.cjs`.
 * "" if it has no statement of either kind.
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
