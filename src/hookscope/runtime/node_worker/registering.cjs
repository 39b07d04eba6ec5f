// Checks what a plugin registers besides hooks as the shipped OpenClaw does: it reports and skips what it rejects, but
// throws for arguments that it cannot read, and so rejects the whole plugin with its hooks. All texts are OpenClaw's.

"use strict";

const { RESERVED_COMMANDS } = require("./openclaw_names.cjs");
const { isStandIn } = require("./stubs.cjs");

const NAME = /^[a-z][a-z0-9_-]*$/;
const CHAT_TYPES = new Set(["direct", "group", "channel", "thread"]);
const PROVIDERS = {
  Speech: "speech", RealtimeTranscription: "realtime transcription", RealtimeVoice: "realtime voice",
  MediaUnderstanding: "media", TranscriptSource: "transcripts source", ImageGeneration: "image-generation",
  VideoGeneration: "video-generation", MusicGeneration: "music-generation", WebFetch: "web fetch",
  WebSearch: "web search", Migration: "migration",
};

const { isArray } = Array;
const isText = (value) => typeof value === "string";
const textOf = (value) => (isText(value) ? value.trim() : "");

/** Name of the call → function of (plugin, …arguments): why it is rejected, or "". Throws where OpenClaw throws. */
const CHECKS = {
  registerTool,
  registerCommand,
  registerService: (plugin, service) => idOf(service, "service"),
  registerGatewayDiscoveryService: (plugin, service) => idOf(service, "gateway discovery service"),
  registerCli: (plugin, registrar, options) => {
    const named = [...(options?.commands ?? []), ...(options?.descriptors ?? []).map((one) => one.name)];
    return named.some((name) => name.trim()) ? "" : "cli registration missing explicit commands metadata";
  },
  registerHttpRoute: (plugin, route) => {
    const path = textOf(route.path);
    if (!path) return "http route registration missing path";
    const at = path.startsWith("/") ? path : `/${path}`;
    return ["gateway", "plugin"].includes(route.auth) ? "" : `http route registration missing or invalid auth: ${at}`;
  },
  registerGatewayMethod: (plugin, method) => {
    const name = method.trim();
    return plugin.takes("method", name) ? "" : `gateway method already registered: ${name}`;
  },
  registerChannel,
  registerProvider: (plugin, provider) => (textOf(provider.id) ? "" : "provider registration missing id"),
  registerReload: (plugin, { restartPrefixes, hotPrefixes, noopPrefixes }) => {
    const named = [restartPrefixes, hotPrefixes, noopPrefixes].filter(isArray).flat().some(textOf);
    return named ? "" : "reload registration missing prefixes";
  },
  registerSessionExtension: (plugin, { namespace, description }) =>
    textOf(namespace) && textOf(description) ? "" : "session extension registration requires namespace and description",
  registerContextEngine: (plugin, id, factory) => {
    const name = textOf(id);
    if (!name) return "context engine registration missing id";
    return typeof factory === "function" ? "" : `context engine "${name}" registration missing factory`;
  },
  registerCompactionProvider: (plugin, provider) => {
    const id = textOf(provider?.id);
    if (!id) return "compaction provider registration missing id";
    return typeof provider.summarize === "function" ? "" : `compaction provider "${id}" registration missing summarize`;
  },
  ...Object.fromEntries(Object.entries(PROVIDERS).map(([name, kind]) => [
    `register${name}Provider`, (plugin, provider) => (provider.id.trim() ? "" : `${kind} provider registration missing id`),
  ])),
};

/** One plugin's registrations besides hooks. `tools`: the tools that its manifest declares. */
class Besides {
  constructor(tools) {
    this.tools = tools;
    this.known = new Set();
  }

  /** Why its host rejects the call; "" if it accepts it, or if this is unknown because an argument is a stub. */
  refusal(name, given) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : null;
    return check && !given.some(isUnknown) ? check(this, ...given) : "";
  }

  /** True for the first registration of that name. */
  takes(kind, name) {
    const key = `${kind} ${name}`;
    if (this.known.has(key)) return false;
    this.known.add(key);
    return true;
  }
}

/** True if the value or one of its members is a stub. */
function isUnknown(value) {
  if (isStandIn(value)) return true;
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((member) => isStandIn(member) || (isHolder(member) && Object.values(member).some(isStandIn)));
}

const isHolder = (value) => value !== null && typeof value === "object";

function registerTool(plugin, tool, options) {
  if (!plugin.tools.length) return "plugin must declare contracts.tools before registering agent tools";
  const names = [...(options?.names ?? []), ...(options?.name ? [options.name] : [])];
  if (typeof tool !== "function" && !("contextVersion" in tool)) names.push(tool.name);
  const undeclared = [...new Set(names.map((name) => name.trim()))].filter((name) => name && !plugin.tools.includes(name));
  return undeclared.length ? `plugin must declare contracts.tools for: ${undeclared.join(", ")}` : "";
}

function registerCommand(plugin, command) {
  const name = command.name.trim();
  const why = name ? wrongCommand(command, name.toLowerCase()) : "missing name";
  if (why === "missing name") return "command registration missing name";
  if (why) return `command registration failed: ${why}`;
  return plugin.takes("command", name.toLowerCase())
    ? "" : `command registration failed: Command "${name.toLowerCase()}" already registered by this plugin`;
}

function wrongCommand({ handler, description }, name) {
  if (typeof handler !== "function") return "Command handler must be a function";
  if (!isText(description)) return "Command description must be a string";
  if (!description.trim()) return "Command description cannot be empty";
  if (!NAME.test(name)) {
    return "Command name must start with a letter and contain only letters, numbers, hyphens, and underscores";
  }
  return RESERVED_COMMANDS.has(name) ? `Command name "${name}" is reserved by a built-in command` : "";
}

function idOf(service, kind) {
  try {
    return service.id.trim() ? "" : `${kind} registration missing id`;
  } catch {
    return `${kind} registration id cannot be normalized`;
  }
}

function registerChannel(plugin, registration) {
  const channel = typeof registration.plugin === "object" ? registration.plugin : registration;
  const id = isText(channel?.id) || typeof channel?.id === "number" ? String(channel.id).trim() : "";
  if (!id) return "channel registration missing id";
  const types = channel.capabilities?.chatTypes;
  if (!isArray(types) || !types.length || types.some((type) => !CHAT_TYPES.has(type))) {
    return `channel "${id}" registration missing or invalid required capabilities.chatTypes`;
  }
  const { listAccountIds, resolveAccount } = channel.config ?? {};
  const isWhole = typeof listAccountIds === "function" && typeof resolveAccount === "function";
  return isWhole ? "" : `channel "${id}" registration missing required config helpers`;
}

module.exports = { Besides };
