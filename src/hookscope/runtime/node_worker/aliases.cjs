// Path aliases of a tsconfig.json (`@/x`), as bundlers and tsx resolve them.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { withoutComments } = require("./imports.cjs");

const FAR = 12; // folders upwards
const SIZE = 256 * 1024; // bytes of such a file
const isText = (value) => typeof value === "string";

/** Return the paths for which a specifier may stand, in order. Never throws. */
function aliased(specifier, folder) {
  const config = nearest(folder);
  if (!config) return [];
  const base = path.resolve(path.dirname(config.file), config.baseUrl ?? ".");
  const found = config.baseUrl ? [path.join(base, specifier)] : [];
  for (const [pattern, targets] of Object.entries(config.paths)) {
    const rest = matched(pattern, specifier);
    if (rest === null || !Array.isArray(targets)) continue;
    for (const target of targets) found.unshift(path.resolve(base, String(target).replace("*", () => rest)));
  }
  return found;
}

/** {file, targets} of the tsconfig.json whose `paths` match the specifier; null if none does. Never throws. */
function targetsOf(specifier, folder) {
  const config = nearest(folder);
  const named = Object.keys(config?.paths ?? {}).some((one) => one !== "*" && matched(one, specifier) !== null);
  return named ? { file: config.file, targets: aliased(specifier, folder) } : null;
}

/** The text that the star of a pattern matches; null if the pattern does not match. */
function matched(pattern, specifier) {
  const [before, after] = pattern.split("*");
  if (after === undefined) return pattern === specifier ? "" : null;
  const fits = specifier.startsWith(before) && specifier.endsWith(after);
  return fits ? specifier.slice(before.length, specifier.length - after.length) : null;
}

function nearest(folder) {
  for (let at = folder, far = 0; far < FAR; far += 1) {
    const file = path.join(at, "tsconfig.json");
    const options = optionsOf(file);
    if (options) return { file, baseUrl: isText(options.baseUrl) ? options.baseUrl : undefined, paths: options.paths ?? {} };
    const above = path.dirname(at);
    if (above === at) break;
    at = above;
  }
  return null;
}

function optionsOf(file) {
  try {
    if (fs.statSync(file).size > SIZE) return null;
    const text = withoutComments(fs.readFileSync(file, "utf8")).replace(/,(\s*[}\]])/g, "$1");
    return JSON.parse(text).compilerOptions ?? {};
  } catch {
    return null; // missing or unreadable
  }
}

module.exports = { aliased, targetsOf };
