"""A handler that changes its worker is named, and the handler after it finds the worker as it was."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.hook import Language
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result, Step
from hookscope.runtime.executors import Node, find_node
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, node_executor, python_executor

LIMITS = Limits(spawn=LONG, load=LONG, run=LONG)

# What the handler does → what its note says. Nearly all of it is put back.
PYTHON = {
    "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (0, 0))": "the resource limit RLIMIT_FSIZE",
    "import resource as r; r.setrlimit(r.RLIMIT_NPROC, (1, 1))": "the resource limit RLIMIT_NPROC",
    "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, r.getrlimit(r.RLIMIT_CPU)[1]))": "RLIMIT_CPU",
    "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (5, 5))": "the resource limit RLIMIT_NOFILE",
    "import signal; signal.setitimer(signal.ITIMER_VIRTUAL, .05)": "the timer ITIMER_VIRTUAL",
    "import signal; signal.setitimer(signal.ITIMER_PROF, 9)": "the timer ITIMER_PROF",
    "import signal; signal.alarm(9)": "the timer ITIMER_REAL",
    "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {15, 2})": "the signal mask",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)": "the handler of SIGTERM",
    "import signal; signal.signal(signal.SIGUSR2, signal.SIG_IGN)": "the handler of SIGUSR2",
    "import signal; signal.signal(signal.SIGWINCH, print)": "the handler of SIGWINCH",
    "import os; os.umask(0o777)": "the umask",
    "import os, tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)": "the working directory",
    "import os; os.nice(3)": "the priority",
    "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})": "the CPU affinity",
    "open('/proc/self/oom_score_adj', 'w').write('900')": "oom_score_adj",
    "open('/proc/self/comm', 'w').write('other')": "the process name",
    "import os; os.environ['ADDED'] = '1'": "the environment (ADDED)",
    "import os; os.putenv('ADDED', '1')": "the environment (ADDED)",
    "import os; os.set_blocking(1, False)": "stdout's blocking mode",
    "import os; os.dup2(1, 0)": "standard input",
    "import sys; sys.setrecursionlimit(77)": "the recursion limit",
    "import sys; sys.setswitchinterval(100)": "the switch interval",
    "import sys; sys.set_int_max_str_digits(700)": "the digit limit of int",
    "import gc; gc.disable()": "garbage collection on or off",
    "import gc; gc.set_threshold(1, 1, 1)": "the garbage collector's thresholds",
    "import gc; gc.callbacks.append(print)": "the garbage collector's callbacks",
    "import locale; locale.setlocale(locale.LC_ALL, 'C')": "the locale",
    "import decimal; decimal.getcontext().prec = 2": "the decimal context",
    "import socket; socket.setdefaulttimeout(.001)": "the default timeout of sockets",
    "import logging; logging.disable(50)": "the root logger",
    "import warnings; warnings.simplefilter('error')": "the filters of warnings",
    "import codecs; codecs.register_error('strict', len)": "error handlers of codecs",
    "import faulthandler; faulthandler.disable()": "the fault handler",
    "import threading; threading.stack_size(1 << 20)": "the stack size of threads",
    "import asyncio; asyncio.set_event_loop_policy(Policy())": "the event loop policy",
    "import sys; sys.meta_path.insert(0, Finder())": "sys.meta_path",
    "import sys; sys.path_hooks.insert(0, Finder)": "sys.path_hooks",
    "import sys; sys.path.clear()": "sys.path",
    "import sys; sys.modules['asyncio'] = None": "sys.modules (asyncio)",
    "import sys; sys.modules['json'] = Finder()": "sys.modules (json)",
    "import sys, types; sys.modules['yaml'] = types.ModuleType('yaml')": "sys.modules (yaml)",
    "import sys; sys.modules = {}": "sys.modules",
    "import builtins; del builtins.len": "builtins.len",
    "import gettext; gettext.install('ours')": "builtins._",
    "import builtins; builtins.helper = 1": "builtins.helper",
    "import tempfile; tempfile.tempdir = '/nowhere'": "tempfile.tempdir",
    "import importlib.machinery as m; m.PathFinder.find_spec = None": "PathFinder.find_spec",
    "import builtins; vars(builtins).clear()": "builtins.",
    "import functools; functools.wraps = functools.partial = None": "functools.wraps",
    "import collections; collections.namedtuple = None": "collections.namedtuple",
    "import datetime; datetime.datetime = None": "datetime.datetime",
    "import string; string.Template = None": "string.Template",
    "import os; os.sep = '?'": "os.sep",
    "import json; json.JSONEncoder.default = None": "json.encoder.JSONEncoder.default",
    "import threading; threading.Thread.start = lambda self: None": "threading.Thread.start",
    "import os, time; os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()": "the time zone",
    "import sys; sys.tracebacklimit = 0": "sys.tracebacklimit",
    "import sys; sys.excepthook = None": "sys.excepthook",
    "import sys; sys.addaudithook(lambda *_: None)": "the audit hooks, which Python cannot remove",
    "import sys; sys.stdout.reconfigure(encoding='ascii')": "the encoding or buffering of standard streams",
}  # fmt: skip
if os.path.exists("/proc/self/timers"):
    PYTHON["timer()"] = "the timers of timer_create()"
TOP = """
import asyncio
class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self): raise SystemExit(3)
def timer():
    import ctypes
    made = ctypes.c_void_p()
    assert ctypes.CDLL(None).timer_create(1, None, ctypes.byref(made)) == 0
