// Facts about definitions, found by the identity of the object: names of tools and connections, scripts of models.

"use strict";

const sources = new WeakMap(); // definition → {kind, names}
const scripts = new WeakMap(); // model → function of a request

/** Note the name under which a definition was loaded. Loading it as another kind replaces its names. */
function nameDefinition(definition, kind, name) {
  const known = sources.get(definition);
  if (known?.kind === kind) known.names.add(name);
  else sources.set(definition, { kind, names: new Set([name]) });
}

/** Note the script of a model. Return the model. */
function scriptModel(model, script) {
  scripts.set(model, script);
  return model;
}

/** The script of this model; undefined if it is not scripted. */
function scriptOf(model) {
  return scripts.get(model);
}

/** Return the result if it is from this tool, or from a tool of this connection; else undefined. */
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
