// Resolves and loads the imports of handlers, with the loader hooks of node:module in this thread.

"use strict";

const fs = require("node:fs");
const nodeModule = require("node:module");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { aliased } = require("./aliases.cjs");
const { namesImported, withoutUnused } = require("./imports.cjs");
const { absence, advise, isAlias } = require("./missing.cjs");
const { isSdk, refusedSdk, SUBPATH_ADVICE } = require("./openclaw.cjs");
const { isOurs, isProvided, makesSchemas, providedAddress, providedSource, unprovided } = require("./provided.cjs");
const {
  asModule, bundledFormat, formatOf, isTypeScript, needsUs, refuseMarkup, stripped, withAround,
} = require("./sources.cjs");
const { ownSource, SCHEME, stubAddress } = require("./stubs.cjs");
const { isPackaged, isWithin, split } = require("./worlds.cjs");

const ENDINGS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
const TYPED = new Map([[".js", ".ts"], [".mjs", ".mts"], [".cjs", ".cts"]]);
const HAS_NO_SUCH = "the installed package has no such export";
const MISSING = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT"]);

const { readFileSync, statSync } = fs;

/** Install the loader hooks for all modules that belong to a hook according to `worlds`. */
function install(worlds) {
  nodeModule.registerHooks({
    resolve: (specifier, context, next) => resolve(worlds, specifier, context, next),
    load: (url, context, next) => load(worlds, url, context, next),
  });
}

function resolve(worlds, specifier, context, next) {
  if (specifier.startsWith(SCHEME)) return { url: specifier, format: "module", shortCircuit: true };
  const world = context.parentURL === undefined ? null : worlds.of(context.parentURL);
  if (!world) return next(specifier, context);
  const found = find(worlds, world, specifier, context, next);
  if (!found.url.startsWith("file:")) return found;
  const file = split(found.url).path;
  const url = found.url.includes("?") ? found.url : worlds.place(world, file);
  worlds.link(context.parentURL, url);
  const isJson = file.endsWith(".json") && !context.importAttributes?.type && !isRequire(context);
  return { ...found, url, ...(isJson ? { importAttributes: { type: "json" } } : {}) };
}

// A list; in Node 22.18, a set.
const isRequire = (context) => [...(context.conditions ?? [])].includes("require");

/** Resolve as Node does; else as the hosts' loaders do; else to a substitute or a stub. */
function find(worlds, world, specifier, context, next) {
  if (isOurs(specifier, world)) return providedFor(worlds, specifier, context, next);
  if (world.isStrict && isSdk(specifier)) refuse(worlds, specifier, context.parentURL);
  try {
    return next(specifier, context);
  } catch (error) {
    if (!MISSING.has(error?.code)) throw error;
    const file = world.isPlain ? "" : repaired(world, specifier, context.parentURL);
    if (file) return next(pathToFileURL(file).href, context);
    const isBare = world.isPlain || (world.isStrict && !isSdk(specifier)); // its host has no substitute either
    if (!isBare && isProvided(specifier)) return providedFor(worlds, specifier, context, null);
    const stub = isRequire(context) || isBare ? null : stubFor(worlds, world, specifier, context.parentURL);
    if (stub) return stub;
    const parent = split(context.parentURL).path;
    worlds.missing.set(error, { file: parent, specifier });
    if (!isRelative(specifier)) advise(error, absence(specifier, parent).then);
    else if (world.isOfEve) advise(error, "; create that file or correct its path");
    else if (world.isPlain) advise(error, adviceFor(existing(pathOf(specifier, context.parentURL)), parent));
    throw error;
  }
}

/** The next step if a host's loader would find a file that Node does not find. */
function adviceFor(file, parent) {
  if (!file) return "";
  const name = path.relative(path.dirname(parent), file).replaceAll(path.sep, "/");
  return `; Node does not complete paths: write ${name.startsWith(".") ? name : `./${name}`}`;
}