class Finder:
    def find_spec(self, *_): raise RuntimeError("not mine")
"""
HEALTHY = """
import asyncio, collections, datetime, decimal, functools, json, locale, logging, os, string, subprocess, sys
import codecs, gc, signal, socket, threading, time, warnings

async def handler(event):
    assert len(functools.wraps(len)(lambda: 1).__name__) == 3
    assert collections.namedtuple("A", "a")(1).a == 1 and string.Template("$a").substitute(a=1) == "1"
    assert datetime.datetime(2020, 1, 1).year == 2020 and str(decimal.Decimal(1) / 3) == "0." + "3" * 28
    assert json.dumps({"a": object()}, default=str).startswith("{") and os.path.join("a", "b") == "a/b"
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and gc.isenabled() and gc.get_threshold()[0] > 1
    assert socket.getdefaulttimeout() is None and "ADDED" not in os.environ and int("9" * 1000)
    assert sys.getrecursionlimit() >= 900 and os.getpriority(os.PRIO_PROCESS, 0) == PRIORITY
    assert "Tokyo" not in str(time.tzname) and time.tzname != ("JST", "JST")
    thread = threading.Thread(target=list)
    thread.start()
    thread.join()
    code = await asyncio.to_thread(subprocess.call, ["sh", "-c", '[ -z "$ADDED" ]'])
    assert code == 0, code
    with open("written", "w") as file:
        file.write("x")
    assert os.stat("written").st_mode & 0o600 == 0o600
    await asyncio.sleep(0)
    return "fine"
