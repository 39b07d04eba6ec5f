// Helpers of OpenClaw's SDK that only compute: folders, agents, session keys, texts, settings, JSON files.
// Plugins call them while loading. They follow version 2026.9.6; an installed package is used instead.

"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const MAIN = "main"; // an agent's id, and the key of its main session
const AGENT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
const LONGEST_ID = 64;

const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const asRecord = (value) => (isRecord(value) ? value : undefined);
const trimmed = (value) => (typeof value === "string" && value.trim() ? value.trim() : undefined);
const lowered = (value) => trimmed(value)?.toLowerCase();
const withoutNulls = (text) => text.replaceAll("\0", "");
const unique = (values) => [...new Set(values)];
const texts = (list) => (list ?? []).map((item) => String(item).trim()).filter(Boolean);

// Folders

const homeIn = (value) => (["undefined", "null"].includes(value?.trim()) ? undefined : trimmed(value));

function resolveRequiredHomeDir(env = process.env, homedir = os.homedir) {
  const home = homeIn(env.HOME) ?? homeIn(env.USERPROFILE) ?? homedir();
  return path.resolve((homeIn(env.OPENCLAW_HOME) ?? home).replace(/^~(?=$|\/)/, () => home));
}

function resolveUserPath(written, env = process.env, homedir = os.homedir) {
  const text = (written ?? "").trim();
  return text && path.resolve(text.replace(/^~(?=$|[\\/])/, () => resolveRequiredHomeDir(env, homedir)));
}

function resolveStateDir(env = process.env, homedir = os.homedir) {
  const moved = trimmed(env.OPENCLAW_STATE_DIR);
  if (moved) return resolveUserPath(moved, env, homedir);
  const [own, older] = [".openclaw", ".clawdbot"].map((name) => path.join(resolveRequiredHomeDir(env, homedir), name));
  return !fs.existsSync(own) && fs.existsSync(older) ? older : own;
}

function resolveDefaultAgentWorkspaceDir(env = process.env, homedir = os.homedir) {
  const moved = trimmed(env.OPENCLAW_WORKSPACE_DIR);
  if (moved) return path.resolve(moved);
  if (trimmed(env.OPENCLAW_STATE_DIR)) return path.join(resolveStateDir(env, homedir), "workspace");
  const profile = trimmed(env.OPENCLAW_PROFILE);
  const state = profile && profile.toLowerCase() !== "default" ? `.openclaw-${profile}` : ".openclaw";
  return path.join(resolveRequiredHomeDir(env, homedir), state, "workspace");
}

// Agents

function normalizeAgentId(value) {
  const text = (value ?? "").trim();
  const id = text.toLowerCase();
  if (AGENT_ID.test(text)) return id;
  return id.replace(/[^a-z0-9_-]+/g, "-").replace(/^-+/, "").replace(/-+$/, "").slice(0, LONGEST_ID) || MAIN;
}

/** The agents in the settings, each with its ID; null if there are none. */
function agentsOf(cfg) {
  const { entries, list } = asRecord(cfg?.agents) ?? {};
  if (isRecord(entries)) return Object.entries(entries).filter(([, one]) => isRecord(one)).map(([id, one]) => ({ ...one, id }));
  return Array.isArray(list) ? list.filter(isRecord) : null;
}

const listAgentIds = (cfg) => {
  const agents = agentsOf(cfg) ?? [{ id: MAIN }];
  return unique(agents.map((one) => normalizeAgentId(one.id)));
};

/** The ID of the default agent, or of the only one. */
function defaultAgent(cfg) {
  const marked = (agentsOf(cfg) ?? []).find((one) => one.default === true);
  const ids = listAgentIds(cfg);
  return marked ? normalizeAgentId(marked.id) : ids.length === 1 ? ids[0] : undefined;
}

function resolveDefaultAgentId(cfg) {
  const id = defaultAgent(cfg);
  if (id === undefined) throw new Error("Multiple agents are configured, but this operation has no explicit owner.");
  return id;
}

function resolveAgentConfig(cfg, agentId) {
  const id = normalizeAgentId(agentId);
  return (agentsOf(cfg) ?? []).find((one) => normalizeAgentId(one.id) === id);
}

function resolveAgentWorkspaceDir(cfg, agentId, env = process.env) {
  const id = normalizeAgentId(agentId);
  const own = trimmed(resolveAgentConfig(cfg, id)?.workspace);
  if (own) return withoutNulls(resolveUserPath(own, env));
  const shared = trimmed(cfg?.agents?.defaults?.workspace);
  if (id === defaultAgent(cfg)) return withoutNulls(shared ? resolveUserPath(shared, env) : resolveDefaultAgentWorkspaceDir(env));
  return withoutNulls(shared ? path.join(resolveUserPath(shared, env), id) : path.join(resolveStateDir(env), `workspace-${id}`));
}

