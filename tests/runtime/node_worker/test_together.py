"""Handlers of a Node worker that run at once."""

from typing import Any

import pytest
from tests.runtime.node_worker.talk import Message, Talk, two


def handler(talk: Talk, name: str, body: str) -> Message:
    text = f"export default async (event: any, ctx: any) => {{ {body} }};"
    return talk.code(f"{name}.ts", text, shape="arguments")


SLEEP = "await new Promise((done) => setTimeout(done, {}));"


def steps(messages: list[Message]) -> list[tuple[str, Any]]:
    return [("start", one["started"]) if "started" in one else ("end", one["result"]) for one in messages]


def by_number(messages: list[Message]) -> dict[int, Message]:
    return {one["result"]: one for one in messages if "result" in one}


async def test_all_start_in_order_and_end_when_they_end(talk: Talk) -> None:
    slow = handler(talk, "slow", SLEEP.format(150))
    fast = handler(talk, "fast", "")
    fails = handler(talk, "fails", SLEEP.format(20) + "throw new Error('observer failed');")
    messages = await talk.together((slow, two({})), (fast, two({})), (fails, two({})))
    assert steps(messages) == [("start", 0), ("start", 1), ("start", 2), ("end", 1), ("end", 2), ("end", 0)]
    answers = by_number(messages)
    assert [answers[n]["status"] for n in range(3)] == ["ok", "ok", "error"]
    assert answers[2]["error"]["message"] == "observer failed"
    assert answers[1]["took"] < answers[0]["took"]
    assert answers[0]["took"] >= 0.1
    assert {answer["next"] for answer in answers.values()} == {False}


async def test_each_has_its_own_view_and_its_own_answer(talk: Talk) -> None:
    text = "event.seen = ctx.who; ctx.cancel(); " + SLEEP.format(5) + "return event;"
    code = handler(talk, "h", text)
    pairs = [(code, two({"n": n}, {"who": f"w{n}"}, methods=["cancel"])) for n in range(3)]
    answers = by_number(await talk.together(*pairs))
    for n in range(3):
        assert answers[n]["returned"] == {"n": n, "seen": f"w{n}"}
        assert answers[n]["view"]["event"] == {"n": n, "seen": f"w{n}"}
        assert answers[n]["view"]["asked"] == ["cancel"]


THROWN = "new Error(ctx.who)"


@pytest.mark.parametrize(
    "escape",
    [
        f"setTimeout(() => {{ throw {THROWN}; }}, 10);",
        f"Promise.reject({THROWN});",
        f"queueMicrotask(() => {{ throw {THROWN}; }});",
        f"setImmediate(async () => {{ throw {THROWN}; }});",
    ],
)
async def test_an_error_that_nobody_caught_is_charged_to_the_right_one(escape: str, talk: Talk) -> None:
    bad = handler(talk, "bad", escape + SLEEP.format(100) + "return 'late';")
    good = handler(talk, "good", SLEEP.format(60) + "return ctx.who;")
    pairs = [(code, two({}, {"who": f"w{n}"})) for n, code in enumerate((good, bad, good, bad))]
    answers = by_number(await talk.together(*pairs))
    assert [answers[n]["returned"] for n in range(4)] == ["w0", None, "w2", None]
    assert [(answers[n]["error"] or {}).get("message") for n in range(4)] == [None, "w1", None, "w3"]


async def test_what_they_disturbed_is_put_back_behind_the_last(talk: Talk) -> None:
    disturbs = handler(
        talk,
        "disturbs",
        "process.env.X = '1'; process.chdir('/'); JSON.stringify = Array.prototype.push = () => 7;",
    )
    waits = handler(talk, "waits", SLEEP.format(50) + "return [process.env.X, process.cwd(), [].push(1)];")
    answers = by_number(await talk.together((disturbs, two({})), (waits, two({}))))
    assert answers[1]["returned"] == ["1", "/", 1]
    assert [answers[n]["dirty"] for n in range(2)] == [False, False]
    after = handler(talk, "after", "return [process.env.X ?? null, process.cwd()];")
    (answer,) = await talk.run(after, view=two({}))
    assert answer["returned"] == [None, str(talk.root)]