"""

NODE = {
    "FinalizationRegistry.prototype.register = () => { throw 1; }": "FinalizationRegistry.prototype.register",
    "Object.getPrototypeOf((async function* () {}).prototype).next = null": "a generator.next",
    "Object.getPrototypeOf((function* () {}).prototype).next = null": "a generator.next",
    "process.getBuiltinModule('dns').promises.lookup = null": "dns.promises.lookup",
    "Buffer.from = () => { throw 1; }": "Buffer.from",
    "Buffer.prototype.toString = () => 'evil'": "Buffer.prototype.toString",
    "Buffer.poolSize = 1": "Buffer.poolSize",
    "TextDecoder.prototype.decode = () => 'x'": "TextDecoder.prototype.decode",
    "TextEncoder.prototype.encode = () => null": "TextEncoder.prototype.encode",
    "globalThis.TextDecoder = class {}": "TextDecoder",
    "Intl.DateTimeFormat = null": "Intl.DateTimeFormat",
    "Intl.NumberFormat.prototype.resolvedOptions = null": "Intl.NumberFormat.prototype.resolvedOptions",
    "globalThis.Intl = null": "Intl",
    "m.registerHooks({ resolve() { throw new Error('no'); } })": "loaders, by module.registerHooks()",
    "m.register('data:text/javascript,export const a = 1')": "the module loaders, by module.register()",
    "m._resolveFilename = () => '/etc/passwd'": "Module._resolveFilename",
    "delete m._extensions['.js']": "Module._extensions..js",
    "util.inspect.defaultOptions.depth = 0": "the defaults of util.inspect",
    "fs.promises.readFile = async () => 'evil'": "fs.promises.readFile",
    "fs.readFileSync = () => 'evil'; m.syncBuiltinESMExports()": "fs.readFileSync",
    "timers.setTimeout = () => 0": "timers.setTimeout",
    "EventEmitter.defaultMaxListeners = 0": "EventEmitter.defaultMaxListeners",
    "Object.setPrototypeOf(Array.prototype, { evil: 1 })": "Array.prototype.[[Prototype]]",
    "Object.prototype.evil = 1": "Object.prototype.evil",
    "process.emit = () => false": "process.emit",
    "process.on('SIGTERM', () => {})": 'listeners of process "SIGTERM"',
    "globalThis.fetch = null": "fetch",
    "performance.now = () => NaN": "performance.now",
    "process.umask(0o777)": "the umask",
    "process.env.ADDED = '1'": "the environment (ADDED)",
    "process.title = 'evil'": "process.title",
    "process.exitCode = 9": "process.exitCode",
    "process.chdir('/')": "the working directory",
    "os.setPriority(7)": "the priority",
    "dns.setServers(['127.0.0.1'])": "the DNS servers",
    "dns.setDefaultResultOrder('ipv6first')": "the order of DNS results",
    "http.globalAgent.maxSockets = 1": "http.globalAgent",
    "http.request = null": "http.request",
    "v8.setFlagsFromString('--stack-size=200')": "V8's flags (--stack-size=200)",
    "Object.freeze(Function.prototype)": "built-in objects, which it froze",
    "ah.createHook({ init() {} }).enable()": "async hooks",
    "dc.subscribe('x', () => {})": "diagnostics channels",
}
IMPORTS = """
import ah from "node:async_hooks"; import dc from "node:diagnostics_channel"; import dns from "node:dns";
import { EventEmitter } from "node:events"; import fs from "node:fs"; import http from "node:http";
import m from "node:module"; import os from "node:os"; import timers from "node:timers";
import util from "node:util"; import v8 from "node:v8";
"""
HEALTHY_NODE = (
    IMPORTS
    + """
