// A substitute for OpenClaw's SDK: functions that return their argument, and small helpers that plugins call while
// loading. Everything else in the SDK is a stub.

"use strict";

const { SUBPATHS } = require("./openclaw_names.cjs");

const SDK = /^@?openclaw\/plugin-sdk(?:\/(.+?))?(?:\.js)?$/;
const ACCOUNT = "default";

const { stringify } = JSON;

/** True if the specifier belongs to the SDK. */
function isSdk(specifier) {
  return SDK.test(specifier);
}

/** Why OpenClaw itself rejects this import of its SDK; "" if it accepts it. */
function refusedSdk(specifier) {
  const subpath = SDK.exec(specifier)?.[1] ?? "";
  if (SUBPATHS.has(subpath)) return "";
  const name = `./plugin-sdk${subpath ? `/${subpath}` : ""}`;
  return `Package subpath '${name}' is not defined by "exports" of openclaw`;
}

const SUBPATH_ADVICE =
  "import from an existing subpath, such as openclaw/plugin-sdk/plugin-entry; use `import type` for types";

const text = (value) => ({ type: "text", text: value });
const enumOf = (values, options) => ({ type: "string", enum: [...values], ...options });

/** A store through which other modules of the plugin can use what `register` received. */
function createPluginRuntimeStore(options) {
  const said = typeof options === "string" ? options : options?.errorMessage;
  let runtime = null;
  return {
    setRuntime: (next) => { runtime = next; },
    clearRuntime: () => { runtime = null; },
    tryGetRuntime: () => runtime,
    getRuntime: () => {
      if (runtime === null) throw new Error(said ?? "Plugin runtime not initialized");
      return runtime;
    },
  };
}

/** An entry whose `register` registers its tools. */
function defineToolPlugin(definition) {
  const toolsOf = () => definition.tools?.((tool) => tool) ?? [];
  return { ...definition, register: (api) => { for (const tool of toolsOf()) api.registerTool(tool); } };
}

/** An entry whose `register` registers its channel, and whatever `registerFull` registers. */
function defineChannelPluginEntry(definition) {
  const register = (api) => {
    definition.setRuntime?.(api.runtime);
    api.registerChannel({ plugin: definition.plugin });
    return definition.registerFull?.(api);
  };
  return { ...definition, register };
}

/** A logger with the methods of the host's, which writes to `made`. */
function loggerOf(made) {
  const written = (method) => (...words) => made[method](...words);
  return {
    debug: written("debug"), trace: written("debug"), info: written("info"), warn: written("warn"),
    error: written("error"), fatal: written("error"), raw: written("info"),
    isEnabled: () => true, child: () => loggerOf(made), getChildLogger: () => loggerOf(made),
  };
}

/** By name, whatever subpath they are imported from: OpenClaw has moved them between subpaths. */
const HELPERS = {
  definePluginEntry: (entry) => entry,
  defineSetupPluginEntry: (plugin) => ({ plugin }),
  defineToolPlugin,
  defineChannelPluginEntry,
  emptyPluginConfigSchema: () => ({ type: "object", additionalProperties: false, properties: {} }),
  buildPluginConfigSchema: (schema) => schema,
  buildJsonPluginConfigSchema: (schema) => schema,
  emptyChannelConfigSchema: () => ({ schema: { type: "object", additionalProperties: false, properties: {} } }),
  createPluginRuntimeStore,
  createSubsystemLogger: () => loggerOf(console),
  getChildLogger: () => loggerOf(console),
  jsonResult: (payload) => ({ content: [text(stringify(payload, null, 2) ?? "")], details: payload }),
  textResult: (words, details) => ({ content: [text(words)], details }),
  stringEnum: enumOf,
  optionalStringEnum: enumOf,
  normalizeAccountId: (id) => (typeof id === "string" && id.trim() ? id.trim().toLowerCase() : ACCOUNT),
  DEFAULT_ACCOUNT_ID: ACCOUNT,
};

module.exports = { isSdk, refusedSdk, SUBPATH_ADVICE, loggerOf, HELPERS };
