"""Who disturbs whom: what is found is right, as small as it can be, and takes no more runs than asked for."""

from __future__ import annotations

from math import ceil, log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.orders.agents import Handler, called, every_order, searched

from hookscope.analysis.order_findings import (
    FactKind,
    FactSubject,
    OrderFinding,
    OrderFindings,
    RunFacts,
    evidence_lines,
    finding_sentences,
    order_summary,
    unexplained_sentences,
    unsteady_subjects,
)
from hookscope.analysis.order_search import (
    OrderSearch,
    order_count,
    orders_between,
    other_orders,
    registered_order,
)

NEEDS_USER: Handler = (("needs", "user", 0),)
SETS_USER: Handler = (("set", "user", 1),)
NOTHING: Handler = ()

operation = st.tuples(
    st.sampled_from(["needs", "set", "drop", "count", "says", "adds"]),
    st.sampled_from("xy"),
    st.integers(0, 2),
)
handler = st.lists(operation, max_size=3).map(tuple)
handlers = st.lists(handler, min_size=2, max_size=6)


def said(found: OrderFindings) -> list[str]:
    return [sentence.text for sentence in finding_sentences(found)]


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        ([SETS_USER, NEEDS_USER], ["h1 fails (KeyError: 'user') unless h0 runs before it."]),
        ([NEEDS_USER, SETS_USER], ["h0 fails (KeyError: 'user') unless h1 runs before it."]),
        (
            [SETS_USER, NOTHING, NEEDS_USER, NOTHING, (("drop", "user", 0),)],
            [
                "h2 fails (KeyError: 'user') unless h0 runs before it.",
                "h2 fails (KeyError: 'user') when h0 runs before h4, else it runs well.",
                "If h0 is also called, h2 fails (KeyError: 'user') when h4 runs before it.",
            ],
        ),
        (
            [SETS_USER, SETS_USER, NEEDS_USER, SETS_USER],
            ["h2 fails (KeyError: 'user') unless h0, h1 or h3 runs before it."],
        ),
        (
            [(("set", "topic", number),) for number in range(4)],
            ["h0, h1, h2 and h3 all write context.topic: the last write wins."],
        ),
        (
            [(("set", "topic", 1),), NOTHING, (("set", "topic", 2),)],
            ["h0 and h2 both write context.topic: the last write wins."],
        ),
        ([(("set", "topic", 1),), (("set", "topic", 1),)], []),
        (
            [(("count", "n", 0),), (("count", "n", 0),)],
            ["h0 and h1 both change context.n: each handler's value depends on which handler runs first."],
        ),
        (
            [(("set", "user", 7),), (("says", "user", 0),)],
            ['h1 pushes "7" when h0 runs before it, else it pushes "None".'],
        ),
        ([(("says", "x", 0),), (("says", "y", 0),)], []),
        (
            [SETS_USER, (("needs", "user", 0), ("set", "sender", 3))],
            ["h1 fails (KeyError: 'user') unless h0 runs before it."],
        ),
        (
            [(("drop", "sender", 0),), (("needs", "sender", 0), ("set", "user", 3))],
            ["h1 fails (KeyError: 'sender') when h0 runs before it."],
        ),
        (
            [(("adds", "to", 1),), (("adds", "to", 2),)],
            ["h0 and h1 both change context.to: its value depends on which handler runs first."],
        ),
        (
            [NOTHING, *[(("adds", "to", number),) for number in range(3)], NOTHING],
            ["h1, h2 and h3 all change context.to: its value depends on which handler runs first."],
        ),
        (
            [(("count", "n", 0),), *[(("count", "n", 0),) for _ in range(3)]],
            [
                "h0, h1, h2 and h3 all change context.n: "
                "each handler's value depends on which handler runs first."
            ],
        ),
    ],
)
def test_the_sentence_for_what_happens(agents: list[Handler], told: list[str]) -> None:
    found = searched(agents, 60)
    assert said(found) == told
    assert not found.unexplained
    assert ("does not matter" in order_summary(found)) is not bool(told)


