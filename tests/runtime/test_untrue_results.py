"""Results are true for messages that are not text, generators, and processes that left their group."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from textwrap import indent

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.hook import Language
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import CallGroup, Code, Event, Plan, Registration, Result
from hookscope.runtime import orphan_processes
from hookscope.runtime.background_work import WorkerLeftovers
from hookscope.runtime.executors import Node, find_node
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.firing import Firing
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, node_executor, python_executor

LIMITS = Limits(spawn=LONG, load=LONG, run=LONG)
JOINED = "hosts join messages as text, so push strings"
NOT_TEXT = {
    "['a', {'b': 1}]": "it pushed a message that is not text (an object)",
    "[5]": "it pushed a message that is not text (a number)",
    "[{'a': 1}, [2], True]".replace("True", "TRUE"): "it pushed 3 messages that are not text",
    "[[]]": "it pushed a message that is not text (a list)",
    "[NOTHING]": "it pushed a message that is not text (null)",
    "['a', 'b']": "",
    "[]": "",
}
WORDS = {"python": {"TRUE": "True", "NOTHING": "None"}, "javascript": {"TRUE": "true", "NOTHING": "null"}}


@pytest.fixture
async def lanes(tmp_path: Path) -> AsyncIterator[dict[str, ProcessExecutor]]:
    found = find_node(shutil.which("node"))
    assert isinstance(found, Node)
    env = dict(os.environ)
    made = {
        "python": python_executor(env=env, cwd=tmp_path, limits=LIMITS),
        "javascript": node_executor(env=env, cwd=tmp_path, node=found.path, limits=LIMITS),
    }
    yield made
    for lane in made.values():
        await lane.close()


def written(folder: Path, name: str, text: str, suffix: str) -> Registration:
    root = folder / "hooks" / name
    root.mkdir(parents=True)
    (root / f"handler{suffix}").write_text(text)
    language: Language = "python" if suffix == ".py" else "javascript"
    return Registration("command:new", name, Code(root / f"handler{suffix}", "default", root, language))


def let_it_take_another(folder: Path, pid: int) -> None:
    """Let a process replace its program and its environment, and wait until it has."""
    (folder / "go").touch()
    while b"4799" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        os.sched_yield()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def results_of(plan_of: Callable[..., Plan], lane: object, *calls: Registration) -> list[Result]:
    plan = plan_of(CallGroup(calls), event=Event("command", "new", kind="folder"))
    run = await Firing(plan, lambda _: lane)  # type: ignore[arg-type, return-value]
    return list(run.results)


@pytest.mark.parametrize("language", WORDS)
async def test_a_pushed_message_that_is_no_text_is_noted(
    language: str, lanes: dict[str, ProcessExecutor], plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    calls = []
    for number, pushed in enumerate(NOT_TEXT):
        for word, own in WORDS[language].items():
            pushed = pushed.replace(word, own)
        if language == "python":
            text, suffix = f"def handler(event): event.messages.extend({pushed})\n", ".py"
        else:
            text, suffix = f"export default (event) => {{ event.messages.push(...{pushed}); }};\n", ".mjs"
        calls.append(written(tmp_path, f"h{number}", text, suffix))
    results = await results_of(plan_of, lanes[language], *calls)
    notes = [[note for note in result.notes if JOINED in note] for result in results]
    for said, wanted in zip(notes, NOT_TEXT.values(), strict=True):
        assert len(said) == bool(wanted)
        assert all(wanted in note for note in said)


async def test_what_json_cannot_hold_is_no_text_either(
    lanes: dict[str, ProcessExecutor], plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    call = written(tmp_path, "h", "def handler(event): event.messages += [object(), b'x', 'text']\n", ".py")
    (result,) = await results_of(plan_of, lanes["python"], call)
    assert [note for note in result.notes if JOINED in note] == [
        f"it pushed 2 messages that are not text (an object): {JOINED}"
    ]


@pytest.mark.parametrize("head", ["function*", "async function*"])
async def test_a_generator_in_javascript_is_ok_with_a_note(
    head: str, lanes: dict[str, ProcessExecutor], plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    call = written(tmp_path, "h", f"export default {head} (event) {{ yield 1; }}\n", ".mjs")
    (result,) = await results_of(plan_of, lanes["javascript"], call)
    assert result.status == "ok"
    assert any("if the handler itself contains `yield`, none of its body ran" in one for one in result.notes)


async def test_a_generator_in_this_process_is_an_error_too(plan_of: Callable[..., Plan]) -> None:
    def counts(event: HookEvent) -> object:
        yield 1

    async def streams(event: HookEvent) -> object:
        yield 1

    def fine(event: HookEvent) -> object:
        return (number for number in range(3))

    calls = [Registration("command:new", one.__name__, one) for one in (counts, streams, fine)]
    results = await results_of(plan_of, InProcessExecutor(), *calls)
    assert [result.status for result in results] == ["error", "error", "ok"]
    errors = [result.error for result in results if result.error is not None]
    assert [error.type for error in errors] == ["NeverRan", "NeverRan"]
    assert errors[0].message.startswith("`counts` contains `yield`")
    assert errors[0].frames


async def test_a_handler_that_fails_beside_a_leftover_names_it_and_is_not_to_blame(
    plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    found = find_node(shutil.which("node"))
    assert isinstance(found, Node)
    fault_counter = FaultCounter()
    lane = node_executor(
        env=dict(os.environ), cwd=tmp_path, node=found.path, limits=LIMITS, fault_counter=fault_counter
    )
    ends = 'setInterval(() => fs.existsSync("go") && process.exit(7), 1)'
    bad = written(
        tmp_path, "bad", f'import fs from "node:fs";\nexport default () => {{ {ends}; }};\n', ".mjs"
    )
    waits = 'fs.writeFileSync("go", ""); await new Promise(() => {})'
    good = written(
        tmp_path, "good", f'import fs from "node:fs";\nexport default async () => {{ {waits}; }};\n', ".mjs"
    )
    _, result = await results_of(plan_of, lane, bad, good)
    await lane.close()
    assert result.error is not None
    assert result.error.message == "exited with status 7 before it answered"
    assert "1 timer of bad still ran in this worker, and may be the cause" in result.notes
    assert isinstance(good.target, Code)
    assert not fault_counter._recent(good.target.path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of them")
def test_a_process_is_said_to_have_ended_only_when_it_was_seen_to_be_gone() -> None:
    here = orphan_processes._read_process(os.getpid(), "")
    assert here is not None
    traces = WorkerLeftovers()
    traces.set_killed((here,), ())
    assert [note.rpartition("; ")[2] for note in traces.ended_notes()] == ["ended with its worker"]
    traces.set_killed((), (here,))
    assert [note.rpartition("; ")[2] for note in traces.ended_notes()] == ["it may still be running"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of them")
async def test_a_process_that_took_another_environment_is_killed_by_its_number(
    lanes: dict[str, ProcessExecutor], plan_of: Callable[..., Plan], tmp_path: Path
) -> None:
    """It carried the mark of its worker when it was found, and does not any more when the worker ends."""
    text = """
