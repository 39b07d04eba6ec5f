// Messages about imports that are not found, with the next step.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { targetsOf } = require("./aliases.cjs");

const FAR = 12; // folders upwards
const SIZE = 1024 * 1024; // bytes of a package.json
const LISTS = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
const OF_HOSTS = /^(?:openclaw|eve|@elizaos\/[^/]+|@milady(?:-?ai)?\/[^/]+)(?:\/|$)/;
const PACKAGE = /^(?:@[\w.-]+\/)?[\w.-]+/;
const LOCKS = new Map([
  ["pnpm-lock.yaml", "pnpm"], ["bun.lock", "bun"], ["bun.lockb", "bun"], ["yarn.lock", "yarn"],
]);

const advice = new WeakMap(); // error → what to do about it

/** True if a tsconfig.json maps the specifier to a file, or it looks like such an alias. */
function isAlias(specifier, folder) {
  return /^(?:@|~)\//.test(specifier) || targetsOf(specifier, folder) !== null;
}

/** {what, is, then}: such as "that package", "is not installed here", and the next step, if any. Never throws. */
function absence(specifier, file) {
  if (/^\.{0,2}\//.test(specifier)) {
    return { what: "that file", is: "is not there", then: "; create that file or correct its path, unless its host provides it" };
  }
  const folder = path.dirname(file);
  if (isAlias(specifier, folder)) {
    return { what: "that file", is: "is not there", then: thenOfAlias(specifier, targetsOf(specifier, folder)) };
  }
  return { what: "that package", is: "is not installed here", then: thenOfPackage(specifier, folder) };
}

function thenOfAlias(specifier, alias) {
  if (!alias) return `; no \`paths\` in a tsconfig.json above the handler define ${specifier}`;
  const target = path.relative(path.dirname(alias.file), alias.targets[0]);
  return `; ${path.basename(alias.file)} maps it to ${target}: create that file or correct the path`;
}

/** The command that installs a package. */
function thenOfPackage(specifier, folder) {
  const name = PACKAGE.exec(specifier)?.[0];
  if (!name) return "";
  const folders = upwards(folder);
  const manager = managerOf(folders);
  if (folders.some((at) => asksFor(path.join(at, "package.json"), name))) {
    return `; the project's package.json lists it: run \`${manager} install\` there`;
  }
  if (OF_HOSTS.test(specifier)) return "; its host provides it";
  const verb = manager === "npm" ? "install" : "add";
  return `; run \`${manager} ${verb} ${name}\` in the handler's folder or above it`;
}

function upwards(folder) {
  const folders = [folder];
  while (folders.length < FAR && path.dirname(folders.at(-1)) !== folders.at(-1)) folders.push(path.dirname(folders.at(-1)));
  return folders;
}

function managerOf(folders) {
  for (const folder of folders) {
    for (const [lock, manager] of LOCKS) {
      if (fs.existsSync(path.join(folder, lock))) return manager;
    }
  }
  return "npm";
}

function asksFor(file, name) {
  try {
    if (fs.statSync(file).size > SIZE) return false;
    const manifest = JSON.parse(fs.readFileSync(file, "utf8"));
    return LISTS.some((list) => Object.hasOwn(manifest[list] ?? {}, name));
  } catch {
    return false; // missing or unreadable
  }
}

/** Note the next step for one of Node's errors. */
function advise(error, text) {
  if (error !== null && typeof error === "object") advice.set(error, text);
}

/** The noted next step, to be appended to the error's text; "" if there is none. */
function adviceOf(error) {
  return advice.get(error) ?? "";
}

module.exports = { isAlias, absence, advise, adviceOf };
