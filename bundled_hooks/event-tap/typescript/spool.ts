// Stores each event as one line of JSON in a file of bounded size. `tap` never throws, prints, waits or changes
// the event. This file needs only Node's standard library, and runs once its types are removed.

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

// Filled in by `hookscope tap install`. Without a folder, nothing is recorded.
const SPOOL = ""; // the spool's folder, absolute or relative to this file
const HOST = ""; // the dialect for which it was installed

const FILE = "events.jsonl";
const FILE_SIZE = 8 * 1024 * 1024; // bytes; then the file is renamed to `events.jsonl.1`
const LINE = 256 * 1024; // bytes; of a longer event, only the name is kept
const CHARACTERS = 100_000; // of one event
const VALUE = 20; // characters that each value counts as, in addition to its text
const TEXT = 20_000; // characters of one text
const NAME = 500; // characters of a key or a session
const ITEMS = 200; // of one list or object
const DEPTH = 12;
const STALE = 10_000; // milliseconds after which a lock is taken for that of an ended process
const BIGGEST = 2n ** 256n; // larger numbers take long to print
const SECRET =
  /(?:(?<!continuation[_-]?)token|secret|password|passwd|passphrase|authorization|cookie|credential|(?:api|private|secret|access)[_-]?key)s?$/i;

// Variables whose values are masked in all texts, and texts that look like a secret.
const VARIABLE =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIAL|COOKIE|DSN|_AUTH|(?<!PUBLIC)_KEY)S?(?:_\d+)?$/i;
const LOOKS = new RegExp(
  String.raw`\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|(?<![\w-])[sr]k[-_](?=[A-Za-z_-]*\d)[\w-]{16,}` +
    String.raw`|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*` +
    String.raw`|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)`,
  "g",
);
const SHORTEST = 8; // characters; shorter values are not masked
const BEYOND = 4_096; // characters after the end of a truncated text that are searched too

type Members = Record<string, unknown>;
type Pairs = Iterable<readonly [unknown, unknown]>;
interface Heard {
  kind: "folder" | "stream" | "plugin" | "loaded";
  key?: unknown;
  type?: unknown;
  action?: unknown;
  session?: unknown;
  timestamp?: unknown;
  context?: unknown;
  meta?: unknown;
  ctx?: unknown;
}

let sequence = 0;
let hidden: [string, string][] = []; // names and values of secrets at the time of this event

/** Record the event that `describe` returns, without these members of context and ctx, which only repeat the host's
 * settings. Workers of Hookscope record nothing, because their events are in the journal. */
export function tap(describe: () => Heard, leaveOut: readonly string[] = []): void {
  try {
    if (SPOOL === "" || process.env.HOOKSCOPE_HOST_STATE !== undefined) return;
    sequence += 1;
    hidden = secrets();
    const event = describe();
    if (event.kind === "loaded" || typeof event.key === "string") append(lineOf(event, leaveOut));
  } catch {
    // A failure must not affect the host.
  }
}

function lineOf(heard: Heard, leaveOut: readonly string[]): Buffer {
  const whole = line(heard, new Copy(leaveOut));
  if (whole.length <= LINE) return whole;
  const { context, meta, ctx, ...name } = heard;
  return line(name, new Copy([], 1));
}

function line(heard: Heard, copy: Copy): Buffer {
  const told: Members = { tap: 1, at: new Date().toISOString(), kind: heard.kind };
  for (const name of ["key", "type", "action", "session"] as const) {
    const value = heard[name];
    if (typeof value === "string") told[name] = ownWords(value, NAME);
  }
  for (const name of ["timestamp", "context", "meta", "ctx"] as const) {
    if (heard[name] !== undefined) told[name] = copy.of(heard[name]);
  }
  Object.assign(told, { host: HOST, language: "typescript", pid: process.pid, seq: sequence });
  if (copy.leftOut.size > 0) told.left_out = [...copy.leftOut];
  if (copy.cut > 0) told.cut = copy.cut;
  return Buffer.from(`${JSON.stringify(told)}\n`);
}

/** Makes JSON copies of bounded size. Functions and getters are omitted. */
class Copy {
  cut: number; // how often something was truncated
  readonly leftOut = new Set<string>();
  private readonly leaveOut: readonly string[];
  private left = CHARACTERS;

  constructor(leaveOut: readonly string[], cut = 0) {
    this.leaveOut = leaveOut;
    this.cut = cut;
  }

  /** A copy. `keys`: the value's path; `above`: its containers; `secret`: it is below a secret key. */
  of(value: unknown, keys: readonly string[] = [], above: readonly object[] = [], secret = false): unknown {
    this.left -= VALUE;
    switch (typeof value) {
      case "string":
        return secret && value !== "" ? `\${SECRET:${variableOf(keys)}}` : this.text(value);
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "boolean":
        return value;
      case "bigint":
        if (Number.isSafeInteger(Number(value))) return Number(value);
        return value < BIGGEST && value > -BIGGEST ? String(value) : this.short("<bigint>");
      case "object":
        if (value === null) return null;
        try {
          return this.object(value, keys, above, secret);
        } catch {
          return this.short("<unreadable>"); // a proxy may throw at any access
        }
      default:
        return undefined;
    }
  }