def test_what_the_event_had_is_told_where_nobody_changed_it() -> None:
    found = searched([SETS_USER, (("needs", "user", 0), ("set", "sender", 3), ("drop", "user", 0))], 20)
    (one,) = found.findings
    assert [line for line in evidence_lines(one, found.names) if "also" in line] == [
        'also context.sender: 3 → "ada"',
        "also context.user: nothing → 1",
    ]


def test_runs_that_do_not_suffice_are_said() -> None:
    agents = [SETS_USER, *[NOTHING] * 6, NEEDS_USER]
    found = searched(agents, 4)
    assert not found.findings
    assert unexplained_sentences(found) == (
        "The outcome of h7 differs between run 2 and run 3; there were not enough runs to explain why.",
    )
    assert said(searched(agents, 11)) == ["h7 fails (KeyError: 'user') unless h0 runs before it."]


def test_of_company_that_could_not_be_left_out_nobody_is_named() -> None:
    agents = [SETS_USER, *[NOTHING] * 4, NEEDS_USER, (("drop", "user", 0),)]
    found = searched(agents, 12)
    assert not all(one.narrowed for one in found.findings)
    assert any(text.startswith("Among the ") for text in said(found))
    assert "If h0 is also called, h5 fails (KeyError: 'user') when h6 runs before it." in said(
        searched(agents, 40)
    )


def test_what_differs_in_one_order_is_no_matter_of_order() -> None:
    search = OrderSearch(((0, 1),), 20, 0)
    asking = search.run()
    order, number = next(asking), 1
    steady, other = FactSubject(FactKind.SAID, call=0), FactSubject(FactKind.SAID, call=1)
    while True:
        values = {other: f'["{number}"]', steady: '["a"]'}
        try:
            order = asking.send(RunFacts(number, order, values))
        except StopIteration:
            break
        number += 1
    found = search.findings("ab")
    assert (found.unstable, found.findings, found.unexplained) == ((other,), (), ())
    assert number == 3  # twice as registered, once the other way round


@given(st.integers(2, 5), st.integers(4, 60), st.randoms(use_true_random=False))
def test_handlers_that_do_as_they_please_end_no_search(size: int, times: int, chance: Random) -> None:
    search = OrderSearch((tuple(range(size)),), times, 0)
    asking, facts, number = search.run(), None, 0
    while True:
        try:
            order = next(asking) if facts is None else asking.send(facts)
        except StopIteration:
            break
        number += 1
        changed = [FactSubject(FactKind.CHANGED, "/context/x", call) for call in order]
        subjects = [
            *changed,
            FactSubject(FactKind.PLACE, "/context/x"),
            *(FactSubject(FactKind.ENDED, call=at) for at in order),
        ]
        values = {subject: str(chance.randrange(3)) for subject in subjects if chance.random() < 0.9}
        written = frozenset(subject for subject in changed if chance.random() < 0.5)
        facts = RunFacts(number, order, values, written)
    found = search.findings([f"h{place}" for place in range(size)])
    assert len(found.fired) == number <= times
    assert all(sentence.text for sentence in finding_sentences(found))


@given(handlers, st.integers(4, 200), st.integers(0, 9))
def test_every_finding_is_right_and_small_and_there_were_no_more_runs_than_asked_for(
    agents: list[Handler], times: int, seed: int
) -> None:
    found = searched(agents, times, seed)
    assert len(found.fired) <= times
    assert not found.unstable
    for one in found.findings:
        check_right(agents, one)
        if one.narrowed:
            check_small(agents, one)
    causes = {
        (subject, cause.first, cause.second) for cause in found.findings for subject in (cause.subject,)
    }
    assert len(causes) == len(found.findings)
    for _, one_way, other_way in found.unexplained:
        assert len(found.fired) == times
        assert one_way.values != other_way.values
    assert all(sentence.text.endswith(".") for sentence in finding_sentences(found))


