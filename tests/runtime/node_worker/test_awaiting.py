"""Modules of plugins that await outside of functions: the shipped program requires them, which takes none."""

import pytest
from tests.runtime.node_worker.talk import Message, Talk

REGISTER = "export default (api) => { api.on('agent_end', () => {}); };\n"


def shipped(talk: Talk, name: str, text: str) -> Message:
    return talk.code(name, text, shape="plugin", plain=True)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("index.js", f"{REGISTER}const x = await Promise.resolve(1);\n", 2),
        ("index.ts", f"const x: number =\n  await Promise.resolve(1);\n{REGISTER}", 2),
        ("index.js", f"for await (const x of []) {{}}\n{REGISTER}", 1),
        ("index.js", f"export const here = import.meta.url;\nawait(null);\n{REGISTER}", 2),
        ("index.ts", f"enum E {{ A }}\nif (E.A === 0) {{ await null; }}\n{REGISTER}", 2),
    ],
)
async def test_a_plugin_that_awaits_as_it_loads_fails(talk: Talk, name: str, text: str, line: int) -> None:
    code = shipped(talk, name, text)
    answer = await talk.load(code)
    assert f"line {line} of {name}: `await` outside functions does not work" in answer["error"]["message"]
    assert answer["error"]["frames"][0]["line"] == line
    assert (await talk.load({**code, "plain": False}))["error"] is None


async def test_so_does_one_that_imports_such_a_file(talk: Talk) -> None:
    (talk.root / "lib").mkdir()
    (talk.root / "lib" / "deep.ts").write_text("export const x: number = await Promise.resolve(1);\n")
    (talk.root / "lib" / "dep.js").write_text("import './deep.js';\nexport const y = 1;\n")
    answer = await talk.load(shipped(talk, "index.js", f"import {{ y }} from './lib/dep.js';\n{REGISTER}"))
    assert "line 1 of deep.ts: `await` outside functions does not work" in answer["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        f"const f = async () => {{ await 1; for await (const x of []) {{}} }};\n{REGISTER}",
        f"// await nothing here\nconst s = `await ${{1}}`;\n{REGISTER}",
        f"class A {{ async m() {{ await 1; }} static async n() {{ await 2; }} }}\n{REGISTER}",
        f"import('./later.js').then(() => {{}});\n{REGISTER}",
        f"import {{ readFile }} from 'node:fs/promises';\nexport {{ readFile }};\n{REGISTER}",
    ],
)
async def test_what_awaits_inside_of_functions_or_is_imported_later_loads(talk: Talk, text: str) -> None:
    (talk.root / "later.js").write_text("export const x = await Promise.resolve(1);\n")
    assert (await talk.load(shipped(talk, "index.js", text)))["error"] is None
