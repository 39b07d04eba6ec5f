"""The fault matrix for Node: what handlers in JavaScript and TypeScript do wrong, row by row."""

from dataclasses import replace
from textwrap import dedent, indent

from tests.faults.conftest import GRACE, SHORT, TELLS, Fault, Spoils, at_load, row

from hookscope.runtime.limits import MIB

FILE = "handler.mjs"
MEMORY = 400 * MIB
RESIDENT = "only Linux tells how much memory a process has"
STOPPED = f"did not answer within {SHORT:g} s and was stopped"

# It says that it lives, and needs what handlers need: timers, promises, files, streams, prototypes.
HEALTHY = """
import assert from "node:assert";
import fs from "node:fs";
import { types } from "node:util";

export default async function handler(event) {
  await new Promise((resolve) => setTimeout(resolve, 2)); // after the timers that others have set
  await Promise.all([1, Promise.resolve(2), new Promise((resolve) => setImmediate(resolve))]);
  assert.deepEqual(JSON.parse(JSON.stringify({ a: [1, "x"] })), { a: [1, "x"] });
  assert.equal(process.cwd(), process.env.FAULTS_CWD);
  assert.equal(process.exitCode, undefined);
  assert.deepEqual([..."ab"].map((one) => one + one).concat([]), ["aa", "bb"]);
  const [list, object] = [[1], {}];
  list.push(2);
  object.toString = 1;
  fs.writeFileSync("written", "caaad".replace(/a+/, "b"));
  assert.equal(fs.readFileSync("written", "utf8"), "cbd");
  assert.equal(fs.statSync("written").mode & 0o600, 0o600);
  const { messages } = event; // what another handler puts there is there: they share the event
  if (Array.isArray(messages) && !types.isProxy(messages)) messages.push("fine");
  assert.ok(new Error("x").stack.includes("handler.mjs"));
  console.log("healthy");
  return "fine";
}
"""


def body(lines: str, top: str = "") -> str:
    """A handler of these lines, which prints a word before them."""
    inside = indent(dedent(lines).strip(), "  ")
    begin = "export default async function handler(event) {\n"
    return f'{dedent(top)}\n{begin}  console.log("before");\n{inside}\n}}\n'


def at_import(lines: str) -> str:
    """A file that does these things when it is imported."""
    return f'console.log("before");\n{dedent(lines)}\nexport default function handler() {{}}\n'


def hangs(name: str, source: str, *says: str) -> Fault:
    return Fault(
        name, source, "timeout", "Timeout", says or (STOPPED,), bound=SHORT + GRACE, limit=SHORT, file=FILE
    )


def raises(name: str, source: str, error_type: str | None = None, *says: str, out: str = "before") -> Fault:
    return Fault(name, source, "error", error_type, says, out, file=FILE)


def dies(name: str, source: str, *says: str, out: str = "before") -> Fault:
    return Fault(name, source, "crashed", "Crashed", says, out, bound=GRACE, file=FILE)


def goes_on(
    name: str, source: str, *says: str, out: str = "before", later: str = "", spoils: Spoils = "nothing"
) -> Fault:
    """No fault of the handler's, or one that is put right behind it."""
    return Fault(name, source, "ok", None, says, out, later=later, spoils=spoils, file=FILE)


def cancelled(name: str, source: str) -> Fault:
    return Fault(name, source, "cancelled", "Cancelled", ("the run was cancelled",), file=FILE)


def typescript(fault: Fault) -> Fault:
    return replace(fault, file="handler.ts")


def common_js(fault: Fault) -> Fault:
    return replace(fault, file="handler.cjs")


FS = 'import fs from "node:fs";\n'
PROGRAMS = 'import { spawn, spawnSync } from "node:child_process";\n'
THREADS = 'import { Worker } from "node:worker_threads";\n'
HERE = 'fs.writeFileSync("here", "");\n'
DAEMON = 'spawn("sleep", ["4723"], { detached: true, stdio: "ignore" }).unref();\n'
EACH = """
for (let number = 3; number < 1024; number += 1) {
  try {
    %s;
  } catch {}
}
"""
JUNK = "fs.writeSync(number, Buffer.from([%s]))"
HOSTILE = """
const hostile = () => new Proxy({}, {
  get() { throw hostile(); },
  has() { throw 1; },
  ownKeys() { throw null; },
  getPrototypeOf() { throw undefined; },
  getOwnPropertyDescriptor() { process.exit(9); },
});
class Refuses extends Error {
  get name() { throw new Refuses(); }
  get message() { throw new Refuses(); }
  get stack() { throw null; }
  get cause() { throw undefined; }
  toString() { throw 7; }
}
"""