  private object(value: object, keys: readonly string[], above: readonly object[], secret: boolean): unknown {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      return this.short(`<${value.byteLength} bytes>`);
    }
    if (value instanceof URL) return this.text(value.href);
    if (value instanceof Error) return { name: this.text(`${value.name}`), message: this.text(`${value.message}`) };
    if (above.includes(value)) return this.short("<cycle>");
    if (above.length >= DEPTH) return this.short("<deeper>");
    const inside = [...above, value];
    if (Array.isArray(value)) return this.list(value, value.length, keys, inside, secret);
    if (value instanceof Set) return this.list(value, value.size, keys, inside, secret);
    return this.members(value instanceof Map ? value : membersOf(value), keys, inside, secret);
  }

  private list(
    items: Iterable<unknown>,
    length: number,
    keys: readonly string[],
    above: readonly object[],
    secret: boolean,
  ): unknown[] {
    const made: unknown[] = [];
    for (const item of items) {
      if (made.length >= ITEMS || this.left <= 0) break;
      made.push(this.of(item, [...keys, String(made.length)], above, secret) ?? null);
    }
    if (made.length < length) this.cut += 1;
    return made;
  }

  private members(pairs: Pairs, keys: readonly string[], above: readonly object[], secret: boolean): Members {
    const made: Members = Object.create(null); // so that `__proto__` is a normal key
    let count = 0;
    for (const [key, value] of pairs) {
      if (count >= ITEMS || this.left <= 0) {
        this.cut += 1;
        break;
      }
      const name = typeof key === "string" || typeof key === "number" ? ownWords(String(key), NAME) : "<key>";
      this.left -= name.length;
      if (keys.length === 0 && this.leaveOut.includes(name)) {
        this.leftOut.add(name);
        continue;
      }
      const copied = this.of(value, [...keys, name], above, secret || SECRET.test(name));
      if (copied !== undefined) {
        made[name] = copied;
        count += 1;
      }
    }
    return made;
  }

  private text(value: string): string {
    const room = Math.max(0, Math.min(TEXT, this.left));
    this.left -= Math.min(value.length, room);
    return value.length <= room ? ownWords(value) : this.short(`${ownWords(value, room)}…`);
  }

  private short(value: string): string {
    this.cut += 1;
    return value;
  }
}

function* membersOf(value: object): Iterable<readonly [string, unknown]> {
  for (const name of Object.keys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, name);
    if (member !== undefined && "value" in member) yield [name, member.value];
  }
}

/** The text, truncated to `room` characters, with secrets masked. `${SECRET:` gets a space, so that the text does not
 * request a secret when the event is fired again. */
function ownWords(value: string, room?: number): string {
  let text = room === undefined ? value : value.slice(0, room + BEYOND);
  text = text.replaceAll("${SECRET:", "$ {SECRET:");
  for (const [name, secret] of hidden) {
    if (text.includes(secret)) text = text.replaceAll(secret, () => `\${SECRET:${name}}`);
  }
  return text.replace(LOOKS, () => "${SECRET:VALUE}").slice(0, room);
}

/** Secret variables as [name, value] in all spellings of the values, the longest value first. */
function secrets(): [string, string][] {
  const found: [string, string][] = [];
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || !VARIABLE.test(name)) continue;
    const lines = value.split(/\r?\n/).map((line) => line.trim());
    for (const form of [value, JSON.stringify(value).slice(1, -1), ...lines]) {
      if (form.length >= SHORTEST) found.push([name.replace(/\W/g, "_"), form]);
    }
  }
  return found.sort((one, other) => other[1].length - one[1].length);
}

/** The variable for the secret when the event is fired again: AUTH_API_KEY for auth.apiKey. */
function variableOf(keys: readonly string[]): string {
  const words = keys.join("_").replace(/([a-z\d])([A-Z])/g, "$1_$2");
  return words.replace(/\W+/g, "_").slice(-60).toUpperCase();
}

// The file

function append(text: Buffer): void {
  const folder = path.isAbsolute(SPOOL) ? SPOOL : path.resolve(path.dirname(fileURLToPath(import.meta.url)), SPOOL);
  const file = path.join(folder, FILE);
  let handle = opened(file);
  try {
    let state = fs.fstatSync(handle);
    if (state.size + text.length > FILE_SIZE && turned(file, state.ino)) {
      fs.closeSync(handle);
      handle = opened(file);
      state = fs.fstatSync(handle);
    }
    if (!state.isFile() || state.size + text.length > 2 * FILE_SIZE) return;
    // One write, which the system appends even if others write. A line that a kill has cut off is ended.
    fs.writeSync(handle, torn(handle, state.size) ? Buffer.concat([Buffer.from("\n"), text]) : text);
  } finally {
    fs.closeSync(handle);
  }
}

/** Opens the file. Throws if its folder does not exist: on another machine, nothing is recorded. */
function opened(file: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = fs.constants;
  return fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
}

/** True if the file ends within a line, and is not just being written by another process. */
function torn(handle: number, size: number): boolean {
  const last = Buffer.alloc(1);
  const ended = size === 0 || fs.readSync(handle, last, 0, 1, size - 1) !== 1 || last[0] === 10;
  return !ended && fs.fstatSync(handle).size === size;
}

/** Rename the full file. False if another process is just doing so. */
function turned(file: string, ino: number): boolean {
  const lock = `${file}.lock`;
  try {
    fs.closeSync(fs.openSync(lock, "wx", 0o600));
  } catch {
    if (Date.now() - fs.statSync(lock).mtimeMs > STALE) fs.unlinkSync(lock);
    return false;
  }
  try {
    if (fs.statSync(file).ino === ino) fs.renameSync(file, `${file}.1`);
    return true;
  } finally {
    fs.unlinkSync(lock);
  }
}
