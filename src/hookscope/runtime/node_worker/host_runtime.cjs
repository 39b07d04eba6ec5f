// `api.runtime`: what a plugin's code asks of the program that runs it.

"use strict";

const { COMPUTED } = require("./openclaw_helpers.cjs");
const { loggerOf } = require("./openclaw.cjs");
const { ofHost } = require("./stubs.cjs");

const NAME = "api.runtime";
const VERSION = "2026.9.6"; // the version whose runtime this follows

/**
 * What can be answered truly is: settings, folders, logs. What leaves no answer does nothing, and `vain(name)` hears of
 * it. All else belongs to the running host.
 */
function runtimeOf(settings, vain) {
  const nothing = (name, answer) => () => {
    vain(`${NAME}.${name}`);
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

/** These members, and behind every other name what belongs to the host. */
function over(name, members) {
  const known = Object.fromEntries(Object.entries(members).map(([key, value]) => [key, deeper(`${name}.${key}`, value)]));
  const rest = ofHost(name);
  return new Proxy(known, { get: (target, key) => (Object.hasOwn(target, key) ? target[key] : rest[key]) });
}

function deeper(name, value) {
  return value !== null && typeof value === "object" ? over(name, value) : value;
}

module.exports = { runtimeOf };