import os
def handler(event):
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(write, b"!")
        while not os.path.exists("go"): pass
        os.execve("/bin/sleep", ["sleep", "4799"], {"A": "b"})
    os.read(read, 1)  # so that the handler ends after its child has left the group
    return None
"""
    call = written(tmp_path, "h", text, ".py")
    (result,) = await results_of(plan_of, lanes["python"], call)
    (note,) = [note for note in result.notes if "running outside of its process group" in note]
    assert "ended with its worker" not in note
    pid = int(note.partition("(")[2].partition(")")[0])
    let_it_take_another(tmp_path, pid)
    await lanes["python"].close()
    assert not is_running(pid)


FOLDER = "import os, sys\nlib = os.path.join(os.path.dirname(__file__), 'lib')\n"


@pytest.mark.parametrize(
    "added",
    ["sys.path.insert(0, lib)", "sys.path.append(lib)", "sys.path[:0] = [lib, lib]", "sys.path += [lib]"],
)
async def test_a_folder_that_a_module_adds_to_the_import_path_serves_its_own_handler_alone(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor], added: str
) -> None:
    imports = "def handler(event):\n    import beside\n    event.messages.append(beside.SAID)\n"
    looks = "import sys\ndef handler(event): event.messages.append(str('lib' in str(sys.path)))\n"
    calls = [written(tmp_path, "a", f"{FOLDER}{added}\n{imports}", ".py")]
    calls += [written(tmp_path, "b", looks.replace("'lib'", "'hooks/a/lib'"), ".py")]
    (tmp_path / "hooks/a/lib").mkdir()
    (tmp_path / "hooks/a/lib/beside.py").write_text("SAID = 'it is there'\n")
    for _ in range(2):  # as it is loaded, and as it is known
        first, second = await results_of(plan_of, lanes["python"], *calls)
        assert (first.messages, first.error, first.notes) == (("it is there",), None, ())
        assert second.messages == ("False",)


async def test_a_builtin_that_a_module_adds_as_it_loads_stays_for_its_handler(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor]
) -> None:
    text = "import gettext\ngettext.install('a')\ndef handler(event): event.messages.append(_('said'))\n"
    call = written(tmp_path, "a", text, ".py")
    for _ in range(2):
        (result,) = await results_of(plan_of, lanes["python"], call)
        assert (result.messages, result.notes) == (("said",), ())


async def test_an_executor_that_a_handler_gave_the_loop_serves_no_other(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor]
) -> None:
    ended = "pool = ThreadPoolExecutor(1); pool.shutdown()"
    imported = "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\n"
    sets = (
        f"async def handler(event):\n    {ended}\n    asyncio.get_running_loop().set_default_executor(pool)\n"
    )
    uses = "import asyncio\nasync def handler(event): await asyncio.to_thread(len, '')\n"
    calls = [written(tmp_path, "a", imported + sets, ".py"), written(tmp_path, "b", uses, ".py")]
    first, second = await results_of(plan_of, lanes["python"], *calls)
    assert first.notes == ("it changed the event loop: the next handler gets a new one",)
    assert (second.status, second.notes) == ("ok", ())


CLOSING = {
    "server": "const s = net.createServer(); await new Promise((r) => s.listen(0, r)); s.close();",
    "socket": "const s = dgram.createSocket('udp4'); await new Promise((r) => s.bind(0, r)); s.close();",
    "connection": "const s = net.createServer(); await new Promise((r) => s.listen(0, r));"
    "const c = net.connect(s.address().port); await new Promise((r) => c.on('connect', r));"
    "await new Promise((r) => { s.close(r); c.destroy(); });",
    "watcher": "fs.watch('.').close();",
}


@pytest.mark.parametrize("body", CLOSING.values(), ids=CLOSING)
async def test_what_a_handler_has_closed_is_not_said_to_be_left(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor], body: str
) -> None:
    imported = "import net from 'node:net'; import dgram from 'node:dgram'; import fs from 'node:fs';\n"
    text = f"{imported}export default async (event) => {{ {body} }};\n"
    (result,) = await results_of(plan_of, lanes["javascript"], written(tmp_path, "a", text, ".mjs"))
    assert (result.status, result.notes) == ("ok", ())


@pytest.mark.parametrize(
    "body",
    [
        "process.emitWarning('of the first');",
        "process.nextTick(() => console.error('of the first'));",
        "await null; process.emitWarning('of the first', { code: 'OF_OURS' });",
    ],
)
async def test_what_is_printed_at_the_next_tick_is_charged_to_who_asked_for_it(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor], body: str
) -> None:
    calls = [
        written(tmp_path, "a", f"export default async () => {{ {body} }};\n", ".mjs"),
        written(tmp_path, "b", "export default () => {};\n", ".mjs"),
    ]
    first, second = await results_of(plan_of, lanes["javascript"], *calls)
    assert "of the first" in first.stderr
    assert second.stderr == ""


WORKER = "import gc, sys\nown = sys.modules['__main__']\nline = sys.modules['_hookscope_worker.host_line']\n"
FIND = "worker = next(one for one in gc.get_objects() if type(one) is own.HandlerWorker)\n"
FORGED = {
    "a method of the line": "real = line.HostLine.send_frame\n"
    "def forged(self, frame, ring): real(self, frame.replace(b'ValueError', b'Forged'), ring)\n"
    "line.HostLine.send_frame = forged",
    "a method of the answers": "line.AnswerSender.send = lambda *_: None",
    "a function of a module": "line.encode = line.frame_of = lambda value: b''",
    "a function's code": "own.describe_exception.__code__ = (lambda raised, handler=None: {}).__code__",
    "a method that hides another": "worker.add_outcome = lambda *_: None",
    "a part of the worker": "class Silent:\n    def __getattr__(self, name): return lambda *_: None\n"
    "worker.answers = Silent()",
    "the restoring": "own.HandlerWorker.restore_process = own.ProcessBaseline.restore = lambda *_: True",
    "the comparison": "worker.restore_own_code = lambda: []\n"
    "own.describe_exception = lambda *_: {'type': 'Forged'}",
    "an added method": "line.HostLine.__getattribute__ = lambda self, name: None",
    "a deleted function": "del own.add_notes",
}


@pytest.mark.parametrize("at", ["handler", "module", "coroutine"])
@pytest.mark.parametrize("what", FORGED)
async def test_a_handler_that_replaces_the_workers_own_code_falsifies_no_later_result(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor], what: str, at: str
) -> None:
    body = f"{WORKER}{FIND}{FORGED[what]}\n"
    if at == "module":
        text = f"{body}def handler(event): pass\n"
    else:
        head = "async def" if at == "coroutine" else "def"
        text = f"{head} handler(event):\n{indent(body, '    ')}"
    later = "def handler(event):\n    raise ValueError('true')\n"
    calls = [written(tmp_path, "a", text, ".py"), written(tmp_path, "b", later, ".py")]
    for _ in range(2):
        first, second = await results_of(plan_of, lanes["python"], *calls)
        was_noted = any("changed the worker's own code (" in note for note in first.notes)
        assert was_noted or first.status == "crashed"  # its own result may suffer
        assert second.error is not None
        assert (second.error.type, second.error.message, second.notes) == ("ValueError", "true", ())


async def test_a_handler_that_sends_results_by_itself_gets_a_worker_of_its_own(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor]
) -> None:
    forges = """
