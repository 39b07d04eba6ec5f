// `api.runtime`: the functions of the running host that a plugin can call.

"use strict";

const { COMPUTED } = require("./openclaw_helpers.cjs");
const { loggerOf } = require("./openclaw.cjs");
const { ofHost } = require("./stubs.cjs");

const NAME = "api.runtime";
const VERSION = "2026.9.6"; // the version whose runtime this follows

/**
 * Settings, folders and logs are real. Calls without a result do nothing, and `ignored` is called with their name.
 * Everything else belongs to the running host, see ofHost.
 */
function runtimeOf(settings, ignored) {
  const nothing = (name, answer) => () => {
    ignored(`${NAME}.${name}`);
    return answer;
  };
  const off = () => {};
  return over(NAME, {
    version: VERSION,
    config: { loadConfig: () => settings, current: () => settings },
    logging: { getChildLogger: () => loggerOf(console), shouldLogVerbose: () => false },
    state: { resolveStateDir: COMPUTED.resolveStateDir },
    agent: {
      resolveAgentDir: COMPUTED.resolveAgentDir,
      resolveAgentWorkspaceDir: COMPUTED.resolveAgentWorkspaceDir,
    },
    system: {
      enqueueSystemEvent: nothing("system.enqueueSystemEvent", true),
      requestHeartbeat: nothing("system.requestHeartbeat"),
      requestHeartbeatNow: nothing("system.requestHeartbeatNow"),
    },
    events: { onAgentEvent: () => off, onSessionTranscriptUpdate: () => off },
  });
}

/** An object with these members; every other member belongs to the host, see ofHost. */
function over(name, members) {
  const known = Object.fromEntries(Object.entries(members).map(([key, value]) => [key, deeper(`${name}.${key}`, value)]));
  const rest = ofHost(name);
  return new Proxy(known, { get: (target, key) => (Object.hasOwn(target, key) ? target[key] : rest[key]) });
}

function deeper(name, value) {
  return value !== null && typeof value === "object" ? over(name, value) : value;
}

module.exports = { runtimeOf };
