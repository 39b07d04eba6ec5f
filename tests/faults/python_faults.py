"""The fault matrix for Python: each way in which a handler can fail, once, and its result."""

import sys
from dataclasses import replace
from textwrap import dedent, indent

from tests.faults.conftest import GRACE, SHORT, TELLS, Fault, Spoils, at_load, row

from hookscope.model.run import Status
from hookscope.runtime.limits import MIB

MEMORY = 400 * MIB
COUNTED = "only Linux tells which processes a handler has left running"
ADDRESSES = "only Linux limits how much memory a process may ask for"
STOPPED = f"did not answer within {SHORT:g} s and was stopped"

# It says that it lives, and needs what handlers need: streams, files, signals, tasks, a whole process.
HEALTHY = """
import asyncio, io, json, os, re, signal, sys, threading, time, warnings

async def handler(event):
    if os.path.exists("go"):  # a FIFO that a thread waits for, in the worker of the other hook
        open("go", "w").close()
        os.unlink("go")
    assert json.loads(json.dumps({"a": [1, "x"]})) == {"a": [1, "x"]}
    assert os.getcwd() == os.environ["FAULTS_CWD"] and time.monotonic() > 0
    assert type(sys.stdout) is io.TextIOWrapper and sys.stdout.fileno() == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sys.gettrace() is None and sys.getrecursionlimit() >= 900
    assert await asyncio.to_thread(len, "four") == 4
    warnings.warn("this is a warning")
    await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0)), asyncio.ensure_future(asyncio.sleep(0))])
    with open("written", "w") as file:
        file.write(re.sub("a+", "b", "caaad"))
    assert open("written").read() == "cbd" and os.stat("written").st_mode & 0o600 == 0o600
    if type(event.messages) is list:  # what another handler puts there is there: they share the event
        event.messages.append("fine")
    print("healthy")
    return "fine"
"""


def body(lines: str, top: str = "", *, is_async: bool = False) -> str:
    """A handler of these lines, which prints a word before them."""
    inside = indent(dedent(lines).strip(), "    ")
    return f'{dedent(top)}\n{"async " * is_async}def handler(event):\n    print("before")\n{inside}\n'


def coroutine(lines: str, top: str = "") -> str:
    """The same with `async`, and with asyncio."""
    return body(lines, "import asyncio\n" + dedent(top), is_async=True)


def at_import(lines: str) -> str:
    """A file that does these things when it is imported."""
    return f'print("before", flush=True)\n{dedent(lines)}\ndef handler(event): pass\n'


def hangs(name: str, source: str, *says: str) -> Fault:
    return Fault(name, source, "timeout", "Timeout", says or (STOPPED,), bound=SHORT + GRACE, limit=SHORT)


def raises(name: str, source: str, error_type: str | None = None, *says: str, out: str = "before") -> Fault:
    return Fault(name, source, "error", error_type, says, out)


def dies(name: str, source: str, *says: str) -> Fault:
    return Fault(name, source, "crashed", "Crashed", says, bound=GRACE)


def goes_on(name: str, source: str, *says: str, out: str = "before", spoils: Spoils = "nothing") -> Fault:
    """No fault of the handler's, or one that is put right behind it."""
    only_linux = COUNTED if "process" in "".join(says) else ""
    return Fault(name, source, "ok", None, says, out, spoils=spoils, only_linux=only_linux)


def cancelled(name: str, source: str) -> Fault:
    return Fault(name, source, "cancelled", "Cancelled", ("the run was cancelled",))


HERE = 'open("here", "w").close()\n'
DAEMON = """
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "4713"])
    os._exit(0)
os.close(write)
os.read(read, 1)  # its end: then the daemon has become another program
os.close(read)
os.wait()
"""
RECURSES_IN_C = """
import threading
def again(_=None):
    sorted([1], key=again)
threading.stack_size(64 * 1024)
thread = threading.Thread(target=again)
thread.start()
thread.join()
"""
HOSTILE = """
class Hostile:
    def refuse(self, *args, **kwargs): raise SystemExit("hostile")
    __str__ = __repr__ = __iter__ = __len__ = __eq__ = __getattribute__ = __bool__ = refuse
    __hash__ = object.__hash__
    @property
    def __class__(self): raise KeyboardInterrupt
class HostileText(str):
    def refuse(self, *args, **kwargs): raise SystemExit("hostile")
    __str__ = __repr__ = __iter__ = __len__ = __eq__ = encode = __getitem__ = refuse
    __hash__ = object.__hash__
class HostileDict(dict):
    def refuse(self, *args, **kwargs): raise SystemExit("hostile")
    __iter__ = __len__ = __eq__ = items = keys = values = __getitem__ = refuse
"""
WORKER = (
    "import gc, sys\nworker, line = sys.modules['__main__'], sys.modules['_hookscope_worker.host_line']\n"
)