import sys
def handler(event):
    frame = sys._getframe()
    while "run" not in frame.f_locals: frame = frame.f_back
    run, line = frame.f_locals["run"], frame.f_locals["self"].line
    line.send({"id": run, "result": 0})
    line.send({"id": run, "started": 1, "loaded": 0.0})
    line.send({"id": run, "result": 1})
"""
    calls = [written(tmp_path, "forges", forges, ".py")]
    for name in ("b", "c"):
        calls.append(written(tmp_path, name, "def handler(event): raise ValueError('true')\n", ".py"))
    *_, last = await results_of(plan_of, lanes["python"], *calls)
    assert last.error is not None
    assert "answered twice for forges (results of this run may be forged)" in last.error.message
    _, *others = await results_of(plan_of, lanes["python"], *calls)
    assert [result.error and result.error.message for result in others] == ["true", "true"]


async def test_the_node_workers_own_classes_cannot_be_replaced(
    plan_of: Callable[..., Plan], tmp_path: Path, lanes: dict[str, ProcessExecutor]
) -> None:
    forges = """
import Module from "node:module";
export default () => {
  const { _cache: cache } = Module;
  const own = Object.getOwnPropertyNames(cache).filter((file) => file.includes("node_worker"));
  const classes = own.flatMap((file) => Object.values(cache[file].exports)).filter((made) => made?.prototype);
  let replaced = 0;
  for (const { prototype } of classes) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      replaced += Reflect.set(prototype, name, () => {}) ? 1 : 0;
    }
  }
  return [classes.length > 0, replaced];
};
"""
    calls = [written(tmp_path, "a", forges, ".mjs")]
    calls += [written(tmp_path, "b", "export default () => { throw new Error('true'); };\n", ".mjs")]
    first, second = await results_of(plan_of, lanes["javascript"], *calls)
    assert first.returned == [True, 0]
    assert second.error is not None
    assert second.error.message == "true"
