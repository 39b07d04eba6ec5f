"""What handlers find, and take away, of the modules that CommonJS keeps: none of it is the worker's."""

from tests.runtime.node_worker.talk import Message, Talk, two

RESULT = {"callId": "c1", "toolName": "a", "output": 5, "isError": False, "kind": "tool-result"}
EVENT = {
    "type": "action.result",
    "data": {"result": RESULT},
    "meta": {"id": "e", "at": "2026-01-01T00:00:00Z"},
}
READS = (
    "import { toolResultFrom } from 'eve/tools';\nimport a from '../tools/a.mjs';\n"
    "export default { events: { '*': (event) => toolResultFrom(event.data.result, a)?.output ?? null } };"
)


def plain(talk: Talk, body: str) -> Message:
    """A CommonJS handler of two arguments."""
    return talk.code("h.cjs", f"module.exports = () => {{ {body} }};", shape="arguments")


async def test_a_handler_sees_the_modules_of_hooks_alone(talk: Talk) -> None:
    talk.code("kept.cjs", "module.exports = 1;")
    code = plain(talk, "require('./kept.cjs'); return Object.keys(require.cache);")
    (answer,) = await talk.run(code, view=two({}))
    assert sorted(answer["returned"]) == [str(talk.root / name) for name in ("h.cjs", "kept.cjs")]


async def test_who_empties_that_list_and_takes_its_loader_harms_no_hook_after_it(talk: Talk) -> None:
    """A stream hook needs parts that are loaded for it alone, and some that are there already."""
    body = (
        "const kept = require.cache;"
        "for (const file of Object.getOwnPropertyNames(kept)) Reflect.deleteProperty(kept, file);"
        "require.extensions['.js'] = () => { throw new Error('mine'); };"
    )
    (answer,) = await talk.run(plain(talk, body), view=two({}))
    assert answer.get("error") is None, answer
    talk.code("tools/a.mjs", "export default { execute() {} };")
    beside = [{"kind": "tool", "name": "a", "path": str(talk.root / "tools/a.mjs")}]
    stream = talk.code("hooks/s.mjs", READS, beside=beside)
    (answer,) = await talk.run({**stream, "member": "*"}, view=two(EVENT))
    assert (answer.get("error"), answer["returned"]) == (None, 5)
