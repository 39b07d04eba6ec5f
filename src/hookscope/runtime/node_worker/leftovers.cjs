// What a handler leaves running behind it, as far as Node tells cheaply.

"use strict";

const fs = require("node:fs");

const { closeSync, openSync, readdirSync, readFileSync } = fs;
const TASKS = `/proc/self/task`;
// Node's own threads, by the names that the system shows; a thread of a handler's has the name it was given.
const OWN = { __proto__: null };
for (const name of ["MainThread", "node", "DelayedTaskSche", "V8Worker", "SignalInspector", "libuv-worker",
  "hookscope"]) OWN[name] = true;
const MANY = 64; // descriptors that a handler may leave open before we call it a leak
const CHILDREN = `/proc/self/task/${process.pid}/children`;
const active = process.getActiveResourcesInfo.bind(process);

const FILES = "file operation";
// Node's names of what keeps its event loop alive, in words. The others end by themselves.
const WORDS = new Map([
  ["Timeout", "timer"],
  ["Immediate", "timer"],
  ["ProcessWrap", "process"],
  ["TCPSocketWrap", "connection"],
  ["TLSWrap", "connection"],
  ["TCPConnectWrap", "connection"],
  ["TCPServerWrap", "server"],
  ["PipeServerWrap", "server"],
  ["UDPWRAP", "socket"],
  ["UDPWrap", "socket"],
  ["Worker", "thread"],
  ["FSReqCallback", FILES],
  ["FSReqPromise", FILES],
  ["FSEventWrap", "file watcher"],
  ["StatWatcher", "file watcher"],
]);

const CLOSED = [FILES, "connection", "server", "socket", "file watcher"];

/** What runs beside the handlers at a moment: how many of each, by word. */
function running() {
  const counts = new Map();
  for (const name of active()) {
    const word = WORDS.get(name);
    if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const threads = threadsOfHandlers();
  if (threads) counts.set("thread", threads);
  const children = living();
  if (children >= 0) counts.set("process", children);
  return counts;
}

/** Child processes that have not ended, or -1 where the system does not tell. */
function living() {
  try {
    const pids = readFileSync(CHILDREN, "utf8").split(" ").filter(Boolean);
    return pids.filter(isAlive).length;
  } catch {
    return -1;
  }
}

function isAlive(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return status.slice(status.lastIndexOf(")") + 2, status.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false; // gone meanwhile
  }
}

/** In words what has come between two moments and still runs. */
function left(before, after) {
  const words = [];
  for (const [word, count] of after) {
    const more = count - (before.get(word) ?? 0);
    if (more > 0) words.push(more === 1 ? `1 ${word}` : `${more.toLocaleString("en-US")} ${plural(word)}`);
  }
  return words.join(" and ");
}

/** Has anything come that can reach into the process from outside of its event loop: a thread, a process? */
function isDangerous(before, after) {
  for (const word of ["thread", "process"]) {
    if ((after.get(word) ?? 0) > (before.get(word) ?? 0)) return true;
  }
  return false;
}

/** Is there more than before of what takes a moment to close. */
function hasOpened(before, after) {
  return CLOSED.some((word) => (after.get(word) ?? 0) > (before.get(word) ?? 0));
}

const plural = (word) => (word.endsWith("s") ? `${word}es` : `${word}s`);

/** Does anything run? */
function isAnything(counts) {
  for (const count of counts.values()) {
    if (count > 0) return true;
  }
  return false;
}

const FREE = lowestFree();

/** Has it left many more descriptors open than there were: then the lowest free one has risen. */
function leaksDescriptors() {
  const free = lowestFree();
  return free < 0 || free > FREE + MANY;
}

function lowestFree() {
  try {
    const found = openSync(".", "r");
    closeSync(found);
    return found;
  } catch {
    return -1;
  }
}

let lastTasks = "";
let lastThreads = 0;

const ROUNDS = 10; // of a millisecond: a thread that has just begun has our name until it runs
const CLOCK = new Int32Array(new SharedArrayBuffer(4));
const pause = Atomics.wait;

/** Worker threads of handlers. Their names are read only when threads have come or gone. */
function threadsOfHandlers() {
  for (let round = 1; round <= ROUNDS; round++) {
    const tasks = entries(TASKS);
    const seen = tasks.join(" ");
    if (seen === lastTasks) return lastThreads;
    const names = tasks.map(nameOf);
    const unnamed = names.filter((name) => name === names[0]).length - 1;
    const settled = unnamed === 0 && !names.includes(undefined); // undefined: it has just ended
    if (!settled && round < ROUNDS) {
      pause(CLOCK, 0, 0, 1);
      continue;
    }
    lastThreads = names.filter((name) => name !== undefined && !(name in OWN)).length + unnamed;
    lastTasks = seen;
    break;
  }
  return lastThreads;
}

/** The names in a folder; none where there is no such folder: not Linux. */
function entries(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function nameOf(task) {
  try {
    return readFileSync(`${TASKS}/${task}/comm`, "utf8").trim();
  } catch {
    return undefined;
  }
}

module.exports = { running, left, hasOpened, isAnything, isDangerous, leaksDescriptors };
