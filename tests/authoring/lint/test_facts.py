"""What a handler's source says it does: read, never run. The same facts for both readers."""

from collections.abc import Iterable

import pytest

from hookscope.hosts.source.facts import HandlerFacts, Occurrence
from hookscope.hosts.source.python import python_facts
from hookscope.hosts.source.script_parsing import ScriptSource, read_scripts


def names(mets: Iterable[Occurrence]) -> list[str]:
    return [met.name + ("?" if met.kind == "optional" else "") for met in mets]


def python(*lines: str) -> HandlerFacts:
    head = "import os, subprocess, shutil, asyncio\nfrom os import environ, getenv\nimport urllib.request\n"
    body = "\n".join(f"    {line}" for line in lines)
    return python_facts(f"{head}async def handler(event):\n{body}\n".encode())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("os.environ['A']", ["A"]),
        ("environ['A']", ["A"]),
        ("os.environ.get('A')", ["A"]),
        ("os.getenv('A')", ["A"]),
        ("getenv('A', 'b')", ["A?"]),
        ("x = os.environ.get('A') or 'b'", ["A?"]),
        ("x = 'b' or os.environ.get('A')", ["A"]),
        ("if os.environ.get('A'): pass", ["A?"]),
        ("if not os.getenv('A'): pass", ["A?"]),
        ("x = os.environ.get('A') == '1'", ["A?"]),
        ("try: x = os.environ['A']\n    except KeyError: pass", ["A?"]),
        ("if 'A' in os.environ: use(os.environ['A'])", ["A?"]),
        (
            "if os.environ.get('A'):\n        for x in y: use(os.environ['A'], os.environ['B'])",
            ["A?", "A?", "B"],
        ),
        ("x = os.environ['A'] if 'A' in os.environ else ''", ["A?"]),
        ("x = 'A' in os.environ and use(os.environ['A'])", ["A?"]),
        ("x = use(os.environ['A']) and 'A'", ["A"]),
        ("if not os.getenv('A'): return\n    use(os.environ['A'])", ["A?", "A"]),
        ("os.environ['A'] = 'b'", []),
        ("os.environ[name]", []),
        ("other.environ['A']", []),
        ("'os.environ[\"A\"]'", []),
    ],
)
def test_environment_variables_are_found_in_python(line: str, found: list[str]) -> None:
    assert names(python(line).env) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("subprocess.run(['jq', '.'])", ["jq"]),
        ("subprocess.Popen(('jq',))", ["jq"]),
        ("subprocess.check_output('jq . x', shell=True)", ["jq"]),
        ("os.system('FOO=1 jq . x | tee y')", ["jq"]),
        ("os.system(f'git -C {event.context} log')", ["git"]),
        ("os.system(f'git{x}')", []),
        ("shutil.which('jq')", ["jq"]),
        ("await asyncio.create_subprocess_exec('jq', '.')", ["jq"]),
        ("subprocess.run(command)", []),
        ("subprocess.run(['/opt/tool'])", []),
        ("subprocess.run(['ls'])", []),
        ("run(['jq'])", []),
    ],
)
def test_started_programs_are_found_in_python(line: str, found: list[str]) -> None:
    assert names(python(line).programs) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("event.context['a']", ["a"]),
        ("event.context.get('a', 1)", ["a"]),
        ("event.context.a", ["a"]),
        ("ctx = event.context\n    ctx['a']; ctx.get('b')", ["a", "b"]),
        ("ctx = event.context or {}\n    ctx.a", ["a"]),
        ("ctx = event.context\n    ctx = other\n    ctx['a']", []),
        ("event.context['a'] = 1\n    print(event.context['a'])", []),
        ("event.context.setdefault('a', [])\n    event.context['a']", []),
        ("event.context.items()", []),
        ("other.context['a']", []),
    ],
)
def test_event_fields_are_found_in_python(line: str, found: list[str]) -> None:
    assert names(python(line).fields) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("if event.type == 'a': pass", [("a", "type")]),
        ("if 'a' != event.action: pass", [("a", "action")]),
        ("if event.action in ('a', 'b'): pass", [("a", "action"), ("b", "action")]),
        ("match event.action:\n        case 'a' | 'b': pass", [("a", "action"), ("b", "action")]),
        ("if other.type == 'a': pass", []),
    ],
)
def test_event_guards_are_found_in_python(line: str, found: list[tuple[str, str]]) -> None:
    assert [(met.name, met.kind) for met in python(line).guards] == found


