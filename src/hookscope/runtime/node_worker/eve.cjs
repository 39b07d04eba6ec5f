// Substitutes for Eve's packages in hooks, channels, tools and agents: most functions return their argument.

"use strict";

const { scriptModel, toolResultFrom } = require("./definitions.cjs");
const { defineState } = require("./state.cjs");

const NO_REPLY = 'mockModel responders must return text or at least one item in "toolCalls".';
const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "WS"];
const NOTHING_YET = {
  messages: [], userMessages: [], lastUserMessage: null, userMessageCount: 0, tools: [], toolResults: [],
};

const { isArray } = Array;

/** Functions with these names, each of which returns its argument. */
function handingOn(...names) {
  return Object.fromEntries(names.map((name) => [name, (definition) => definition]));
}

/** Functions with these names, each of which returns an object with its name and arguments. */
function saying(...names) {
  return Object.fromEntries(names.map((name) => [name, (...given) => ({ kind: name, given })]));
}

/** Package → its exports. */
const EVE = new Map(Object.entries({
  "eve": handingOn("defineAgent", "defineDynamic", "defineRemoteAgent", "defineWorkspaceAgent"),
  "eve/hooks": handingOn("defineHook"),
  "eve/context": { defineState },
  "eve/tools": {
    ...handingOn("defineTool", "defineWorkflowTool", "defineDynamic"),
    ...saying("disableTool"),
    toolResultFrom,
  },
  "eve/tools/approval": saying("always", "auto", "never", "once"),
  "eve/evals": { ...handingOn("defineEval", "defineEvalConfig"), mockModel },
  "eve/connections": handingOn(
    "defineConnection", "defineMcpClientConnection", "defineOpenAPIConnection", "defineInteractiveAuthorization",
    "defineDynamic",
  ),
  "eve/channels": {
    ...handingOn("defineChannel"),
    ...saying("disableRoute"),
    ...Object.fromEntries(METHODS.map((method) => [method, (path, handler) => ({ method, path, handler })])),
  },
  "eve/instructions": handingOn("defineInstructions", "defineDynamic"),
  "eve/skills": handingOn("defineSkill", "defineDynamic"),
  "eve/schedules": handingOn("defineSchedule"),
  "eve/memory": handingOn("defineMemory", "defineMemoryProvider"),
}));

/** Package → exported types. An import of them without `type` needs no value. */
const TYPES_OF_EVE = new Map(Object.entries({
  "eve/context": [
    "Session", "SessionAuth", "SessionAuthContext", "SessionContext", "SessionParent", "SessionPredecessor",
    "SessionTurn", "StateHandle",
  ],
  "eve/hooks": [
    "HookContext", "HookDefinition", "HookEvent", "HookEventKey", "HookEventMap", "HookEventType",
    "StreamEventHook", "StreamEventHooks",
  ],
  "eve/tools": [
    "MatchedConnectionResult", "MatchedToolResult", "SessionContext", "ToolContext", "ToolDefinition",
    "ToolResultFromFn",
  ],
}));

/** A scripted model. Its script is a text, a list indexed by the number of tool results so far, or a function. */
function mockModel(given = {}) {
  const isOptions = given !== null && typeof given === "object" && !isArray(given);
  const options = isOptions ? given : { respond: given };
  const { modelId = "model", provider = "eve-mock", respond = "Mock response" } = options;
  return scriptModel({ modelId, provider }, async (request) => reply(respond, { ...NOTHING_YET, ...request }));
}

async function reply(respond, request) {
  const listed = isArray(respond) ? respond[Math.min(request.toolResults.length, respond.length - 1)] : respond;
  const said = typeof listed === "function" ? await listed(request) : listed;
  if (typeof said?.fail === "string") throw new Error(said.fail);
  if (typeof said !== "string" && said?.text === undefined && !said?.toolCalls?.length) throw new Error(NO_REPLY);
  return said;
}

module.exports = { EVE, TYPES_OF_EVE };