import { readFileSync } from "node:fs";
const is = (held, what) => { if (!held) throw new Error(what); };
export default async () => {
  is(Buffer.from("a").toString() === "a" && Buffer.poolSize > 1, "Buffer");
  is(new TextDecoder().decode(new TextEncoder().encode("a")) === "a", "TextDecoder");
  is(new Intl.DateTimeFormat("en").resolvedOptions(), "Intl.DateTimeFormat");
  is(new Intl.NumberFormat("en").resolvedOptions(), "Intl.NumberFormat");
  is(m._resolveFilename("fs") === "fs" && m._extensions[".js"], "Module");
  is(util.inspect({ a: { b: { c: 1 } } }).includes("c"), "inspect");
  is(readFileSync("/proc/self/status").length > 9, "fs");
  is((await fs.promises.readFile("/dev/null")).length === 0, "fs.promises");
  is(({}).evil === undefined && [].evil === undefined && process.env.ADDED === undefined, "added");
  is(!Object.hasOwn(process, "emit") && process.listenerCount("SIGTERM") === 0, "process");
  is(process.title !== "evil" && process.exitCode === undefined && process.cwd() !== "/", "title");
  is(os.getPriority() === PRIORITY && !dns.getServers().includes("127.0.0.1"), "os");
  is(http.globalAgent.maxSockets > 1, "http");
  is(dns.getDefaultResultOrder() === "verbatim" && EventEmitter.defaultMaxListeners === 10, "dns");
  is(typeof fetch === "function" && performance.now() > 0, "performance");
  is(Object.isExtensible(Function.prototype) && typeof http.request === "function", "frozen");
  fs.writeFileSync("written", "x");
  is((fs.statSync("written").mode & 0o600) === 0o600, "umask");
  await new Promise((done) => timers.setTimeout(done, 1));
  return "fine";
};
"""
)


async def notes_behind(
    lane: ProcessExecutor, folder: Path, cases: Mapping[str, str], top: str, healthy: str, suffix: str
) -> dict[str, list[str]]:
    """The notes of each handler. Behind each of them the healthy one runs, and is fine."""

    def written(name: str, text: str) -> Registration:
        root = folder / "hooks" / name
        root.mkdir(parents=True)
        (root / f"handler{suffix}").write_text(text)
        language: Language = "python" if suffix == ".py" else "javascript"
        return Registration("command:new", name, Code(root / f"handler{suffix}", "default", root, language))

    good = written("good", healthy.replace("PRIORITY", str(os.getpriority(os.PRIO_PROCESS, 0))))
    calls = [good]
    for number, does in enumerate(cases):
        is_python = suffix == ".py"
        inside = indent(does, "    ") if is_python else f"{does};"
        head = "def handler(event):" if is_python else "export default () => {"
        text = f"{top}\n{head}\n{inside}\n" + ("" if is_python else "};\n")
        calls += [written(f"bad-{number}", text), good]
    steps: list[Step] = []
    await lane.run(calls, HookEvent("command", "new", "s", {}), steps.append)
    await lane.close()
    results = [step for step in steps if isinstance(step, Result)]
    wrong = {
        does: (result.status, result.error and result.error.message, result.notes)
        for does, result in zip(("nothing", *cases), results[::2], strict=True)
        if (result.status, result.returned) != ("ok", "fine")
    }
    assert wrong == {}
    assert all("changed" not in note for result in results[::2] for note in result.notes)
    return {does: list(result.notes) for does, result in zip(cases, results[1::2], strict=True)}


def unnamed(cases: Mapping[str, str], notes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The handlers whose notes do not name what they changed."""
    return {
        does: notes[does]
        for does, words in cases.items()
        if not any(note.startswith("it changed: ") and words in note for note in notes[does])
    }


@pytest.mark.skipif(not shutil.which("sh") or not os.path.exists("/proc/self/limits"), reason="Linux only")
async def test_a_python_handler_that_changes_its_worker_is_named_and_the_next_one_finds_it_clean(
    tmp_path: Path,
) -> None:
    lane = python_executor(env=dict(os.environ), cwd=tmp_path, limits=LIMITS)
    notes = await notes_behind(lane, tmp_path, PYTHON, TOP, HEALTHY, ".py")
    assert unnamed(PYTHON, notes) == {}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux only")
async def test_a_javascript_handler_that_changes_its_worker_is_named_and_the_next_one_finds_it_clean(
    tmp_path: Path,
) -> None:
    found = find_node(shutil.which("node"))
    assert isinstance(found, Node)
    lane = node_executor(env=dict(os.environ), cwd=tmp_path, node=found.path, limits=LIMITS)
    notes = await notes_behind(lane, tmp_path, NODE, IMPORTS, HEALTHY_NODE, ".mjs")
    assert unnamed(NODE, notes) == {}