def test_other_facts_are_found_in_python() -> None:
    facts = python(
        "urllib.request.urlopen('https://example.org')",
        "open('x', 'w').write('y'); open('x'); path.write_text('z'); shutil.rmtree('x')",
        "event.messages.append('a')",
        "event.messages += ['b']",
        "return {'decision': 'block', 'other': 1}",
    )
    assert names(facts.network) == ["urllib.request.urlopen"]
    assert names(facts.writes) == ["open", "write_text", "shutil.rmtree"]
    assert names(facts.pushes) == ["append", "+="]
    assert [(answer.name, answer.kind) for answer in facts.answers] == [("decision", ""), ("other", "other")]


def test_return_values_of_inner_functions_do_not_count() -> None:
    facts = python_facts(b"def handler(event):\n    def inner():\n        return {'block': 1}\n    inner()\n")
    assert not facts.answers


def test_invalid_python_is_reported_with_its_place() -> None:
    error = python_facts(b"def handler(event):\n    x = (1,\n").error
    assert error is not None
    assert error.line == 2
    assert python_facts(b"x = '\0'").error is not None
    assert python_facts(b"(" * 100_000).error is not None


SCRIPTS: dict[str, tuple[str, str, list[str]]] = {
    # a line of the handler: which facts, and what they are
    "use(process.env.A);": ("env", "", ["A"]),
    'use(process.env["A"]);': ("env", "", ["A"]),
    "use(process.env.A!);": ("env", "ts", ["A"]),
    "use(process.env.A as string);": ("env", "ts", ["A"]),
    "use(process.env.A || 'b');": ("env", "", ["A?"]),
    "use((process.env.A as string) ?? 'b');": ("env", "ts", ["A?"]),
    "if (!process.env.A) return;": ("env", "", ["A?"]),
    "if (process.env.A === '1') return;": ("env", "", ["A?"]),
    "if (process.env.A) { use(process.env.A, process.env.A_B); }": ("env", "", ["A?", "A?", "A_B"]),
    "const x = process.env.A ? use(process.env.A) : '';": ("env", "", ["A?", "A?"]),
    "process.env.A && use(process.env.A);": ("env", "", ["A?", "A?"]),
    "use(process.env.A) && 'A';": ("env", "", ["A"]),
    "const { A, B = 'b', C: c } = process.env;": ("env", "", ["A", "B?", "C"]),
    "use(process.env.A || process.env.B || 'c');": ("env", "", ["A?", "B?"]),
    "use(process.env.A ?? (process.env.B as string));": ("env", "ts", ["A?", "B"]),
    "const a = process.env.A; if (a) use(a);": ("env", "", ["A?"]),
    "const a = b || process.env.A; use(a ? 1 : 2);": ("env", "", ["A?"]),
    "const a = process.env.A; if (!a) throw new Error('A');": ("env", "", ["A"]),
    "const a = process.env.A; use(a);": ("env", "", ["A"]),
    "process.env.A = 'b';": ("env", "", []),
    "delete process.env.A;": ("env", "", []),
    "use(process.env[name]);": ("env", "", []),
    "execSync('jq . x');": ("programs", "", ["jq"]),
    "run(`git -C ${x} log`);": ("programs", "", ["git"]),
    "cp.spawn('jq', ['.']);": ("programs", "", ["jq"]),
    "cp.spawn(name);": ("programs", "", []),
    "spawn('jq');": ("programs", "", []),
    "(await import('node:child_process')).execFile('jq');": ("programs", "", []),
    "await fetch(url);": ("network", "", ["fetch"]),
    "https.get(url);": ("network", "", ["https.get"]),
    "await fs.promises.writeFile(a, b); fs.readFileSync(a);": ("writes", "", ["fs.promises.writeFile"]),
    "use(event.context.a, event.context?.b, event.context['c']);": ("fields", "", ["a", "b", "c"]),
    "use((event.context as any).a);": ("fields", "ts", ["a"]),
    "const ctx = event.context ?? {}; use(ctx.a);": ("fields", "", ["a"]),
    "const { a, b: c = 1 } = event.context;": ("fields", "", ["a", "b"]),
    "const { context } = event; use(context.a);": ("fields", "", ["a"]),
    "event.context.a = 1; use(event.context.a);": ("fields", "", []),
    "event.context.hasOwnProperty('a');": ("fields", "", []),
    "if (event.type === 'a' || 'b' != event.action) return;": ("guards", "", ["a", "b"]),
    "if (!['a', 'b'].includes(event.action)) return;": ("guards", "", ["a", "b"]),
    "switch (event.action) { case 'a': case 'b': break; default: }": ("guards", "", ["a", "b"]),
    "const { type } = event; if (type === 'a') return;": ("guards", "", ["a"]),
    "use(event.a, event?.b, (event as any).c);": ("strays", "ts", ["a", "b", "c"]),
    "const { a, context } = event;": ("strays", "", ["a"]),
    "use(event.type, event.messages, event.timestamp, event.toString());": ("strays", "", []),
    "event.a = 1; use(event.a);": ("strays", "", []),
    "event.cancel = true; event.messages = [];": ("puts", "", ["cancel"]),
    "lines.forEach((event) => use(event.a, event.type));": ("strays", "", []),
    "lines.forEach((line, event) => use(event.a));": ("strays", "", []),
    "enum A { x } enum B { x }": ("code", "ts", ["enum", "enum"]),
    "class A { constructor(private a: string, b: string) {} }": ("code", "ts", ["parameter property"]),
    "@seen class A {}": ("code", "ts", ["decorator"]),
    "const a: string = <string>b!; type A = string; interface B {} declare enum C { x }": ("code", "ts", []),
    "event.messages.push('a');": ("pushes", "", ["push"]),
    "return { block: true };": ("answers", "", ["block"]),
    "return { messages: ['a'], ok };": ("answers", "", ["messages", "ok"]),
    "event.messages.push({ text: 'a' });": ("pushes", "", ["push"]),
    "event.messages.push(text, 1 as any);": ("pushes", "ts", ["push"]),
    "event.context.files.push({ path: 'a', name });": ("items", "", ["files"]),
    "event.context.files.push({ ...file }, file);": ("items", "", []),
    "const f = (event) => ({ ok: true });": ("answers", "", []),
    "const f = () => ({ block: true });": ("answers", "", []),
    "use('/Users/joe/x', `/home/joe/y`, '/home', 'C:\\\\Users\\\\joe\\\\z');": (
        "homes",
        "",
        ["/Users/joe/x", "/home/joe/y", "C:\\\\Users\\\\joe\\\\z"],
    ),
}
SCRIPT = """
import {{ execSync, exec }} from "node:child_process";
import * as cp from "child_process";
import fs from "fs";
import https from "https";
import {{ promisify }} from "util";
const run = promisify(exec);
const handler = async (event) => {{
  {line}
}};
export default handler;
"""