HANGS = row(
    "sync loop; regex blow-up; infinite microtask loop",
    hangs("a loop", body("for (;;) {}")),
    hangs("a loop behind an await", body("await null; for (;;) {}")),
    hangs("a regular expression", body("/^(a+)+$/.test('a'.repeat(60) + 'b')")),
    hangs("microtasks for ever", body("const again = () => Promise.resolve().then(again); await again();")),
    hangs(
        "ticks for ever",
        body("const again = () => process.nextTick(again); again(); await new Promise(() => {});"),
    ),
    hangs(
        "immediates for ever",
        body("await new Promise(() => { const again = () => setImmediate(again); again(); });"),
    ),
    hangs("an error that is caught for ever", body("for (;;) { try { throw 1; } catch {} }")),
    hangs(
        "a wait on memory that nobody changes",
        body("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"),
    ),
    hangs("a program that does not end", body("spawnSync('sleep', ['4724'])", PROGRAMS)),
    hangs("a number that takes for ever", body("(7n ** 100_000_000n).toString()")),
    hangs("a sort that takes for ever", body("for (;;) [3, 2, 1].sort(() => { for (;;) {} })")),
)
WAITS = row(
    "never-resolving promise",
    hangs("a promise that nobody settles", body("await new Promise(() => {})")),
    hangs(
        "a promise that nobody settles, beside a timer",
        body("setInterval(() => {}, 10); await new Promise(() => {})"),
    ),
    hangs("a thing that can be awaited and never answers", body("await { then() {} }")),
    hangs("a thing that is awaited and loops", body("return { then() { for (;;) {} } }")),
    hangs("a stream that nobody ends", body("for await (const _ of new ReadableStream()) {}")),
    hangs(
        "an iterator that never ends",
        body("for await (const _ of forever()) {}", "async function* forever() { for (;;) yield 1; }"),
    ),
    hangs(
        "two promises that wait for each other",
        body("""
        let first;
        const second = (async () => { await null; await first; })();
        first = (async () => { await second; })();
        await first;
    """),
    ),
)
THROWS = row(
    "it throws",
    raises("an error", body("throw new TypeError('wrong')"), "TypeError", "wrong"),
    raises("a string", body("throw 'text'"), None, "text"),
    raises("null", body("throw null"), None, "null"),
    raises("undefined", body("throw undefined"), None, "undefined"),
    raises("a number", body("throw 7"), None, "7"),
    raises("a symbol", body("throw Symbol('odd')"), None, "odd"),
    raises("a function", body("throw () => { for (;;) {} }")),
    raises("a proxy that refuses", body("throw hostile()", HOSTILE)),
    raises(
        "a revoked proxy", body("const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;")
    ),
    raises("an error whose members throw", body("throw new Refuses()", HOSTILE), "Refuses"),
    raises("an object without a prototype", body("throw Object.create(null)")),
    raises("an error without a prototype", body("throw Object.setPrototypeOf(new Error('bare'), null)")),
    raises(
        "fifty megabytes of text",
        body("throw new Error('x'.repeat(50_000_000))"),
        "Error",
        "characters omitted",
    ),
    raises(
        "a stack that is not text",
        body("const error = new Error('x'); error.stack = { toString() { throw 1; } }; throw error;"),
        "Error",
    ),
    raises(
        "a cause that is itself",
        body("const error = new Error('x'); error.cause = error; throw error;"),
        "Error",
        "x",
    ),
    raises(
        "many errors in one",
        body("await Promise.any(Array.from({ length: 10_000 }, () => Promise.reject(new Error('one'))))"),
        "AggregateError",
    ),
    goes_on("stacks are cut off", body("Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'none';")),
    raises(
        "stacks are prepared by a function that throws",
        body("Error.prepareStackTrace = () => { throw 1; }; throw new Error('x');"),
        None,
    ),
    raises("a frozen event is changed", body("Object.freeze(event); event.type = 'x';"), "TypeError"),
    hangs("an error whose text loops", body("throw { get message() { for (;;) {} } }")),
    raises(
        "a thing that is awaited and throws",
        body("return { get then() { throw new Error('then'); } }"),
        "Error",
        "then",
    ),
)
ESCAPES = row(
    "late rejection or throw",
    raises(
        "a rejection that nobody awaits, during",
        body("Promise.reject(new Error('unheard')); await new Promise((r) => setTimeout(r, 50));"),
        "Error",
        "unheard",
        "outside the handler's `await`",
    ),
    raises(
        "a timer that throws, during",
        body("setTimeout(() => { throw new Error('unheard'); }); await new Promise(() => {});"),
        "Error",
        "unheard",
        "outside the handler's `await`",
    ),
    raises(
        "a tick that throws, during",
        body("process.nextTick(() => { throw null; }); await new Promise(() => {});"),
        None,
        "outside the handler's `await`",
    ),
    raises(
        "an emitter that nobody listens to",
        body(
            "new EventEmitter().emit('error', new Error('emitted'))",
            "import { EventEmitter } from 'node:events';",
        ),
        "Error",
        "emitted",
    ),
    goes_on(
        "a rejection that nobody awaits, after",
        body("setTimeout(() => Promise.reject(new Error('too late')));"),
        later="bad failed after it had returned: Error: too late",
    ),
    goes_on(
        "a timer that throws, after",
        body("setTimeout(() => { throw new Error('too late'); });"),
        later="bad failed after it had returned: Error: too late",
    ),
    goes_on(
        "an immediate that throws, after",
        body("setImmediate(() => { throw 'too late'; });"),
        later="bad failed after it had returned",
    ),
    goes_on(
        "an error whose members throw, after",
        body("setTimeout(() => { throw new Refuses(); });", HOSTILE),
        later="bad failed after it had returned",
    ),
    goes_on(
        "a thousand rejections, after",
        body(
            "setTimeout(() => { for (let n = 0; n < 1000; n += 1) Promise.reject(new Error(`late ${n}`)); });"
        ),
        later="Error: late 0",
    ),
    goes_on(
        "a timer that prints, after",
        body("setTimeout(() => console.log('printed late'));"),
        "it left 1 timer running",
        later="printed late",
    ),
    goes_on(
        "a promise that nobody awaits and that waits",
        body("(async () => { await new Promise(() => {}); })();"),
    ),
)
LEAVES = row(
    "process.exit; process.abort; SIGKILL; SIGSTOP",
    dies("process.exit(3)", body("process.exit(3)"), "exited with status 3 before it answered"),
    dies("process.exit(0)", body("process.exit(0)"), "exited with status 0 before it answered"),
    dies(
        "process.exit(3) behind twenty megabytes",
        body("process.stdout.write('x'.repeat(20_000_000) + 'the end'); process.exit(3);"),
        "exited with status 3",
        "bytes of standard output were omitted",
        out="the end",
    ),
    dies(
        "process.exit in a timer",
        body("setTimeout(() => process.exit(4)); await new Promise(() => {});"),
        "exited with status 4",
    ),
    dies("process.reallyExit", body("process.reallyExit(5)"), "exited with status 5"),
    dies("process.abort", body("process.abort()"), "was killed by signal 6 (SIGABRT)"),
    dies(
        "SIGKILL",
        body("process.kill(process.pid, 'SIGKILL'); for (;;) {}"),
        "was killed by signal 9 (SIGKILL)",
    ),
    dies(
        "SIGTERM",
        body("process.kill(process.pid, 'SIGTERM'); for (;;) {}"),
        "was killed by signal 15 (SIGTERM)",
    ),
    dies(
        "SIGSEGV",
        body("process.kill(process.pid, 'SIGSEGV'); for (;;) {}"),
        "was killed by signal 11 (SIGSEGV)",
    ),
    dies(
        "SIGKILL to its group",
        body("process.kill(-process.pid, 'SIGKILL'); for (;;) {}"),
        "was killed by signal 9 (SIGKILL)",
    ),
    hangs("SIGSTOP", body("process.kill(process.pid, 'SIGSTOP'); await new Promise(() => {});")),
    hangs("SIGTERM ignored", body("process.on('SIGTERM', () => {}); for (;;) {}")),
    goes_on(
        "errors are caught for ever, after",
        body(
            "process.setUncaughtExceptionCaptureCallback(() => {});"
            "setTimeout(() => { throw new Error('too late'); });"
        ),
        later="failed after it had returned",
    ),
    goes_on("process.exitCode", body("process.exitCode = 7;")),
    goes_on(
        "process.exit replaced",
        body("process.exit = process.reallyExit = process.kill = process.abort = () => {};"),
    ),
    goes_on(
        "handlers of the end",
        body("process.on('exit', () => { for (;;) {} }); process.on('beforeExit', () => { for (;;) {} });"),
    ),
    goes_on("process.removeAllListeners", body("process.removeAllListeners();")),
    goes_on(
        "process.removeAllListeners, and then something fails",
        body("process.removeAllListeners(); setTimeout(() => { throw new Error('too late'); });"),
        later="failed after it had returned: Error: too late",
    ),
    goes_on(
        "a listener that exits",
        body(
            "process.on('uncaughtException', () => process.exit(6)); "
            "process.on('unhandledRejection', () => process.exit(6)); setTimeout(() => { throw 1; });"
        ),
        later="failed after it had returned",
    ),
    goes_on("its title is changed", body("process.title = 'x';")),
)
MEMORY_ROW = row(
    "heap limit; 2 GB of Buffers",
    *(
        Fault(name, body(lines), "crashed", error_type, says, memory=MEMORY, only_linux=RESIDENT, file=FILE)
        for name, lines, error_type, says in (
            (
                "a heap that grows",
                "const kept = []; for (;;) kept.push(new Array(10_000).fill(1.5));",
                "OutOfMemory",
                ("more than its limit of 400 MiB, and was stopped",),
            ),
            (
                "a heap that grows behind awaits",
                "const kept = []; for (;;) { kept.push(new Array(100_000).fill(1.5)); await null; }",
                "OutOfMemory",
                ("more than its limit of 400 MiB",),
            ),
            (
                "two gigabytes of buffers",
                "const kept = []; for (let n = 0; n < 200; "
                "n += 1) kept.push(Buffer.alloc(10_000_000, 1)); for (;;) {}",
                "OutOfMemory",
                ("more than its limit of 400 MiB",),
            ),
        )
    ),
    raises("a text that is too long", body("'x'.repeat(2 ** 30)"), "RangeError"),
    raises("a list that is too long", body("new Array(-1)"), "RangeError"),
    raises("a buffer that is too large", body("Buffer.alloc(2 ** 53)"), "RangeError"),
)
RECURSION = row(
    "deep recursion",
    raises(
        "a recursion", body("const again = () => again() + 1; again();"), "RangeError", "Maximum call stack"
    ),
    raises(
        "a recursion of the handler",
        body("await handler(event);").replace('console.log("before");', ""),
        "RangeError",
        out="",
    ),
    raises("a recursion in a getter", body("({ get a() { return this.a; } }).a"), "RangeError"),
    raises("a recursion in the text of an error", body("throw { get message() { return this.message; } }")),
    goes_on(
        "lists a hundred thousand deep",
        body(
            "let inside = []; for (let n = 0; n < 100_000; n += 1) inside = [inside]; "
            "event.context.deep = inside;"
        ),
        "deep",
    ),
)
MESSAGES = row(
    "message: 50 MB, circular, BigInt, function, Map, NaN, surrogate",
    goes_on(
        "a message of fifty megabytes",
        body("event.messages.push('x'.repeat(50_000_000))"),
        "messages[0] was cut",
    ),
    goes_on(
        "a message that holds itself", body("event.messages.push(event.messages)"), "messages[0] holds itself"
    ),
    goes_on("a message that is a BigInt", body("event.messages.push(7n)"), "messages[0]"),
    goes_on(
        "a message that is a function", body("event.messages.push(handler)"), "messages[0] is a function"
    ),
    goes_on("a message that is a class", body("event.messages.push(Map)"), "messages[0] is a"),
    goes_on(
        "a message that is a Map",
        body("event.messages.push(new Map([['a', new Set([1])]]))"),
        "messages[0] is a Map",
    ),
    goes_on("a message that is NaN", body("event.messages.push(NaN, Infinity, -0)"), "messages[0] is NaN"),
    goes_on(
        "a message of half a character",
        body("event.messages.push('\\ud83d')"),
        "messages[0] holds half a character",
    ),
    goes_on(
        "a message that is a symbol", body("event.messages.push(Symbol('x'))"), "messages[0] is a symbol"
    ),
    goes_on("a message that is undefined", body("event.messages.push(undefined, null)")),
    goes_on(
        "a message that is a promise",
        body("event.messages.push(new Promise(() => {}))"),
        "messages[0] is a Promise",
    ),
    goes_on("a message that is bytes", body("event.messages.push(Buffer.alloc(1000))"), "messages[0]"),
    goes_on("a message that is a date of no day", body("event.messages.push(new Date(NaN))")),
    goes_on("a message whose text loops", body("event.messages.push({ toString() { for (;;) {} } })")),
    hangs("a message with a toJSON that loops", body("event.messages.push({ toJSON() { for (;;) {} } })")),
    goes_on("a message that refuses", body("event.messages.push(hostile())", HOSTILE), "messages[0]"),
    goes_on(
        "a message whose members throw",
        body("event.messages.push({ get a() { throw 1; }, b: 2 })"),
        "messages[0]",
    ),
    hangs("a message whose members loop", body("event.messages.push({ get a() { for (;;) {} } })")),
    goes_on(
        "more messages than are kept",
        body("for (let n = 0; n < 30_000; n += 1) event.messages.push('x')"),
        "messages is cut short",
    ),
    goes_on(
        "a list with holes of a billion",
        body("event.messages.length = 4_000_000_000"),
        "messages is cut short",
        spoils="messages",
    ),
    goes_on(
        "a hundred megabytes in the context",
        body("event.context.large = Array.from({ length: 100 }, () => 'x'.repeat(1_000_000))"),
        "is cut short",
    ),
    goes_on(
        "what JSON cannot hold in the context",
        body(
            "Object.assign(event.context, { f: handler, b: 7n, n: NaN, m: new Map(), "
            "c: event.context, [Symbol('s')]: 1, __proto__: null })"
        ),
        "context.f is a function",
        "context.c holds itself",
    ),
    goes_on(
        "a key named __proto__",
        body(
            "Object.defineProperty(event.context, '__proto__', { value: { polluted: 1 }, enumerable: true })"
        ),
    ),
    goes_on("it returns fifty megabytes", body("return 'x'.repeat(50_000_000)"), "what it returned was cut"),
    goes_on(
        "it returns what JSON cannot hold", body("return [handler, 7n]"), "what it returned[0] is a function"
    ),
    goes_on(
        "it returns a proxy that refuses", body("return { held: hostile() }", HOSTILE), "what it returned"
    ),
    goes_on(
        "it returns a generator",
        "export default function* handler() { yield 1; }",
        "what it returned",
        out="",
    ),
)
EVENT = row(
    "event cleared, retyped, frozen",
    goes_on(
        "the event is cleared",
        body("for (const name of Object.keys(event)) { try { delete event[name]; } catch {} }"),
    ),
    goes_on(
        "the event is retyped",
        body("event.messages = event.context = event.type = event.timestamp = null;"),
        spoils="messages",
    ),
    goes_on(
        "the event is of other types",
        body("event.messages = 'text'; event.context = [1]; event.type = 7; event.timestamp = {};"),
        spoils="messages",
    ),
    goes_on(
        "its messages are cleared", body("event.messages.length = 0; event.context = {}; event.type = '';")
    ),
    goes_on("the event is frozen", body("Object.freeze(event);")),
    goes_on("all of the event is frozen", body("Object.freeze(event.context); Object.freeze(event);")),
    goes_on(
        "its messages are a proxy",
        body("event.messages = new Proxy([], { get() { throw 1; } });"),
        spoils="messages",
    ),
    goes_on(
        "its members throw",
        body(
            "for (const name of ['type', 'context']) try { Object.defineProperty(event, name, "
            "{ get() { throw 1; } }); } catch {}"
        ),
    ),
    goes_on("extra keys", body("event.extra = 1; event[Symbol('s')] = 2; event.more = () => {};")),
    goes_on(
        "its prototype is another",
        body("Object.setPrototypeOf(event, new Proxy({}, { get() { throw 1; } }));"),
    ),
)
PATCHES = row(
    "frozen prototypes; JSON.stringify, Promise patched",
    goes_on("Object.prototype is frozen", body("Object.freeze(Object.prototype);")),
    goes_on("Array.prototype is frozen", body("Object.freeze(Array.prototype);")),
    goes_on(
        "everything is frozen",
        body(
            "for (const name of Object.getOwnPropertyNames(globalThis)) { try { "
            "Object.freeze(globalThis[name]); Object.freeze(globalThis[name].prototype); } catch {} }"
        ),
    ),
    goes_on("JSON replaced", body("JSON.stringify = JSON.parse = () => { throw 1; };")),
    goes_on("JSON is gone", body("globalThis.JSON = undefined;")),
    goes_on("Promise replaced", body("globalThis.Promise = class { constructor() { throw 1; } };")),
    goes_on(
        "Promise.prototype.then replaced",
        body(
            "Promise.prototype.then = Promise.prototype.catch = function () { return new Promise(() "
            "=> {}); };"
        ),
    ),
    goes_on(
        "Array's methods replaced",
        body(
            "for (const name of ['push', 'map', 'shift', 'filter', 'concat', 'join', "
            "'slice']) Array.prototype[name] = () => { throw 1; };"
        ),
    ),
    goes_on(
        "iteration replaced",
        body(
            "Array.prototype[Symbol.iterator] = function* () {}; "
            "Map.prototype[Symbol.iterator] = () => { throw 1; };"
        ),
    ),
    goes_on(
        "maps and sets replaced",
        body(
            "Map.prototype.get = Map.prototype.set = Set.prototype.has = WeakMap.prototype.get = () "
            "=> { throw 1; };"
        ),
    ),
    goes_on(
        "buffers replaced",
        body(
            "Buffer.from = Buffer.concat = Buffer.alloc = () => { throw 1; }; "
            "Uint8Array.prototype.subarray = null;"
        ),
    ),
    goes_on(
        "Reflect and Object replaced",
        body(
            "Reflect.apply = Reflect.ownKeys = Object.keys = Object.entries = Object.defineProperty "
            "= () => { throw 1; };"
        ),
    ),
    goes_on(
        "functions cannot be called",
        body(
            "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { "
            "throw 1; };"
        ),
    ),
    goes_on(
        "timers replaced",
        body(
            "globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = () => { "
            "throw 1; };"
        ),
    ),
    goes_on(
        "setters on Object.prototype",
        body(
            "for (const name of ['id', 'error', 'then', 'do', 'name', "
            "'status']) Object.defineProperty(Object.prototype, name, { set() { throw 1; "
            "}, get() { throw 2; }, configurable: true });"
        ),
    ),
    goes_on(
        "setters that stay on Object.prototype",
        body(
            "Object.defineProperty(Object.prototype, 'error', { set() { throw 1; }, configurable: false });"
        ),
    ),
    goes_on(
        "toJSON on Object.prototype",
        body("Object.prototype.toJSON = String.prototype.toJSON = () => { throw 1; };"),
    ),
    goes_on(
        "process emptied",
        body(
            "for (const name of Object.getOwnPropertyNames(process)) { try { delete process[name]; "
            "} catch {} }"
        ),
    ),
    goes_on(
        "the global object emptied",
        body(
            "for (const name of Object.getOwnPropertyNames(globalThis)) { try { delete "
            "globalThis[name]; } catch {} }"
        ),
    ),
    goes_on(
        "fs replaced",
        body("for (const name of Object.keys(fs)) { try { fs[name] = () => { throw 1; }; } catch {} }", FS),
    ),
    goes_on(
        "async hooks that throw",
        body(
            "createHook({ init() { throw new Error('hook'); }, before() { throw 1; } });",
            "import { createHook } from 'node:async_hooks';",
        ),
    ),
    goes_on(
        "its module loader replaced",
        body(
            "Module._load = Module._resolveFilename = () => { throw 1; }; Module._cache = {};",
            "import Module from 'node:module';",
        ),
    ),
    goes_on(
        "the modules that CommonJS keeps emptied, and its loader replaced",
        body(
            "for (const file of Object.getOwnPropertyNames(Module._cache)) "
            "Reflect.deleteProperty(Module._cache, file); "
            "Module._extensions['.js'] = () => { throw 1; };",
            "import Module from 'node:module';",
        ),
    ),
    goes_on(
        "loader hooks of its own",
        body(
            "module.registerHooks({ resolve() { throw new Error('resolve'); "
            "}, load() { throw new Error('load'); } });",
            "import module from 'node:module';",
        ),
    ),
)
STREAMS = row(
    "process.stdout replaced; descriptors closed; junk on them",
    goes_on(
        "process.stdout.write replaced",
        body("process.stdout.write = process.stderr.write = () => { throw 1; };"),
    ),
    goes_on("process.stdout replaced", body("Object.defineProperty(process, 'stdout', { value: null });")),
    goes_on("console replaced", body("globalThis.console = null;")),
    goes_on("console.log replaced", body("console.log = console.error = () => { throw 1; };")),
    goes_on("process.stdout ended", body("process.stdout.end(); process.stderr.end();")),
    goes_on(
        "process.stdout destroyed", body("process.stdout.destroy(); process.stderr.destroy(new Error('x'));")
    ),
    goes_on("fs.closeSync(1)", body("fs.closeSync(1);", FS)),
    goes_on("the standard streams closed", body("for (const number of [0, 1, 2]) fs.closeSync(number);", FS)),
    goes_on(
        "standard input is read",
        body(
            "if (fs.readFileSync(0, 'utf8') !== '') throw 1; for await (const _ of process.stdin) throw 2;",
            FS,
        ),
    ),
    dies(
        "all descriptors closed",
        body(
            "for (let number = 0; number < 1024; number += 1) { try { fs.closeSync(number); } catch {} }", FS
        ),
    ),
    dies(
        "junk on all descriptors",
        body(EACH % "fs.writeSync(number, 'junk'.repeat(9))", FS),
        "before it answered",
    ),
    dies(
        "a frame of four gigabytes on all descriptors",
        body(EACH % (JUNK % "255, 255, 255, 255"), FS),
        "before it answered",
    ),
    goes_on(
        "a hundred megabytes",
        body("for (let n = 0; n < 1000; n += 1) console.log('x'.repeat(100_000));"),
        "bytes of standard output were omitted",
    ),
    goes_on(
        "a hundred megabytes at once",
        body("process.stderr.write('x'.repeat(100_000_000));"),
        "bytes of standard error were omitted",
    ),
    goes_on(
        "a hundred megabytes of a child",
        body("spawnSync('head', ['-c', '100000000', '/dev/zero'], { stdio: 'inherit' });", PROGRAMS),
        "bytes of standard output were omitted",
    ),
    hangs(
        "printing for ever",
        body("for (;;) console.log('x'.repeat(1000));"),
        STOPPED,
        "bytes of standard output were omitted",
    ),
    goes_on(
        "what is not text",
        body("process.stdout.write(Buffer.from(Array.from({ length: 25_600 }, (_, n) => n % 256)));"),
    ),
    goes_on(
        "two thousand descriptors left open",
        body("for (let n = 0; n < 2000; n += 1) { try { fs.openSync('/dev/null'); } catch { break; } }", FS),
    ),
)
SURROUNDINGS = row(
    "chdir, env cleared",
    goes_on(
        "it moves away",
        body("process.chdir('/'); for (const name of Object.keys(process.env)) delete process.env[name];"),
    ),
    goes_on(
        "its folder is gone",
        body(
            "const folder = fs.mkdtempSync('gone-'); process.chdir(folder); fs.rmdirSync('../' + folder);", FS
        ),
    ),
    goes_on("process.env replaced", body("process.env = {}; process.argv = null; process.execArgv = 7;")),
    goes_on(
        "it moves away at import",
        at_import(
            "process.chdir('/'); for (const name of Object.keys(process.env)) delete process.env[name];"
        ),
    ),
    goes_on("no file may be read by anybody", body("process.umask(0o777);")),
)
PROCESSES = row(
    "child processes; worker threads; timers left running",
    Fault(
        "a daemon in a session of its own",
        body(DAEMON, PROGRAMS),
        "ok",
        None,
        ("it left `sleep 4723`", "running outside of its process group; Hookscope kills what it left when"),
        only_linux=TELLS,
        file=FILE,
    ),
    Fault(
        "a daemon, then an end",
        body(DAEMON + "process.exit(7);", PROGRAMS),
        "crashed",
        "Crashed",
        ("it left `sleep 4723`", "exited with status 7"),
        only_linux=TELLS,
        file=FILE,
    ),
    Fault(
        "a daemon, then a loop",
        body(DAEMON + "for (;;) {}", PROGRAMS),
        "timeout",
        "Timeout",
        ("it left `sleep 4723`", STOPPED),
        limit=SHORT,
        only_linux=TELLS,
        file=FILE,
    ),
    goes_on(
        "a child that keeps standard output",
        body("spawn('sleep', ['4725'], { stdio: 'inherit' });", PROGRAMS),
        "it left 1 process running",
    ),
    goes_on(
        "thirty children",
        body("for (let n = 0; n < 30; n += 1) spawn('sleep', ['4726'], { stdio: 'ignore' });", PROGRAMS),
        "it left 30 processes running",
    ),
    goes_on(
        "a child that prints for ever",
        body("spawn('yes', [], { stdio: ['ignore', 2, 'ignore'] });", PROGRAMS),
        "it left 1 process running",
    ),
    goes_on(
        "a program that is not there",
        body("spawn('no-such-program');", PROGRAMS),
        later="bad failed after it had returned",
    ),
    goes_on("a thread that loops", body("new Worker('for (;;) {}', { eval: true });", THREADS), "it left"),
    raises(
        "a thread that fails, during",
        body(
            "new Worker('throw new Error(`in a thread`)', { eval: true }); await new Promise(() => {});",
            THREADS,
        ),
        "Error",
        "in a thread",
    ),
    goes_on(
        "a thread that fails", body("new Worker('throw new Error(`in a thread`)', { eval: true });", THREADS)
    ),
    goes_on("a thread that exits", body("new Worker('process.exit(3)', { eval: true });", THREADS)),
    goes_on("an interval", body("setInterval(() => {}, 1);"), "it left 1 timer running"),
    goes_on(
        "an interval that fails each time",
        body("setInterval(() => { throw new Error('again'); }, 1);"),
        "it left 1 timer running",
        later="bad failed after it had returned: Error: again",
    ),
    goes_on(
        "a server",
        body(
            "await new Promise((listens) => net.createServer().listen(0, '127.0.0.1', listens));",
            "import net from 'node:net';",
        ),
        "it left 1 server running",
    ),
    goes_on(
        "an inspector", body("inspector.open(0, '127.0.0.1');", "import inspector from 'node:inspector';")
    ),
)
LOADS = row(
    "syntax error; missing import; import that exits or hangs; no default export; class; TypeScript",
    at_load(raises("a syntax error", "export default function (event {\n", "SyntaxError", out="")),
    common_js(
        at_load(
            raises(
                "a syntax error in CommonJS", "module.exports = function (event {\n", "SyntaxError", out=""
            )
        )
    ),
    goes_on(
        "a missing import",
        'import { a } from "no-such-package";\n' + body("a?.name;"),
        "no-such-package is not installed here: a was stubbed; run `npm install no-such-package` in the "
        "handler's folder or above it",
    ),
    raises(
        "a missing import that is used",
        'import { a } from "no-such-package";\n' + body("a();"),
        "NotInstalled",
        "no-such-package",
    ),
    at_load(
        raises(
            "a missing import of its own",
            'import "./missing.mjs";\nexport default () => {};\n',
            None,
            "missing.mjs",
            out="",
        )
    ),
    raises("a missing import, later", body("await import('no-such-package');"), None, "no-such-package"),
    common_js(
        at_load(
            raises(
                "a missing require",
                "console.log('before'); require('no-such-package');",
                None,
                "no-such-package",
            )
        )
    ),
    at_load(raises("an import that throws", at_import("throw new Error('at once');"), "Error", "at once")),
    at_load(raises("an import that throws null", at_import("throw null;"))),
    at_load(
        raises(
            "an import that rejects",
            at_import("await Promise.reject(new Error('at once'));"),
            "Error",
            "at once",
        )
    ),
    at_load(dies("an import that exits", at_import("process.exit(5);"), "exited with status 5")),
    at_load(
        raises(
            "no default export",
            "console.log('before');\nexport const other = () => {};\n",
            None,
            "has no default export; it exports `other`",
        )
    ),
    at_load(raises("an empty file", "", None, "has no default export", out="")),
    at_load(
        raises(
            "a class",
            "console.log('before');\nexport default class Handler {}\n",
            None,
            "is a class; a handler is a function",
        )
    ),
    at_load(
        raises("a number", "console.log('before');\nexport default 7;\n", None, "is a number, not a function")
    ),
    raises(
        "a proxy",
        "console.log('before');\nexport default new Proxy(function () {}, "
        "{ apply() { throw new Error('applied'); } });\n",
        "Error",
        "applied",
    ),
    *(
        Fault(
            name,
            at_import(lines),
            "timeout",
            "Timeout",
            ("did not load within 1 s and was stopped",),
            bound=1.0 + GRACE,
            load_limit=1.0,
            phase="load",
            file=FILE,
        )
        for name, lines in (
            ("an import that loops", "for (;;) {}"),
            ("an import that never settles", "await new Promise(() => {});"),
            (
                "an import that never settles, beside a timer",
                "setInterval(() => {}, 10); await new Promise(() => {});",
            ),
            (
                "an import that stops itself",
                "process.kill(process.pid, 'SIGSTOP'); await new Promise(() => {});",
            ),
        )
    ),
    typescript(
        goes_on(
            "an enum",
            "enum Colour { Red }\nexport default (event: unknown) => { console.log('before'); "
            "return Colour.Red; };\n",
        )
    ),
    typescript(
        at_load(
            raises(
                "a decorator", "@sealed\nclass A {}\nexport default (event: unknown) => {};\n", None, out=""
            )
        )
    ),
    typescript(
        at_load(
            raises("a syntax error in TypeScript", "export default (event: ) => {};\n", "SyntaxError", out="")
        )
    ),
    typescript(
        raises(
            "an error in TypeScript",
            "interface A { a: 1 }\nexport default (event: A): void => {\n"
            "  console.log('before'); throw new Error('typed');\n};\n",
            "Error",
            "typed",
        )
    ),
)
ATTACKS = row(
    "the worker's own program is attacked",
    raises("its modules are imported", body('await import("./runner.cjs");'), None, "runner.cjs"),
    raises(
        "its listeners are called",
        body(
            "for (const one of process.rawListeners('uncaughtException')) one(new Error('called')); "
            "await new Promise(() => {});"
        ),
        "Error",
        "called",
    ),
    dies(
        "its sockets are paused",
        body(
            "for (const one of process._getActiveHandles()) { one.pause?.(); one.unref?.(); "
            "} await new Promise(() => {});"
        ),
    ),
    goes_on(
        "its sockets are unreferenced", body("for (const one of process._getActiveHandles()) one.unref?.();")
    ),
    dies(
        "its sockets are destroyed",
        body("for (const one of process._getActiveHandles()) one.destroy?.(); await new Promise(() => {});"),
    ),
)
CANCELS = row(
    "cancelled",
    cancelled("a loop is cancelled", body(HERE + "for (;;) {}", FS)),
    cancelled("a promise is cancelled", body(HERE + "await new Promise(() => {});", FS)),
    cancelled(
        "what has stopped itself is cancelled",
        body(HERE + "process.kill(process.pid, 'SIGSTOP'); await new Promise(() => {});", FS),
    ),
    cancelled(
        "what prints for ever is cancelled", body(HERE + "for (;;) console.log('x'.repeat(1000));", FS)
    ),
    replace(
        cancelled("what has a daemon is cancelled", body(DAEMON + HERE + "for (;;) {}", FS + PROGRAMS)),
        only_linux=TELLS,
    ),
    cancelled("an import is cancelled", FS + at_import(HERE + "await new Promise(() => {});")),
)

FAULTS: tuple[Fault, ...] = (
    *HANGS,
    *WAITS,
    *THROWS,
    *ESCAPES,
    *LEAVES,
    *MEMORY_ROW,
    *RECURSION,
    *MESSAGES,
    *EVENT,
    *PATCHES,
    *STREAMS,
    *SURROUNDINGS,
    *PROCESSES,
    *LOADS,
    *ATTACKS,
    *CANCELS,
)