function resolveAgentDir(cfg, agentId, env = process.env) {
  const id = normalizeAgentId(agentId);
  const own = trimmed(resolveAgentConfig(cfg, id)?.agentDir);
  return own ? resolveUserPath(own, env) : path.join(resolveStateDir(env), "agents", id, "agent");
}

// Session keys

function parseAgentSessionKey(sessionKey) {
  const [word, agentId, ...rest] = (lowered(sessionKey) ?? "").split(":");
  if (word !== "agent" || !agentId?.trim() || !rest[0]) return null;
  return { agentId: agentId.trim(), rest: rest.join(":") };
}

const restOf = (sessionKey) => parseAgentSessionKey(sessionKey)?.rest;

function isSubagentSessionKey(sessionKey) {
  return (restOf(sessionKey) ?? lowered(sessionKey) ?? "").startsWith("subagent:");
}

function resolveAgentIdFromSessionKey(sessionKey, configured) {
  const parsed = parseAgentSessionKey(sessionKey);
  if (parsed) return normalizeAgentId(parsed.agentId);
  if (lowered(sessionKey)?.startsWith("agent:")) throw new Error("Malformed agent session key; refusing default-agent resolution.");
  if (trimmed(configured)) return normalizeAgentId(configured);
  throw new Error("Session key does not contain an agent id; resolve it with the configured default agent.");
}

// Settings and JSON files

function resolvePluginConfigObject(config, pluginId) {
  return asRecord(config?.plugins?.entries?.[pluginId]?.config);
}

function resolveLivePluginConfigObject(load, pluginId, atStart) {
  return typeof load === "function" ? resolvePluginConfigObject(load(), pluginId) : atStart;
}

async function readJsonFileWithFallback(file, fallback) {
  try {
    const value = JSON.parse(await fs.promises.readFile(file, "utf8"));
    if (value !== null) return { value, exists: true };
  } catch {
    // missing, or not JSON
  }
  return { value: fallback, exists: fs.existsSync(file) };
}

async function writeJsonFileAtomically(file, value) {
  await fs.promises.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const made = `${file}.${process.pid}.tmp`;
  await fs.promises.writeFile(made, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await fs.promises.rename(made, file);
}

/** By name, as HELPERS. `STATE_DIR` is the folder at the start of the program. */
const COMPUTED = {
  STATE_DIR: resolveStateDir(),
  DEFAULT_AGENT_ID: MAIN,
  DEFAULT_MAIN_KEY: MAIN,
  resolveRequiredHomeDir, resolveUserPath, resolveStateDir, resolveDefaultAgentWorkspaceDir,
  normalizeAgentId, sanitizeAgentId: normalizeAgentId, listAgentIds, resolveDefaultAgentId, resolveAgentConfig,
  resolveAgentWorkspaceDir, resolveAgentDir,
  resolveDefaultAgentDir: (cfg, env) => resolveAgentDir(cfg, resolveDefaultAgentId(cfg), env),
  parseAgentSessionKey, isSubagentSessionKey, resolveAgentIdFromSessionKey,
  isCronSessionKey: (key) => restOf(key)?.startsWith("cron:") === true,
  isAcpSessionKey: (key) => typeof key === "string" && key.split(":").includes("acp"),
  normalizeMainKey: (key) => lowered(key) ?? MAIN,
  buildAgentMainSessionKey: ({ agentId, mainKey }) => `agent:${normalizeAgentId(agentId)}:${lowered(mainKey) ?? MAIN}`,
  resolvePluginConfigObject, resolveLivePluginConfigObject, readJsonFileWithFallback, writeJsonFileAtomically,
  isRecord,
  asRecord: (value) => (value !== null && typeof value === "object" ? value : {}),
  asNullableRecord: (value) => asRecord(value) ?? null,
  asOptionalRecord: asRecord,
  asBoolean: (value) => (typeof value === "boolean" ? value : undefined),
  asFiniteNumber: (value) => (Number.isFinite(value) ? value : undefined),
  readStringValue: (value) => (typeof value === "string" ? value : undefined),
  readNonBlankString: (value) => (trimmed(value) ? value : undefined),
  hasNonEmptyString: (value) => trimmed(value) !== undefined,
  normalizeNullableString: (value) => trimmed(value) ?? null,
  normalizeOptionalString: trimmed,
  normalizeOptionalLowercaseString: lowered,
  normalizeLowercaseStringOrEmpty: (value) => lowered(value) ?? "",
  normalizeStringEntries: texts,
  normalizeStringEntriesLower: (list) => texts(list).map((text) => text.toLowerCase()),
  normalizeTrimmedStringList: (list) => (Array.isArray(list) ? list.map(trimmed).filter(Boolean) : []),
  uniqueStrings: unique,
  uniqueValues: unique,
};

module.exports = { COMPUTED };