@pytest.fixture(scope="module")
def read() -> dict[str, HandlerFacts | str]:
    """All of them in one child, as a lint does it."""
    return read_scripts(
        [ScriptSource(line, SCRIPT.format(line=line), kind == "ts") for line, (_, kind, _) in SCRIPTS.items()]
    )


@pytest.mark.parametrize("line", SCRIPTS)
def test_facts_are_found_in_scripts(line: str, read: dict[str, HandlerFacts | str]) -> None:
    facts = read[line]
    assert isinstance(facts, HandlerFacts)
    what, _, found = SCRIPTS[line]
    assert names(getattr(facts, what)) == found
    assert facts.module == "esm"


def test_commonjs_exports_and_named_handlers_are_found() -> None:
    text = "module.exports = async function (e) { if (e.type === 'a') e.messages.push(1); };"
    plain = (
        "const { exec } = require('child_process');\n"
        "module.exports = h;\n"
        "function h({ context }) { exec('jq'); context.a; }"
    )
    read = read_scripts([ScriptSource("one", text, False), ScriptSource("two", plain, False)])
    one, two = read["one"], read["two"]
    assert isinstance(one, HandlerFacts)
    assert isinstance(two, HandlerFacts)
    assert (one.module, two.module) == ("commonjs", "commonjs")
    assert names(one.guards) == ["a"]
    assert names(two.programs) == ["jq"]
    assert names(two.fields) == ["a"]


