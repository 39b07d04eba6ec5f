// What is known of definitions by the very object: names of tools and connections, scripts of models.

"use strict";

const sources = new WeakMap(); // definition → {kind, names}
const scripts = new WeakMap(); // model → function of a request

/** Note under which name a definition was loaded. Loaded as something else, it is that from now on. */
function nameDefinition(definition, kind, name) {
  const known = sources.get(definition);
  if (known?.kind === kind) known.names.add(name);
  else sources.set(definition, { kind, names: new Set([name]) });
}

/** Note how a model answers. */
function scriptModel(model, script) {
  scripts.set(model, script);
  return model;
}

/** How this model answers; undefined where it is not a scripted one. */
function scriptOf(model) {
  return scripts.get(model);
}

/** The result of this very tool, or of a tool of this connection; undefined for all else (rules note 3.9). */
function toolResultFrom(result, definition) {
  if (result.kind !== "tool-result" || result.isError === true) return undefined;
  const { callId, output, toolName } = result;
  const { kind, names } = sources.get(definition) ?? { names: new Set() };
  if (kind === "tool") return names.has(toolName) ? { callId, output, toolName } : undefined;
  for (const name of names) {
    if (!toolName.startsWith(`${name}__`)) continue;
    return { callId, connectionToolName: toolName.slice(name.length + 2), output, toolName };
  }
  return undefined;
}

module.exports = { nameDefinition, scriptModel, scriptOf, toolResultFrom };
