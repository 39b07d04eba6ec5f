// What handlers leave running, as far as Node reports it cheaply.

"use strict";

const fs = require("node:fs");

const { closeSync, openSync, readdirSync, readFileSync } = fs;
const TASKS = `/proc/self/task`;
// Names of Node's own threads in /proc; a thread of a handler has the name that it was given.
const OWN = { __proto__: null };
for (const name of ["MainThread", "node", "DelayedTaskSche", "V8Worker", "SignalInspector", "libuv-worker",
  "hookscope"]) OWN[name] = true;
const MANY = 64; // descriptors that a handler may leave open before it counts as a leak
const CHILDREN = `/proc/self/task/${process.pid}/children`;
const active = process.getActiveResourcesInfo.bind(process);

const FILES = "file operation";
// Node's names of resources that keep its event loop alive → our words. Others end by themselves.
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

/** Return what is running now: word → number. */
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

/** Return the number of running child processes; -1 if the system does not report it. */
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

/** Return in words what is in `after` but not in `before`. */
function left(before, after) {
  const words = [];
  for (const [word, count] of after) {
    const more = count - (before.get(word) ?? 0);
    if (more > 0) words.push(more === 1 ? `1 ${word}` : `${more.toLocaleString("en-US")} ${plural(word)}`);
  }
  return words.join(" and ");
}

/** Return whether threads or processes were added: they run outside the event loop. */
function isDangerous(before, after) {
  for (const word of ["thread", "process"]) {
    if ((after.get(word) ?? 0) > (before.get(word) ?? 0)) return true;
  }
  return false;
}

/** Return whether resources were added that take a moment to close. */
function hasOpened(before, after) {
  return CLOSED.some((word) => (after.get(word) ?? 0) > (before.get(word) ?? 0));
}

const plural = (word) => (word.endsWith("s") ? `${word}es` : `${word}s`);

/** Return whether anything is running. */
function isAnything(counts) {
  for (const count of counts.values()) {
    if (count > 0) return true;
  }
  return false;
}

const FREE = lowestFree();

/** Return whether many descriptors were left open, which raises the number of the lowest free one. */
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

const ROUNDS = 10; // of a millisecond each: a new thread has the main thread's name until it runs
const CLOCK = new Int32Array(new SharedArrayBuffer(4));
const pause = Atomics.wait;

/** Return the number of handlers' threads. Names are read only when the list of threads has changed. */
function threadsOfHandlers() {
  for (let round = 1; round <= ROUNDS; round++) {
    const tasks = entries(TASKS);
    const seen = tasks.join(" ");
    if (seen === lastTasks) return lastThreads;
    const names = tasks.map(nameOf);
    const unnamed = names.filter((name) => name === names[0]).length - 1;
    const settled = unnamed === 0 && !names.includes(undefined); // undefined: a thread has just ended
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

/** The names in a folder; none if there is no such folder, as on other systems than Linux. */
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