def test_kinds_tell_what_is_pushed_put_in_and_returned() -> None:
    source = """export default (event) => {
  event.messages.push({ text: 'a' });
  event.messages.push('a', [1]);
  event.messages.push('a');
  event.context.files.push({ filePath: 'a', content });
  return { block: true, messages: [] };
};"""
    facts = read_scripts([ScriptSource("one", source, False)])["one"]
    assert isinstance(facts, HandlerFacts)
    assert [push.kind for push in facts.pushes] == ["an object", "a list", ""]
    assert [(item.name, item.kind) for item in facts.items] == [("files", "filePath,content")]
    assert [(answer.name, answer.kind) for answer in facts.answers] == [("block", ""), ("messages", "other")]
    facts = python_facts(
        b"def handler(event):\n    event.messages.append({'a': 1})\n    event.messages.append('a')\n"
        b"    event.context['files'].append({'filePath': 'a'})\n    return {'messages': []}\n"
    )
    assert [push.kind for push in facts.pushes] == ["an object", ""]
    assert [(item.name, item.kind) for item in facts.items] == [("files", "filePath")]
    assert [(answer.name, answer.kind) for answer in facts.answers] == [("messages", "other")]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("export default async function run(event, ctx) {}", ["ctx"]),
        ("export default (event: any, ctx: any, more: string) => {};", ["ctx", "more"]),
        ("export default (event, ctx = {}, ...rest) => {};", []),
        ("export default (event: any, ctx?: any) => {};", []),
        ("const run = async (event, ctx) => {};\nexport default run;", ["ctx"]),
        ("module.exports = function (event, ctx) {};", ["ctx"]),
        ("function helper(event, other) {}\nexport default (event) => helper(event, 1);", []),
    ],
)
def test_further_parameters_of_the_handler_are_found(source: str, found: list[str]) -> None:
    facts = read_scripts([ScriptSource("one", source, True)])["one"]
    assert isinstance(facts, HandlerFacts)
    assert [parameter.name for parameter in facts.parameters] == found


def test_columns_count_characters_and_not_bytes() -> None:
    text = "export default (event) => {\n  use('žluťoučký', process.env.KEY);\n};\n"
    facts = read_scripts([ScriptSource("one", text, True)])["one"]
    assert isinstance(facts, HandlerFacts)
    (met,) = facts.env
    assert (met.line, met.column) == (2, 1 + text.split("\n")[1].index("process"))
    source = "import os\rdef handler(event):\r\n    'žluťoučký\u2028', os.environ['KEY']\n"
    (met,) = python_facts(source.encode()).env
    assert (met.line, met.column) == (3, 1 + source.split("\n")[1].index("os."))


def test_a_file_that_is_not_utf_8_fails_unless_it_names_its_coding() -> None:
    source = "import os\nkey = 'é', os.environ['KEY']\n".encode("latin-1")
    fault = python_facts(source).error
    assert fault is not None
    assert fault.line == 2
    assert "save it as UTF-8" in fault.name
    (met,) = python_facts(b"# coding: latin-1\n" + source).env
    assert (met.name, met.line, met.column) == ("KEY", 3, 12)