@given(st.integers(2, 12), st.data())
def test_one_cause_is_found_in_a_handful_of_fires_among_however_many_handlers(
    size: int, data: st.DataObject
) -> None:
    one, other = data.draw(st.permutations(range(size)))[:2]
    agents = [SETS_USER if at == one else NEEDS_USER if at == other else NOTHING for at in range(size)]
    steps = size * (size - 1) // 2  # of the way to the order the other way round
    found = searched(agents, 3 + ceil(log2(steps)) + 2)
    assert said(found) == [f"h{other} fails (KeyError: 'user') unless h{one} runs before it."]
    assert found.findings[0].narrowed


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "x\ny", "\u202egnp", "a/b~c", "", "{}", "\0", "0"])
def test_foreign_names_stay_on_their_line(name: str) -> None:
    agents: list[Handler] = [
        (("needs", name, 0), ("says", name, 0)),
        (("set", name, 1),),
        (("drop", name, 0), ("adds", name, 2)),
    ]
    found = searched(agents, 100)
    told = [*said(found), order_summary(found)]
    told += [line for one in found.findings for line in evidence_lines(one, found.names)]
    few = searched(agents, 4)
    told += [*unexplained_sentences(few), *unsteady_subjects(few)]
    assert found.order_matters
    assert all(text.isprintable() for text in told)


def check_right(agents: list[Handler], one: OrderFinding) -> None:
    """The two orders differ in nothing but the pair, and come to what is said of them."""
    registered_run, exchanged_run = one.registered, one.exchanged
    assert one.first < one.second
    at = registered_run.order.index(one.first)
    assert registered_run.order[at + 1] == one.second
    order = list(registered_run.order)
    order[at : at + 2] = one.second, one.first
    assert tuple(order) == exchanged_run.order
    for facts in (registered_run, exchanged_run):
        assert called(agents, facts.order).value(one.subject) == facts.value(one.subject)
    assert len(set(one.values(one.subject))) == 2
    assert set(one.required_others) == set(order) - {one.first, one.second, one.subject.call}


def check_small(agents: list[Handler], one: OrderFinding) -> None:
    """Without any one of the company it does not show, or shows as something else."""
    for left_out in one.required_others:
        pair = [
            called(agents, tuple(call for call in facts.order if call != left_out))
            for facts in (one.registered, one.exchanged)
        ]
        values = [facts.value(one.subject) for facts in pair]
        same = values[0] == values[1]
        otherwise = one.subject.kind is FactKind.ENDED and tuple(values) != one.values(one.subject)
        unsaid = one.subject.kind is FactKind.CHANGED and not any(
            one.subject in facts.written for facts in pair
        )
        assert same or otherwise or unsaid


@given(st.lists(handler, min_size=2, max_size=3))
def test_with_enough_runs_all_that_depends_on_the_order_is_told_and_nothing_else(
    agents: list[Handler],
) -> None:
    found = searched(agents, 500)
    assert not found.unexplained
    runs = list(every_order(agents))
    assert len(found.orders) == len(runs)
    kinds = {FactKind.ENDED, FactKind.SAID, FactKind.PLACE}
    subjects = {subject for facts in runs for subject in facts.values if subject.kind in kinds}
    depends = {subject for subject in subjects if len({facts.value(subject) for facts in runs}) > 1}
    explained = {subject for one in found.findings for subject in (one.subject, *one.other_subjects)}
    assert depends <= explained
    if not any(
        len({facts.value(subject) for facts in runs}) > 1 for facts in runs for subject in facts.values
    ):
        assert not found.order_matters


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 5), st.integers(1, 50))
def test_orders_keep_to_their_blocks_and_come_once(sizes: list[int], seed: int, most: int) -> None:
    firsts = [sum(sizes[:place]) for place in range(len(sizes))]
    blocks = tuple(tuple(range(first, first + size)) for first, size in zip(firsts, sizes, strict=True))
    orders = list(other_orders(blocks, seed, most))
    assert len(orders) == len(set(orders)) == order_count(blocks) - 1
    for order in orders:
        assert all(set(order[block[0] : block[-1] + 1]) == set(block) for block in blocks)
    assert orders == list(other_orders(blocks, seed, most))


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_the_way_between_two_orders_exchanges_neighbours_that_stand_otherwise(
    one: list[int], other: list[int]
) -> None:
    start, end = tuple(one), tuple(other)
    way = orders_between(start, end)
    inverted = sum(
        (start.index(a) < start.index(b)) != (end.index(a) < end.index(b)) for a in range(6) for b in range(a)
    )
    assert (way[0], way[-1], len(way)) == (start, end, inverted + 1)
    assert registered_order((start,)) == start