HANGS = row(
    "sync loop; async loop without await; time.sleep; regex blow-up",
    hangs("a loop", body("while True: pass")),
    hangs("a loop in a coroutine", coroutine("while True: pass")),
    hangs("a sleep", body("import time; time.sleep(60)")),
    hangs("a sleep in a coroutine", coroutine("import time; time.sleep(60)")),
    hangs("a regex that keeps the interpreter", body("import re; re.match('(a+)+$', 'a' * 60 + 'b')")),
    hangs("a sum that keeps the interpreter", body("sum(iter(int, 1))")),
    hangs(
        "a lock that it holds itself",
        body("lock.acquire(); lock.acquire()", "import _thread\nlock = _thread.allocate_lock()"),
    ),
    hangs("a pipe that nobody writes to", body("import os; os.read(os.pipe()[0], 1)")),
    hangs("a program that does not end", body("import subprocess; subprocess.run(['sleep', '4714'])")),
    hangs(
        "a thread that does not end",
        body(
            "thread = threading.Thread(target=time.sleep, args=(60,)); thread.start(); thread.join()",
            "import threading, time",
        ),
    ),
    hangs(
        "an error that is caught for ever",
        body("""
        while True:
            try: 1 / 0
            except BaseException: pass
    """),
    ),
    hangs(
        "a loop in what is printed",
        body("print(Loops())", "class Loops:\n    def __str__(self):\n        while True: pass"),
    ),
)
WAITS = row(
    "await for ever",
    hangs("an event that nobody sets", coroutine("await asyncio.Event().wait()")),
    hangs("a future that nobody settles", coroutine("await asyncio.get_running_loop().create_future()")),
    hangs("a long sleep", coroutine("await asyncio.sleep(60)")),
    hangs(
        "a cancel that is caught",
        coroutine("""
        while True:
            try: await asyncio.sleep(60)
            except asyncio.CancelledError: pass
    """),
    ),
    hangs(
        "a yield that never ends",
        coroutine("""
        while True: await asyncio.sleep(0)
    """),
    ),
    hangs(
        "a task that catches its cancel",
        coroutine("""
        async def stays():
            while True:
                try: await asyncio.sleep(60)
                except asyncio.CancelledError: pass
        task = asyncio.create_task(stays())
        await asyncio.sleep(0)
    """),
    ),
    hangs(
        "an executor whose work does not end",
        coroutine("""
        import time
        await asyncio.to_thread(time.sleep, 60)
    """),
    ),
    hangs(
        "an awaitable that waits in its own way",
        body(
            "return Waits()",
            """
        class Waits:
            def __await__(self):
                while True: pass
    """,
        ),
    ),
    hangs(
        "two coroutines that wait for each other",
        coroutine("""
        first = asyncio.get_running_loop().create_task(asyncio.sleep(0))
        tasks = []
        async def waits(other): await asyncio.sleep(0); await asyncio.wait([tasks[other]])
        tasks += [asyncio.create_task(waits(1)), asyncio.create_task(waits(0))]
        await asyncio.gather(*tasks)
    """),
    ),
)
SIGNALS = row(
    "SIGTERM ignored; SIGSTOP itself",
    hangs("SIGTERM ignored", body("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)")),
    hangs(
        "every signal blocked",
        body(
            "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
            "while True: pass"
        ),
    ),
    hangs(
        "every signal ignored",
        body("""
        import signal, time
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        time.sleep(60)
    """),
    ),
    hangs("it stops itself", body("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")),
    hangs("it stops its group", body("import os, signal; os.killpg(0, signal.SIGSTOP)")),
    raises(
        "it interrupts itself",
        body("import os, time; os.kill(os.getpid(), 2); time.sleep(5)"),
        "KeyboardInterrupt",
    ),
    dies(
        "it terminates itself",
        body("import os; os.kill(os.getpid(), 15)"),
        "was killed by signal 15 (SIGTERM)",
    ),
    dies(
        "an alarm",
        body("import signal; signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()"),
        "was killed by signal 14 (SIGALRM)",
    ),
    goes_on(
        "signal handlers are installed",
        body("""
        import signal
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, lambda *_: 1 / 0)
        signal.alarm(60)
    """),
    ),
    goes_on(
        "SIGINT is ignored and an alarm is set",
        body("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.alarm(1)"),
    ),
    goes_on(
        "a signal wakes a descriptor",
        body(
            "import os, signal; signal.set_wakeup_fd(nowhere())",
            """
        import os
        def nowhere():
            descriptor = os.open("/dev/null", os.O_WRONLY)
            os.set_blocking(descriptor, False)
            return descriptor
    """,
        ),
    ),
)
RAISES = row(
    "sys.exit, KeyboardInterrupt, CancelledError, BaseException, StopIteration, GeneratorExit, "
    "ExceptionGroup",
    raises("sys.exit", body("import sys; sys.exit(3)"), "SystemExit", "3"),
    raises("sys.exit(0)", body("import sys; sys.exit(0)"), "SystemExit", "0"),
    raises(
        "sys.exit in a coroutine",
        coroutine("import sys; await asyncio.sleep(0); sys.exit('gone')"),
        "SystemExit",
        "gone",
    ),
    raises(
        "sys.exit in a task",
        coroutine("""
        import sys
        async def leaves(): sys.exit(5)
        await asyncio.create_task(leaves())
    """),
        "SystemExit",
        "5",
    ),
    goes_on(
        "sys.exit in a thread",
        body("import sys, threading; t = threading.Thread(target=sys.exit); t.start(); t.join()"),
    ),
    raises("quit()", body("quit()"), "SystemExit"),
    raises("KeyboardInterrupt", body("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    raises(
        "KeyboardInterrupt in a coroutine",
        coroutine("await asyncio.sleep(0); raise KeyboardInterrupt"),
        "KeyboardInterrupt",
    ),
    raises(
        "interrupt_main",
        body("import _thread\n_thread.interrupt_main()\nfor _ in range(10**9): pass"),
        "KeyboardInterrupt",
    ),
    raises("CancelledError", body("import asyncio; raise asyncio.CancelledError"), "CancelledError"),
    raises("CancelledError in a coroutine", coroutine("raise asyncio.CancelledError"), "CancelledError"),
    raises(
        "it cancels itself",
        coroutine("asyncio.current_task().cancel(); await asyncio.sleep(0)"),
        "CancelledError",
    ),
    raises(
        "it cancels all tasks",
        coroutine("[task.cancel() for task in asyncio.all_tasks()]; await asyncio.sleep(0)"),
        "CancelledError",
    ),
    raises("BaseException", body("raise BaseException('odd')"), "BaseException", "odd"),
    raises("a class of its own", body("raise Odd('very')", "class Odd(BaseException): pass"), "Odd", "very"),
    raises("StopIteration", body("next(iter(()))"), "StopIteration"),
    raises(
        "StopIteration in a coroutine", coroutine("raise StopIteration(7)"), "RuntimeError", "StopIteration"
    ),
    raises("StopAsyncIteration in a coroutine", coroutine("raise StopAsyncIteration"), "StopAsyncIteration"),
    raises("GeneratorExit", body("raise GeneratorExit"), "GeneratorExit"),
    raises(
        "GeneratorExit in a coroutine",
        coroutine("await asyncio.sleep(0); raise GeneratorExit"),
        "GeneratorExit",
    ),
    raises(
        "ExceptionGroup",
        body("raise ExceptionGroup('two', [KeyError('a'), ExceptionGroup('in', [OSError('b')])])"),
        "ExceptionGroup",
        "two (2 sub-exceptions)",
    ),
    raises(
        "BaseExceptionGroup",
        body("raise BaseExceptionGroup('one', [KeyboardInterrupt()])"),
        "BaseExceptionGroup",
        "one",
    ),
    raises(
        "a group of ten thousand",
        body("raise ExceptionGroup('many', [KeyError(n) for n in range(10_000)])"),
        "ExceptionGroup",
        "many",
    ),
    raises(
        "a task group that fails",
        coroutine("""
        async def fails(): raise KeyError("inside")
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(asyncio.sleep(60))
    """),
        "ExceptionGroup",
    ),
    raises("what it raises is not an exception", body("raise 'text'"), "TypeError"),
    raises(
        "an error that causes itself",
        body("error = KeyError('x'); error.__cause__ = error; raise error"),
        "KeyError",
    ),
    raises(
        "its errors form a ring",
        body("""
        first, second = KeyError("first"), KeyError("second")
        first.__context__, second.__context__ = second, first
        raise first from second
    """),
        "KeyError",
    ),
    goes_on(
        "a task that fails and is not awaited",
        coroutine("""
        async def fails(): raise KeyError("nobody asks")
        asyncio.create_task(fails())
        await asyncio.sleep(0)
    """),
    ),
    goes_on("a coroutine that is not awaited", coroutine("asyncio.sleep(60)")),
    goes_on(
        "tasks left unfinished",
        coroutine("tasks = [asyncio.create_task(asyncio.sleep(60)) for _ in range(100)]"),
        "it left 100 asyncio tasks unfinished",
    ),
    raises(
        "it stops the loop",
        coroutine("asyncio.get_running_loop().stop(); await asyncio.sleep(60)"),
        "RuntimeError",
    ),
    raises("it closes the loop", coroutine("asyncio.get_running_loop().close()"), "RuntimeError"),
    raises(
        "asyncio.run in a coroutine",
        coroutine("work = asyncio.sleep(0)\ntry: asyncio.run(work)\nfinally: work.close()"),
        "RuntimeError",
    ),
    goes_on(
        "asyncio.run in a function",
        body("import asyncio; asyncio.run(asyncio.sleep(0)); asyncio.set_event_loop(None)"),
    ),
)
LEAVES = row(
    "os._exit; SIGKILL; import that exits",
    dies("os._exit(7)", body("import os; os._exit(7)"), "exited with status 7 before it answered"),
    dies("os._exit(0)", body("import os; os._exit(0)"), "exited with status 0 before it answered"),
    dies(
        "os._exit in a coroutine",
        coroutine("import os; await asyncio.sleep(0); os._exit(9)"),
        "exited with status 9",
    ),
    dies(
        "os._exit in a thread",
        body(
            "import os, threading, time; threading.Thread(target=os._exit, args=(6,)).start(); time.sleep(60)"
        ),
        "exited with status 6",
    ),
    dies("SIGKILL", body("import os; os.kill(os.getpid(), 9)"), "was killed by signal 9 (SIGKILL)"),
    dies("SIGKILL to its group", body("import os; os.killpg(0, 9)"), "was killed by signal 9 (SIGKILL)"),
    dies(
        "a child kills it",
        body(
            "import os, subprocess, time; subprocess.Popen(['kill', '-9', str(os.getpid())]); time.sleep(60)"
        ),
        "was killed by signal 9 (SIGKILL)",
    ),
    dies(
        "another program takes its place",
        body("import os; os.execvp('true', ['true'])"),
        "exited with status 0",
    ),
    at_load(raises("an import that exits", at_import("import sys; sys.exit(4)"), "SystemExit", "4")),
    at_load(dies("an import that exits hard", at_import("import os; os._exit(5)"), "exited with status 5")),
    at_load(
        dies(
            "an import that kills",
            at_import("import os; os.kill(os.getpid(), 9)"),
            "was killed by signal 9 (SIGKILL)",
        )
    ),
    at_load(
        raises("an import that is interrupted", at_import("raise KeyboardInterrupt"), "KeyboardInterrupt")
    ),
)
CRASHES = row(
    "segfault; abort; C-stack recursion",
    dies("a segfault", body("import ctypes; ctypes.string_at(0)"), "was killed by signal 11 (SIGSEGV)"),
    dies(
        "a segfault in a thread",
        body(
            "import ctypes, threading, time; "
            "threading.Thread(target=ctypes.string_at, args=(0,)).start(); time.sleep(60)"
        ),
        "was killed by signal 11 (SIGSEGV)",
    ),
    dies(
        "a segfault without faulthandler",
        body("import ctypes, faulthandler; faulthandler.disable(); ctypes.string_at(0)"),
        "was killed by signal 11 (SIGSEGV)",
    ),
    at_load(
        dies(
            "a segfault at import",
            at_import("import ctypes; ctypes.string_at(0)"),
            "was killed by signal 11 (SIGSEGV)",
        )
    ),
    dies("an abort", body("import os; os.abort()"), "was killed by signal 6 (SIGABRT)"),
    dies(
        "a fatal error of the interpreter",
        body("import ctypes; ctypes.pythonapi.Py_FatalError(b'enough')"),
        "was killed by signal 6 (SIGABRT)",
    ),
    goes_on("a recursion on the C stack", body(RECURSES_IN_C))  # an error of its thread alone
    if sys.version_info >= (3, 14)
    else dies("a recursion on the C stack", body(RECURSES_IN_C), "was killed by signal 11 (SIGSEGV)"),
    dies(
        "an object taken away",
        body("import ctypes; ctypes.memset(id(None), 0, 16); print([None] * 9)"),
        "was killed by signal",
    ),
)
PROCESSES = row(
    "fork bomb; double-forked daemon with setsid; child keeps stdout open",
    goes_on(
        "sixty children",
        body("""
        import os, time
        for _ in range(60):
            if not os.fork():
                time.sleep(60)
                os._exit(0)
    """),
        "it left 60 processes running",
    ),
    goes_on(
        "sixty children of children",
        body("""
        import os, time
        read, write = os.pipe()
        for _ in range(60):
            if os.fork():
                break
        os.write(write, b"x")
        time.sleep(60) if os.getpid() != os.getpgrp() else None
        for _ in range(60):
            os.read(read, 1)
    """),
        "process",
    ),
    hangs(
        "children for ever",
        body("""
        import os, time
        while True:
            if not os.fork():
                os._exit(0)
            os.wait()
    """),
    ),
    Fault(
        "a daemon in a session of its own",
        body(DAEMON, "import os"),
        "ok",
        None,
        ("it left `sleep 4713`", "running outside of its process group; Hookscope kills what it left when"),
        only_linux=TELLS,
    ),
    Fault(
        "thirty daemons",
        body("for _ in range(30):\n" + indent(DAEMON, "    "), "import os"),
        "ok",
        None,
        ("and 26 more running outside",),
        only_linux=TELLS,
    ),
    Fault(
        "a daemon, then a crash",
        body(DAEMON + "os._exit(7)", "import os"),
        "crashed",
        "Crashed",
        ("it left `sleep 4713`", "exited with status 7"),
        only_linux=TELLS,
    ),
    Fault(
        "a daemon, then a loop",
        body(DAEMON + "while True: pass", "import os"),
        "timeout",
        "Timeout",
        ("it left `sleep 4713`", STOPPED),
        limit=SHORT,
        only_linux=TELLS,
    ),
    Fault(
        "a daemon at import",
        at_import("import os\n" + DAEMON),
        "ok",
        None,
        ("it left `sleep 4713`",),
        only_linux=TELLS,
    ),
    Fault(
        "a daemon in a group of its own",
        body("import subprocess; subprocess.Popen(['sleep', '4715'], process_group=0)"),
        "ok",
        None,
        ("it left `sleep 4715`",),
        only_linux=TELLS,
    ),
    goes_on(
        "a child that keeps stdout open",
        body("import subprocess; subprocess.Popen(['sleep', '4716'])"),
        "it left 1 process running",
    ),
    goes_on(
        "a child that keeps every descriptor open",
        body("import subprocess; subprocess.Popen(['sleep', '4716'], close_fds=False)"),
        "it left 1 process running",
    ),
    goes_on(
        "a child that stops itself",
        body("import os, signal\nif not os.fork(): os.kill(os.getpid(), signal.SIGSTOP)"),
        "it left 1 process running",
    ),
    goes_on("a child that nobody reaps", body("import os\nif not os.fork(): os._exit(0)")),
    goes_on("a fork that comes back", body("import os\nif not os.fork(): return")),
    raises(
        "a fork that fails on both sides", body("import os; os.fork(); raise KeyError('both')"), "KeyError"
    ),
    goes_on(
        "a fork in a coroutine that comes back", coroutine("import os\nawait asyncio.sleep(0)\nos.fork()")
    ),
    goes_on(
        "a pool of processes left open",
        body("import multiprocessing; multiprocessing.get_context('fork').Process(target=print).start()"),
    ),
    raises("os.setsid", body("import os; os.setsid()"), "PermissionError"),
)
GREEDY: dict[str, tuple[str, Status]] = {
    "a gigabyte at once": (body("bytearray(1 << 30)"), "error"),
    "a text of a terabyte": (body("'x' * (1 << 40)"), "error"),
    "a leak in megabytes": (body("kept = []\nwhile True: kept.append(bytearray(1 << 20))"), "error"),
    "a leak in small pieces": (body("kept = []\nwhile True: kept.append([0] * 500)"), "error"),
    "a leak that stays": (body("while True: KEPT.append(bytearray(1 << 20))", "KEPT = []"), "error"),
    "a leak in small pieces that stays": (body("while True: KEPT.append([0] * 50)", "KEPT = []"), "error"),
    "a leak that is caught and stays": (
        body("try:\n    while True: KEPT.append(bytearray(1 << 20))\nexcept MemoryError: pass", "KEPT = []"),
        "ok",
    ),
    "an answer of half its memory": (body("return 'x' * (150 << 20)"), "ok"),
}


def greedy(name: str, source: str, status: Status) -> Fault:
    error_type = "MemoryError" if status == "error" else None
    return Fault(name, source, status, error_type, memory=MEMORY, only_linux=ADDRESSES)


MEMORY_ROW = row(
    "1 GB allocation; leak",
    *(greedy(name, source, status) for name, (source, status) in GREEDY.items()),
    at_load(
        greedy(
            "a leak at import", at_import("KEPT = []\nwhile True: KEPT.append(bytearray(1 << 20))"), "error"
        )
    ),
)
OUTPUT = row(
    "100 MB stdout; 100 MB from a child",
    goes_on(
        "a hundred megabytes",
        body("for _ in range(1000): print('x' * 100_000)"),
        "bytes of standard output were omitted",
    ),
    goes_on(
        "a hundred megabytes of errors",
        body("import sys\nfor _ in range(1000): print('x' * 100_000, file=sys.stderr)"),
        "bytes of standard error were omitted",
    ),
    goes_on(
        "a hundred megabytes at once",
        body("import os; os.write(1, b'x' * 100_000_000)"),
        "bytes of standard output were omitted",
    ),
    goes_on(
        "a hundred megabytes of a child",
        body("import subprocess; subprocess.run(['head', '-c', '100000000', '/dev/zero'])"),
        "bytes of standard output were omitted",
    ),
    goes_on(
        "ten million lines",
        body("import sys; sys.stdout.write('x\\n' * 10_000_000)"),
        "bytes of standard output were omitted",
    ),
    hangs(
        "printing for ever",
        body("while True: print('x' * 1000)"),
        STOPPED,
        "bytes of standard output were omitted",
    ),
    hangs(
        "a child that prints for ever",
        body("import subprocess; subprocess.run(['yes'])"),
        STOPPED,
        "bytes of standard output were omitted",
    ),
    goes_on(
        "a child that prints for ever, left running",
        body("import subprocess; subprocess.Popen(['yes'], stdout=2)"),
        "it left 1 process running",
    ),
    goes_on("what is not text", body("import os; os.write(1, bytes(range(256)) * 100)")),
    goes_on("half characters", body("print('\\ud800 \\udc80 \\x00 \\x1b[2J')")),
    Fault(
        "half a line, then a crash",
        body("import os; print('half a line', end=''); os._exit(3)"),
        "crashed",
        "Crashed",
        ("exited with status 3",),
        "half a line",
    ),
)
RECURSION = row(
    "deep recursion",
    raises("a recursion", body("handler(event)"), "RecursionError", "maximum recursion depth exceeded"),
    raises(
        "a recursion of two", "def other(event): handler(event)\n" + body("other(event)"), "RecursionError"
    ),
    raises("a recursion in a coroutine", coroutine("await handler(event)"), "RecursionError"),
    raises(
        "a recursion in __getattr__",
        body("Deep().x", "class Deep:\n    def __getattr__(self, name): return self.other"),
        "RecursionError",
    ),
    raises(
        "a recursion in the text of an error",
        body("raise Deep", "class Deep(Exception):\n    def __str__(self): return str(self)"),
        "Deep",
    ),
    goes_on(
        "lists a hundred thousand deep",
        body("inside = []\nfor _ in range(100_000): inside = [inside]\nevent.context['deep'] = inside"),
        "is nested more than 64 deep",
    ),
    raises(
        "the recursion limit is lowered",
        body("import sys; sys.setrecursionlimit(30); handler(event)"),
        "RecursionError",
        out="",
    ),
    goes_on("the recursion limit is left low", body("import sys; sys.setrecursionlimit(60)")),
    goes_on("the recursion limit is left high", body("import sys; sys.setrecursionlimit(10**9)")),
)
MESSAGES = row(
    "message: object, set, bytes, NaN, lone surrogate, circular, 50 MB, function",
    goes_on(
        "a message that is an object",
        body("event.messages.append(object())"),
        "messages[0] is an object, which JSON cannot hold",
    ),
    goes_on(
        "a message that is a set",
        body("event.messages.append({1, 'a', (2,)})"),
        "messages[0] is a set, shown as a list",
    ),
    goes_on(
        "a message that is bytes", body("event.messages.append(b'\\xff')"), "messages[0] is bytes, not text"
    ),
    goes_on(
        "a message that is NaN",
        body("event.messages += [float('nan'), float('inf')]"),
        "messages[0] is nan, which JSON cannot hold",
    ),
    goes_on(
        "a message of half a character",
        body("event.messages.append('\\ud83d')"),
        "messages[0] holds half a character",
    ),
    goes_on(
        "a message that holds itself",
        body("event.messages.append(event.messages)"),
        "messages[0] holds itself",
    ),
    goes_on(
        "a message of fifty megabytes", body("event.messages.append('x' * 50_000_000)"), "messages[0] was cut"
    ),
    goes_on(
        "a message of fifty megabytes of escapes",
        body("event.messages.append('\\x01' * 50_000_000)"),
        "messages[0] was cut",
    ),
    goes_on(
        "a message that is a function",
        body("event.messages.append(handler)"),
        "messages[0] is a function, which JSON cannot hold",
    ),
    goes_on(
        "a message that is a class",
        body("event.messages.append(dict)"),
        "messages[0] is a type, which JSON cannot hold",
    ),
    goes_on("a message that is None", body("event.messages.append(None)")),
    goes_on(
        "a message that is a number of a million digits",
        body("event.messages.append(1 << 4_000_000)"),
        "messages[0] is too large a number",
    ),
    goes_on(
        "a message that is an event",
        body("event.messages.append(event)"),
        "messages[0] is a HookEvent, which JSON cannot hold",
    ),
    goes_on("more messages than are kept", body("event.messages += ['x'] * 30_000"), "messages is cut short"),
    goes_on(
        "more of messages than is kept",
        body("event.messages += ['x' * 1_000_000] * 20"),
        "messages is cut short",
    ),
    goes_on(
        "messages of hostile classes",
        body("event.messages += [Hostile(), HostileText('x'), HostileDict(a=1)]", HOSTILE),
        "messages[0] could not be read",
    ),
    goes_on(
        "messages that grow while they are read",
        body(
            "event.messages.append(Grows(event))",
            """
        class Grows(dict):
            def __init__(self, event): self.event = event; self["x"] = 1
            def __iter__(self): self.event.messages.append("more"); return iter(())
            items = __iter__
    """,
        ),
        spoils="messages",
    ),
    goes_on(
        "a hundred megabytes in the context",
        body("event.context['large'] = ['x' * 1_000_000 for _ in range(100)]"),
        "is cut short",
    ),
    goes_on(
        "what JSON cannot hold in the context",
        body("""
        event.context.update(o=object(), s={1}, b=b"x", n=float("nan"), f=handler, t="\\udc80")
        event.context["c"] = event.context
        event.context[event.context["o"]] = event.context[None] = event.context[1.5] = 1
    """),
        "context.o is an object",
        "context.c holds itself",
        "context has an object as a key",
    ),
    goes_on("it returns fifty megabytes", body("return 'x' * 50_000_000"), "what it returned was cut"),
    goes_on(
        "it returns what JSON cannot hold",
        body("return [object(), {1}, handler]"),
        "what it returned[0] is an object",
    ),
    goes_on("it returns what is hostile", body("return Hostile()", HOSTILE)),
    raises(
        "it is a generator",
        body("yield 1"),
        "NeverRan",
        "`handler` contains `yield`: the call only made a generator, and none of its body ran",
        out="",
    ),
    raises(
        "it is an asynchronous generator",
        coroutine("yield 1"),
        "NeverRan",
        "the call only made an async generator, and none of its body ran",
        out="",
    ),
    raises(
        "a decorator hides that it is a generator",
        """
def logged(function):
    def call(event): return function(event)
    return call
@logged
def handler(event):
    yield 1
""",
        "NeverRan",
        "`handler` contains `yield`",
        out="",
    ),
    raises(
        "an object whose __call__ is a generator",
        "class Called:\n    def __call__(self, event): yield 1\nhandler = Called()\n",
        "NeverRan",
        "`__call__` contains `yield`",
        out="",
    ),
    goes_on(
        "it returns the generator of another function",
        body("return others()", "def others(): yield 1"),
        "what it returned is a generator",
    ),
)
EVENT = row(
    "event cleared, retyped, extra keys",
    goes_on(
        "the event is cleared",
        body(
            "event.messages.clear(); event.context.clear(); "
            "event.type = event.action = event.session_key = ''"
        ),
    ),
    goes_on(
        "the event is retyped",
        body(
            "event.messages = event.context = event.type = event.action = event.timestamp = "
            "event.session_key = None"
        ),
        spoils="messages",
    ),
    goes_on(
        "the event is of other types",
        body("event.messages = 'text'; event.context = [1]; event.type = 7; event.timestamp = {}"),
        spoils="messages",
    ),
    goes_on("its messages are a tuple", body("event.messages = ('a', 'b')"), spoils="messages"),
    goes_on("its messages are a generator", body("event.messages = (n for n in 'ab')"), spoils="messages"),
    goes_on(
        "extra keys",
        body("event.__dict__.update(extra=1, other=object()) if hasattr(event, '__dict__') else None"),
    ),
    goes_on(
        "its members are deleted",
        body(
            "for name in ('type', 'messages', 'context', 'timestamp'):\n"
            "    try: delattr(event, name)\n    except AttributeError: pass"
        ),
    ),
    goes_on(
        "its class is another",
        body(
            "event.__class__ = type('Other', (type(event),), {'__slots__': (), "
            "'messages': property(lambda self: 1 / 0)})"
        ),
    ),
    goes_on(
        "its class is changed",
        body("type(event).messages = type(event).context = property(lambda self: 1 / 0)"),
    ),
    goes_on(
        "its class has no members",
        body(
            "for name in list(vars(type(event))):\n    try: delattr(type(event), name)\n"
            "    except (AttributeError, TypeError): pass"
        ),
    ),
    goes_on(
        "its messages are of a hostile class",
        body(
            "event.messages = Hostile(); event.context = HostileDict(a=1); event.type = HostileText('x')",
            HOSTILE,
        ),
        spoils="messages",
    ),
)
TEXTS = row(
    "__str__ raises, returns non-str, loops; 50 MB exception text",
    raises(
        "__str__ raises",
        body(
            "raise Odd",
            "class Odd(Exception):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__",
        ),
        "Odd",
        "<Odd whose text cannot be read>",
    ),
    raises(
        "__str__ returns no text",
        body("raise Odd", "class Odd(Exception):\n    def __str__(self): return 7\n    __repr__ = __str__"),
        "Odd",
        "<Odd whose text cannot be read>",
    ),
    hangs(
        "__str__ loops",
        body("raise Odd", "class Odd(Exception):\n    def __str__(self):\n        while True: pass"),
    ),
    raises(
        "its class lies",
        body(
            "raise Odd('x')",
            """
        class Meta(type):
            def __getattribute__(cls, name): raise SystemExit
        class Odd(Exception, metaclass=Meta):
            __class__ = property(lambda self: 1 / 0)
    """,
        ),
        "Odd",
    ),
    raises(
        "its traceback and its cause are properties that raise",
        body(
            "raise Odd('x')",
            """
        class Odd(Exception):
            __traceback__ = __cause__ = __context__ = args = property(lambda self: 1 / 0)
    """,
        ),
        "Odd",
        "x",
    ),
    raises(
        "fifty megabytes of text", body("raise KeyError('x' * 50_000_000)"), "KeyError", "characters omitted"
    ),
    raises("fifty megabytes of name", body("raise type('N' * 1_000_000, (Exception,), {})('x')"), None, "x"),
    raises("half a character in the text", body("raise KeyError('\\ud800')"), "KeyError"),
    raises(
        "a syntax error that lies",
        body("raise SyntaxError('lies', ('/dev/zero', 'x', -1, object(), 2, 2))"),
        "SyntaxError",
        "lies",
    ),
    raises(
        "a file name that never ends",
        body("exec(compile('1 / 0', '/dev/zero', 'exec'))"),
        "ZeroDivisionError",
    ),
)
LOADS = row(
    "syntax error; missing import; no handler; class instead of function",
    at_load(raises("a syntax error", "def handler(event)\n", "SyntaxError", "expected ':'", out="")),
    at_load(
        raises(
            "an indentation error",
            "def handler(event):\nreturn 1\n",
            "IndentationError",
            "expected an indented block",
            out="",
        )
    ),
    at_load(raises("a null byte in the file", "def handler(event): pass\n\0", None, "null byte", out="")),
    at_load(
        raises(
            "an encoding that is none",
            "# coding: no-such-thing\ndef handler(event): pass\n",
            "SyntaxError",
            out="",
        )
    ),
    at_load(raises("a file of ten thousand brackets", "(" * 10_000, None, out="")),
    at_load(
        raises(
            "a missing import",
            at_import("import no_such_module"),
            "ModuleNotFoundError",
            "No module named 'no_such_module'",
        )
    ),
    at_load(raises("an import of itself", at_import("from handler import other"), "ImportError")),
    at_load(raises("an import that raises", at_import("1 / 0"), "ZeroDivisionError")),
    at_load(
        raises(
            "an import that raises fifty megabytes",
            at_import("raise KeyError('x' * 50_000_000)"),
            "KeyError",
            "characters omitted",
        )
    ),
    at_load(
        raises(
            "no handler",
            "print('before')\ndef other(event): pass\n",
            None,
            "handler.py has no `handler`; it defines `other`",
        )
    ),
    at_load(raises("an empty file", "", None, "has no `handler`; it defines no functions", out="")),
    at_load(
        raises(
            "a class", "print('before')\nclass handler: pass\n", None, "`handler` in handler.py is a class"
        )
    ),
    at_load(raises("a number", "print('before')\nhandler = 7\n", None, "`handler` in handler.py is")),
    raises("a handler without a parameter", "print('before')\ndef handler(): pass\n", "TypeError"),
    raises("a handler of two parameters", "print('before')\ndef handler(event, more): pass\n", "TypeError"),
)
IMPORTS = row(
    "import hangs",
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
        )
        for name, lines in (
            ("an import that loops", "while True: pass"),
            ("an import that sleeps", "import time; time.sleep(60)"),
            ("an import that keeps the interpreter", "import re; re.match('(a+)+$', 'a' * 60 + 'b')"),
            ("an import that stops itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
        )
    ),
)
DESCRIPTORS = row(
    "closes all descriptors; junk on all descriptors; 2,000 leaked descriptors",
    dies(
        "all descriptors closed",
        body("import os; os.closerange(0, 4096)"),
        "closed the connection between its worker and Hookscope",
    ),
    dies(
        "all but the first three closed",
        body("import os; os.closerange(3, 4096)"),
        "closed the connection between its worker and Hookscope",
    ),
    at_load(dies("all closed at import", at_import("import os; os.closerange(0, 4096)"))),
    goes_on("standard output closed", body("import os; os.close(1)")),
    goes_on("standard streams closed", body("import os; os.close(0); os.close(1); os.close(2)")),
    goes_on(
        "standard output leads nowhere", body("import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1)")
    ),
    Fault(  # the line is at its end and the worker lives: that is seen long before its limit
        "every descriptor leads nowhere",
        body("""
        import os
        nowhere = os.open("/dev/null", os.O_RDWR)
        for number in range(3, 1024):
            if number != nowhere: os.dup2(nowhere, number)
    """),
        "crashed",
        "Crashed",
        bound=GRACE,
    ),
    dies(
        "junk on all descriptors",
        body("""
        import os
        for number in range(3, 1024):
            try: os.write(number, b"junk" * 9)
            except OSError: pass
    """),
        "wrote into the connection between its worker and Hookscope",
    ),
    dies(
        "a frame of four gigabytes on all descriptors",
        body("""
        import os
        for number in range(3, 1024):
            try: os.write(number, b"\\xff\\xff\\xff\\xff")
            except OSError: pass
    """),
        "wrote into the connection",
    ),
    dies(
        "an answer of its own making",
        body("""
        import os
        answer = b'{"id": "x", "result": 0, "status": "ok"}'
        for number in range(3, 1024):
            try: os.write(number, len(answer).to_bytes(4, "big") + answer)
            except OSError: pass
    """),
        "sent an answer without a request",
    ),
    dies(
        "a frame that is not an object",
        body("""
        import os
        for number in range(3, 1024):
            try: os.write(number, b"\\0\\0\\0\\2[]")
            except OSError: pass
    """),
        "wrote into the connection",
    ),
    hangs(
        "half a frame on all descriptors",
        body("""
        import os
        for number in range(3, 1024):
            try: os.write(number, b"\\0\\x7f\\0\\0{")
            except OSError: pass
    """),
    ),
    goes_on(
        "half a late error that nobody had",
        body("""
        import os
        late = b'{"late": 7}'
        for number in range(3, 1024):
            try: os.write(number, len(late).to_bytes(4, "big") + late)
            except OSError: pass
    """),
    ),
    goes_on(
        "two thousand descriptors left open",
        body(
            "import os; KEPT.extend(os.open('/dev/null', 0) for _ in range(2000))",
            "KEPT = []\nimport resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, "
            "resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)",
        ),
    ),
    raises(
        "every descriptor there is left open",
        body(
            """
        import os, resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        while True: KEPT.append(os.open("/dev/null", 0))
    """,
            "KEPT = []",
        ),
        "OSError",
        "Too many open files",
    ),
    goes_on("it reads standard input", body("import sys; assert sys.stdin.read() == ''")),
)
PATCHES = row(
    "monkeypatched json, os, time, str, builtins; settrace",
    goes_on(
        "json replaced",
        body(
            "import json; json.dumps = json.loads = json.JSONEncoder = json.JSONDecoder = "
            "json.encoder.c_make_encoder = None"
        ),
    ),
    goes_on(
        "os replaced",
        body(
            "import os; os.write = os.read = os.getcwd = os.getpid = os._exit = os.environ = os.stat "
            "= os.fork = None"
        ),
    ),
    goes_on(
        "time replaced",
        body("import time; time.perf_counter = time.monotonic = time.time = time.sleep = lambda *_: 1 / 0"),
    ),
    goes_on(
        "builtins replaced",
        body(
            "import builtins; builtins.str = builtins.len = builtins.isinstance = builtins.print = "
            "builtins.dict = None"
        ),
    ),
    goes_on("__import__ replaced", body("import builtins; builtins.__import__ = lambda *_, **__: 1 / 0")),
    goes_on(
        "builtins cleared",
        body("import builtins; vars(builtins).clear()"),
        "it changed: builtins.",
        "more. Hookscope restored it",
    ),
    raises(
        "asyncio replaced",
        coroutine(
            "asyncio.new_event_loop = asyncio.all_tasks = asyncio.gather = asyncio.set_event_loop = None"
        ),
        "TypeError",
    ),
    goes_on(
        "a loop policy that raises",
        coroutine("""
        import warnings
        warnings.simplefilter("ignore")
        asyncio.set_event_loop_policy(None)
        asyncio.get_event_loop_policy().new_event_loop = lambda: 1 / 0
    """),
    ),
    goes_on(
        "struct and queue replaced",
        body("import struct, queue, threading; struct.Struct = queue.SimpleQueue = threading.Thread = None"),
    ),
    goes_on("a trace function that raises", body("import sys; sys.settrace(lambda *_: 1 / 0)")),
    goes_on(
        "a trace function for threads that raises",
        body("import threading; threading.settrace(lambda *_: 1 / 0)"),
    ),
    goes_on("a trace function that leaves", body("import sys; sys.settrace(lambda *_: sys.exit(3))")),
    raises(
        "a profile function that raises",
        body("import sys; sys.setprofile(lambda *_: 1 / 0)"),
        "ZeroDivisionError",
    ),
    hangs(
        "a trace function that loops",
        body("sys.settrace(loops); handler(event)", "import sys\ndef loops(*_):\n    while True: pass"),
    ),
    goes_on(
        "sys is emptied",
        body(
            "import sys\nfor name in ('argv', 'path', 'settrace', 'setprofile', 'getrecursionlimit', "
            "'_current_frames'): delattr(sys, name)"
        ),
    ),
    goes_on(
        "its path is emptied",
        body(
            "import sys; sys.path.clear(); sys.path_hooks.clear(); sys.meta_path.clear(); "
            "sys.path_importer_cache.clear()"
        ),
    ),
    goes_on("sys.modules cleared", body("import sys; sys.modules.clear()")),
    goes_on("sys.modules replaced", body("import sys; sys.modules = {}")),
    goes_on(
        "hooks of the interpreter",
        body(
            "import os, sys; sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *_: os._exit(3)"
        ),
    ),
    goes_on(
        "an audit hook that raises",
        body(
            """
        import sys
        def audit(name, args):
            if name in ("open", "os.listdir", "import", "compile") and ARMED: raise RuntimeError("audited")
        sys.addaudithook(audit)
        ARMED.append(1)
    """,
            "ARMED = []",
        ),
        "the audit hooks, which Python cannot remove",
        "the next handler gets a new worker",
    ),
    goes_on(
        "atexit",
        body("import atexit, os, time; atexit.register(time.sleep, 60); atexit.register(os._exit, 3)"),
    ),
    raises(
        "atexit, then sys.exit",
        body("import atexit, sys, time; atexit.register(time.sleep, 60); sys.exit()"),
        "SystemExit",
    ),
    goes_on("the collector is off", body("import gc; gc.disable(); gc.freeze()")),
    goes_on("warnings are errors", body("import warnings; warnings.simplefilter('error')")),
)
STREAMS = row(
    "sys.stdout closed or replaced",
    goes_on("sys.stdout closed", body("import sys; sys.stdout.close()")),
    goes_on(
        "all streams closed", body("import sys; sys.stdin.close(); sys.stdout.close(); sys.stderr.close()")
    ),
    goes_on(
        "sys.stdout replaced", body("import io, sys; sys.stdout = sys.stderr = io.StringIO(); print('lost')")
    ),
    goes_on("sys.stdout is None", body("import sys; sys.stdout = sys.stderr = sys.stdin = None")),
    goes_on("sys.stdout deleted", body("import sys; del sys.stdout, sys.stderr")),
    goes_on(
        "sys.stdout of a hostile class", body("import sys; sys.stdout = sys.stderr = Hostile()", HOSTILE)
    ),
    goes_on(
        "a flush that leaves",
        body("import sys; sys.stdout = type('Leaves', (), {'flush': lambda self: sys.exit(3)})()"),
    ),
    goes_on("a stream that is detached", body("import sys; sys.stdout.detach()")),
    goes_on(
        "sys.stdout reconfigured",
        body("import sys; sys.stdout.reconfigure(encoding='ascii', errors='strict', line_buffering=False)"),
    ),
    goes_on("sys.stdout closed at import", at_import("import sys; sys.stdout.close()")),
)
SURROUNDINGS = row(
    "chdir, environ.clear",
    goes_on("it moves away", body("import os; os.chdir('/'); os.environ.clear()")),
    goes_on(
        "its folder is gone",
        body("import os, tempfile; folder = tempfile.mkdtemp(); os.chdir(folder); os.rmdir(folder)"),
    ),
    goes_on("it moves away at import", at_import("import os; os.chdir('/'); os.environ.clear()")),
    goes_on("no file may be read by anybody", body("import os; os.umask(0o777)")),
    goes_on("its arguments are gone", body("import sys; sys.argv = sys.path = None")),
)
LATE = row(
    "thread left running; late output",
    Fault(
        "a thread that prints late",
        body(
            """
        os.mkfifo("go")
        threading.Thread(target=late, name="late").start()
    """,
            """
        import os, threading
        def late():
            open("go").read()
            print("printed late")
    """,
        ),
        "ok",
        None,
        ("it left 1 thread running",),
        later="printed late",
    ),
    Fault(
        "a thread that fails late",
        body(
            """
        os.mkfifo("go")
        threading.Thread(target=late, name="late").start()
    """,
            """
        import os, threading
        def late():
            open("go").read()
            print("it was here")
            raise KeyError("late")
    """,
        ),
        "ok",
        None,
        ("it left 1 thread running",),
        later="it was here",
    ),
    goes_on(
        "ten threads",
        body(
            "for _ in range(10): threading.Thread(target=threading.Event().wait).start()", "import threading"
        ),
        "it left 10 threads running",
    ),
    goes_on(
        "a thread that loops",
        body(
            "threading.Thread(target=loops).start()", "import threading\ndef loops():\n    while True: pass"
        ),
        "it left 1 thread running",
    ),
    goes_on(
        "a thread that prints for ever",
        body(
            "threading.Thread(target=loops).start()",
            "import threading\ndef loops():\n    while True: print('x' * 1000)",
        ),
        "it left 1 thread running",
        spoils="output",
    ),
    goes_on(
        "a timer that never fires",
        body("threading.Timer(1000, print).start()", "import threading"),
        "it left 1 thread running",
    ),
    goes_on(
        "a pool left open",
        body(
            "POOL.submit(time.sleep, 60)",
            "import time\nfrom concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)",
        ),
        "it left 1 thread running",
    ),
)
ATTACKS = row(
    "the worker's own frames and classes are attacked",
    dies(
        "its modules emptied",
        body(
            "for name in list(sys.modules):\n"
            "    if name.startswith('_hookscope'): vars(sys.modules[name]).clear()",
            WORKER,
        ),
    ),
    goes_on(
        "its classes changed",
        body(
            "worker.HandlerWorker._call_handler = worker.HandlerWorker._run = None\n"
            "line.HostLine.send_frame = None",
            WORKER,
        ),
        "it changed the worker's own code (",
    ),
    dies(
        "its objects found by the collector",
        body(
            """
        for thing in gc.get_objects():
            if type(thing).__name__ in ("HandlerWorker", "HostLine"):
                vars(thing).clear()
    """,
            WORKER,
        ),
    ),
    dies("its frames' names cleared", body("frame = sys._getframe(1)\nframe.f_globals.clear()", WORKER)),
    dies(
        "its messages changed",
        body(
            """
        frame = sys._getframe(1)
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if type(value) is dict: value.clear()
                if type(value) is list: value.append(object())
            frame = frame.f_back
    """,
            WORKER,
        ),
    ),
    hangs(
        "its loop is left by a frame's trace",
        body(
            """
        frame = sys._getframe(1)
        frame.f_trace = lambda *_: loops
        sys.settrace(lambda *_: loops)
        loops()
    """,
            WORKER + "def loops(*_):\n    while True: pass",
        ),
    ),
    raises(
        "an error thrown into the listening thread",
        body(
            """
        import ctypes
        for number in list(sys._current_frames()):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), ctypes.py_object(KeyError))
        for _ in range(10**9): pass
    """,
            WORKER,
        ),
        "KeyError",
    ),
)
CANCELS = row(
    "cancelled",
    cancelled("a loop is cancelled", body(HERE + "while True: pass")),
    cancelled("a coroutine is cancelled", coroutine(HERE + "await asyncio.sleep(60)")),
    cancelled(
        "a coroutine that catches its cancel is cancelled",
        coroutine(
            HERE
            + """
while True:
    try: await asyncio.sleep(60)
    except asyncio.CancelledError: pass
"""
        ),
    ),
    cancelled(
        "what keeps the interpreter is cancelled",
        body(HERE + "import re; re.match('(a+)+$', 'a' * 60 + 'b')"),
    ),
    cancelled(
        "what has stopped itself is cancelled",
        body(HERE + "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
    ),
    cancelled("what prints for ever is cancelled", body(HERE + "while True: print('x' * 1000)")),
    replace(
        cancelled("what has a daemon is cancelled", body("import os\n" + DAEMON + HERE + "while True: pass")),
        only_linux=TELLS,
    ),
    cancelled("an import is cancelled", at_import(HERE + "import time; time.sleep(60)")),
)

FAULTS: tuple[Fault, ...] = (
    *HANGS,
    *WAITS,
    *SIGNALS,
    *RAISES,
    *LEAVES,
    *CRASHES,
    *PROCESSES,
    *MEMORY_ROW,
    *OUTPUT,
    *RECURSION,
    *MESSAGES,
    *EVENT,
    *TEXTS,
    *LOADS,
    *IMPORTS,
    *DESCRIPTORS,
    *PATCHES,
    *STREAMS,
    *SURROUNDINGS,
    *LATE,
    *ATTACKS,
    *CANCELS,
)
BY_NAME = {fault.name: fault for fault in FAULTS}
