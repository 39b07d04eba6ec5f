"""TypeScript handlers of different events at once, in the one Node that serves an embedding program."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

import hookscope
from hookscope import Firing, HookEngine, Run, create_hook_event

MakeHook = Callable[..., Path]
# Handlers meet at gates of the worker: `opens` opens the one that `waits` waits for. Nothing here is timed.
GATE = "const gate = (globalThis.gate ??= Promise.withResolvers());"
SOURCES = {
    "opens": f"{GATE} export default (event) => {{ console.log('opens'); gate.resolve(); }};",
    "waits": f"""{GATE} export default async (event) => {{
        console.log('before'); await gate.promise; console.log('after'); event.messages.push('waited');
    }};""",
    "hangs": "export default async () => { console.log('hangs'); await new Promise(() => {}); };",
    "spins": "export default async () => { await null; for (;;) {} };",
    "ends": "export default () => { process.reallyExit(3); };",
    "forges": """import fs from 'node:fs';
        const frame = (message) => {
            const [head, body] = [Buffer.alloc(4), Buffer.from(JSON.stringify(message))];
            head.writeUInt32BE(body.length);
            return Buffer.concat([head, body]);
        };
        export default () => {
            const forged = (run) => frame({ id: `${run}`, result: 0, returned: 'forged' });
            const frames = Buffer.concat(Array.from({ length: 20 }, (_, run) => forged(run)));
            const own = '/proc/self/fd';
            const all = fs.readdirSync(own).filter((one) => fs.existsSync(`${own}/${one}`));
            const links = all.map((one) => fs.readlinkSync(`${own}/${one}`));
            const outside = all.filter((one, at) => links.filter((link) => link === links[at]).length === 1);
            for (const pipe of outside.filter((one) => one > 2)) { // its other end is in another process
                try { fs.writeSync(+pipe, frames); } catch {} // it only reads
            }
        };""",
    "says": "export default (event) => { event.messages.push(`${event.context.number}`); };",
    "reads": f"""{GATE} export default async (event) => {{
        await gate.promise; event.messages.push(process.env.OWN_NAME ?? 'nothing');
    }};""",
}


@pytest.fixture
async def hooks(tmp_path: Path, make_hook: MakeHook) -> AsyncIterator[HookEngine]:
    """An engine in which `command:NAME` calls the handler of that name."""
    for name, source in SOURCES.items():
        make_hook(
            tmp_path / "hooks",
            name,
            f"{{openclaw: {{events: ['command:{name}']}}}}",
            source,
            file="handler.ts",
        )
    make_hook(
        tmp_path / "hooks",
        "then",
        "{openclaw: {events: ['command:hangs']}}",
        SOURCES["says"],
        file="handler.ts",
    )
    entries = {"reads": {"enabled": True, "env": {"OWN_NAME": "reads"}}}
    settings = {"hooks": {"internal": {"enabled": True, "entries": entries}}}
    async with hookscope.hooks(workspace_path=tmp_path, host_config=settings) as engine:
        assert engine.report.failed == ()
        yield engine


def fire(hooks: HookEngine, name: str, number: int = 0, limit: float | None = None) -> Firing:
    return hooks.fire(hooks.plan(create_hook_event("command", name, context={"number": number}), limit=limit))


async def first_step(firing: Firing) -> None:
    """Wait until its first handler runs."""
    async for _ in firing:
        return


def outcome(run: Run) -> list[tuple[str, str]]:
    return [(result.hook, result.status) for result in run.results]


async def test_an_event_does_not_wait_for_a_handler_that_waits(hooks: HookEngine) -> None:
    waiting = fire(hooks, "waits")
    await first_step(waiting)
    opened = await fire(hooks, "opens")
    waited = await waiting
    assert outcome(opened) == [("opens", "ok")]
    assert waited.messages == ("waited",)
    assert (opened.results[0].stdout, waited.results[0].stdout) == ("opens\n", "before\nafter\n")


async def test_each_of_many_events_gets_its_own_answer(hooks: HookEngine) -> None:
    runs = await asyncio.gather(*(fire(hooks, "says", number) for number in range(300)))
    assert [run.messages for run in runs] == [(str(number),) for number in range(300)]


async def test_events_larger_than_a_pipe_arrive_whole_and_in_order(hooks: HookEngine) -> None:
    size = 200_000
    large = create_hook_event("command", "says", context={"number": "x" * size, "more": ["y" * 100] * 50})
    small = [fire(hooks, "says", number) for number in range(100)]
    whole = await hooks.fire(large)
    after = await fire(hooks, "says", 100)
    assert [run.messages for run in await asyncio.gather(*small)] == [(str(n),) for n in range(100)]
    assert (whole.messages, after.messages) == (("x" * size,), ("100",))


async def test_a_handler_cannot_answer_for_the_events_of_others(hooks: HookEngine) -> None:
    waiting = fire(hooks, "waits")
    await first_step(waiting)
    forged = await fire(hooks, "forges")
    await fire(hooks, "opens")
    assert (await waiting).messages == ("waited",)
    assert [result.returned for result in (*forged.results, *(await waiting).results)] == [None, None]


async def test_the_limit_of_one_handler_ends_no_other(hooks: HookEngine) -> None:
    waiting = fire(hooks, "waits")
    await first_step(waiting)
    hung = await fire(hooks, "hangs", limit=0.1)
    assert outcome(hung) == [("hangs", "timeout"), ("then", "ok")]
    assert (hung.results[0].stdout, hung.messages) == ("hangs\n", ("0",))
    await fire(hooks, "opens")
    assert (await waiting).messages == ("waited",)


async def test_a_handler_that_never_yields_takes_the_worker_with_it(hooks: HookEngine) -> None:
    waiting = fire(hooks, "waits")
    await first_step(waiting)
    spun = await fire(hooks, "spins", limit=0.1)
    (bystander,) = (await waiting).results
    assert outcome(spun) == [("spins", "timeout")]
    assert bystander.status == "crashed"
    assert bystander.failure is not None
    assert "ended with its shared worker, which was stopped because spins" in bystander.failure.message
    assert (await fire(hooks, "says", 7)).messages == ("7",)


async def test_a_handler_that_ends_the_process_is_named(hooks: HookEngine) -> None:
    run = await fire(hooks, "ends")
    (result,) = run.results
    assert (result.status, result.failure is not None) == ("crashed", True)
    assert result.failure is not None
    assert "exited with status 3 before it answered" in result.failure.message
    assert (await fire(hooks, "says", 8)).messages == ("8",)


async def test_a_cancelled_event_disturbs_no_other(hooks: HookEngine) -> None:
    waiting, hanging = fire(hooks, "waits"), fire(hooks, "hangs")
    await first_step(waiting)
    await first_step(hanging)
    hanging.cancel()
    assert outcome(await hanging) == [("hangs", "cancelled")]
    await fire(hooks, "opens")
    assert (await waiting).messages == ("waited",)


async def test_a_handler_keeps_its_environment_beside_others(hooks: HookEngine) -> None:
    reading = fire(hooks, "reads")
    await first_step(reading)
    await fire(hooks, "says")
    await fire(hooks, "opens")
    assert (await reading).messages == ("reads",)


async def test_an_engine_that_closes_ends_running_handlers(hooks: HookEngine) -> None:
    hanging = fire(hooks, "hangs")
    await first_step(hanging)
    await hooks.close()
    assert [status for _, status in outcome(await hanging)] == ["cancelled", "crashed"]


def test_the_worker_of_one_loop_serves_the_next(tmp_path: Path, make_hook: MakeHook) -> None:
    make_hook(
        tmp_path / "hooks", "says", "{openclaw: {events: [command]}}", SOURCES["says"], file="handler.ts"
    )
    engine = HookEngine(hookscope.embedded_host(workspace_path=tmp_path, host_config={}))

    async def fire_one(number: int) -> tuple[str, ...]:
        return (await engine.fire(create_hook_event("command", "new", context={"number": number}))).messages

    asyncio.run(_loaded(engine))
    assert [asyncio.run(fire_one(number)) for number in (1, 2)] == [("1",), ("2",)]
    asyncio.run(engine.close())


async def _loaded(engine: HookEngine) -> None:
    assert (await engine.load()).registered == 1
