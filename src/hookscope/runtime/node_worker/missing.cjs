// What is said of something that a handler imports and that is not there, and the next step.

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

/** Does it stand for a file by a tsconfig.json, or look as though one should say so? */
function isAlias(specifier, folder) {
  return /^(?:@|~)\//.test(specifier) || targetsOf(specifier, folder) !== null;
}

/** {what, is, then}: "that package", "is not installed here", and a step, which may be empty. Never throws. */
function absence(specifier, file) {
  if (/^\.{0,2}\//.test(specifier)) {
    return { what: "that file", is: "is not there", then: "; write that file or correct its path, unless its host has it" };
  }
  const folder = path.dirname(file);
  if (isAlias(specifier, folder)) {
    return { what: "that file", is: "is not there", then: thenOfAlias(specifier, targetsOf(specifier, folder)) };
  }
  return { what: "that package", is: "is not installed here", then: thenOfPackage(specifier, folder) };
}

function thenOfAlias(specifier, alias) {
  if (!alias) return `; no \`paths\` of a tsconfig.json above its file says what ${specifier} stands for`;
  const meant = path.relative(path.dirname(alias.file), alias.targets[0]);
  return `; ${path.basename(alias.file)} takes it for ${meant}: write that file or correct one of them`;
}

/** What brings a package: what its project asks for comes with one command. */
function thenOfPackage(specifier, folder) {
  const name = PACKAGE.exec(specifier)?.[0];
  if (!name) return "";
  const folders = upwards(folder);
  const manager = managerOf(folders);
  if (folders.some((at) => asksFor(path.join(at, "package.json"), name))) {
    return `; the project's package.json asks for it: \`${manager} install\` there brings it`;
  }
  if (OF_HOSTS.test(specifier)) return "; its host brings it";
  const verb = manager === "npm" ? "install" : "add";
  return `; \`${manager} ${verb} ${name}\` in the handler's folder or above it brings it`;
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
    return false; // none there, or none that can be read
  }
}

/** Note what to do about an error of Node's own. */
function advise(error, text) {
  if (error !== null && typeof error === "object") advice.set(error, text);
}

/** What was noted of it, to be put behind its text; "" where nothing was. */
function adviceOf(error) {
  return advice.get(error) ?? "";
}

module.exports = { isAlias, absence, advise, adviceOf };