/** Throws if the shipped host's SDK has no such subpath. */
function refuse(worlds, specifier, parentUrl) {
  const why = refusedSdk(specifier);
  if (!why) return;
  const error = Object.assign(new Error(`${why}; ${SUBPATH_ADVICE}`), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
  worlds.missing.set(error, { file: split(parentUrl).path, specifier });
  throw error;
}

/** The file for a specifier that does not name one exactly; "" if there is none. */
function repaired(world, specifier, parentUrl) {
  if (isRelative(specifier)) return existing(pathOf(specifier, parentUrl));
  for (const base of aliased(specifier, world.root)) {
    const file = existing(base);
    if (file) return file;
  }
  return "";
}

const isRelative = (specifier) => /^(?:\.{0,2}\/|\.{1,2}$|file:)/.test(specifier);

function pathOf(specifier, parentUrl) {
  const bare = specifier.replace(/[?#].*$/, "");
  return fileURLToPath(new URL(bare, parentUrl.replace(/\?.*$/, "")));
}

/** The file for a relative specifier, perhaps inexact; "" if there is none or it is a package. */
function fileMeant(specifier, parentUrl) {
  return isRelative(specifier) ? existing(pathOf(specifier, parentUrl)) : "";
}

/** The existing file for a path: x.ts for `x.js`, x.ts for `x`, x/index.ts for `x`. "" if there is none. */
function existing(base) {
  const ending = path.extname(base);
  const candidates = [
    base,
    ...(TYPED.has(ending) ? [base.slice(0, -ending.length) + TYPED.get(ending)] : []),
    ...ENDINGS.map((end) => base + end),
    ...ENDINGS.map((end) => path.join(base, `index${end}`)),
  ];
  return candidates.find(isFile) ?? "";
}

function isFile(file) {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A module with our values. Its other names come from the installed package, else they are stubs. */
function providedFor(worlds, specifier, context, next) {
  const { parentURL } = context;
  const parent = split(parentURL).path;
  const names = namesUsed(worlds, specifier, parentURL) ?? [];
  const missing = unprovided(specifier, names);
  const real = missing.length && next ? resolved(specifier, context, next) : "";
  const why = real ? HAS_NO_SUCH : whyOf(absence(specifier, parent));
  if (missing.length && !real) worlds.stub(parentURL, specifier, missing);
  if (makesSchemas(specifier)) worlds.standFor(parentURL, specifier);
  return { url: providedAddress(specifier, names, why, real), format: "module", shortCircuit: true };
}

const whyOf = ({ what, is, then }) => `${what} ${is}${then}`;

/** The address that Node finds; "" if there is none. */
function resolved(specifier, context, next) {
  try {
    return next(specifier, context).url;
  } catch {
    return "";
  }
}

/**
 * A module of stubs for the names that statements of the importing file import. Null if it is imported at run time,
 * or if a file of the hook itself is missing.
 */
function stubFor(worlds, world, specifier, parentUrl) {
  const parent = split(parentUrl).path;
  if (specifier.startsWith("#") || specifier.startsWith("node:")) return null;
  const isOwn = isRelative(specifier) && (world.isOfEve || isWithin(world.root, pathOf(specifier, parentUrl)));
  if (isOwn || (world.isOfEve && isAlias(specifier, path.dirname(parent)))) return null; // its host does not find it either
  const names = namesUsed(worlds, specifier, parentUrl);
  if (!names) return null;
  worlds.stub(parentUrl, specifier, names);
  const why = whyOf(absence(specifier, parent));
  return { url: stubAddress(specifier, names, why), format: "module", shortCircuit: true };
}

/** The names that the importing file, as it is loaded, imports from the specifier: see namesImported. */
function namesUsed(worlds, specifier, parentUrl) {
  const file = split(parentUrl).path;
  const source = readFileSync(file, "utf8");
  const isBare = isTypeScript(file) && worlds.of(parentUrl)?.isOfPlugin;
  return namesImported(isBare ? withoutUnused(stripped(source, parentUrl)) : source, specifier);
}

function load(worlds, url, context, next) {
  if (url.startsWith(SCHEME)) return { format: "module", source: sourceOf(url), shortCircuit: true };
  const loaded = loadFile(worlds, url, context, next);
  worlds.noteFormat(url, loaded.format);
  return loaded;
}

function loadFile(worlds, url, context, next) {
  const { path: file } = split(url);
  if (!file || !(worlds.of(url) || (isPackaged(file) && isTypeScript(file)))) return next(url, context);
  worlds.loading(url);
  if (worlds.of(url)?.isPlain) {
    const loaded = next(url, context);
    if (loaded.format?.startsWith("module") && isRequire(context)) worlds.required.add(file);
    return loaded;
  }
  refuseMarkup(file);
  const bundled = worlds.of(url)?.isOfEve ? asBundled(url, file, context) : null;
  if (bundled) return bundled;
  if (isTypeScript(file)) {
    const [source, isOfPlugin] = [readFileSync(file, "utf8"), worlds.of(url)?.isOfPlugin ?? false];
    if (file.includes("node_modules") || isOfPlugin || needsUs(source)) {
      return loadStripped(url, file, source, context, isOfPlugin);
    }
  }
  const loaded = next(url, context);
  if (loaded.format?.startsWith("module") && isRequire(context)) worlds.required.add(file);
  return withNames(loaded, url);
}

function sourceOf(url) {
  const [kind, query] = url.slice(SCHEME.length).split("?");
  return kind === "provided" ? providedSource(query) : ownSource(kind, query);
}

/** Load a file as a bundling host does; null if Node does the same. */
function asBundled(url, file, context) {
  if (file.includes("node_modules") || !/\.[cm]?[jt]s$/.test(file)) return null;
  const source = readFileSync(file, "utf8");
  const plain = isTypeScript(file) ? stripped(source, url, { isBundled: true }) : source;
  const text = isTypeScript(file) ? withoutUnused(plain) : plain;
  const asNode = formatOf(file, context.format?.replace("-typescript", ""), plain);
  const format = bundledFormat(file, plain) || asNode;
  const isSame = format === asNode && text === plain && !(isTypeScript(file) && needsUs(source));
  if (isSame) return null;
  const isDressed = format === "commonjs" && asNode === "module";
  const loaded = isDressed ? { format: asNode, source: asModule(text, url) } : { format, source: text };
  return withNames({ ...loaded, shortCircuit: true }, url);
}

/** Load a file stripped by us, because Node would reject it or keep imports that its host removes. */
function loadStripped(url, file, source, context, isOfPlugin) {
  const plain = stripped(source, url);
  const text = isOfPlugin ? withoutUnused(plain) : plain;
  const declared = context.format?.replace("-typescript", "");
  const format = formatOf(file, declared, text);
  return withNames({ format, source: text, shortCircuit: true }, url);
}

/** Add `__dirname`, `__filename` and `require` to a module that uses them. */
function withNames(loaded, url) {
  if (!loaded.format?.startsWith("module") || loaded.source == null) return loaded;
  const { source: given } = loaded;
  const before = typeof given === "string" ? given : Buffer.from(given).toString("utf8");
  const source = withAround(before, url);
  return source === before ? loaded : { ...loaded, source };
}

module.exports = { install, fileMeant };