async def test_what_cannot_be_put_back_is_said_by_the_last_alone(talk: Talk) -> None:
    spoils = handler(talk, "spoils", "Object.freeze(Array.prototype);")
    waits = handler(talk, "waits", SLEEP.format(30) + "return 1;")
    messages = await talk.together((spoils, two({})), (waits, two({})))
    answers = by_number(messages)
    assert steps(messages)[-1] == ("end", 1)
    assert [(answers[n]["status"], answers[n]["dirty"]) for n in range(2)] == [("ok", False), ("ok", True)]


async def test_what_they_leave_running_is_said_by_the_last(talk: Talk) -> None:
    leaves = handler(talk, "leaves", "setTimeout(() => {}, 60000);")
    waits = handler(talk, "waits", SLEEP.format(30))
    answers = by_number(await talk.together((leaves, two({})), (waits, two({}))))
    assert [answers[n]["left"] for n in range(2)] == ["", "1 timer"]
    (note,) = answers[1]["notes"]
    assert note.startswith("one of the handlers that ran concurrently left 1 timer running")


@pytest.mark.parametrize("spoils", ["", "Object.freeze(Array.prototype);"])
async def test_what_does_not_load_answers_and_the_others_run(spoils: str, talk: Talk) -> None:
    bad = talk.code("bad.ts", f"{spoils} throw new Error('no');", shape="arguments")
    good = handler(talk, "good", "return 1;")
    messages = await talk.together((good, two({})), (bad, two({})))
    assert steps(messages) == [("end", 1), ("start", 0), ("end", 0)]
    answers = by_number(messages)
    assert (answers[1]["phase"], answers[1]["error"]["message"]) == ("load", "no")
    assert answers[0]["returned"] == 1
    assert [answers[n]["dirty"] for n in (1, 0)] == [False, bool(spoils)]


async def test_where_none_loads_the_last_says_what_became_of_the_process(talk: Talk) -> None:
    bad = talk.code("bad.ts", "Object.freeze(Array.prototype); throw 1;", shape="arguments")
    worse = talk.code("worse.ts", "throw 2;", shape="arguments")
    answers = by_number(await talk.together((bad, two({})), (worse, two({}))))
    assert [(answers[n]["status"], answers[n]["dirty"]) for n in (0, 1)] == [
        ("error", False),
        ("error", True),
    ]


async def test_what_is_not_installed_is_said_by_each(talk: Talk) -> None:
    text = "import { x } from 'gone';\nimport { z } from 'zod';\nexport default () => {};"
    pairs = [(talk.code(f"{name}.ts", text, shape="arguments"), two({})) for name in ("a", "b")]
    answers = by_number(await talk.together(*pairs))
    for n in range(2):
        assert answers[n]["notes"] == [
            "gone is not installed here: x was stubbed; "
            "run `npm install gone` in the handler's folder or above it",
            "zod is not installed here: its schemas accept everything",
        ]


@pytest.mark.parametrize(
    "body",
    [
        "throw undefined;",
        "Object.freeze(event); Object.freeze(ctx);",
        "Promise.prototype.then = 3; globalThis.Promise = class {}; Object.prototype.then = (f) => f(1);",
        "Array.prototype[Symbol.iterator] = Map.prototype.get = null; Buffer.from = null;",
        "event.self = event; Object.defineProperty(event, 'no', { enumerable: true, get() { throw 1; } });",
    ],
)
async def test_a_bad_neighbour_harms_nobody(body: str, talk: Talk) -> None:
    bad, good = handler(talk, "bad", body), handler(talk, "good", SLEEP.format(20) + "return event.n;")
    answers = by_number(await talk.together((good, two({"n": 1})), (bad, two({})), (good, two({"n": 2}))))
    assert [answers[n]["returned"] for n in (0, 2)] == [1, 2]
    again = by_number(await talk.together((good, two({"n": 3}))))
    assert again[0]["returned"] == 3