def test_an_event_passed_to_a_function_is_followed() -> None:
    text = """
function speaker(event) { return event.from; }
function deeper(it, event) { return event.never; }
const line = (event) => speaker(event) + event.text;
export const make = () => async (event) => { if (event.type && event.action) return line(event); };
const watcher = (event) => event.code;
export default make();
"""
    facts = read_scripts([ScriptSource("one", text, False)])["one"]
    assert isinstance(facts, HandlerFacts)
    assert [(met.name, met.line) for met in facts.strays] == [("text", 4), ("from", 2)]
    for plugin in ("function register(host) { host.on('a', f); }", "(api) => { api.on('a', f); }"):
        facts = read_scripts([ScriptSource("one", f"export default {plugin}", False)])["one"]
        assert isinstance(facts, HandlerFacts)
        assert facts.strays == ()
    taken = "export default async ({ message, context, action: a }) => { use(message, context, a); };"
    facts = read_scripts([ScriptSource("one", taken, False)])["one"]
    assert isinstance(facts, HandlerFacts)
    assert names(facts.strays) == ["message"]


def test_type_imports_without_the_type_keyword_are_found() -> None:
    text = """
import { A, type B } from "a";
import { type C } from "c";
import type { D } from "d";
import E, { F } from "e";
import * as G from "g";
import { h } from "h";
import "i";
const one: A<B> = new F<E>(); let two: C | D | G.T = h;
namespace J { export type K = string; }
namespace L { export const m = 1; }
import n = require("n");
export = one;
"""
    facts = read_scripts([ScriptSource("one", text, True)])["one"]
    assert isinstance(facts, HandlerFacts)
    kinds = {met.name: met.kind for met in facts.imports}
    assert kinds == {"a": "types", "c": "types", "d": "type", "e": "", "g": "", "h": "", "i": ""}
    assert [met.name for met in facts.code] == ["namespace", "import … = require()", "export ="]


def test_commonjs_exports_of_one_object_are_found() -> None:
    told: dict[str, dict[str, bool] | None] = {
        "function a() {}\nconst b = () => {}, c = 1;\nmodule.exports = { a, b, c, d() {}, e: a, f: 2 };": {
            "a": True,
            "b": True,
            "c": False,
            "d": True,
            "e": True,
            "f": False,
        },
        "module.exports = { a: 1, ...rest };": None,
        "module.exports = { default: () => {} };": None,
        "module.exports = { a: 1 };\nmodule.exports.b = 2;": None,
        "module.exports = { a: 1 };\nexports.b = 2;": None,
        "if (x) module.exports = { a: 1 };": None,
        "module.exports = run;": None,
    }
    found = read_scripts([ScriptSource(text, text, False) for text in told])
    for text, exports in told.items():
        facts = found[text]
        assert isinstance(facts, HandlerFacts)
        assert facts.exports == exports, text


@pytest.mark.parametrize("typescript", [True, False])
def test_exports_and_syntax_errors_of_scripts_are_found(typescript: bool) -> None:
    told: dict[str, dict[str, bool] | None] = {
        "export default async (e) => {};": {"default": True},
        "export async function handler(e) {}\nexport const n = 1, run = async function () {};": {
            "handler": True,
            "n": False,
            "run": True,
        },
        "function a() {}\nexport { a as default, b } from './x';": {"default": False, "b": False},
        "async function handler(e) {}": {},
        "export * from './all';": None,
        "export const { a } = require_('x');": None,
        "module.exports = () => {};": None,
        "Object.assign(exports, { a() {} });": None,
    }
    if typescript:
        told |= {
            "export type A = string;\nexport interface B {}\nexport type { C } from './c';": {},
            "export default (async (e: E) => {}) satisfies F;": {"default": True},
            "export = f;": None,
        }
    broken = {"const a = 1;\nconst b = [1, (2;\n": 2, "export default (e) => {};\n}\n": 2, "if (x {\n}": 1}
    texts = [*told, *broken]
    found = read_scripts([ScriptSource(str(number), text, typescript) for number, text in enumerate(texts)])
    for number, text in enumerate(texts):
        facts = found[str(number)]
        assert isinstance(facts, HandlerFacts), facts
        assert (facts.exports, facts.doubt and facts.doubt.line) == (told.get(text), broken.get(text)), text
